"""What a gate answers, as plain text, JUnit XML, Markdown for a GitHub step summary, and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from rushes.compare.agreement.credential import shipped_credentials
from rushes.compare.comparison import Outcome
from rushes.compare.gate.answer import GateReport, MetricGate
from rushes.compare.gate.rules import questions
from rushes.compare.gate.signals import SignalChange
from rushes.compare.runs.changes import Change
from rushes.core import Measurement
from rushes.core.canonical import canonical_line
from rushes.core.table import INTERVAL, NUMBER, TEXT, Cell, Table
from rushes.core.words.definition_text import value_text
from rushes.core.words.options import option
from rushes.present.ci.checks import Check, CheckList
from rushes.present.ci.checks import Outcome as CheckOutcome
from rushes.present.ci.formats import junit_xml, signatures_markdown
from rushes.present.tables.markdown import escaped, pipe_lines

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

    "The gate holds: 3 metrics are the same within the margin over 8 clips."
    """
    gated, over = report.gated, f"over {report.clips} clips" if report.clips > 1 else "over one pair of numbers"
    failed, unclear = [m.label for m in gated if m.failed], [m.label for m in gated if m.unclear]
    if failed:
        by = "worse by more than" if all(m.outcome is Outcome.WORSE for m in gated if m.failed) else "beyond"
        return f"The gate does not hold: {_count(failed)} {by} the margin {over}: {', '.join(failed)}."
    if (signals := report.signals) is not None and signals.is_worse:
        counts = f"{signals.after} of {signals.clips} clips are flagged or rejected"
        return f"The gate does not hold: {counts}, {signals.before} in the baseline."
    if unclear:
        return f"The gate cannot tell: {_count(unclear)} open {over}: {', '.join(unclear)}."
    if report.is_unjudged and not report.judges:
        return f"The gate cannot tell: no metric here judges picture quality ({_kept(gated)} {over})."
    if changed := [m.label for m in report.unexplained]:
        return f"The gate cannot tell: the picture was not judged, and {', '.join(changed)} changed {over}."
    if report.is_unjudged:
        return f"The gate cannot tell: the picture was not judged, only its {_about(report)} ({_kept(gated)} {over})."
    if not report.judges_picture:
        about = f" in {_about(report)}" if report.judges else ""
        return f"The gate holds{about}, but the picture was not judged: {_kept(gated)} {over}."
    return f"The gate holds: {_kept(gated)} {over}."


def _kept(gated: Sequence[MetricGate]) -> str:
    kept = "the same within" if all(m.outcome is Outcome.SAME for m in gated) else "no worse than"
    return f"{_count([m.label for m in gated])} {kept} the margin"


def _about(report: GateReport) -> str:
    """ "temporal quality": what people were asked where the metrics that judge agreed with them."""
    asked = {question for m in report.judges for question in questions(m.reading.definition, m.reading.at)}
    return " and ".join(sorted(question.replace("_", " ") for question in asked))


def _advice(report: GateReport) -> Iterator[str]:
    """What would judge the picture, where nothing does."""
    if report.judges_picture:
        return
    runs = f"{report.baseline.place} {report.candidate.place}"
    yield ""
    yield "What would judge it, on both sides:"
    yield "  frame by frame against references:  rushes fidelity CLIPS REFERENCES -o RUN"
    yield "  a vision-language model:            rushes judge CLIPS -o RUN"
    if not report.judges:
        yield f"  time alone, as people rated it:     rushes gate {runs} --metric NAME:MARGIN ({_earned()})"
    if report.is_unjudged:
        yield f"To pass without such a metric: {option('--allow-unjudged', 'allow_unjudged=True')}"


def _earned() -> str:
    names = sorted({one.metric for one in shipped_credentials() if one.above_chance and not one.fooled_by})
    return ", ".join(names)


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
    yield from information(report)
    yield from _advice(report)
    if not signatures:
        return
    yield ""
    yield "Signatures, differences and margins:"
    for m in report.gated:
        yield f"  {m.difference.signature}"
        yield f"  {m.margin.signature}"


