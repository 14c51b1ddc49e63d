"""The prompt × system grid as plain data: one page of rows, each cell with its clip, its value and where to look."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from rushes.core.table import ARROWS
from rushes.core.text import value_text
from rushes.errors import InputError
from rushes.suite.board import board_page
from rushes.suite.board_data import BoardData, Prompt, ReadingKey
from rushes.suite.board_page_clips import ClipIndex
from rushes.suite.board_verdicts import ReadingVerdict
from rushes.suite.collect import collect_board
from rushes.suite.prompt_grid import GridCell, GridRow, PromptGrid, Sort, grid_readings, prompt_grid
from rushes.suite.suite_prompts import read_prompts
from rushes.web.cell_pictures import picture_address
from rushes.web.clip_size import picture_size
from rushes.web.fields import whole_number
from rushes.web.run_cache import RunCache
from rushes.web.take_files import take_address, take_file

PAGE_SIZE = 40
"""Prompts of one page."""
_making = threading.Lock()
"""One board is judged at a time: the other requests go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridQuery:
    """What the address says; everything that is not the default is in the address, so a view can be sent on."""

    reading: ReadingKey = ""
    systems: tuple[str, ...] = ()
    text: str = ""
    sort: Sort = "difference"
    page: int = 1
    fixed: tuple[tuple[str, str], ...] = ()
    """What else the address needs: which runs the grid is of."""

    def address(self, **changes: object) -> str:
        """The query string of this view with some things changed; other pages start at the first."""
        view = replace(self, **({"page": 1} | changes))  # type: ignore[arg-type]
        fields: list[tuple[str, object]] = [*view.fixed, ("metric", view.reading)]
        fields += [("system", name) for name in view.systems]
        fields += [("q", view.text), ("sort", "" if view.sort == "difference" else view.sort)]
        fields += [("page", view.page if view.page > 1 else "")]
        return "?" + urlencode([(key, value) for key, value in fields if value != ""])


def read_grid_query(params: QueryParams, *, fixed: Sequence[tuple[str, str]] = ()) -> GridQuery:
    return GridQuery(
        reading=params.get("metric", ""),
        systems=tuple(params.getlist("system")),
        text=params.get("q", "").strip()[:200],
        sort="prompt" if params.get("sort") == "prompt" else "difference",
        page=whole_number(params.get("page", "1"), highest=10**6) or 1,
        fixed=tuple(fixed),
    )


@dataclass(frozen=True, kw_only=True)
class GridBoard:
    """The board behind a grid."""

    data: BoardData
    verdicts: Mapping[ReadingKey, ReadingVerdict]
    clips: ClipIndex

    @cached_property
    def badges(self) -> dict[tuple[str, str], str]:
        """Review signals by system and the clip's path, from whichever of the system's runs judged it."""
        return {
            (system.name, subject.path): subject.badge
            for system in self.data.systems
            for run in system.runs
            for subject in run.subjects
            if subject.badge
        }


def runs_board(runs: Mapping[str, Path], stamps: Sequence[str]) -> GridBoard:
    """The board of served runs, a system each by the run's name; judged once for each state of the runs."""
    return _runs_board(tuple(runs.items()), tuple(stamps))


@lru_cache(maxsize=8)
def _runs_board(runs: tuple[tuple[str, Path], ...], stamps: tuple[str, ...]) -> GridBoard:
    with _making:
        data = collect_board([folder if "=" in name else f"{name}={folder}" for name, folder in runs])
        data = _with_texts(data, [folder for _, folder in runs])
        page = board_page(data, timelines=0)
        return GridBoard(data=page.data, verdicts=page.verdicts, clips=ClipIndex(page.data))


def _with_texts(data: BoardData, folders: Sequence[Path]) -> BoardData:
    """Prompts with their words, where a prompts.csv lies beside the runs or beside their folder."""
    places = dict.fromkeys(place / "prompts.csv" for folder in folders for place in folder.resolve().parents[:2])
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return data
    try:
        known = {prompt.id: prompt for prompt in read_prompts(file)}
    except InputError:
        return data  # a table of something else: the grid shows the prompts' ids
    return replace(data, prompts=tuple(_worded(prompt, known.get(prompt.id)) for prompt in data.prompts))


def _worded(prompt: Prompt, known: Prompt | None) -> Prompt:
    return prompt if known is None else replace(prompt, text=known.text, group=known.group)


def grid_data(
    board: GridBoard, query: GridQuery, *, run_cache: RunCache, look: Callable[[GridRow], str]
) -> dict[str, object]:
    """One page of the grid; `look` gives the address that shows a row's clips on one clock, "" where there is none."""
    grid = prompt_grid(
        board.data,
        board.verdicts,
        reading=query.reading,
        systems=query.systems,
        text=query.text,
        sort=query.sort,
    )
    pages = max(1, -(-len(grid.rows) // PAGE_SIZE))
    first = (min(query.page, pages) - 1) * PAGE_SIZE
    shown = grid.rows[first : first + PAGE_SIZE]
    return {
        "systems": list(grid.systems),
        "reading": _reading(grid),
        "readings": [{"key": one.key, "label": one.label} for one in grid_readings(board.data)],
        "words": grid.words,
        "prompts": len(board.data.prompts),
        "matching": len(grid.rows),
        "marked": grid.marked,
        "page": first // PAGE_SIZE + 1,
        "pages": pages,
        "rows": [_row(board, row, run_cache, look(row)) for row in shown],
    }


def _reading(grid: PromptGrid) -> dict[str, object] | None:
    if grid.reading is None:
        return None
    definition = grid.reading.definition
    facts = {"key": grid.reading.key, "label": grid.reading.label, "arrow": ARROWS[definition.better]}
    return {**facts, "unit": definition.unit, "signature": definition.signature, "summary": definition.summary}


def _row(board: GridBoard, row: GridRow, run_cache: RunCache, address: str) -> dict[str, object]:
    return {
        "prompt": {"id": row.prompt.id, "text": row.prompt.text, "group": row.prompt.group},
        "address": address,
        "cells": [_cell(board, row.prompt.id, cell, run_cache) for cell in row.cells],
    }


def _cell(board: GridBoard, prompt: str, cell: GridCell, run_cache: RunCache) -> dict[str, object]:
    facts: dict[str, object] = {"system": cell.system, "mark": cell.mark, "there": cell.clip is not None}
    if cell.value is not None:
        facts |= {"text": value_text(cell.value), "value": cell.value.stored_value, "note": cell.value.note}
        facts["signature"] = cell.value.signature
    if cell.clip is None:
        return facts
    key = cell.system, prompt
    run, entry = board.clips.run(key), board.clips.entry(key)
    if entry is None:
        return facts
    token = run_cache.token(run.path, entry.subject.id)
    file = take_file(run, entry.subject)
    width, height = picture_size(entry.subject)
    return facts | {
        "badge": board.badges.get((cell.system, entry.subject.path)) or entry.subject.badge,
        "picture": "" if file is None else picture_address(token, _version(entry.subject.sha256)),
        "video": "" if file is None else take_address(token, file),
        "width": width,
        "height": height,
    }


def _version(sha256: str | None) -> str:
    """Changes with the clip that was measured, so that a browser's cache never shows an old one."""
    return (sha256 or "0")[:12]
