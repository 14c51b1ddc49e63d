"""The answer of a gate: one verdict per metric with every number behind it, and one answer over all."""

from __future__ import annotations

from dataclasses import dataclass

from rushes.compare.comparison import Comparison, Outcome
from rushes.compare.gate.rules import Side
from rushes.compare.gate.signals import SignalChange
from rushes.compare.runs.changes import Change
from rushes.core import Measurement
from rushes.core.answer import Answer, told, words_of
from rushes.core.errors import InputError
from rushes.instruments.clip.metrics import known
from rushes.storage.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricGate(Comparison):
    """One reading's answer, and every number behind it; the candidate against the baseline.

    same         the change surely lies inside the margin, or no clip changed
    better       the gain is surely more than the margin, where the definition calls that better
    not worse    a loss beyond the margin is ruled out, a gain beyond it is not: cannot tell, and the gate holds
    worse        the loss is surely more than the margin
    moved        the change is surely more than the margin, and the metric has no side of loss
    cannot tell  none of these
    """

    reading: Measurement
    """One of its values in the baseline: which reading this is, and what it is about."""
    label: str
    gated: bool
    """Whether the gate goes by it; else it is information."""
    judges: bool
    """Whether it judges the picture, or what people were asked, and not only whether a clip is whole or has changed."""
    side: Side
    """To which side a change counts: a loss, or any change."""
    holds: bool
    """Whether a loss beyond the margin is ruled out."""
    sentence: str
    """Why it answers so, in words."""
    noise: Measurement
    margin: Measurement
    same_p: Measurement
    power: Measurement | None = None
    """Where it cannot tell: how often this many clips rule out a loss beyond the margin, when nothing changed."""
    clips: tuple[Measurement, ...] = ()
    """Where it cannot tell: how many clips would, if nothing changed and if the mean is what was seen."""
    worst: tuple[Change, ...] = ()
    """The clips that lost most, most first; none where nothing is amiss."""

    @property
    def beyond_p(self) -> Measurement:
        """`adjusted_p`: of a change beyond the margin, towards loss; after Holm where it is gated on."""
        return self.adjusted_p

    @property
    def verdict(self) -> str:
        """The outcome, or "not worse"."""
        return "not worse" if self.outcome is Outcome.CANNOT_TELL and self.holds else self.outcome.value

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        numbers = (self.difference, self.noise, self.margin, self.same_p, self.beyond_p)
        return (*numbers, *((self.power,) if self.power else ()), *self.clips)

    @property
    def failed(self) -> bool:
        return self.gated and self.outcome.is_change and not self.holds

    @property
    def unclear(self) -> bool:
        return self.gated and not self.holds and not self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport(Answer):
    """What `check_regression` found: `answer`, and `metrics` behind it."""

    __repr__ = told

    baseline: Run
    candidate: Run
    repeats: tuple[Run, ...]
    level: float
    clips: int
    """Clips with a value in both runs; 1 for a number about a whole set."""
    metrics: tuple[MetricGate, ...]
    signals: SignalChange | None = None
    """Flagged and rejected clips of both runs, where both have review signals of one profile."""
    allow_unjudged: bool = False
    """Whether the gate may hold although nothing judges the picture; its first line says so."""
    remarks: tuple[str, ...] = ()
    """What a reader must know: a baseline without noise, runs that moved as a whole, clips in one run only."""

    @property
    def gated(self) -> tuple[MetricGate, ...]:
        return tuple(m for m in self.metrics if m.gated)

    @property
    def answer(self) -> Outcome:
        """ "worse" where a metric or the review signals are.

        Else "cannot tell" where a metric cannot, the picture was not judged, or something changed that nothing judges.
        Else "same": the gate holds.
        """
        if any(m.failed for m in self.metrics) or self.more_flagged:
            return Outcome.WORSE
        is_open = any(m.unclear for m in self.metrics) or self.is_unjudged or self.unexplained
        return Outcome.CANNOT_TELL if is_open else Outcome.SAME

    @property
    def summary(self) -> str:
        """Whether the gate holds, and on what."""
        words: str = words_of(self, "rushes.compare.gate.report:headline")
        return words

    @property
    def notes(self) -> tuple[str, ...]:
        """What the gate ignored, and what a reader must know."""
        lines: list[str] = words_of(self, "rushes.compare.gate.report:information")
        return tuple(line.strip().removeprefix("Note: ") for line in lines if line.strip())

    @property
    def holds(self) -> bool:
        """Whether the gate holds."""
        return self.answer is Outcome.SAME

    def _items(self) -> tuple[MetricGate, ...]:
        return self.metrics

    def _rows(self) -> list[dict[str, object]]:
        return [
            {"metric": m.label, "gated": m.gated, "verdict": str(m.verdict), "why": m.sentence}
            | {"difference": m.difference.stored_value, "margin": m.margin.stored_value}
            | {"signature": m.difference.signature}
            for m in self.metrics
        ]

    @property
    def judges(self) -> tuple[MetricGate, ...]:
        """The metrics gated on that judge the picture, or what people were asked."""
        return tuple(m for m in self.gated if m.judges)

    @property
    def judges_picture(self) -> bool:
        """Whether one of them sees the whole picture.

        Metrics of single clips do not, whatever they agreed with people on: upside-down, a clip moves as smoothly.
        """
        return any(known(m.reading.name) is None for m in self.judges)

    @property
    def is_unjudged(self) -> bool:
        """Whether the picture was not judged, and nobody allowed that."""
        return not self.judges_picture and not self.allow_unjudged

    @property
    def unexplained(self) -> tuple[MetricGate, ...]:
        """What changed by more than its margin while nothing judges the picture: no gated metric speaks for it."""
        if self.judges_picture or (not self.judges and not self.allow_unjudged):
            return ()
        return tuple(m for m in self.metrics if not m.gated and m.outcome is Outcome.MOVED)

    @property
    def more_flagged(self) -> bool:
        """Whether the candidate has more flagged or rejected clips than chance explains."""
        return self.signals is not None and self.signals.is_worse

    def find(self, name: str) -> list[MetricGate]:
        """The answers about this metric name or signature; `InputError` where there is none."""
        found = [m for m in self.metrics if name in (m.reading.name, m.reading.signature)]
        if not found:
            raise InputError(f"the gate does not use {name}; it uses {', '.join(m.label for m in self.metrics)}")
        return found
