"""The numbers a run is opened for, where its subjects are not judged one by one: FVD, mean PSNR, PCK, Elo.

They are the first table of the run's section in a report: a row is an answer, its first words are what it is about.
"""

from __future__ import annotations

from collections.abc import Iterable

from rushes.core import Measurement
from rushes.core.table import ARROWS, Cell, Column, Table
from rushes.storage.runs import Run
from rushes.web.runs.cache import OpenRun
from rushes.web.runs.data import value_data

MOST = 4
_PLAIN = ("value", "metric")
"""Heads that say nothing about a number beyond its row."""


def answers_data(opened: OpenRun) -> list[dict[str, object]]:
    """Up to four, each with its value, interval and signature; [] for a run of clips with review signals."""
    tables = opened.tables[1]
    found = [] if not tables else list(_answers(tables[0]))[:MOST]
    return [value_data(m, reading=words) | {"more": m.note} for words, m in found]


def _answers(table: Table) -> Iterable[tuple[str, Measurement]]:
    for row in table.rows:
        cells = list(zip(row, table.columns, strict=True))
        place = next((n for n, (cell, _) in enumerate(cells) if cell.measurement is None and cell.text), len(cells))
        number = next(((cell, column) for cell, column in cells[place:] if cell.measurement is not None), None)
        if number is not None and number[0].measurement is not None and number[0].measurement.value is not None:
            yield _words(cells[place][0], number[1]), number[0].measurement


def _words(cell: Cell, column: Column) -> str:
    """ "PSNR"; "torso-diameter, PCK@20" where the column is not called value."""
    about, head = (text.strip("".join(ARROWS.values()) + " ") for text in (cell.text, column.head))
    return about.upper() if head in _PLAIN and about.islower() else about if head in _PLAIN else f"{about}, {head}"


def sets_data(run: Run) -> list[dict[str, object]]:
    """The sets that a distance is between: which side, where it lies, how many clips, how many were left out."""
    found = [(subject, subject.facts) for subject in run.subjects if subject.kind == "set"]
    return [
        {
            "side": {"ground truth": "reference"}.get(str(facts.get("side")), str(facts.get("side", ""))),
            "path": subject.path,
            "clips": facts.get("clips"),
            "left_out": len(excluded) if isinstance(excluded := facts.get("excluded"), dict) else 0,
        }
        for subject, facts in found
        if "side" in facts
    ]
