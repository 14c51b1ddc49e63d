"""A board as one HTML file that opens offline: the opening, the table, the matrix, and its clips side by side.

The table is plain HTML; the matrix is drawn from JSON in the page, row by row as it is scrolled to, so that many
prompts cost no more than the first screen. Videos alone are not inside: they play from where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from rushes import __version__
from rushes.compare.agreement.known import agreement_text
from rushes.compare.board.model import BoardData, Contrast, ReadingKey, ReadingVerdict
from rushes.compare.board.page.clips import ClipIndex, ClipKey, Thumbnail, frame_rate, media_words
from rushes.compare.board.page.columns import GROUPS, BoardColumn, value_digits
from rushes.compare.board.page.questions import glance, known_of
from rushes.compare.board.page.say_words import agreement_words
from rushes.compare.board.page.words import Opening
from rushes.compare.board.powered import PoweredQuestion
from rushes.compare.output import written_page
from rushes.compare.readings.value_rows import Row, all_floats, missing_notes, plain_values
from rushes.compare.summaries import board_verdict
from rushes.core import Definition, Measurement
from rushes.core.words.definition_text import direction_text, moved_by, range_text
from rushes.present.charts.figure import Figure
from rushes.present.pages.page import asset, content_policy, embedded_json, joined_modules, page_environment
from rushes.present.pages.page import page_style as report_style
from rushes.present.pages.section import unit_text
from rushes.present.verdict.verdict import Verdict

_PACKAGE = "rushes.compare"
_SCRIPTS = ("dom.js", "players.js", "matrix.js", "board.js")
_MEDIA = "'self' file:"
ROWS = 5_000
"""Prompts in the matrix at most: those on which the systems differ most. All of them count in every number above it."""


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
    charts: Sequence[Figure] = ()
    """The systems on each question that people answered."""
    powered: Sequence[PoweredQuestion] = ()
    """Questions that people answered on some prompts, with a metric on all."""
    thumbnails: Mapping[ClipKey, Thumbnail] = field(default_factory=dict)


def render_board(page: BoardPage, *, out: Path | str, urls: Mapping[ClipKey, str] | None = None) -> str:
    """The whole file; `out` is where it will lie, which its videos are named from, unless `urls` names them."""
    style, script = page_style(), joined_modules(("timeline.js",)) + "\n" + joined_modules(_SCRIPTS, _PACKAGE)
    clips = ClipIndex(page.data)
    page = first_rows(page)
    urls = {key: clips.url(key, out) for key in _shown(page.data)} if urls is None else urls
    return _render(page, urls, style=style, script=script, policy=content_policy(style, script, media=_MEDIA))


def render_served(page: BoardPage, *, urls: Mapping[ClipKey, str], static: str, twin: str, grid: str = "") -> str:
    """The same page for a server, without a script or a style of its own: both come from below `static`.

    `urls` says where each clip plays from, `twin` where its data is and `grid` where its prompts × systems are. Below
    `static` lie `board.css` (`page_style`) and `served_script`.
    """
    return _render(first_rows(page), urls, static=static, twin=twin, grid=grid)


def first_rows(page: BoardPage) -> BoardPage:
    """The page with the prompts that its matrix has room for, most disagreement first, and a remark that says so."""
    every = len(page.data.prompts)
    if every <= ROWS:
        return page
    places = sorted(page.order[:ROWS])
    new = {place: number for number, place in enumerate(places)}
    remark = f"{ROWS:,} of {every:,} prompts are listed here: those on which the systems differ most"
    data = replace(
        page.data, prompts=tuple(page.data.prompts[place] for place in places), remarks=(*page.data.remarks, remark)
    )
    return replace(page, data=data, order=[new[place] for place in page.order[:ROWS]])


def _shown(data: BoardData) -> Iterator[ClipKey]:
    """The clips of the prompts that are listed."""
    every = ((name, prompt.id) for name in data.names for prompt in data.prompts)
    return (key for key in every if key in data.clips)


def _render(page: BoardPage, urls: Mapping[ClipKey, str], **places: str) -> str:
    """The page, with its style and script inside, or with where they are served from."""
    clips = ClipIndex(page.data)
    html = (
        page_environment(_PACKAGE)
        .get_template("board.html")
        .render(
            page=page,
            verdict=_verdict(page),
            systems=page.data.names,
            groups=[(name, [c for c in page.columns if c.group == name]) for name in GROUPS],
            heads=GROUPS,
            agreement=agreement_words,
            known=partial(_known, page.data),
            glance=glance(page.data, page.columns),
            version=__version__,
            facts=definition_facts,
            json=embedded_json(page_data(page.data, page.columns, order=page.order, clips=clips, urls=urls)),
            rows=list(_rows(page)),
            **dict.fromkeys(("policy", "style", "script", "static", "twin", "grid"), "") | places,
        )
    )
    return written_page(html)


def _known(data: BoardData, column: BoardColumn) -> str:
    """How far people agree with a column; "" of what people said themselves."""
    return "" if column.of_people else agreement_text(known_of(data, column))


def _verdict(page: BoardPage) -> Verdict:
    """What the page opens with; the pictures of a served page are addresses."""
    pictures = {key: picture.jpeg for key, picture in page.thumbnails.items() if picture.jpeg}
    return board_verdict(page.data, page.columns, page.opening, order=page.order, pictures=pictures, charts=page.charts)


def page_style() -> str:
    return report_style() + asset("board.css", _PACKAGE)


def served_script(name: str) -> str:
    """One of the page's modules, by the name that others import it by; `KeyError` for anything else."""
    if name == "timeline.js":
        return asset(name)
    return asset({script: script for script in _SCRIPTS}[name], _PACKAGE)


