"""`rushes board` in Python: systems × readings over shared prompts, as one page that is whole, or a table in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData, Contrast, Reading, ReadingKey, ReadingVerdict
from rushes.compare.board.overall import OVERALL, with_overall
from rushes.compare.board.page.clips import ClipIndex, board_timeline, first_clips, rows_by_disagreement, thumbnails
from rushes.compare.board.page.columns import BoardCell, BoardColumn, board_columns
from rushes.compare.board.page.forest import forests
from rushes.compare.board.page.page import BoardPage, render_board
from rushes.compare.board.page.powered_words import powered_lines
from rushes.compare.board.page.words import Opening, opening_of
from rushes.compare.board.powered import PoweredQuestion, powered_questions
from rushes.compare.comparison import Refused
from rushes.compare.output import write_out
from rushes.compare.readings.collect import collect_board
from rushes.core import Measurement
from rushes.core.answer import Answer, measurement_row, told, told_html
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.table import NUMBER, TEXT, Cell, Column, Footnote, Table
from rushes.core.words.notebook_repr import line_html
from rushes.present.tables.latex import Signatures, latex
from rushes.present.tables.latex import escaped as in_latex
from rushes.present.tables.markdown import escaped, markdown
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run
from rushes.suite.folder import read_suite_folder
from rushes.workers.engine import worker_count

STRIPS = 120
"""Clips that get a film strip unless told otherwise, whole rows, most disagreement first: each is decoded again."""
TIMELINES = 300
"""Clips that keep their timelines unless told otherwise, in the same order."""
LEVEL = 0.95

Given: TypeAlias = "BoardData | Run | Path | str | Iterable[Run | Path | str]"
"""A suite's folder, runs, or a board's data."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Board(Answer):
    """A written board."""

    path: Path | str
    """Where it was written, or its address."""
    bytes: int
    opening: Opening
    """The answer, what it rests on, and how sure that is."""
    data: BoardData
    verdicts: Mapping[ReadingKey, ReadingVerdict]
    powered: Sequence[PoweredQuestion] = ()
    """Questions that people answered on some prompts, with a metric on all."""

    @property
    def summary(self) -> str:
        """Which system is better in what, people first."""
        return self.opening.headline

    @property
    def notes(self) -> tuple[str, ...]:
        """What the answer rests on, and how sure it is."""
        return (*self.opening.lines, *filter(None, [self.opening.sure]), *self.data.remarks)

    def _items(self) -> Sequence[Reading]:
        return self.data.readings

    def _rows(self) -> list[dict[str, object]]:
        """A row per system and metric."""
        return [
            {"system": name, "label": reading.label, **measurement_row(m)}
            for reading in self.data.readings
            for name in self.data.names
            if (m := self.data.whole.get((name, reading.key))) is not None
        ]

    @property
    def found(self) -> str:
        """The opening in one text: what is better on what, and how sure that is."""
        return str(self.opening)

    __repr__ = told

    def _repr_html_(self) -> str:
        return told_html(self, self.data._repr_html_(), line_html(str(self.path)))


