"""Words that a prompt puts in quotation marks, and how far what was read is from them."""

from __future__ import annotations

import re
import unicodedata

_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|‘([^’]+)’(?!\w)|(?<!\w)'([^']+)'(?!\w)"
)
"""Single marks count where no letter touches them from outside: "don't" and "the dogs' bowls" quote nothing."""


def quoted(prompt: str) -> tuple[str, ...]:
    """The parts of a prompt in quotation marks that hold a letter or a digit, in order.

    >>> quoted('a sign that says "OPEN", and a card: “No 5”')
    ('OPEN', 'No 5')
    >>> quoted("the dog's bowl says 'Rex'; it isn't full"), quoted('he shrugs: "…"')
    (('Rex',), ())
    """
    found = ("".join(filter(None, match.groups())) for match in _QUOTED.finditer(prompt))
    return tuple(text for text in found if plain(text))


def plain(text: str) -> str:
    """Letters and digits alone, without case or compatibility forms: what is compared.

    >>> plain("It’s  OPEN!"), plain("ﬁne ２４")
    ('itsopen', 'fine24')
    """
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


def edits(wanted: str, read: str, *, anywhere: bool = False) -> int:
    """Letters to insert, delete or replace to make one text of the other (Levenshtein 1966).

    `anywhere`: what stands before and after the best match in `read` costs nothing (Sellers 1980).

    >>> edits("kitten", "sitting"), edits("open", "weareopentoday", anywhere=True), edits("open", "", anywhere=True)
    (3, 0, 4)
    """
    row = [0] * (len(read) + 1) if anywhere else list(range(len(read) + 1))
    for place, letter in enumerate(wanted, 1):
        above, row = row, [place]
        for column, other in enumerate(read):
            row.append(min(above[column + 1] + 1, row[column] + 1, above[column] + (letter != other)))
    return min(row) if anywhere else row[-1]


def error_rate(wanted: tuple[str, ...], read: str) -> float:
    """Wrong letters of the wanted texts as a share of their letters, each where `read` matches it best; 0 to 1.

    >>> error_rate(("OPEN", "24 hours"), "now 0pen / 24 hours")
    0.09090909090909091
    """
    texts, seen = [plain(text) for text in wanted], plain(read)
    return sum(edits(text, seen, anywhere=True) for text in texts) / sum(map(len, texts))


def likeness(one: str, other: str) -> float:
    """1 − edits / letters of the longer text, of what is compared; 1 for two texts without a letter.

    >>> likeness("OPEN", "open"), likeness("OPEN", "OPEM"), likeness("OPEN", "")
    (1.0, 0.75, 0.0)
    """
    one, other = plain(one), plain(other)
    return 1.0 - edits(one, other) / max(len(one), len(other), 1)
