"""What a fidelity metric is: its definition, its column and lane, and how it is read off a pair of clips.

An observer sees every pair of frames once and gives series, one value per pair of frames; several metrics may share
one. A metric pools one series of its observer into the value of the clip. A package adds a metric by an entry point of
the group `rushes.fidelity_metrics`; see docs/extend.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.definition import Setting
from rushes.core.metric import Lane, Trace, spanning
from rushes.instruments.fidelity.devices import Precision
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.media import MediaFacts

Series: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairContext:
    """What is known of a pair of clips before its first frames are compared."""

    gen: str
    """The generated clip: a file, or the folder of a picture sequence."""
    gt: str
    gen_facts: MediaFacts | None
    """None for pictures and arrays."""
    gt_facts: MediaFacts | None
    size: tuple[int, int]
    """Width and height of the pictures that are compared."""
    fps: float | None = None
    """Of the pairs; None where neither side has times."""
    lag: int = 0
    """Frames that the generated clip runs late; the frames come without it, the sound does not."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Files that the user gave in place of pulled ones, by the group's name: {"lpips": "alex.pth"}."""
    device: str = "cpu"
    precision: Precision | None = None
    """Of networks on a GPU, as it was asked for."""
    asked: frozenset[str] = frozenset()
    """Names of the metrics that are measured, for an observer whose numbers differ in cost; empty where nobody said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What an observer found in one pair of clips."""

    series: Mapping[str, Series] = field(default_factory=dict)
    """One value per pair of frames, by name; NaN where a frame has none, infinity where it is so (PSNR of equals)."""
    params: Mapping[str, Setting] = field(default_factory=dict)
    """Settles open parameters of the definitions: a weights digest."""
    missing: str = ""
    """Why there is nothing; "" where there is something."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What a reader must know, by the series' name."""
    failed: bool = False
    """Whether there is nothing because an observer of another package failed."""


class Observer(Protocol):
    """Follows one pair of clips."""

    def add(self, pair: FramePair) -> None:
        """Look at one pair of frames; keep numbers or copies, not pictures."""

    def finish(self) -> Seen: ...


Pool: TypeAlias = Callable[[Definition, Seen, str], Measurement]
"""From a closed definition, what was seen and the series' name to the value of the clip."""


def mean_of_frames(definition: Definition, seen: Seen, series: str) -> Measurement:
    """Mean over the frames that have a value; an infinite one makes it missing, with a note."""
    values = seen.series[series]
    found = values[~np.isnan(values)]
    note = seen.notes.get(series, "")
    if not len(found):
        return Measurement.missing(definition, note or "no pair of frames has a value")
    if not np.isfinite(found).all():
        equal = int(np.isinf(found).sum())
        return Measurement.missing(definition, f"infinite: {equal} of {len(found)} pairs of frames are identical")
    if left := len(values) - len(found):
        note = "; ".join(filter(None, (note, f"{left} of {len(values)} pairs of frames have no value")))
    return Measurement(definition=definition, value=math.fsum(found) / len(found), count=len(found), note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMetric:
    """A number about a generated clip and its reference. Tables, pages and the catalogue are made from these alone."""

    definition: Definition
    label: str
    """Head of its column, as papers print it: "PSNR"."""
    observe: Callable[[PairContext], Observer]
    """Starts what sees the frames; metrics with the same function share one."""
    series: str
    """Which of the observer's series its value is pooled from; also what the run stores it under."""
    pool: Pool = mean_of_frames
    lane: Lane | None = None
    require: Callable[[Mapping[str, str]], object] = lambda models: None
    """Raises `MissingDependency`, with the command that mends it, where a package or model is not here; it is given
    the files that the user named, by group."""

    @classmethod
    def with_lane(
        cls,
        definition: Definition,
        label: str,
        observe: Callable[[PairContext], Observer],
        span: tuple[float, float],
        *,
        series: str = "",
        lane: str = "",
        word: str = "",
        pool: Pool = mean_of_frames,
        require: Callable[[Mapping[str, str]], object] = lambda models: None,
    ) -> PairMetric:
        """A metric with one line on the timeline, over this span at the least.

        The series has the definition's name, and lane and line are called as the column is, where nothing else is said.
        """
        series = series or definition.name
        trace = Trace(series=series, word=word or lane or label, scale=spanning(*span))
        return cls(
            definition=definition,
            label=label,
            observe=observe,
            series=series,
            pool=pool,
            lane=Lane(label=lane or label, traces=(trace,)),
            require=require,
        )

    def missing(self, note: str) -> Measurement:
        """Its value where it could not be measured, and why; parameters that were never set read "none"."""
        unset = dict.fromkeys(self.definition.open_params, "none")
        return Measurement.missing(self.definition.with_params(**unset), note)

    def measurement(self, seen: Seen) -> Measurement:
        """The value of the clip."""
        known = {key: value for key, value in seen.params.items() if key in self.definition.open_params}
        definition = self.definition.with_params(**known) if known else self.definition
        if seen.missing:
            return replace(self, definition=definition).missing(seen.missing)
        return self.pool(definition, seen, self.series)
