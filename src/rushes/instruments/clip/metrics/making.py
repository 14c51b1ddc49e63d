"""Short ways to write down what many clip metrics share: a range, a lane of one line, what a value is computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rushes.core import Definition, Measurement
from rushes.core.metric import ClipMetric, Lane, Need, Scale, Trace, spanning

from_zero = partial(Definition, lowest=0, highest=None)
"""The definition of what is counted from 0 up, without an end."""
share = partial(Definition, unit="ratio", lowest=0, highest=1)
"""The definition of a part of a whole."""


FACE_COST = (
    "Cost: 0.12 s of one core for a second of video at 25 frames a second, for all metrics of the face together."
)


def metric(definition: Definition, measure: Callable[[Any], Measurement], *needs: Need, **shown: Any) -> ClipMetric:
    """A metric of what the pass over a clip saw (`Observation`); `shown` are fields of `ClipMetric`."""
    return ClipMetric(definition=definition, measure=measure, needs=frozenset(needs), **shown)


def of_luma(definition: Definition, function: Callable[..., Measurement], *series: str, **shown: Any) -> ClipMetric:
    """A metric that is a function of these series of the observation, as lists."""

    def measure(seen: Any) -> Measurement:
        return function(*(getattr(seen, name).tolist() for name in series))

    return metric(definition, measure, "luma", **shown)


def of_grid(definition: Definition, function: Callable[[Any, Any], Measurement], **shown: Any) -> ClipMetric:
    """A metric that is a function of the grid of blocks (`PictureGrid`) and the times of its frames."""

    def measure(seen: Any) -> Measurement:
        if seen.grid is None:
            return Measurement.missing(definition, seen.error or "no frame could be decoded")
        return function(seen.grid, seen.time_ms.tolist())

    return metric(definition, measure, "luma", **shown)


def of_face(definition: Definition, function: Callable[[Any], Measurement], *needs: Need, **shown: Any) -> ClipMetric:
    """A metric that is a function of the followed face (`FaceObservation`), from tier 1 on."""
    return metric(definition, lambda seen: function(seen.faces), "face", *needs, **({"tier": 1} | shown))


def lane(label: str, series: str, word: str, scale: Scale | tuple[float, float] = (0.0, 1.0), **more: Any) -> Lane:
    """A lane of one line: see `Trace`; two numbers are the ends that the lane spans at least."""
    ends = spanning(*scale) if isinstance(scale, tuple) else scale
    return Lane(label=label, traces=(Trace(series=series, word=word, scale=ends, **more),))
