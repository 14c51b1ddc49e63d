"""Boards, comparisons and grids as plain data for their pages: each collected and judged once for each state of the
runs behind it, and never written to.
"""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from rushes.compare.board.board import board_page
from rushes.compare.board.model import BoardData, ReadingKey
from rushes.compare.board.page.clips import ClipIndex, ClipKey, thumbnail_of
from rushes.compare.board.page.page import BoardPage
from rushes.compare.board.prompt_grid import GridCell, GridRow, PromptGrid, Sort, grid_readings, prompt_grid
from rushes.compare.readings.collect import collect_board
from rushes.compare.readings.people import credential_files
from rushes.compare.readings.systems import moved_run
from rushes.compare.runs.many import RunsComparison, compare_all
from rushes.compare.runs.page.clips import ChangedClip, most_changed
from rushes.compare.runs.page.page import charts
from rushes.compare.runs.page.words import run_name
from rushes.compare.summaries import comparison_verdict
from rushes.core.table import ARROWS
from rushes.core.words.definition_text import value_text
from rushes.present.charts.figure import Figure
from rushes.present.verdict.verdict import Verdict
from rushes.storage.remote.address import is_remote
from rushes.suite.folder import FILE, SuiteRun, read_suite_folder
from rushes.web.clips.files import clip_address, file_of, picture_size
from rushes.web.clips.thumbnails import picture_address
from rushes.web.home.discovery import run_title
from rushes.web.http.fields import whole_number
from rushes.web.kept import Kept
from rushes.web.runs.cache import OpenRun, RunCache
from rushes.web.runs.prompts import texts_near
from rushes.web.runs.summary import run_stamp

_MOST_STRIPS = 4000
"""Film strips that are kept, some 5 kB each."""
MOST_CHANGES = 3
MOST_CLIPS = 6
_MOST_KEPT = 8
PAGE_SIZE = 40
"""Prompts of one page."""
_making = threading.Lock()
"""One board is judged at a time: the other requests go on."""


@dataclass(frozen=True)
class OpenBoard:
    """A board as it was when its suite and its runs had this stamp."""

    page: BoardPage
    stamp: str

    @property
    def data(self) -> BoardData:
        return self.page.data

    @cached_property
    def clips(self) -> ClipIndex:
        return ClipIndex(self.data)

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


@dataclass
class BoardCache:
    """Boards by the folder of their suite, and the film strips that were asked for last."""

    _open: dict[Path, OpenBoard] = field(default_factory=dict)
    _strips: Kept[bytes] = field(default_factory=lambda: Kept(_MOST_STRIPS))
    _work: threading.Lock = field(default_factory=threading.Lock)
    """One board or strip is made at a time: the other requests go on."""

    def read(self, folder: Path) -> OpenBoard:
        """The board of what is on disk now; `RunError` or `InputError` where there is none to show."""
        stamp = _stamp(read_suite_folder(folder))
        with self._work:
            known = self._open.get(folder)
            if known is None or known.stamp != stamp:
                known = self._open[folder] = OpenBoard(board_page(folder), stamp)
        return known

    def strip(self, board: OpenBoard, key: ClipKey) -> bytes:
        """Three frames of a clip as a JPEG; b"" where the clip is gone, has changed or cannot be decoded."""

        def take() -> bytes:
            with self._work:
                return base64.b64decode(thumbnail_of(board.clips, key).jpeg.partition(",")[2])

        return self._strips.get((board.stamp, key), take)


def _stamp(suite: SuiteRun) -> str:
    """Changes with the suite's list and with every run behind it."""
    declared = [moved_run(place, suite.path) for system in suite.suite.systems for place in system.runs]
    runs = [Path(place) for place in declared if not is_remote(place)]
    runs += [folder for step in suite.steps for folder in suite.runs_of(step)]
    stat = os.stat(suite.path / FILE)
    parts = [f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}", *(f"{folder} {run_stamp(folder)}" for folder in runs)]
    parts += [_file_stamp(file) for file in (*map(Path, suite.suite.asked), *credential_files(suite))]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _file_stamp(file: Path) -> str:
    """Changes with the file; "" where it is gone."""
    try:
        stat = os.stat(file)
    except OSError:
        return ""
    return f"{file} {stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}"


@dataclass(frozen=True)
class OpenComparison:
    """A comparison of two runs as they were when their files had these stamps."""

    found: RunsComparison

    @cached_property
    def charts(self) -> Figure | None:
        """The forest plot; None where nothing changed or charts cannot be drawn here."""
        return charts(self.found)[0]

    @cached_property
    def changed(self) -> list[ChangedClip]:
        """The clips that changed most, those first that got worse."""
        return most_changed(self.found, MOST_CLIPS)


