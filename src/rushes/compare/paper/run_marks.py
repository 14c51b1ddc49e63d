"""Marks for a table of paper folders and single runs: the board of these runs decides, as it does for a suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rushes.compare.paper.evaluation import Evaluation, Pick, open_evaluation
from rushes.compare.paper.grid import TableColumn
from rushes.compare.paper.marks import marks_of
from rushes.compare.paper.systems import AGGREGATE, System
from rushes.core import Definition
from rushes.core.errors import RushesError
from rushes.core.reading import Reading


def with_marks(columns: Sequence[TableColumn], systems: Sequence[System]) -> list[TableColumn]:
    """The columns with the best and second best marked where significant; as they are where no board can be made."""
    if len(systems) < 2:
        return list(columns)
    try:
        evaluation = open_evaluation([f"{system.name}={run}" for system in systems for run in system.runs])
        return [_marked(column, systems, evaluation) for column in columns]
    except RushesError:  # runs that make a table and no board: nothing is significant then
        return list(columns)


def _marked(column: TableColumn, systems: Sequence[System], evaluation: Evaluation) -> TableColumn:
    if not column.found or len({number.clips for number in column.found}) > 1:
        return column  # means over different clips do not compare
    shown = column.found[0].measurement.definition
    reading = next((one for one in evaluation.data.readings if _is_shown(one, shown)), None)
    if reading is None:
        return column
    pick = Pick(name=column.column.name, title=column.title, better=shown.better, reading=reading)
    marks, names = marks_of(evaluation, pick), [system.name for system in systems]
    best, second = (names.index(name) if name in names else None for name in (marks.best, marks.second))
    return replace(column, best=best, second=second)


def _is_shown(reading: Reading, shown: Definition) -> bool:
    """Whether the board's reading is what the column's mean was made of."""
    own = reading.definition
    return own == shown or (not reading.at and own.add_params(aggregate=AGGREGATE) == shown)
