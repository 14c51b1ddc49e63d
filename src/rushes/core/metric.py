"""What a clip metric is: its definition, how it is shown, what it needs, and how it is computed.

A metric is computed in one of two ways. `measure` is given what the one pass over a clip saw (every series, the
faces, the sound) once the pass is over: that costs nothing per frame. `start` makes a collector that is given each
frame. A package adds a metric by an entry point of the group `rushes.clip_metrics`; see docs/extend.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args

from rushes.core.definition import Definition
from rushes.core.errors import DefinitionError
from rushes.core.estimate import Why
from rushes.core.measurement import Measurement

Need: TypeAlias = Literal[
    "luma", "rgb", "sound", "levels", "motion", "samples", "small", "face", "syncnet", "script", "text", "prompt"
]
Room: TypeAlias = Literal["any", "terminal", "page"]
Scale: TypeAlias = Callable[[float, float], tuple[float, float]]
"""From the lowest and the highest value of a series to the two ends of its lane."""


def spanning(low: float, high: float) -> Scale:
    """A scale from `low` to `high`, wider where the values reach further: a steady clip then looks steady.

    >>> spanning(0.0, 4.0)(1.0, 2.5), spanning(0.0, 4.0)(-1.0, 9.0)
    ((0.0, 4.0), (-1.0, 9.0))
    """
    return lambda lowest, highest: (min(lowest, low), max(highest, high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One series of a run as a line on the timeline."""

    series: str
    """As the run stores it: one value per frame, or per step from the second frame on; NaN is a gap."""
    word: str
    """What a reading under the pointer calls it: "luma"."""
    scale: Scale = spanning(0.0, 1.0)
    pooled_by: str = ""
    """The reading that pools this series in its own unit: a profile's threshold on it is a line in the lane."""
    limit: tuple[str, str, str] | None = None
    """A metric that counts by a limit on this series, the parameter that holds it, and what lies below it: "still"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane of the timeline: one trace, or two that are read against each other."""

    label: str
    traces: tuple[Trace, ...]
    band: bool = False
    """Drawn as a band that is on where the value is above 0: for what is there or not."""


class FrameView(Protocol):
    """What a collector sees of a frame (`rushes.media.Frame`). It is valid during `add`: copy what is to be kept."""

    index: int
    time_ms: float

    @property
    def luma(self) -> Any:
        """The luma plane: `.full_range()` on 0–255 as an array, `.values` as coded."""

    def rgb(self) -> Any:
        """H × W × 3, uint8, upright."""


class Collector(Protocol):
    """Follows one clip, frame by frame."""

    def add(self, frame: FrameView) -> None: ...

    def finish(self) -> Measurement:
        """The value, under the metric's definition; called once, after at least one frame."""

    def series(self) -> Mapping[str, Any]:
        """Arrays of numbers for the run and its timeline, by name; {} where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipMetric:
    """A number about a clip. Profiles, tables, pages and the catalogue are made from these objects alone.

    Raises `DefinitionError` where it is not said how to compute it, or said twice.
    """

    definition: Definition
    label: str = ""
    """Head of its column; "" where it has none and is shown among all numbers only."""
    room: Room = "terminal"
    """Where its column fits: on a narrow page too ("any"), in a terminal, or on a wide page only."""
    lane: Lane | None = None
    too_high: str = ""
    """What a review signal calls a value above its threshold: "flickers"; "" for the metric's name alone."""
    too_low: str = ""
    """The same for a value below its threshold: "soft"."""
    tier: int = 0
    """Measured from this tier on."""
    on_request: bool = False
    """Measured only where it is named, or a rule of the profile does: for what costs much or needs a model."""
    require: Callable[[], None] = lambda: None
    """Raises `MissingDependency`, with the command that mends it, where a package or model it needs is not here; asked
    before any clip is read."""
    needs: frozenset[Need] = frozenset()
    """What has to be there; without it the value is missing and the note says why."""
    measure: Callable[[Any], Measurement] | None = None
    """From a `rushes.clip.Observation` to the value."""
    start: Callable[[Any], Collector] | None = None
    """From the facts of the medium (`rushes.media.MediaFacts`) to a new collector."""

    def __post_init__(self) -> None:
        name = self.definition.name
        if (self.measure is None) == (self.start is None):
            raise DefinitionError(f"{name}: a metric needs either `measure` or `start` to compute it")
        if unknown := sorted(set(self.needs) - set(get_args(Need))):
            raise DefinitionError(f"{name}: a metric needs {', '.join(get_args(Need))}; got {unknown[0]!r}")
        object.__setattr__(self, "needs", frozenset(self.needs))

    def missing(self, note: str) -> Measurement:
        """Its value where it could not be measured, and why; parameters that were never set read "none"."""
        unset = dict.fromkeys(self.definition.open_params, "none")
        return Measurement.missing(self.definition.with_params(**unset), note)

    def failed(self, note: str) -> Measurement:
        """Its value where its own code failed."""
        return replace(self.missing(note), why=Why.PACKAGE_FAILED)

    def without_code(self, note: str) -> ClipMetric:
        """The metric where its code ended its process: nothing of it runs, and it has failed."""
        return replace(self, start=None, measure=lambda seen: self.failed(note))