def _rows(page: BoardPage) -> Iterator[tuple[str, str]]:
    """What a row has beyond its numbers, by element id: read when the row is drawn, and when it is opened.

    By system: the picture and why there is none; the timeline. Nothing of a prompt for which none was asked for.
    """
    for place in page.order:
        row = [(name, page.data.prompts[place].id) for name in page.data.names]
        if any(pictures := [page.thumbnails.get(key) for key in row]):
            yield f"strips-{place}", embedded_json([one and [one.jpeg, one.missing] for one in pictures])
        if any(timelines := [page.timelines.get(key) for key in row]):
            yield f"timelines-{place}", embedded_json(timelines)


def definition_facts(definition: Definition) -> list[tuple[str, str]]:
    """A definition as head and words, for the page."""
    facts = [
        ("Formula", definition.formula),
        ("Unit", unit_text(definition)),
        ("Range", f"{range_text(definition)}; {direction_text(definition)}"),
        *moved_by(definition),
        ("Edge cases", definition.edge_cases),
        ("Reference", definition.reference),
    ]
    return [(head, words) for head, words in facts if words]


def page_data(
    data: BoardData,
    columns: Sequence[BoardColumn],
    *,
    order: Sequence[int],
    clips: ClipIndex,
    urls: Mapping[ClipKey, str],
) -> dict[str, object]:
    """Everything but pictures and timelines, compact: indices instead of names, arrays instead of objects.

    The data, as JSON::

        {"systems": ["amber", …],
         "prompts": [["p1", "a cat", "animals"], …],                       id, text, group
         "order": [4, 0, …],                                               prompts, most disagreement first
         "readings": [{"label": …, "better": "lower", "lane": …, "digits": 2, "value_digits": 3, "judged": true,
                       "per_prompt": true, "signature": …, "unit": …,
                       "whole": [[value, low, high], …],                   by system; null where there is none
                       "values": [[…], …],                                 by system, then by prompt; null where missing
                       "notes": {"0": {"3": "why there is no value"}},
                       "ranks": [[1, 2] | null, …], "letters": ["a", …], "pair_signatures": [difference, adjusted p],
                       "pairs": [[first, second, difference, low, high, p, verdict, wins, ties, losses, note], …]}],
                                                                           of the second against the first
         "clips": [[[url, rate, "320×180 …", path] | null, …], …]}         by system, then by prompt
    """
    known: dict[int, tuple[float, str]] = {}
    return {
        "systems": list(data.names),
        "prompts": [[prompt.id, prompt.text, prompt.group] for prompt in data.prompts],
        "order": list(order),
        "readings": [_reading(data, column) for column in sorted(columns, key=lambda column: column.number)],
        "clips": [[_clip(clips, data, (name, p.id), urls, known) for p in data.prompts] for name in data.names],
    }


