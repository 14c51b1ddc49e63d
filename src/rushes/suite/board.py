"""`rushes board` in Python: systems × readings over shared prompts, as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from rushes.core.files import replacing
from rushes.core.progress import Progress, no_progress
from rushes.core.showing import line_html, page_html
from rushes.errors import InputError
from rushes.remote.address import is_remote
from rushes.remote.transfer import upload_on_exit
from rushes.runs import Run
from rushes.suite.board_data import BoardData, ReadingKey, RefusedReading
from rushes.suite.board_judging import judge_board
from rushes.suite.board_latex import board_latex
from rushes.suite.board_overall import OVERALL, with_overall
from rushes.suite.board_page import BoardPage, render_board
from rushes.suite.board_page_clips import ClipIndex
from rushes.suite.board_page_columns import board_columns
from rushes.suite.board_page_order import first_clips, rows_by_disagreement
from rushes.suite.board_page_strips import thumbnails
from rushes.suite.board_page_timelines import board_timeline
from rushes.suite.board_page_words import PEOPLE, opening_of
from rushes.suite.board_verdicts import ReadingVerdict
from rushes.suite.collect import collect_board
from rushes.suite.suite_folder import read_suite_folder
from rushes.workers.local import cpu_count

STRIPS = 120
"""Clips that get a film strip unless told otherwise, whole rows, most disagreement first: each is decoded again."""
TIMELINES = 300
"""Clips that keep their timelines unless told otherwise, in the same order."""
LEVEL = 0.95

Given: TypeAlias = "BoardData | Run | Path | str | Iterable[Run | Path | str]"
"""A suite's folder, runs, or a board's data."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Board:
    """A written board."""

    path: Path | str
    """Where it was written, or its address."""
    bytes: int
    found: str
    """The opening: what is better on what, and how sure that is."""
    data: BoardData
    verdicts: Mapping[ReadingKey, ReadingVerdict]

    def __repr__(self) -> str:
        return f"Board({str(self.path)!r}, {self.data!r})"

    def _repr_html_(self) -> str:
        return page_html(line_html(self.found), self.data._repr_html_(), line_html(str(self.path)))


def write_board(
    given: Given,
    out: Path | str,
    *,
    title: str = "",
    weights: Mapping[str, float] | None = None,
    level: float = LEVEL,
    verdicts: Mapping[ReadingKey, ReadingVerdict] | None = None,
    strips: int = STRIPS,
    timelines: int = TIMELINES,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Board:
    """Write a suite's folder, or runs of several systems, as one HTML file that opens offline.

        rushes.write_board("suite", "board.html")
        rushes.write_board(["amber=runs/a", "birch=runs/b"], "board.html", strips=0)

    There is no overall score unless `weights`, or the suite, declares one, by reading; its column is labelled so.
    `strips` is for how many clips of the matrix to take pictures and `timelines` how many keep their series, whole
    rows, those first on which the systems are furthest apart; 0 leaves them out. Videos play from where they lie.
    A file that ends in .tex is the table alone, in LaTeX. The same runs and clips give the same bytes. Raises
    `InputError` where there is nothing to show.
    """
    page = board_page(given, title=title, weights=weights, level=level, verdicts=verdicts, timelines=timelines)
    if str(out).endswith(".tex"):
        text = board_latex(page.title, page.opening, page.data.names, page.columns)
    else:
        pictured = first_clips(page.data, page.order, strips)
        taken = thumbnails(ClipIndex(page.data), pictured, jobs=jobs or cpu_count(), progress=progress)
        text = render_board(replace(page, thumbnails=taken), out=out)
    try:
        with upload_on_exit(out) as target, replacing(target) as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{out}: cannot write the board ({error.strerror or error})") from None
    return Board(
        path=out if is_remote(out) else Path(out),
        bytes=len(text.encode()),
        found=str(page.opening),
        data=page.data,
        verdicts=page.verdicts,
    )


def board_page(
    given: Given,
    *,
    title: str = "",
    weights: Mapping[str, float] | None = None,
    level: float = LEVEL,
    verdicts: Mapping[ReadingKey, ReadingVerdict] | None = None,
    timelines: int = TIMELINES,
) -> BoardPage:
    """Everything on the page but film strips, as `write_board` and the workbench draw it."""
    data = given if isinstance(given, BoardData) else collect_board(given)
    if not data.readings:
        why = f" ({data.refused[0].name}: {data.refused[0].why})" if data.refused else ""
        raise InputError(f"no reading is the same for every system, so there is no board{why}")
    data = with_overall(data, weights) if weights else _declared(data, given)
    judged = verdicts if verdicts is not None else judge_board(data, level=level)
    columns, order, clips = board_columns(data, judged), rows_by_disagreement(data), ClipIndex(data)
    drawn = {key: board_timeline(clips, key) for key in first_clips(data, order, timelines)}
    return BoardPage(
        title=title or _title(data),
        opening=opening_of(data, columns, level=level),
        data=data,
        verdicts=judged,
        columns=columns,
        order=order,
        timelines={key: line for key, line in drawn.items() if line is not None},
        people=any(reading.instrument == PEOPLE for reading in data.readings),
    )


def _title(data: BoardData) -> str:
    systems, prompts = len(data.systems), len(data.prompts)
    over = f" over {prompts:,} prompt{'' if prompts == 1 else 's'}" if prompts else ""
    return f"Board: {systems} system{'' if systems == 1 else 's'}{over}"


def _declared(data: BoardData, given: Given) -> BoardData:
    """With the overall score that a suite declares; where it cannot be had, the board says why and has none."""
    if not isinstance(given, Path | str) or is_remote(given) or not Path(given, "suite.json").is_file():
        return data
    weights: Mapping[str, float] = read_suite_folder(given).suite.overall
    try:
        return with_overall(data, weights) if weights else data
    except InputError as error:
        refused = RefusedReading(name=OVERALL.name, why=str(error))
        return replace(data, refused=(*data.refused, refused))
