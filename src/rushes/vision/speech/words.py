"""Words of a text as they are compared, and how many of them are wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_UNITS += ["seventeen", "eighteen", "nineteen"]
_TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_VALUES = {word: value for value, word in enumerate(_UNITS)} | _TENS
# Scripts without spaces between words: Thai, Lao, Khmer, kana, Han.
_ALONE = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


class WordErrors(NamedTuple):
    """Of the shortest way from the script to what was heard."""

    wrong: int
    """Substitutions, deletions and insertions."""
    words: int
    """Words of the script."""


def normalised(text: str) -> list[str]:
    """The words of a text: small letters, no punctuation, letters apart from digits, English numbers below 100 as
    digits; each character of a script without spaces is a word.

    >>> normalised("Bin blue at F2, now!"), normalised("twenty-five"), normalised("it's 小米")
    (['bin', 'blue', 'at', 'f', '2', 'now'], ['25'], ['its', '小', '米'])
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("\u2019", "")
    spaced = _ALONE.sub(lambda found: f" {found[0]} ", plain)
    words = re.sub(r"[\W_]+", " ", re.sub(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)", " ", spaced)).split()
    return _numbers(words)


def _numbers(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    tens = False
    for word in words:
        value = _VALUES.get(word)
        if value is None:
            found.append(word)
        elif tens and 0 < value < 10:
            found[-1] = str(int(found[-1]) + value)
        else:
            found.append(str(value))
        tens = word in _TENS
    return found


def word_errors(script: str, heard: str) -> WordErrors:
    """How many words of a script are wrong in what was heard: the least substitutions, deletions and insertions.

    >>> word_errors("bin blue at f two now", "Bin blew at F2.")
    WordErrors(wrong=2, words=6)
    """
    wanted, got = normalised(script), normalised(heard)
    row = list(range(len(got) + 1))
    for n, word in enumerate(wanted, 1):
        before, row = row, [n]
        for m, other in enumerate(got, 1):
            row.append(min(before[m] + 1, row[m - 1] + 1, before[m - 1] + (word != other)))
    return WordErrors(wrong=row[-1], words=len(wanted))
