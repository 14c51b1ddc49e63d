"""Which words of a table have a colour. Colour is never alone: the word says the same."""

from __future__ import annotations

import os
import re
from typing import TextIO

_RED, _YELLOW, _GREEN, _BOLD, _FAINT = "31", "33", "32", "1", "2"

_COLOURS = {
    _RED: ("reject", "worse", "goes against", "failed", "refused"),
    _YELLOW: ("flagged", "cannot tell", "cannot be told", "inconclusive", "no evidence"),
    _GREEN: ("pass", "better", "same", "agrees"),
}
_WORDS = {word: colour for colour, words in _COLOURS.items() for word in words}


def is_coloured(stream: TextIO) -> bool:
    """Whether colours are shown here: on a terminal, unless NO_COLOR is set (https://no-color.org) or it is dumb."""
    if os.environ.get("NO_COLOR"):
        return False
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "")


def signal(text: str) -> str:
    """A cell with its colour, where it is a word that has one."""
    code = _WORDS.get(text.strip())
    return text if code is None else _painted(text, code)


def paint_signals(text: str) -> str:
    """A sentence in which the words that have a colour show it."""
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, _WORDS))})\b", lambda found: signal(found[0]), text)


def bold(text: str) -> str:
    return _painted(text, _BOLD)


def faint(text: str) -> str:
    return _painted(text, _FAINT)


def _painted(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
