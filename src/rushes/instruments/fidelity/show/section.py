"""The section of a fidelity run: the set's means first, then every pair with its timeline and worst frames."""

from __future__ import annotations

from collections.abc import Mapping

from rushes.core.table import Table
from rushes.core.words.definition_text import value_text
from rushes.instruments.fidelity.instrument import INSTRUMENT
from rushes.instruments.fidelity.metric import Series
from rushes.instruments.fidelity.show.tables import head_of, pair_columns, pairs_of, set_numbers, set_table
from rushes.instruments.fidelity.show.timeline import LANES, kept_series, pair_timeline, worst_of
from rushes.instruments.fidelity.show.worst import GAIN, lead_of, worst_strips
from rushes.present.pages.film_strips import Strip
from rushes.present.pages.section import ReportOptions, Section, notice
from rushes.present.pages.subjects import subject_table
from rushes.present.verdict.verdict import counted
from rushes.storage.runs import Entry, Run

_NAMED = 3


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """Everything the page says about one fidelity run."""
    entries = pairs_of(run)
    kept = {entry.subject.id: kept_series(run, entry) for entry in entries}
    worst = {entry.subject.id: worst_of(entry.measurements, kept[entry.subject.id]) for entry in entries}
    shown = [(entry, worst[entry.subject.id]) for entry in entries[: options.strips]]
    strips = worst_strips(run, shown, options)
    columns = pair_columns(entries)
    table = subject_table(
        entries,
        noun="pair",
        signals=(),
        columns=[(head_of(m).rstrip(" ↑↓"), m.definition, number > 3) for number, m in enumerate(columns)],
        about=_about,
        details=lambda entry: _details(entry, kept[entry.subject.id], strips.get(entry.subject.id)),
    )
    return Section(
        anchor=anchor,
        title=INSTRUMENT.title,
        question=INSTRUMENT.question,
        run=run,
        notice=notice(run, total=len(run.info.get("inputs") or ())),
        summary=told(run),
        facts=_facts(run),
        subjects=table,
        grids=grids(run),
        definitions=[*(m.definition for m in set_numbers(run)), *table.definitions],
    )


def grids(run: Run) -> tuple[Table, ...]:
    """The set's means."""
    return (set_table(run),)


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """What the run's own page has of the section."""
    return told(run), grids(run)


def summary(run: Run) -> str:
    """How many pairs, and what the first few means of the set are."""
    pairs = [entry for entry in run.entries if entry.subject.kind == "pair"]
    failed = [entry for entry in pairs if "error" in entry.subject.facts]
    told = [f"{head_of(m).rstrip(' ↑↓')} {value_text(m)}" for m in set_numbers(run)[:_NAMED] if m.value is not None]
    many = counted(len(pairs) - len(failed), "pair")
    return f"{', '.join(told)}: mean over {many}." if told else f"{many}."


def told(run: Run) -> str:
    """The summary with its notes, for a page."""
    return " ".join([summary(run), *(f"{note}." for note in notes(run))])


def notes(run: Run) -> tuple[str, ...]:
    """Pairs that could not be compared, with the first reason."""
    pairs = [entry for entry in run.entries if entry.subject.kind == "pair"]
    failed = [entry for entry in pairs if "error" in entry.subject.facts]
    if not failed:
        return ()
    return (f"{len(failed)} of {len(pairs)} pairs could not be compared: {failed[0].subject.facts['error']}",)


def _details(entry: Entry, series: Mapping[str, Series], strip: Strip | None) -> dict[str, object]:
    """What a row shows when it is opened."""
    lead = lead_of(entry.measurements, series)
    asked = "No pictures were asked for this pair; rushes report --strips N makes them for the first N, worst first."
    why = str(entry.subject.facts.get("error", asked))
    found = Strip(missing=why) if strip is None else strip
    by = "" if lead is None else f"Worst frames by {head_of(lead[0])}: generated, reference, difference × {GAIN}"
    return {
        "timeline": pair_timeline(entry.measurements, series, most=LANES),
        "strip": [[frame.frame, frame.time_ms, frame.jpeg] for frame in found.frames],
        "strip_of": by,
        "no_strip": found.missing,
    }


def _about(entry: Entry) -> str:
    facts = entry.subject.facts
    if "error" in facts:
        return f"not compared: {facts['error']}"
    size, reference = facts.get("size"), facts.get("reference")
    parts = [f"against {reference['path']}" if isinstance(reference, dict) else ""]
    parts.append(f"{size[0]}×{size[1]}" if isinstance(size, list) else "")
    parts.append(f"{facts.get('frames')} pairs of frames")
    parts.append(f"lag {facts['lag']}" if "lag" in facts else "")
    told = facts.get("remarks")
    parts += [str(remark) for remark in told] if isinstance(told, list) else []
    over = facts.get("left_over")
    parts.append(f"left over: {over['gen']} generated, {over['gt']} reference" if isinstance(over, dict) else "")
    return " · ".join(part for part in parts if part)


def _facts(run: Run) -> list[tuple[str, str]]:
    settings = run.info.get("settings") or {}
    shown = {"gt": "References", "pair": "Frames paired by", "resize": "Resized", "cut": "Cut", "lag": "Lag"}
    return [(words, str(settings[key])) for key, words in shown.items() if settings.get(key) not in (None, "none")]
