"""What a gate answers: one verdict per reading with every number behind it, and one answer.

As plain text, JUnit XML, Markdown for a GitHub step summary, and plain data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.compare.comparison import Comparison, Outcome
from rushes.compare.gate.rules import Side
from rushes.compare.runs.results import Change
from rushes.core import Measurement
from rushes.core.answer import Answer, told
from rushes.core.canonical import canonical_line
from rushes.core.errors import InputError
from rushes.core.table import INTERVAL, NUMBER, TEXT, Cell, Table
from rushes.present.ci.checks import Check, CheckList
from rushes.present.ci.checks import Outcome as CheckOutcome
from rushes.present.ci.formats import junit_xml, signatures_markdown
from rushes.present.tables.markdown import escaped, pipe_lines
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
    side: Side
    """To which side a change is a loss."""
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
    remarks: tuple[str, ...] = ()
    """What a reader must know: a baseline without noise, runs that moved as a whole, clips in one run only."""

    @property
    def gated(self) -> tuple[MetricGate, ...]:
        return tuple(m for m in self.metrics if m.gated)

    @property
    def answer(self) -> Outcome:
        """ "worse" where one reading is, else "cannot tell" where one cannot, else "same": the gate holds."""
        if any(m.failed for m in self.metrics):
            return Outcome.WORSE
        return Outcome.CANNOT_TELL if any(m.unclear for m in self.metrics) else Outcome.SAME

    @property
    def summary(self) -> str:
        """Whether the gate holds, and on what."""
        return headline(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the gate ignored, and what a reader must know."""
        return tuple(line.strip().removeprefix("Note: ") for line in _information(self) if line.strip())

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

    def find(self, name: str) -> list[MetricGate]:
        """The answers about this metric name or signature; `InputError` where there is none."""
        found = [m for m in self.metrics if name in (m.reading.name, m.reading.signature)]
        if not found:
            raise InputError(f"the gate is not about {name}; it is about {', '.join(m.label for m in self.metrics)}")
        return found


_MARKS = {Outcome.SAME: "✅", Outcome.WORSE: "❌", Outcome.CANNOT_TELL: "❔"}
GateFormat: TypeAlias = Literal["text", "junit", "github", "json"]


def gate_text(report: GateReport, format: GateFormat, *, allow_unclear: bool = False, signatures: bool = True) -> str:
    """The report in one of the formats, ending in a newline. `allow_unclear`: what it cannot tell is no error.

    Plain text without `signatures` is for a terminal, where `-v` shows them.
    """
    if format == "junit":
        return junit_xml(gate_checks(report, allow_unclear=allow_unclear))
    if format == "json":
        return canonical_line(as_data(report))
    return "\n".join(_markdown(report) if format == "github" else _plain(report, signatures)) + "\n"


def headline(report: GateReport) -> str:
    """The answer in one sentence.

    "The gate holds: 3 readings are the same within the margin over 8 clips."
    """
    gated, over = report.gated, f"over {report.clips} clips" if report.clips > 1 else "over one pair of numbers"
    failed, unclear = [m.label for m in gated if m.failed], [m.label for m in gated if m.unclear]
    if failed:
        return f"The gate does not hold: {_count(failed)} worse by more than the margin {over}: {', '.join(failed)}."
    if unclear:
        return f"The gate cannot tell: {_count(unclear)} open {over}: {', '.join(unclear)}."
    kept = "the same within" if all(m.outcome is Outcome.SAME for m in gated) else "no worse than"
    return f"The gate holds: {_count([m.label for m in gated])} {kept} the margin {over}."


def _count(labels: list[str]) -> str:
    return "1 metric is" if len(labels) == 1 else f"{len(labels)} metrics are"


def _sides(report: GateReport) -> str:
    repeats = len(report.repeats)
    again = "no repeat" if not repeats else "1 repeat" if repeats == 1 else f"{repeats} repeats"
    return f"baseline {report.baseline.place} ({again})  ·  candidate {report.candidate.place}"


def _plain(report: GateReport, signatures: bool) -> Iterator[str]:
    yield headline(report)
    yield f"{_sides(report)}  ·  differences are candidate − baseline"
    yield ""
    width = max(len(m.label) for m in report.gated)
    for m in report.gated:
        yield f"{m.label:{width}}  {m.verdict:11}  {m.sentence}"
        for pair in m.worst:
            yield f"{'':{width}}  {'':11}  {_clip(pair)}"
    yield from _information(report)
    if not signatures:
        return
    yield ""
    yield "Signatures, differences and margins:"
    for m in report.gated:
        yield f"  {m.difference.signature}"
        yield f"  {m.margin.signature}"


