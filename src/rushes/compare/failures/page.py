"""Failure cases as one page that opens offline: film strips inside the file, no script, no request."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from rushes import __version__
from rushes.compare.board.page.clips import ClipKey
from rushes.compare.figures.strips import clip_strips
from rushes.compare.output import written_page
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.words.definition_text import value_text
from rushes.present.pages.film_strips import Strip
from rushes.present.pages.page import brand, content_policy, page_style

if TYPE_CHECKING:
    from rushes.compare.failures.cases import Case, CaseGroup, FailureCases

_FRAMES = 6
_SIDE = 240
_STYLE = (
    "main{padding-block:1.5rem 3rem}"
    "section{margin:2rem 0 0}h2{margin:0 0 .8rem}.about{margin:-.5rem 0 .8rem}"
    ".case{margin:0 0 2rem}.case h3{margin:0 0 .5rem;font-size:1.05rem}.who{margin:.5rem 0 .3rem}"
    ".who>*{display:inline-block;margin-right:.9rem}.none{opacity:.75}"
    ".frames{display:grid;grid-template-columns:repeat(6,1fr);gap:3px;max-width:60rem}"
    ".frames img{width:100%;height:auto;display:block;border:0;border-radius:3px}"
    "@media(max-width:600px){.frames{grid-template-columns:repeat(3,1fr)}}"
)


def failures_page(found: FailureCases, *, jobs: int | None = None, progress: Progress = no_progress) -> str:
    """The whole page: worst, best, and where metric and people disagree; the reference's strip above each prompt."""
    evaluation, reference = found.evaluation, found.evaluation.data.reference
    keys = [(case.system, case.prompt) for group in found.groups for row in group.rows for case in row]
    keys += [(reference, prompt) for _, prompt in keys if (reference, prompt) in evaluation.data.clips]
    taken = clip_strips(evaluation, keys, frames=_FRAMES, side=_SIDE, jobs=jobs, progress=progress)
    style = page_style() + _STYLE
    body = "".join(_group(group, taken, reference) for group in found.groups)
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    title = "Failure cases"
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(content_policy(style, ""))}">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        f'<header class="top"><div class="top-in"><p class="brand">{brand()}</p></div></header><main>\n'
        f"<h1>{escape(title)}</h1>\n{body}{notes}\n"
        f'<footer><p>Made by Rushes <span data-kind="version">{escape(__version__)}</span>.</p></footer>'
        "</main></body></html>\n"
    )
    return written_page(page)


def _group(group: CaseGroup, taken: Mapping[ClipKey, Strip], reference: str) -> str:
    cases = "".join(_row(row, taken, reference) for row in group.rows)
    about = f'<p class="about">{escape(group.about)}</p>' if group.about else ""
    return f"<section><h2>{escape(group.title)}</h2>{about}{cases}</section>\n"


def _row(row: tuple[Case, ...], taken: Mapping[ClipKey, Strip], reference: str) -> str:
    prompt = row[0].prompt
    title = f"{row[0].prompt_text} ({prompt})" if row[0].prompt_text else prompt
    own = "".join(_clip(case, taken[case.system, case.prompt]) for case in row)
    real = taken.get((reference, prompt))
    beside = (
        ""
        if real is None
        else f'<p class="who"><span>{escape(reference)} (reference)</span></p>{_strip(real, reference)}'
    )
    return f'<article class="case"><h3>{escape(title)}</h3>{beside}{own}</article>'


def _clip(case: Case, strip: Strip) -> str:
    numbers = " ".join(
        f'<span data-signature="{escape(m.signature)}" title="{escape(m.signature)}">'
        f"{escape(title)} {value_text(m)}</span>"
        for title, m in case.numbers.items()
    )
    return f'<p class="who"><b>{escape(case.system)}</b> {numbers}</p>{_strip(strip, f"{case.system}, {case.clip}")}'


def _strip(strip: Strip, name: str) -> str:
    if not strip.frames:
        return f'<p class="none">{escape(strip.missing)}</p>'
    pictures = "".join(
        f'<img src="{frame.jpeg}" alt="{escape(name)}, {frame.time_ms / 1000:.2f} s" loading="lazy">'
        for frame in strip.frames
    )
    return f'<div class="frames">{pictures}</div>'