def write_board(
    given: Given,
    out: Path | str | None = None,
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
    """Show which system is better in what, on one page that opens offline.

        rushes.board("out/suite").summary
        rushes.board(["amber=runs/a", "birch=runs/b"], "board.html", strips=0)

    Args:
        given: a suite's folder, runs of several systems as NAME=RUN, or the data of `collect_board`.
        out: the page; a name that ends in .tex or .md is the answer and the table alone. By default `board.html` in
            the suite's folder, or here.
        title: heading of the page; by default the suite's name.
        weights: by metric, for an overall score; by default the suite's, and without any there is no such score.
        level: of all verdicts together; 0.95 by default.
        verdicts: those of `judge_board`, where they are there already.
        strips: for how many clips to take pictures, those first on which the systems differ most; 120 by default, 0
            for none.
        timelines: how many clips keep their values per frame; 300 by default, 0 for none.
        jobs: worker processes that take the pictures; by default one per core.
        progress: called while it works.

    Returns:
        A `Board`: the systems, what is significant between them, and where the page is. The same runs and clips give
        the same bytes. Videos play from where they lie.

    Raises:
        InputError: there is nothing to show: no metric was measured alike for two systems.
    """
    target = out if out is not None else _beside(given)
    drawn = 0 if str(target).endswith((".tex", ".md")) else timelines
    page = board_page(given, title=title, weights=weights, level=level, verdicts=verdicts, timelines=drawn)
    if str(target).endswith(".tex"):
        text = board_latex(page.title, page.opening, page.data.names, page.columns)
    elif str(target).endswith(".md"):
        text = board_markdown(page.title, page.opening, page.data.names, page.columns)
    else:
        pictured = first_clips(page.data, page.order, strips)
        taken = thumbnails(ClipIndex(page.data), pictured, jobs=jobs or worker_count(), progress=progress)
        text = render_board(replace(page, thumbnails=taken), out=target)
    return Board(
        path=write_out(target, text, "board"),
        bytes=len(text.encode()),
        opening=page.opening,
        data=page.data,
        verdicts=page.verdicts,
        powered=page.powered,
    )


board = write_board
"""Its name as a verb."""


def _beside(given: Given) -> Path:
    """board.html in a suite's folder, else here."""
    is_folder = isinstance(given, Path | str) and not is_remote(given) and Path(given).is_dir()
    return Path(str(given)) / "board.html" if is_folder else Path("board.html")


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
        raise InputError(
            f"no metric was measured with the same definition for every system, so there is nothing to compare{why}"
        )
    data = with_overall(data, weights) if weights else _declared(data, given)
    judged = verdicts if verdicts is not None else judge_board(data, level=level)
    columns, order, clips = board_columns(data, judged), rows_by_disagreement(data), ClipIndex(data)
    powered = powered_questions(data, judged)
    drawn = {key: board_timeline(clips, key) for key in first_clips(data, order, timelines)}
    return BoardPage(
        title=title or _title(data),
        opening=opening_of(data, columns, level=level, more=powered_lines(powered)),
        charts=forests(data, columns, level=level),
        data=data,
        verdicts=judged,
        columns=columns,
        order=order,
        timelines={key: line for key, line in drawn.items() if line is not None},
        powered=powered,
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
        refused = Refused(name=OVERALL.name, why=str(error))
        return replace(data, refused=(*data.refused, refused))


_LETTERS = "Systems that share a letter on a metric do not differ significantly; bold: every other one is behind."
_SIGNED = 12
"""Columns up to which a page of LaTeX has room for their signatures below the table; else they are comments."""


def board_latex(title: str, opening: Opening, systems: Sequence[str], columns: Sequence[BoardColumn]) -> str:
    r"""A `table*` that fits both columns of a two-column paper; pdflatex takes it as it is, with booktabs alone.

    A cell is the value with its interval; bold where every other system is significantly behind; systems that share a
    letter do not differ significantly. It has people's columns and every metric that was tested. Below the table are
    the signature of every column, what the letters mean, and how sure the board is; above it, as comments, what metrics
    say. Of more columns than a page has room for, the signatures and notes are comments too.
    """
    table = _table(title, opening, systems, columns)
    signatures: Signatures = "footnote" if len(table.columns) <= _SIGNED + 1 else "comment"
    said = "".join(f"% {in_latex(line)}\n" for line in opening.lines)
    return said + latex(table, width="two", signatures=signatures)


def board_markdown(title: str, opening: Opening, systems: Sequence[str], columns: Sequence[BoardColumn]) -> str:
    """The answer, what it rests on, and the table of `board_latex`, in Markdown."""
    words = [f"**{escaped(opening.headline)}**", *(f"- {escaped(line)}" for line in opening.lines)]
    table = replace(_table(title, opening, systems, columns), title="", caption="")
    return f"# {escaped(title)}\n\n{words[0]}\n\n" + "\n".join(words[1:]) + f"\n\n{markdown(table)}"


def _table(title: str, opening: Opening, systems: Sequence[str], columns: Sequence[BoardColumn]) -> Table:
    shown = [column for column in columns if column.group != "untested"] or list(columns)
    return Table(
        title=title,
        columns=(*TEXT("System"), *(Column(column.head, NUMBER, mark=str(n)) for n, column in enumerate(shown, 1))),
        rows=[(Cell(name), *(_cell(column.cells[place]) for column in shown)) for place, name in enumerate(systems)],
        caption=opening.headline,
        footnotes=[
            Footnote(mark=mark, signature=signature)
            for mark, column in enumerate(shown, 1)
            for signature in column.signatures or (column.reading.definition.signature,)
        ],
        notes=[words for words in (_LETTERS, opening.sure) if words],
    )


def _cell(cell: BoardCell) -> Cell:
    beside = f"({cell.interval})" if cell.interval else ""
    return Cell(cell.text, beside=beside, raised=cell.letters, bold=cell.best)


def board_as_data(
    data: BoardData,
    verdicts: Mapping[ReadingKey, ReadingVerdict],
    *,
    opening: Opening,
    powered: Sequence[PoweredQuestion] = (),
) -> dict[str, object]:
    """The answer, every cell and every pair with its signature, and every definition once.

    Values per prompt are in the runs, and what single people said in the files of ratings and votes.
    """
    return {
        "headline": opening.headline,
        "people": list(opening.people),
        "metrics": list(opening.metrics),
        "found": str(opening),
        "reference": data.reference,
        "systems": list(data.names),
        "prompts": len(data.prompts),
        "kind": data.kind,
        "readings": [_reading(data, reading, verdicts.get(reading.key)) for reading in data.readings],
        "powered": [_powered(one) for one in powered],
        "refused": [{"name": one.name, "why": one.why} for one in data.refused],
        "remarks": list(data.remarks),
        "definitions": {m.signature: m.definition.as_dict() for m in _numbers(data, verdicts, powered)},
    }


def _reading(data: BoardData, reading: Reading, verdict: ReadingVerdict | None) -> dict[str, object]:
    cells = {name: data.whole.get((name, reading.key)) for name in data.names}
    return {
        "label": reading.label,
        "signature": reading.definition.signature,
        "at": dict(reading.at),
        "instrument": reading.instrument,
        "per_prompt": reading.per_prompt,
        "family": verdict.family.value if verdict and verdict.family else None,
        "say": [
            {"question": one.question, "kind": one.kind, "agreement": [m.as_dict() for m in one.measurements]}
            for one in (verdict.say if verdict else ())
        ],
        "prompts_needed": verdict.too_few if verdict else 0,
        "why_no_rank": verdict.why_not if verdict else "",
        "cells": {name: None if m is None else m.as_dict() for name, m in cells.items()},
        "letters": dict(verdict.letters) if verdict else {},
        "ranks": {name: list(ends) for name, ends in verdict.ranks.items()} if verdict else {},
        "pairs": [_pair(contrast) for contrast in verdict.contrasts] if verdict else [],
    }


def _pair(contrast: Contrast) -> dict[str, object]:
    return {
        "first": contrast.first,
        "second": contrast.second,
        "verdict": contrast.verdict,
        "difference": contrast.difference.as_dict(),
        "p": contrast.p.as_dict(),
        "adjusted_p": contrast.adjusted_p.as_dict(),
        "wins": contrast.wins,
        "ties": contrast.ties,
        "losses": contrast.losses,
    }


def _powered(one: PoweredQuestion) -> dict[str, object]:
    return {
        "question": one.question.definition.signature,
        "metric": one.metric.definition.signature,
        "rated_prompts": one.rated,
        "other_prompts": one.others,
        "numbers": [m.as_dict() for number in one.numbers for m in number.measurements],
    }


def _numbers(
    data: BoardData, verdicts: Mapping[ReadingKey, ReadingVerdict], powered: Sequence[PoweredQuestion]
) -> Iterator[Measurement]:
    yield from data.whole.values()
    yield from (m for one in powered for number in one.numbers for m in number.measurements)
    for verdict in verdicts.values():
        yield from (m for one in verdict.say for m in one.measurements)
        for contrast in verdict.contrasts:
            yield from (contrast.difference, contrast.p, contrast.adjusted_p)