def _information(report: GateReport) -> Iterator[str]:
    moved = [m for m in report.metrics if not m.gated and m.outcome is Outcome.MOVED]
    if moved:
        yield ""
        yield "Changed, but not evidence of better or worse, so the gate ignores it:"
        yield from (f"  {m.label}: {m.sentence}" for m in moved)
    if report.remarks:
        yield ""
        yield from (f"Note: {remark}" for remark in report.remarks)


def _clip(change: Change) -> str:
    return f"{change.subject}: {change.first.value:.6g} → {change.second.value:.6g}"


def _markdown(report: GateReport) -> Iterator[str]:
    mark = _MARKS[report.answer]
    yield f"### {mark} {escaped(headline(report))}"
    yield ""
    yield escaped(_sides(report))
    yield ""
    yield from pipe_lines(_table(report))
    yield ""
    for m in report.gated:
        if not m.holds:
            yield f"- **{escaped(m.label)}**: {escaped(m.sentence)}"
            yield from (f"  - {escaped(_clip(pair))}" for pair in m.worst)
    yield from map(escaped, _information(report))
    yield from signatures_markdown(tuple(number.signature for m in report.gated for number in m.measurements))


def _table(report: GateReport) -> Table:
    columns = (
        *(*TEXT("metric", "verdict"), *NUMBER("candidate − baseline"), *INTERVAL("interval")),
        *NUMBER("margin", "noise of a repeat"),
    )
    rows = []
    for m in report.gated:
        found = m.difference.interval
        interval = "–" if found is None else f"{found.low:+.4g} to {found.high:+.4g} ({100 * found.level:.4g} %)"
        words = (_text(m, m.difference, sign="+"), interval, _text(m, m.margin), _text(m, m.noise))
        rows.append((Cell(m.label), Cell(m.verdict, bold=True), *map(Cell, words)))
    return Table(title="", columns=columns, rows=rows)


def _text(gate: MetricGate, number: Measurement, *, sign: str = "") -> str:
    unit = "" if gate.reading.definition.unit == "1" else f" {gate.reading.definition.unit}"
    return "–" if number.value is None else f"{number.value:{sign}.4g}{unit}"


def failure_text(report: GateReport) -> str:
    """Why the gate does not hold, for a failing test: each open reading with its worst clips and its signature."""
    lines = [headline(report), f"baseline {report.baseline.place}, candidate {report.candidate.place}"]
    for m in report.gated:
        if m.failed or m.unclear:
            lines.append(f"{m.label}: {m.verdict}, {m.sentence}")
            lines += [f"  {_clip(pair)}" for pair in m.worst]
            lines.append(f"  {m.difference.signature}")
    return "\n".join([*lines, *_information(report)])


def gate_checks(report: GateReport, *, allow_unclear: bool = False) -> CheckList:
    """One check per reading: failed where it is worse, unclear (or allowed) where the gate cannot tell."""
    gated = report.gated
    return CheckList(
        gate="rushes gate",
        headline=headline(report),
        checks=tuple(_check(m, allow_unclear) for m in gated),
        facts={
            "baseline": report.baseline.place,
            "candidate": report.candidate.place,
            "repeats": str(len(report.repeats)),
            "level": f"{report.level:g}",
            "clips": str(report.clips),
        },
        signatures=tuple(number.signature for m in gated for number in m.measurements),
        notes=tuple(_information(report)),
    )


def _check(m: MetricGate, allow_unclear: bool) -> Check:
    outcome: CheckOutcome = "failed" if m.failed else "passed"
    if m.unclear:
        outcome = "allowed" if allow_unclear else "unclear"
    details = (*map(_clip, m.worst), *(number.signature for number in m.measurements))
    return Check(name=m.label, outcome=outcome, kind=m.verdict, why=m.sentence, details=details)


def as_data(report: GateReport) -> dict[str, object]:
    """The report as plain data: every number with its signature, every signature defined once."""
    numbers = [number for m in report.metrics for number in m.measurements]
    numbers += [number for m in report.metrics for pair in m.worst for number in (pair.first, pair.second)]
    return {
        "answer": report.answer,
        "headline": headline(report),
        "baseline": report.baseline.place,
        "candidate": report.candidate.place,
        "repeats": [run.place for run in report.repeats],
        "level": report.level,
        "clips": report.clips,
        "metrics": [_metric(m) for m in report.metrics],
        "remarks": list(report.remarks),
        "definitions": {number.signature: number.definition.as_dict() for number in numbers},
    }


def _metric(m: MetricGate) -> dict[str, object]:
    return {
        "reading": m.label,
        "signature": m.reading.signature,
        "at": m.reading.place,
        "gated": m.gated,
        "loss": m.side,
        "verdict": m.verdict,
        "why": m.sentence,
        "measurements": [number.as_dict() for number in m.measurements],
        "worst": [
            {"clip": pair.subject, "baseline": pair.first.as_dict(), "candidate": pair.second.as_dict()}
            for pair in m.worst
        ],
    }