_kept, _boards = Kept[OpenComparison](_MOST_KEPT), Kept[OpenBoard](_MOST_KEPT)


def open_comparison(a: OpenRun, b: OpenRun) -> OpenComparison:
    """The comparison, made once for each state of the two runs; raises as `compare_all`."""
    key = (str(a.run.path), a.stamp, str(b.run.path), b.stamp)
    return _kept.get(key, lambda: OpenComparison(compare_all((a.run, b.run), top=MOST_CHANGES)))


def comparison_titles(opened: OpenComparison, names: tuple[str, str]) -> tuple[str, str]:
    """What the page calls the two runs: by system or folder, as `rushes compare` does, where these differ."""
    first, second = map(run_name, opened.found.runs)
    return (first, second) if first != second else (run_title(names[0]), run_title(names[1]))


def comparison_strip(
    opened: OpenComparison, names: tuple[str, str], runs: tuple[OpenRun, OpenRun], *, run_cache: RunCache
) -> Verdict:
    """What the page opens with: review signals, better, worse, changed, clips to look at in both runs, and the plot."""
    found = opened.found
    clips = [clip.subject for clip in opened.changed if all(run.row(clip.subject) for run in runs)]
    before, after = ({clip: _picture(run, clip, run_cache) for clip in clips} for run in runs)
    sides = ({"a": f"{names[0]}/{clip}", "b": f"{names[1]}/{clip}"} for clip in clips)
    return comparison_verdict(
        found,
        names=comparison_titles(opened, names),
        changed=opened.changed,
        before=before,
        pictures=after,
        links={clip: "/compare?" + urlencode(both) for clip, both in zip(clips, sides, strict=True)},
        chart=opened.charts,
    )


def _picture(opened: OpenRun, subject: str, run_cache: RunCache) -> str:
    """Where the clip's picture is; "" where the clip is gone."""
    row = opened.row(subject)
    if row is None or file_of(opened.run, row.entry.subject) is None:
        return ""
    return picture_address(run_cache.token(opened.run.path, subject), opened.stamp)


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


def runs_board(runs: Mapping[str, Path], stamps: Sequence[str]) -> OpenBoard:
    """The board of served runs, a system each by the run's name; judged once for each state of the runs."""

    def make() -> OpenBoard:
        with _making:
            data = collect_board([folder if "=" in name else f"{name}={folder}" for name, folder in runs.items()])
            data = _with_texts(data, runs)
            return OpenBoard(board_page(data, timelines=0), " ".join(stamps))

    return _boards.get((tuple(runs.items()), tuple(stamps)), make)


def _with_texts(data: BoardData, folders: Mapping[str, Path]) -> BoardData:
    """Prompts with their words, where a list of them lies near the runs or the clips."""
    known: dict[str, str] = {}
    for (system, prompt), clip in data.clips.items():
        text = texts_near(folders[system], clip.path).get(prompt, "") if system in folders else ""
        known.setdefault(prompt, text)
    return replace(data, prompts=tuple(replace(one, text=one.text or known.get(one.id, "")) for one in data.prompts))


def grid_data(
    board: OpenBoard, query: GridQuery, *, run_cache: RunCache, look: Callable[[GridRow], str]
) -> dict[str, object]:
    """One page of the grid; `look` gives the address that shows a row's clips on one clock, "" where there is none."""
    grid = prompt_grid(
        board.data,
        board.page.verdicts,
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


def _row(board: OpenBoard, row: GridRow, run_cache: RunCache, address: str) -> dict[str, object]:
    return {
        "prompt": {"id": row.prompt.id, "text": row.prompt.text, "group": row.prompt.group},
        "address": address,
        "cells": [_cell(board, row.prompt.id, cell, run_cache) for cell in row.cells],
    }


def _cell(board: OpenBoard, prompt: str, cell: GridCell, run_cache: RunCache) -> dict[str, object]:
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
    file = file_of(run, entry.subject)
    width, height = picture_size(entry.subject)
    return facts | {
        "badge": board.badges.get((cell.system, entry.subject.path)) or entry.subject.badge,
        # The version changes with the clip that was measured, so that a browser's cache never shows an old one.
        "picture": "" if file is None else picture_address(token, (entry.subject.sha256 or "0")[:12]),
        "video": "" if file is None else clip_address(token, file),
        "width": width,
        "height": height,
    }
