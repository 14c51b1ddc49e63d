"""Pose: PCK under each normalisation, the errors beside it, PCK of each joint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rushes.core.table import Table
from rushes.core.words.definition_text import value_text
from rushes.instruments.pose.instrument import INSTRUMENT
from rushes.instruments.pose.show.tables import clip_table, k_of, norm_of, pcks_at_one_k, pose_tables, set_table
from rushes.present.pages.section import ReportOptions, Section, numbers_section
from rushes.storage.runs import Entry, Run


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """The tables of each pair of pose files; of a set, the set's and a row per clip."""
    whole = [entry for entry in run.entries if entry.subject.kind == "set"]
    if whole:
        clips = {entry.subject.id: entry.measurements for entry in run.entries if entry.subject.kind != "set"}
        return (set_table(whole[0].measurements), clip_table(clips))
    return tuple(
        replace(table, title=f"{entry.subject.id}: {table.title}")
        for entry in run.entries
        for table in pose_tables(entry.measurements)
    )


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """What the run's own page has of the section."""
    return summary(run), grids(run)


def summary(run: Run) -> str:
    """PCK under every normalisation at one k, which is the whole point: they differ."""
    whole = [entry for entry in run.entries if entry.subject.kind == "set"]
    shown = whole or run.entries
    return " ".join(_sentence(entry, named=len(shown) > 1) for entry in shown)


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for entry in run.entries:
        known: Any = entry.subject.facts
        if entry.subject.kind == "set":
            lines.append(("Clips", f"{known.get('scored')} of {known.get('pairs')} scored, against {known.get('gt')}"))
            continue
        if "error" in known:
            lines.append(("Not scored", f"{entry.subject.id}: {known['error']}"))
            continue
        lines.append(("Pair", f"{entry.subject.path} against {known.get('gt')}"))
        lines.append(("Frames", f"{known.get('frames')}, paired by {known.get('matched_by')}"))
        lines.append(("Skeleton", str(known.get("skeleton"))))
        # Runs of format 1 call them remarks.
        lines += [("Warning", str(line)) for line in known.get("warnings") or known.get("remarks") or ()]
    return lines


def _sentence(entry: Entry, *, named: bool) -> str:
    found = pcks_at_one_k(entry.measurements)
    if not found:
        return f"{entry.subject.id}: no PCK could be scored."
    parts = ", ".join(f"{value_text(m)} by {norm_of(m)}" for m in found)
    which = f"{entry.subject.id}: " if named else ""
    return f"{which}PCK@{k_of(found[0])} is {parts}."
