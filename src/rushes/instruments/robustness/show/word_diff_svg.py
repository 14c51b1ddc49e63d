"""A word-level difference drawn as SVG: removed words struck through, added words underlined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from xml.sax.saxutils import escape  # escapes text, parses nothing  # nosec B406

_WIDTH = 96
"""Characters a line. The text is set in a fixed-width font, so that lines can be broken without measuring."""
_LINE = 18
_CHARACTER = 7.3
# Colours that `report.chart_style` has a dark one of.
_STYLES = {
    "same": 'fill="#1d2126"',
    "removed": 'fill="#a3341b" text-decoration="line-through"',
    "added": 'fill="#0b6f3a" text-decoration="underline"',
    "title": 'fill="#1d2126" font-weight="bold"',
}

Word = tuple[str, str]


def diff_svg(blocks: Iterable[tuple[str, Sequence[Sequence[str]]]], *, width: int = _WIDTH) -> str:
    """SVG of titled differences, each a list of (change, text), in lines of `width` letters."""
    body: list[str] = []
    top = 4
    for title, parts in blocks:
        for texts in ([("title", title)], parts):
            for line in _wrapped([(change, word) for change, text in texts for word in text.split()], width):
                top += _LINE
                body.append(_text(line, top))
        top += _LINE // 2
    across = int(width * _CHARACTER) + 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{top + 8}" viewBox="0 0 {across} {top + 8}" '
        f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12">'
        f"{''.join(body)}</svg>"
    )


def _wrapped(words: Sequence[Word], width: int) -> Iterator[list[Word]]:
    line: list[Word] = []
    used = 0
    for style, word in _pieces(words, width):
        if line and used + 1 + len(word) > width:
            yield line
            line, used = [], 0
        line.append((style, word))
        used += len(word) + 1
    if line:
        yield line


def _pieces(words: Iterable[Word], width: int) -> Iterator[Word]:
    """Words longer than a line, cut to fit."""
    for style, word in words:
        for start in range(0, len(word), width):
            yield style, word[start : start + width]


def _text(line: Sequence[Word], top: int) -> str:
    """One line; neighbouring words of one style share a span, so that a stroke runs through the spaces as well."""
    drawn = " ".join(
        f"<tspan {_STYLES[style]}>{escape(' '.join(word for _, word in words))}</tspan>"
        for style, words in groupby(line, key=itemgetter(0))
    )
    return f'<text x="8" y="{top}">{drawn}</text>'
