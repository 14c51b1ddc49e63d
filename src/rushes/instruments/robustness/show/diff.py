"""Texts for people to read: made safe to show, and the word-level difference of two of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

Change: TypeAlias = Literal["same", "removed", "added"]

_WORD = re.compile(r"\s*\S+")
_LONGEST = 2000
"""Words compared per text. Matching takes time in the product of the lengths; nobody reads a longer difference."""

_LONGEST_LABEL = 80


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A stretch of words that stayed, went or came."""

    change: Change
    text: str


def shown(text: str, longest: int | None = None) -> str:
    """Text that can be stored, printed and drawn: one line, "?" for what is not printable; cut where asked.

    JSON can carry terminal controls and half surrogate pairs, and a judge's words end up on terminals and pages.

    >>> shown("a\\n\\x1b[2Jb\\ud800c"), shown("abcdef", 4)
    ('a ?[2Jb?c', 'abc…')
    """
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return line if longest is None or len(line) <= longest else line[: max(longest - 1, 0)] + "…"


def answer_label(text: str) -> str:
    """A short printable name for an answer; answers that differ have names that differ.

    >>> answer_label("pass"), answer_label("a\\nb"), answer_label("x" * 300)[-18:]
    ('pass', 'a b #7e18f737311b', 'xxx… #0d4e2ca9e9cb')
    """
    line = shown(text, _LONGEST_LABEL)
    if line == text:
        return line
    return f"{line} #{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def word_diff(before: str, after: str) -> tuple[DiffPart, ...]:
    """What turns one text into the other, word by word; a changed stretch is first removed, then added.

    Texts over 2,000 words are compared up to there, and end with "…".

    >>> word_diff("the clip is sharp", "the clip is very soft")
    (DiffPart(change='same', text='the clip is'), DiffPart(change='removed', text='sharp'), \
DiffPart(change='added', text='very soft'))
    """
    one, other = _words(before), _words(after)
    parts: list[DiffPart] = []
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(_part("same", one[a0:a1]))
            continue
        parts += [_part("removed", one[a0:a1])] * (a1 > a0) + [_part("added", other[b0:b1])] * (b1 > b0)
    return tuple(parts)


def _words(text: str) -> list[str]:
    words = [word.strip() for word in _WORD.findall(text)]
    return words if len(words) <= _LONGEST else [*words[:_LONGEST], "…"]


def _part(change: Change, words: Sequence[str]) -> DiffPart:
    return DiffPart(change, " ".join(words))
