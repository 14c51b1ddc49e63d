"""A board as one HTML file that opens offline: the opening, the table, the matrix, and its clips side by side.

The table is plain HTML; the matrix is drawn from JSON in the page, row by row as it is scrolled to, so that many
prompts cost no more than the first screen. Videos alone are not inside: they play from where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rushes import __version__
from rushes.core import Definition
from rushes.report.page import asset, content_policy, joined_modules, page_environment
from rushes.report.page import page_style as report_style
from rushes.report.script_json import embedded_json
from rushes.report.verdict import Verdict
from rushes.suite.board_data import BoardData, ReadingKey
from rushes.suite.board_page_clips import ClipIndex, ClipKey
from rushes.suite.board_page_columns import BoardColumn, why_only_moves
from rushes.suite.board_page_data import page_data, row_pictures, row_timelines
from rushes.suite.board_page_strips import Thumbnail
from rushes.suite.board_page_words import Opening
from rushes.suite.board_verdicts import ReadingVerdict
from rushes.suite.verdict_strips import board_verdict

_PACKAGE = "rushes.suite"
_SCRIPTS = ("dom.js", "players.js", "matrix.js", "board.js")
_MEDIA = "'self' file:"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPage:
    """Everything a page is drawn from."""

    title: str
    opening: Opening
    data: BoardData
    verdicts: Mapping[ReadingKey, ReadingVerdict]
    columns: Sequence[BoardColumn]
    order: Sequence[int]
    """Prompts, those the systems disagree on most first."""
    timelines: Mapping[ClipKey, dict[str, object]]
    people: bool
    """Whether people were asked."""
    thumbnails: Mapping[ClipKey, Thumbnail] = field(default_factory=dict)


def render_board(page: BoardPage, *, out: Path | str) -> str:
    """The whole file; `out` is where it will lie, which its videos are named from."""
    style, script = page_style(), joined_modules(("timeline.js",)) + "\n" + joined_modules(_SCRIPTS, _PACKAGE)
    clips = ClipIndex(page.data)
    urls = {key: clips.url(key, out) for key in page.data.clips}
    return _render(page, urls, style=style, script=script, policy=content_policy(style, script, media=_MEDIA))


def render_served(page: BoardPage, *, urls: Mapping[ClipKey, str], static: str, twin: str, grid: str = "") -> str:
    """The same page for a server, without a script or a style of its own: both come from below `static`.

    `urls` says where each clip plays from, `twin` where its data is and `grid` where its prompts × systems are. Below
    `static` lie `board.css` (`page_style`) and `served_script`.
    """
    return _render(page, urls, static=static, twin=twin, grid=grid)


def _render(
    page: BoardPage,
    urls: Mapping[ClipKey, str],
    *,
    style: str = "",
    script: str = "",
    policy: str = "",
    static: str = "",
    twin: str = "",
    grid: str = "",
) -> str:
    judged = [column for column in page.columns if column.judged]
    clips = ClipIndex(page.data)
    html = (
        page_environment(_PACKAGE)
        .get_template("board.html")
        .render(
            page=page,
            verdict=_verdict(page),
            systems=page.data.names,
            groups=[("judged", judged), ("moved", [column for column in page.columns if not column.judged])],
            policy=policy,
            style=style,
            script=script,
            static=static,
            twin=twin,
            grid=grid,
            version=__version__,
            facts=definition_facts,
            why_only_moves=why_only_moves,
            json=embedded_json(page_data(page.data, page.columns, order=page.order, clips=clips, urls=urls)),
            rows=list(_rows(page)),
        )
    )
    # A file name from a run can hold half a surrogate pair, which no file can.
    return html.encode("utf-8", "replace").decode()


def _verdict(page: BoardPage) -> Verdict:
    """What the page opens with; the pictures of a served page are addresses."""
    pictures = {key: picture.jpeg for key, picture in page.thumbnails.items() if picture.jpeg}
    return board_verdict(page.data, page.columns, page.opening, order=page.order, pictures=pictures)


def page_style() -> str:
    return report_style() + asset("board.css", _PACKAGE)


def served_script(name: str) -> str:
    """One of the page's modules, by the name that others import it by; `KeyError` for anything else."""
    if name == "timeline.js":
        return asset(name)
    return asset({script: script for script in _SCRIPTS}[name], _PACKAGE)


def _rows(page: BoardPage) -> Iterator[tuple[str, str]]:
    """What a row has beyond its numbers, by element id: read when the row is drawn, and when it is opened."""
    for place in page.order:
        if pictures := row_pictures(page.data, place, page.thumbnails):
            yield f"strips-{place}", embedded_json(pictures)
        if timelines := row_timelines(page.data, place, page.timelines):
            yield f"timelines-{place}", embedded_json(timelines)


def definition_facts(definition: Definition) -> list[tuple[str, str]]:
    """A definition as head and words, for the page."""
    from rushes.core.text import direction_text, moved_by, range_text
    from rushes.report.section import unit_text

    facts = [
        ("Formula", definition.formula),
        ("Unit", unit_text(definition)),
        ("Range", f"{range_text(definition)}; {direction_text(definition)}"),
        *moved_by(definition),
        ("Edge cases", definition.edge_cases),
        ("Reference", definition.reference),
    ]
    return [(head, words) for head, words in facts if words]
