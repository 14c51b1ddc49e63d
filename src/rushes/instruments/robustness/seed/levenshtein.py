"""Levenshtein distance by character: the dynamic-programming table, one whole column per step.

Formula     D[i][j] = min(D[i−1][j] + 1, D[i][j−1] + 1, D[i−1][j−1] + (a_i ≠ b_j)), D[i][0] = i, D[0][j] = j
Unit        edits: insertions, deletions and substitutions of one character each
Inputs      Python strings, compared code point by code point; "é" typed as one or as two code points differs
Edge cases  equal strings: 0; one empty: the length of the other
Reference   Myers 1999, "A fast bit-vector algorithm for approximate string matching"; Hyyrö 2003, "A bit-vector
            algorithm for computing Levenshtein and Damerau edit distances"

Neighbouring cells of the table differ by −1, 0 or +1, so a column is two sets of rows: where the step down from the row
above is +1 and where it is −1. A Python integer holds a set of any size, and the next column follows from the last one
by fifteen operations on whole integers. The distance is read off at the end: D[0][n] = n, plus the steps down.
"""

from __future__ import annotations

from bisect import bisect_left

# The sums and shifts below push bits past the last row. They can never come back down, so it is enough to cut them off
# now and then; doing it once a column would cost two more operations in fifteen.
_COLUMNS_BETWEEN_TRIMS = 60


class EditDistance:
    """Distances from one text to many others; what depends on that one text is prepared once.

    >>> from_kitten = EditDistance("kitten")
    >>> from_kitten.to("sitting"), from_kitten.to("kitten"), from_kitten.to("")
    (3, 0, 6)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._rows = _rows_by_character(text)

    def to(self, other: str) -> int:
        """Fewest single-character edits that turn the text into `other`."""
        if other == self.text:
            return 0
        start, end = _shared_ends(self.text, other)
        height = len(self.text) - start - end
        text = other[start : len(other) - end]
        if not height or not text:
            return height + len(text)
        inside = ((1 << height) - 1) << 1
        rows = {char: (self._rows.get(char, 0) >> start) & inside for char in set(text)}
        return _distance(rows, height, text)

    def normalized_to(self, other: str) -> float:
        """The distance over the length of the longer text, 0 to 1; two empty texts give 0.0."""
        longest = max(len(self.text), len(other))
        return self.to(other) / longest if longest else 0.0


def levenshtein(one: str, other: str) -> int:
    """Fewest single-character insertions, deletions and substitutions that turn `one` into `other`.

    >>> levenshtein("flaw", "lawn"), levenshtein("café", "cafe"), levenshtein("日本語", "日本"), levenshtein("", "abc")
    (2, 1, 1, 3)
    """
    return EditDistance(one).to(other)


def normalized_levenshtein(one: str, other: str) -> float:
    """`levenshtein` over the length of the longer string, 0 to 1; two empty strings give 0.0.

    >>> normalized_levenshtein("hello", "hallo"), normalized_levenshtein("", ""), normalized_levenshtein("", "Because")
    (0.2, 0.0, 1.0)
    """
    return EditDistance(one).normalized_to(other)


def _rows_by_character(text: str) -> dict[str, int]:
    """For each character the set of rows that hold it; the text starts in row 1, row 0 is the table's edge."""
    rows: dict[str, int] = {}
    row = 2
    for char in text:
        rows[char] = rows.get(char, 0) | row
        row <<= 1
    return rows


def _shared_ends(one: str, other: str) -> tuple[int, int]:
    """Lengths of the common start and, of what is left, the common end: they never change a distance."""
    limit = min(len(one), len(other))
    # What differs after n characters differs after more, so halving finds where it begins.
    start = bisect_left(range(1, limit + 1), True, key=lambda n: one[:n] != other[:n])
    end = bisect_left(range(1, limit - start + 1), True, key=lambda n: one[len(one) - n :] != other[len(other) - n :])
    return start, end


def _distance(rows: dict[str, int], height: int, text: str) -> int:
    """The bottom-right cell of the table, `rows` down and `text` across.

    `up` and `down` hold the rows whose step from the row above is +1 and −1; `right_up` and `right_down` (one row
    lower) the same for steps from the column before; `same` the rows whose diagonal step costs nothing. Row 0 is in
    none of the sets of `inside`, which makes its step to the right always +1, as the table's edge asks.
    """
    whole = (1 << (height + 1)) - 1
    inside = whole - 1
    up, down = inside, 0
    for first in range(0, len(text), _COLUMNS_BETWEEN_TRIMS):
        for char in text[first : first + _COLUMNS_BETWEEN_TRIMS]:
            match = rows[char]
            same = (((match & up) + up) ^ up) | match | down
            right_up = (down | (whole ^ (same | up))) << 1
            right_down = (same & up) << 1
            up = right_down | (inside ^ (same | right_up))
            down = same & right_up
        up &= whole
        down &= whole
    return len(text) + up.bit_count() - down.bit_count()
