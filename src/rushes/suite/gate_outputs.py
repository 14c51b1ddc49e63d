"""A gate's report as plain text, JUnit XML, Markdown for a GitHub step summary, and plain data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias
from xml.etree import ElementTree  # writes XML, parses none  # nosec B405

from rushes.core.canonical import canonical_line
from rushes.suite.gate_readings import ClipPair
from rushes.suite.gate_report import GateReport, MetricGate

GateFormat: TypeAlias = Literal["text", "junit", "github", "json"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate_text(report: GateReport, format: GateFormat, *, allow_unclear: bool = False, signatures: bool = True) -> str:
    """The report in one of the formats, ending in a newline. `allow_unclear`: what it cannot tell is no error.

    Plain text without `signatures` is for a terminal, where `-v` shows them.
    """
    if format == "junit":
        return _junit(report, allow_unclear)
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
    yield f"### {mark} {_md(headline(report))}"
    yield ""
    yield _md(_sides(report))
    yield ""
    yield "| reading | verdict | candidate − baseline | interval | margin | noise of a repeat |"
    yield "|---|---|---:|---:|---:|---:|"
    for m in report.gated:
        found = m.difference.interval
        interval = "–" if found is None else f"{found.low:+.4g} to {found.high:+.4g} ({100 * found.level:.4g} %)"
        cells = (
            _md(m.label),
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
            yield f"- **{_md(m.label)}**: {_md(m.why)}"
            yield from (f"  - {_md(_clip(pair))}" for pair in m.worst)
    yield from map(_md, _information(report))
    yield ""
    yield "<details><summary>Signatures</summary>"
    yield ""
    for m in report.gated:
        yield from (f"- `{number.signature}`" for number in m.measurements)
    yield ""
    yield "</details>"


def _cell(gate: MetricGate, which: Literal["difference", "margin", "noise"]) -> str:
    number = {"difference": gate.difference, "margin": gate.margin, "noise": gate.noise}[which]
    if number.value is None:
        return "–"
    unit = "" if gate.reading.definition.unit == "1" else f" {gate.reading.definition.unit}"
    return f"{number.value:{'+' if which == 'difference' else ''}.4g}{_md(unit)}"


def _md(text: str) -> str:
    """Words of others as text: no table cell, tag, link or emphasis comes out of a clip's name."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return re.sub(r"([\\`*\[\]|])", r"\\\1", plain)


def _junit(report: GateReport, allow_unclear: bool) -> str:
    """One test case per reading: failure where it is worse, error (or skipped) where the gate cannot tell."""
    gated = report.gated
    counts = {
        "tests": len(gated),
        "failures": sum(m.failed for m in gated),
        "errors": 0 if allow_unclear else sum(m.unclear for m in gated),
    }
    root = ElementTree.Element("testsuites", {"name": "rushes gate"} | {k: str(v) for k, v in counts.items()})
    skipped = sum(m.unclear for m in gated) if allow_unclear else 0
    numbers = {key: str(value) for key, value in (counts | {"skipped": skipped}).items()}
    suite = ElementTree.SubElement(root, "testsuite", {"name": "rushes gate"} | numbers)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (
        ("baseline", report.baseline.place),
        ("candidate", report.candidate.place),
        ("repeats", str(len(report.repeats))),
        ("level", f"{report.level:g}"),
        ("clips", str(report.clips)),
    ):
        ElementTree.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    for m in gated:
        case = ElementTree.SubElement(suite, "testcase", {"name": _xml(m.label), "classname": "rushes.gate"})
        detail = "\n".join([m.why, *map(_clip, m.worst), *(number.signature for number in m.measurements)])
        message = {"message": _xml(f"{m.verdict}: {m.why}")}
        if m.failed:
            ElementTree.SubElement(case, "failure", message | {"type": m.verdict}).text = _xml(detail)
        elif m.unclear and allow_unclear:
            ElementTree.SubElement(case, "skipped", message)
        elif m.unclear:
            ElementTree.SubElement(case, "error", message | {"type": "cannot tell"}).text = _xml(detail)
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(f"{m.verdict}: {detail}")
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join([headline(report), *_information(report)]))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


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
