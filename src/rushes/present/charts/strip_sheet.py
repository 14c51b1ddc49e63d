"""Film strips as one picture for a paper: a row of frames per clip, its name at the left, groups under their titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rushes.present.charts import style
from rushes.present.charts.paper import FONT, canvas
from rushes.present.pages.film_strips import Strip
from rushes.present.tables.fitting import Width

_GAP, _ROW_GAP, _TITLE, _LINE = 2.0, 4.0, 20.0, 13.0
_LETTER = 6.1
_NAME = {"one": 82.0, "two": 116.0}
FRAMES = {"one": 5, "two": 8}
"""Frames of a strip that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripRow:
    """One clip."""

    name: str
    below: str = ""
    """Small under the name: a value."""
    strip: Strip
    aspect: float = 16 / 9
    """Width over height of its frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripGroup:
    """Clips that belong together: one prompt."""

    title: str
    rows: Sequence[StripRow]


def strips_svg(groups: Sequence[StripGroup], width: Width) -> str:
    """All groups, one below the other, as wide as the canvas. A clip without pictures says why."""
    whole, names, many = canvas(width), _NAME[width], FRAMES[width]
    cell = (whole - names - _GAP * (many - 1)) / many
    parts, y = [], 0.0
    for number, group in enumerate(groups):
        y += 8.0 if number else 0.0
        if group.title:
            text = cut(group.title, int(whole // _LETTER))
            parts.append(_text(text, 0, y + 13))
            y += _TITLE
        for row in group.rows:
            height = min(max(cell / row.aspect, 26.0), cell * 1.1)
            parts += _row(row, y, names, cell, height, many)
            y += height + _ROW_GAP
    high = max(y - _ROW_GAP, 1.0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole:.2f}" height="{high:.2f}" '
        f'viewBox="0 0 {whole:.2f} {high:.2f}" font-family="{escape(FONT)}" font-size="{style.FONT_SIZE}">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def _row(row: StripRow, y: float, names: float, cell: float, height: float, many: int) -> list[str]:
    lines = style.wrapped(row.name, int((names - 6) // _LETTER))
    top = y + height / 2 - _LINE * (len(lines) + bool(row.below) - 2) / 2 - 2
    parts = [_text(line, 0, top + _LINE * n) for n, line in enumerate(lines)]
    if row.below:
        parts.append(_text(row.below, 0, top + _LINE * len(lines), colour=style.MUTED))
    if not row.strip.frames:
        lines = style.wrapped(row.strip.missing or "no picture", int((cell * many) // _LETTER))
        return [*parts, *(_text(line, names, y + 14 + _LINE * n, colour=style.MUTED) for n, line in enumerate(lines))]
    for place, frame in enumerate(row.strip.frames[:many]):
        x = names + place * (cell + _GAP)
        parts.append(
            f'<image href="{frame.jpeg}" x="{x:.2f}" y="{y:.2f}" width="{cell:.2f}" height="{height:.2f}" '
            'preserveAspectRatio="xMidYMid meet"/>'
        )
    return parts


def _text(words: str, x: float, y: float, *, colour: str = style.INK) -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" fill="{colour}">{escape(words)}</text>'


def cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 2].rstrip()} …"