def _reading(data: BoardData, column: BoardColumn) -> dict[str, object]:
    reading, verdict = column.reading, column.verdict
    contrasts, ids = verdict.contrasts if verdict else (), [prompt.id for prompt in data.prompts]
    made = (m.signature for one in contrasts for m in (one.difference, one.adjusted_p))
    numbers = {name: number for number, name in enumerate(data.names)}
    found = [data.values.get((name, reading.key), {}) for name in data.names] if reading.per_prompt else []
    every = np.concatenate([np.empty(0), *map(all_floats, found)])
    return {
        "label": reading.label,
        "better": reading.definition.better,
        "lane": reading.lane,
        "digits": column.digits,
        "value_digits": value_digits(every),
        "judged": column.judged,
        "per_prompt": reading.per_prompt,
        "signature": reading.definition.signature,
        "unit": unit_text(reading.definition),
        "whole": [_whole(data.whole.get((name, reading.key))) for name in data.names],
        "values": [list(map(_rounded, plain_values(values, ids))) for values in found],
        "notes": _notes(ids, found),
        "ranks": [verdict.ranks.get(name) if verdict else None for name in data.names],
        "letters": [verdict.letters.get(name, "") if verdict else "" for name in data.names],
        "pair_signatures": list(dict.fromkeys(made)),
        "pairs": [_pair(contrast, numbers) for contrast in contrasts],
    }


def _whole(m: Measurement | None) -> list[object] | None:
    """Value and ends of the interval; None where there is no value."""
    if m is None or m.value is None:
        return None
    ends = (None, None) if m.interval is None else (m.interval.low, m.interval.high)
    return [_rounded(value) for value in (m.value, *ends)]


def _rounded(value: float | int | bool | None) -> float | int | None:
    """Seven digits are more than a page shows, and half the bytes of sixteen."""
    if isinstance(value, bool):
        return int(value)
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _notes(ids: Sequence[str], found: Sequence[Row]) -> dict[str, dict[str, str]]:
    """Why values are missing, by system and prompt, where a measurement says so."""
    places = {name: str(place) for place, name in enumerate(ids)}
    notes = {
        str(number): {places[name]: note for name, note in missing_notes(values, ids)}
        for number, values in enumerate(found)
    }
    return {number: told for number, told in notes.items() if told}


def _pair(contrast: Contrast, numbers: Mapping[str, int]) -> list[object]:
    difference = contrast.difference
    return [
        numbers[contrast.first],
        numbers[contrast.second],
        *(_whole(difference) or (None, None, None)),
        _rounded(contrast.adjusted_p.value),
        contrast.verdict,
        contrast.wins,
        contrast.ties,
        contrast.losses,
        difference.note or contrast.adjusted_p.note,
    ]


def _clip(
    clips: ClipIndex, data: BoardData, key: ClipKey, urls: Mapping[ClipKey, str], known: dict[int, tuple[float, str]]
) -> list[object] | None:
    """`known` has what was read of facts that clips share."""
    if key not in data.clips:
        return None
    clip = clips.clip(key)
    if id(clip.facts) not in known:
        known[id(clip.facts)] = round(frame_rate(clip), 6), media_words(clip)
    return [urls.get(key, ""), *known[id(clip.facts)], clip.path]