def information(report: GateReport) -> Iterator[str]:
    moved = [m for m in report.metrics if not m.gated and m.outcome is Outcome.MOVED]
    if moved:
        yield ""
        yield "Changed, but not evidence of better or worse, so the gate ignores it:"
        yield from (f"  {m.label}: {m.sentence}" for m in moved)
    if report.signals is not None:
        yield ""
        yield f"{report.signals.sentence}."
    if report.remarks:
        yield ""
        yield from (f"Note: {remark}" for remark in report.remarks)


def _clip(change: Change) -> str:
    return f"{change.subject}: {value_text(change.first)} → {value_text(change.second)}"


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
    yield from map(escaped, information(report))
    yield from map(escaped, _advice(report))
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
    return "\n".join([*lines, *information(report), *_advice(report)])


def gate_checks(report: GateReport, *, allow_unclear: bool = False) -> CheckList:
    """One check per reading: failed where it is worse, unclear (or allowed) where the gate cannot tell."""
    gated = report.gated
    return CheckList(
        gate="rushes gate",
        headline=headline(report),
        checks=(*(_check(m, allow_unclear) for m in gated), *_picture_check(report, allow_unclear)),
        facts={
            "baseline": report.baseline.place,
            "candidate": report.candidate.place,
            "repeats": str(len(report.repeats)),
            "level": f"{report.level:g}",
            "clips": str(report.clips),
        },
        signatures=tuple(number.signature for m in gated for number in m.measurements),
        notes=tuple(information(report)),
    )


def _check(m: MetricGate, allow_unclear: bool) -> Check:
    outcome: CheckOutcome = "failed" if m.failed else "passed"
    if m.unclear:
        outcome = "allowed" if allow_unclear else "unclear"
    details = (*map(_clip, m.worst), *(number.signature for number in m.measurements))
    return Check(name=m.label, outcome=outcome, kind=m.verdict, why=m.sentence, details=details)


def _picture_check(report: GateReport, allow_unclear: bool) -> Iterator[Check]:
    """What is about the gate as a whole: review signals that got worse, and nothing that judges."""
    open_outcome: CheckOutcome = "allowed" if allow_unclear else "unclear"
    if report.signals is not None and report.more_flagged:
        signals = report.signals
        yield Check(
            name="review signals", outcome="failed", kind="worse", why=signals.sentence, details=(signals.p.signature,)
        )
    if report.unexplained:
        why = f"changed by more than the margin: {', '.join(m.label for m in report.unexplained)}"
        yield Check(name="picture quality", outcome=open_outcome, kind="cannot tell", why=why, details=())
    elif not report.judges_picture:
        why = "no metric here judges picture quality; compare with rushes fidelity or rushes judge"
        outcome = open_outcome if report.is_unjudged else "allowed"
        yield Check(name="picture quality", outcome=outcome, kind="cannot tell", why=why, details=())


def as_data(report: GateReport) -> dict[str, object]:
    """The report as plain data: every number with its signature, every signature defined once."""
    numbers = [number for m in report.metrics for number in m.measurements]
    numbers += [number for m in report.metrics for pair in m.worst for number in (pair.first, pair.second)]
    numbers += [report.signals.p] if report.signals else []
    return {
        "answer": report.answer,
        "headline": headline(report),
        "baseline": report.baseline.place,
        "candidate": report.candidate.place,
        "repeats": [run.place for run in report.repeats],
        "level": report.level,
        "clips": report.clips,
        "metrics": [_metric(m) for m in report.metrics],
        "judges_picture": bool(report.judges),
        "signals": _signals(report.signals),
        "remarks": list(report.remarks),
        "definitions": {number.signature: number.definition.as_dict() for number in numbers},
    }


def _metric(m: MetricGate) -> dict[str, object]:
    return {
        "reading": m.label,
        "signature": m.reading.signature,
        "at": m.reading.place,
        "gated": m.gated,
        "judges_picture": m.judges,
        "loss": m.side,
        "verdict": m.verdict,
        "why": m.sentence,
        "measurements": [number.as_dict() for number in m.measurements],
        "worst": [
            {"clip": pair.subject, "baseline": pair.first.as_dict(), "candidate": pair.second.as_dict()}
            for pair in m.worst
        ],
    }


def _signals(change: SignalChange | None) -> dict[str, object] | None:
    if change is None:
        return None
    return {
        "baseline": change.before,
        "candidate": change.after,
        "clips": change.clips,
        "newly": list(change.newly),
        "worse": change.is_worse,
        "p": change.p.as_dict(),
    }
