"""Prompts × systems on one reading: a row per prompt, a cell per clip, and which cells may be called best and worst."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.compare.board.model import PEOPLE, BoardClip, BoardData, Reading, ReadingKey, ReadingVerdict
from rushes.compare.board.page.columns import why_only_moves
from rushes.compare.comparison import WhyNot
from rushes.compare.readings.value_rows import all_floats
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.present.verdict.verdict import listed
from rushes.stats.rounding import stored_floats
from rushes.suite.prompts import Prompt

Sort: TypeAlias = Literal["difference", "prompt"]
Mark: TypeAlias = Literal["", "best", "worst"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One system's answer to one prompt."""

    system: str
    clip: BoardClip | None
    value: Measurement | None
    """Of the chosen reading; None where it was not measured."""
    mark: Mark = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """One prompt over all systems, in the board's order."""

    prompt: Prompt
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptGrid:
    """The rows that were asked for, in order, and what their marks mean."""

    reading: Reading | None
    """None where the board has no number per prompt; clips are still to be seen."""
    systems: tuple[str, ...]
    rows: tuple[GridRow, ...]
    marked: int
    """Rows with a best and a worst cell."""
    words: str
    """What the marks say, or why there are none."""


def grid_readings(data: BoardData) -> list[Reading]:
    """Readings with a value per prompt, what is worth a look first.

    First what people said, then what can say better and worse; then by whether a value differs from another, whether
    it is a number of the clip and not its review signal, whether a direction is better; then in the board's order.
    """
    found = [reading for reading in data.readings if reading.per_prompt]
    return sorted(found, key=lambda reading: _order(data, reading))


def _order(data: BoardData, reading: Reading) -> tuple[bool, ...]:
    rows = [data.values.get((name, reading.key), {}) for name in data.names]
    found = [all_floats(row) for row in rows]
    values = np.unique(stored_floats(np.concatenate([np.empty(0), *found])))
    lacking = any(len(row) > len(held) for row, held in zip(rows, found, strict=True))
    neither = reading.definition.better == "neither"
    return (
        reading.instrument != PEOPLE,
        not reading.definition.ranks_systems,
        len(values) + lacking < 2,
        bool(reading.at),
        neither,
    )


def prompt_grid(
    data: BoardData,
    verdicts: Mapping[ReadingKey, ReadingVerdict],
    *,
    reading: ReadingKey = "",
    systems: Sequence[str] = (),
    text: str = "",
    sort: Sort = "difference",
) -> PromptGrid:
    """The grid of a board; `systems` and `text` (in a prompt's id, words or group) choose columns and rows.

    Best and worst  the cells of a row with its best and its worst value, marked only where these two systems differ
                    significantly on the metric, in the same direction. One prompt is one clip of each
                    system: its difference alone says nothing about the systems. No mark where two cells share the best
                    or the worst value.
    Sort            "difference": by highest − lowest value of the row, largest first; rows with fewer than two values
                    last. "prompt": as the board has them. Of equals, in the board's order.
    Raises          `InputError` for a reading or a system that the board does not have
    """
    chosen = _reading(data, reading)
    columns = _systems(data, systems)
    judged = verdicts.get(chosen.key) if chosen else None
    apart = set(judged.ranked) if judged else set()
    wanted = text.casefold().strip()
    prompts = [one for one in data.prompts if wanted in f"{one.id}\n{one.text}\n{one.group}".casefold()]
    rows = [_row(data, chosen, columns, prompt, apart) for prompt in prompts]
    if sort == "difference":
        rows = [rows[place] for place in sorted(range(len(rows)), key=lambda n: -_width(rows[n]))]
    marked = sum(any(cell.mark for cell in row.cells) for row in rows)
    words = _words(chosen, judged, columns, marked, len(rows))
    return PromptGrid(reading=chosen, systems=columns, rows=tuple(rows), marked=marked, words=words)


def _reading(data: BoardData, key: ReadingKey) -> Reading | None:
    found = grid_readings(data)
    if not key:
        return found[0] if found else None
    if one := next((one for one in found if one.key == key), None):
        return one
    raise InputError(f"the board has no metric {key[:120]!r} with a value per prompt")


def _systems(data: BoardData, chosen: Sequence[str]) -> tuple[str, ...]:
    if unknown := [name for name in chosen if name not in data.names]:
        raise InputError(f"the board has no system {unknown[0][:120]!r}; it has {listed(data.names)}")
    return tuple(name for name in data.names if name in chosen) if chosen else data.names


def _row(
    data: BoardData, reading: Reading | None, systems: Iterable[str], prompt: Prompt, apart: set[tuple[str, str]]
) -> GridRow:
    values = {
        name: data.values.get((name, reading.key), {}).get(prompt.id) if reading is not None else None
        for name in systems
    }
    best, worst = _ends(reading, values)
    marks: dict[str, Mark] = {best: "best", worst: "worst"} if (best, worst) in apart else {}
    return GridRow(
        prompt=prompt,
        cells=tuple(
            GridCell(system=name, clip=data.clips.get((name, prompt.id)), value=values[name], mark=marks.get(name, ""))
            for name in values
        ),
    )


def _ends(reading: Reading | None, values: Mapping[str, Measurement | None]) -> tuple[str, str]:
    """Systems with the row's only best and only worst value; "" where two share it, or no direction is better."""
    known = {name: float(m.value) for name, m in values.items() if m is not None and m.value is not None}
    if reading is None or reading.definition.better == "neither" or len(known) < 2:
        return "", ""
    high, low = max(known.values()), min(known.values())
    highest, lowest = ([name for name, value in known.items() if value == end] for end in (high, low))
    one, other = (names[0] if len(names) == 1 else "" for names in (highest, lowest))
    return (one, other) if reading.definition.better == "higher" else (other, one)


def _width(row: GridRow) -> float:
    known = [float(cell.value.value) for cell in row.cells if cell.value is not None and cell.value.value is not None]
    return max(known) - min(known) if len(known) > 1 else -1.0


def _words(
    reading: Reading | None, verdict: ReadingVerdict | None, systems: Sequence[str], marked: int, rows: int
) -> str:
    if reading is None:
        return "No metric has a value per prompt for these systems, so no cell is marked."
    if verdict is None or verdict.why_not:
        why = "nothing was judged" if verdict is None else verdict.why_not
        if verdict and verdict.why in (WhyNot.NO_DIRECTION, WhyNot.OTHER_CAUSES):
            why = why_only_moves(reading.definition)
        return f"No winner marked: on {reading.label}, {why}."
    pairs = [pair for pair in sorted(set(verdict.ranked)) if set(pair) <= set(systems)]
    if not pairs:
        return f"No winner marked: over all prompts, these systems do not differ significantly on {reading.label}."
    told = listed([f"{better} over {worse}" for better, worse in pairs])
    return (
        f"▲ best and ▼ worst of a row are marked where the two systems differ significantly on {reading.label} over "
        f"all prompts: {told}. Rows marked: {marked} of {rows}."
    )
