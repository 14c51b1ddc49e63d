"""Distribution: each distance under each protocol, with N, interval and what it was computed with."""

from __future__ import annotations

from typing import Any

from rushes.core import Measurement
from rushes.core.table import Table
from rushes.core.words.definition_text import value_text
from rushes.instruments.distribution.distances.sensitivity import is_departure
from rushes.instruments.distribution.few_videos import clips_of, why_no_verdict
from rushes.instruments.distribution.instrument import INSTRUMENT
from rushes.instruments.distribution.protocols import DEFAULT, FRAME_METRICS, METRICS
from rushes.instruments.distribution.show.tables import (
    DIFFERENCE,
    DistanceRow,
    all_tables,
    difference_rows,
    distance_rows,
    protocols_table,
    sensitivity_table,
    verdict_of,
)
from rushes.present.pages.section import ReportOptions, Section, numbers_section
from rushes.storage.runs import Run

_MOST_NAMED = 2
"""Distances named in a sentence; the table has them all."""


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """The distances and what surrounds them, what other constants would have made of them, then the protocols."""
    rows, numbers = _rows(run), _numbers(run)
    exchanged = (sensitivity_table(numbers),) if any(map(is_departure, numbers)) else ()
    return (*all_tables(numbers), *exchanged, protocols_table(rows)) if rows else ()


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """What the run's own page has of the section."""
    return summary(run), grids(run)


def summary(run: Run) -> str:
    """The distances with N and protocol, those of one protocol together; then what was said of two models."""
    rows = _rows(run)
    if not rows:
        return "No distance could be computed."
    groups: dict[str, list[DistanceRow]] = {}
    for row in rows[:_MOST_NAMED]:
        groups.setdefault(_under(row), []).append(row)
    parts = [f"{', '.join(map(_named, group))} ({under})" for under, group in groups.items()]
    if len(rows) > _MOST_NAMED:
        parts.append(f"{len(rows) - _MOST_NAMED} more are in the table")
    said = [f"By {m.name.removesuffix(DIFFERENCE)}: {verdict_of(m)}." for m in difference_rows(_numbers(run))]
    said = said[:_MOST_NAMED]
    clips = clips_of(run)
    if few := [row for row in rows if why_no_verdict(row.value, clips)]:
        said.append(f"Fewer clips than features ({few[0].setting('d')}): too few clips for a reportable value.")
    if any(row.is_random for row in rows):
        said.append("The weights are random, so these values are comparable only with each other.")
    return " ".join(["; ".join(parts) + ".", *said])


def _under(row: DistanceRow) -> str:
    """ "3 vs 3 clips, protocol genhoi"."""
    what = "frames" if row.value.name in FRAME_METRICS else "clips"
    sizes, protocol = f"{row.setting('n_gen')} vs {row.setting('n_gt')} {what}", row.setting("protocol")
    if protocol == "–":
        return sizes
    return f"{sizes}, protocol {protocol}{', the default' * (protocol == DEFAULT)}"


def _named(row: DistanceRow) -> str:
    """ "FVD 25.67"."""
    short = row.value.name in METRICS and not row.is_share
    name = row.metric.replace(row.value.name, row.value.name.upper()) if short else row.metric
    return f"{name} {value_text(row.value)}"


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for subject in run.subjects:
        known: Any = subject.facts
        left_out = len(known.get("excluded") or ())
        note = f", {left_out} left out" if left_out else ""
        side = str(known.get("side", subject.id)).capitalize()
        lines.append((side, f"{subject.path}: {known.get('clips')} clips{note}"))
    return lines


def _rows(run: Run) -> list[DistanceRow]:
    return distance_rows(_numbers(run))


def _numbers(run: Run) -> list[Measurement]:
    return [m for entry in run.entries for m in entry.measurements]
