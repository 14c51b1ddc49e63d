"""Text broken into lines that fit a width: between words, and only where there is no other way inside one."""

from __future__ import annotations

import re
import unicodedata

_BREAKS = "/|_-,;:.="
"""Where a word that is longer than the line may be broken."""
_JOINED = "\N{NO-BREAK SPACE}"


def cell_width(text: str) -> int:
    """Columns that a text takes on a terminal: Chinese letters take two, accents that stand alone none.

    >>> [cell_width(text) for text in ("take", "画", "é")]
    [4, 2, 1]
    """
    if text.isascii():
        return len(text)
    return sum(_letter(one) for one in text)


def _letter(one: str) -> int:
    if unicodedata.combining(one) or unicodedata.category(one) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(one) in "WF" else 1


def printable(text: str) -> str:
    """Without what would move the cursor or change colours: a file may be called anything.

    >>> printable("a\\x1b[31mb\\nc")
    'a?[31mb\\nc'
    """
    return "".join(one if one == "\n" or unicodedata.category(one) != "Cc" else "?" for one in text)


def words(text: str) -> list[str]:
    """The words of a text, each with the spaces before it; a sign stays with what it belongs to.

    >>> words("PSNR ↑, 95 % interval")
    ['PSNR ↑,', ' 95 %', ' interval']
    """
    joined = re.sub(r" (?=[↑↓%]+(?:[ ,;.)]|$))", _JOINED, text)
    return [word.replace(_JOINED, " ") for word in re.findall(rf"[^\S{_JOINED}]*(?:\S|{_JOINED})+", joined)]


def wrapped(text: str, width: int, *, hang: int = 0) -> list[str]:
    """Lines of at most `width` columns; those after the first begin with `hang` spaces.

    Runs of spaces inside a line stay as they are. A word that is longer than a line is broken after a stroke, a bar or
    the like, as a path or a signature is read, and in its middle only where it has none.

    >>> wrapped("frozen 1.0–2.4 s", 10)
    ['frozen', '1.0–2.4 s']
    >>> wrapped("a|bcd:1|efg:2", 8)
    ['a|bcd:1|', 'efg:2']
    """
    lines: list[str] = []
    line = ""
    for word in words(text):
        space = " " * hang if lines or line else ""
        if cell_width(line) + cell_width(word) <= width:
            line += word
            continue
        if line:
            lines.append(line)
            line, word = "", word.strip()
            space = " " * hang
        pieces = _pieces(word, width - len(space)) if cell_width(space + word) > width else [word]
        lines += [space + piece for piece in pieces[:-1]]
        line = space + pieces[-1]
    return [*lines, line]


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces that fit; width is at least 1."""
    pieces, rest = [], word
    while cell_width(rest) > max(width, 1):
        end = len(rest)
        while end > 1 and cell_width(rest[:end]) > width:
            end -= 1
        after = max((rest.rfind(mark, 0, end) + 1 for mark in _BREAKS), default=0)
        end = after if after > end // 3 else end
        pieces.append(rest[:end])
        rest = rest[end:]
    return [*pieces, rest]
