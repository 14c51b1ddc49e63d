"""What a gate answers: one verdict per reading with every number behind it, and one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core import Measurement
from rushes.core.showing import brief
from rushes.errors import InputError
from rushes.runs import Run
from rushes.suite.gate_readings import ClipPair
from rushes.suite.gate_rules import Side

GateVerdict: TypeAlias = Literal["same", "better", "not worse", "worse", "moved", "cannot tell"]
"""
same         the change surely lies inside the margin, or no clip changed
better       the gain is surely more than the margin, where the definition calls that better
not worse    a loss beyond the margin is ruled out, a gain beyond it is not
worse        the loss is surely more than the margin
moved        the change is surely more than the margin, and the metric has no side of loss
cannot tell  none of these
"""
GateAnswer: TypeAlias = Literal["same", "worse", "cannot tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricGate:
    """One reading's answer, and every number behind it."""

    label: str
    reading: Measurement
    """One of its values in the baseline: which reading this is, and what it is about."""
    gated: bool
    """Whether the gate goes by it; else it is information."""
    side: Side
    """To which side a change is a loss."""
    verdict: GateVerdict
    why: str
    difference: Measurement
    """Candidate − baseline, mean over clips, with the interval that decides: inside ±margin is the same."""
    noise: Measurement
    margin: Measurement
    same_p: Measurement
    beyond_p: Measurement
    """Towards loss; after Holm where it is gated on."""
    power: Measurement | None = None
    """Where it cannot tell: how often this many clips rule out a loss beyond the margin, when nothing changed."""
    clips: tuple[Measurement, ...] = ()
    """Where it cannot tell: how many clips would, if nothing changed and if the mean is what was seen."""
    worst: tuple[ClipPair, ...] = ()
    """The clips that lost most, most first; none where nothing is amiss."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        numbers = (self.difference, self.noise, self.margin, self.same_p, self.beyond_p)
        return (*numbers, *((self.power,) if self.power else ()), *self.clips)

    @property
    def failed(self) -> bool:
        return self.gated and self.verdict in ("worse", "moved")

    @property
    def unclear(self) -> bool:
        return self.gated and self.verdict == "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What `check_regression` found: `answer`, and `metrics` behind it."""

    __repr__ = brief

    baseline: Run
    candidate: Run
    repeats: tuple[Run, ...]
    level: float
    clips: int
    """Clips with a value in both runs; 1 for a number about a whole set."""
    metrics: tuple[MetricGate, ...]
    remarks: tuple[str, ...] = ()
    """What a reader must know: a baseline without noise, runs that moved as a whole, clips in one run only."""

    @property
    def gated(self) -> tuple[MetricGate, ...]:
        return tuple(m for m in self.metrics if m.gated)

    @property
    def answer(self) -> GateAnswer:
        """ "worse" where one reading is, else "cannot tell" where one cannot, else "same": the gate holds."""
        if any(m.failed for m in self.metrics):
            return "worse"
        return "cannot tell" if any(m.unclear for m in self.metrics) else "same"

    def find(self, name: str) -> list[MetricGate]:
        """The answers about this metric name or signature; `InputError` where there is none."""
        found = [m for m in self.metrics if name in (m.reading.name, m.reading.signature)]
        if not found:
            raise InputError(f"the gate is not about {name}; it is about {', '.join(m.label for m in self.metrics)}")
        return found
