"""A gate's report as plain text, JUnit XML, Markdown for a GitHub step summary, and plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from rushes.ci.checks import Check, CheckList, Outcome
from rushes.ci.junit import junit_xml
from rushes.ci.markdown import as_text, signatures_markdown
from rushes.core.canonical import canonical_line
from rushes.suite.gate_readings import ClipPair
from rushes.suite.gate_report import GateReport, MetricGate

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
    kept = "the same within" if all(m.verdict == "same" for m in gated) else "no worse than"
    return f"The gate holds: {_count([m.label for m in gated])} {kept} the margin {over}."


def _count(labels: list[str]) -> str:
    return "1 reading is" if len(labels) == 1 else f"{len(labels)} readings are"


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
        yield f"{m.label:{width}}  {m.verdict:11}  {m.why}"
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
    moved = [m for m in report.metrics if not m.gated and m.verdict == "moved"]
    if moved:
        yield ""
        yield "Moved, which does not tell better from worse, so the gate does not go by it:"
        yield from (f"  {m.label}: {m.why}" for m in moved)
    if report.remarks:
        yield ""
        yield from (f"Note: {remark}" for remark in report.remarks)


def _clip(pair: ClipPair) -> str:
    return f"{pair.clip}: {pair.baseline.value:.6g} → {pair.candidate.value:.6g}"


def _markdown(report: GateReport) -> Iterator[str]:
    mark = {"same": "✅", "worse": "❌", "cannot tell": "❔"}[report.answer]
    yield f"### {mark} {as_text(headline(report))}"
    yield ""
    yield as_text(_sides(report))
    yield ""
    yield "| reading | verdict | candidate − baseline | interval | margin | noise of a repeat |"
    yield "|---|---|---:|---:|---:|---:|"
    for m in report.gated:
        found = m.difference.interval
        interval = "–" if found is None else f"{found.low:+.4g} to {found.high:+.4g} ({100 * found.level:.4g} %)"
        cells = (
            as_text(m.label),
            f"**{m.verdict}**",
            _cell(m, "difference"),
            interval,
            _cell(m, "margin"),
            _cell(m, "noise"),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    for m in report.gated:
        if m.verdict not in ("same", "better", "not worse"):
            yield f"- **{as_text(m.label)}**: {as_text(m.why)}"
            yield from (f"  - {as_text(_clip(pair))}" for pair in m.worst)
    yield from map(as_text, _information(report))
    yield from signatures_markdown(tuple(number.signature for m in report.gated for number in m.measurements))


def _cell(gate: MetricGate, which: Literal["difference", "margin", "noise"]) -> str:
    number = {"difference": gate.difference, "margin": gate.margin, "noise": gate.noise}[which]
    if number.value is None:
        return "–"
    unit = "" if gate.reading.definition.unit == "1" else f" {gate.reading.definition.unit}"
    return f"{number.value:{'+' if which == 'difference' else ''}.4g}{as_text(unit)}"


def failure_text(report: GateReport) -> str:
    """Why the gate does not hold, for a failing test: each open reading with its worst clips and its signature."""
    lines = [headline(report), f"baseline {report.baseline.place}, candidate {report.candidate.place}"]
    for m in report.gated:
        if m.failed or m.unclear:
            lines.append(f"{m.label}: {m.verdict}, {m.why}")
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
    outcome: Outcome = "failed" if m.failed else "passed"
    if m.unclear:
        outcome = "allowed" if allow_unclear else "unclear"
    details = (*map(_clip, m.worst), *(number.signature for number in m.measurements))
    return Check(name=m.label, outcome=outcome, kind=m.verdict, why=m.why, details=details)


def as_data(report: GateReport) -> dict[str, object]:
    """The report as plain data: every number with its signature, every signature defined once."""
    numbers = [number for m in report.metrics for number in m.measurements]
    numbers += [number for m in report.metrics for pair in m.worst for number in (pair.baseline, pair.candidate)]
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
        "why": m.why,
        "measurements": [number.as_dict() for number in m.measurements],
        "worst": [
            {"clip": pair.clip, "baseline": pair.baseline.as_dict(), "candidate": pair.candidate.as_dict()}
            for pair in m.worst
        ],
    }
