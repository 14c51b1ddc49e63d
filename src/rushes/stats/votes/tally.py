"""Votes as counts: the one step that looks at every vote, so that a million of them cost no more than a table.

Everything a ranking or an interval needs is how often each rater gave each outcome on each prompt and pair of systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.core.errors import InputError
from rushes.stats.clustered import Clusters
from rushes.stats.intervals import Floats, Whole

WIN_A, WIN_B, TIE = 0, 1, 2
OUTCOMES = {"a": WIN_A, "b": WIN_B, "tie": TIE}
# Beyond this many cells a table of counts would be mostly zeros: sort the codes instead.
_DENSE_CELLS = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """How often each rater gave each outcome on each pair; one row per (rater, prompt, pair, outcome) that occurred.

    Rows are sorted by rater, prompt, pair and outcome. `first < second` index `systems`, which are in text order.
    """

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    """One empty name where raters are not known."""
    rater: Whole
    first: Whole
    second: Whole
    outcome: Whole
    count: Whole
    prompt: Whole
    prompts: tuple[str, ...]
    """What clusters votes beside raters; one empty name where prompts are not known."""

    @property
    def knows_raters(self) -> bool:
        """Whether votes say whose they are; else `raters` is one empty name."""
        return self.raters != ("",)

    @property
    def knows_prompts(self) -> bool:
        return self.prompts != ("",)

    @property
    def votes(self) -> int:
        return int(self.count.sum())

    @property
    def ties(self) -> int:
        return int(self.count[self.outcome == TIE].sum())

    def met(self, system: str) -> int:
        """Votes that this system took part in."""
        k = self.systems.index(system)
        return int(self.count[(self.first == k) | (self.second == k)].sum())

    @property
    def clusters(self) -> Clusters:
        return Clusters(self.rater, len(self.raters), self.prompt, len(self.prompts))

    def pairs(self) -> PairCounts:
        """The same counts summed over raters: one row per pair."""
        code = self.first * len(self.systems) + self.second
        seen, row = np.unique(code, return_inverse=True)
        table = np.zeros((len(seen), 3))
        np.add.at(table, (row, self.outcome), self.count)
        first, second = np.divmod(seen, max(len(self.systems), 1))
        return PairCounts(systems=self.systems, first=first, second=second, cells=np.ascontiguousarray(table.T))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCounts:
    """Wins and ties per pair of systems; fractions are allowed (half a tie for each side)."""

    systems: tuple[str, ...]
    first: Whole
    second: Whole
    cells: Floats
    """Rows: votes for the first, for the second, and ties; a column per pair."""

    @property
    def wins_first(self) -> Floats:
        return np.asarray(self.cells[WIN_A])

    @property
    def wins_second(self) -> Floats:
        return np.asarray(self.cells[WIN_B])

    @property
    def ties(self) -> Floats:
        return np.asarray(self.cells[TIE])

    @property
    def total(self) -> float:
        return float(self.wins_first.sum() + self.wins_second.sum() + self.ties.sum())

    def only(self, kept: NDArray[np.bool_], cells: Floats) -> PairCounts:
        """Some of the pairs, with these cells of all of them. Rows stay whole in memory: sums depend on it."""
        whole = np.ascontiguousarray(cells[:, kept])
        return replace(self, first=self.first[kept], second=self.second[kept], cells=whole)

    @classmethod
    def of_wins(cls, systems: Sequence[str], wins: ArrayLike, ties: ArrayLike | None = None) -> PairCounts:
        """From a square table: `wins[i][j]` is how often i beat j; `ties`, if given, is symmetric.

        >>> PairCounts.of_wins(["x", "y"], [[0, 3], [1, 0]]).wins_first.tolist()
        [3.0]
        """
        table = np.asarray(wins, dtype=float)
        tied = np.zeros_like(table) if ties is None else np.asarray(ties, dtype=float)
        if table.shape != (len(systems), len(systems)) or tied.shape != table.shape:
            raise InputError(f"wins of {len(systems)} systems need a square table; got shape {table.shape}")
        first, second = np.triu_indices(len(systems), 1)
        met = (table[first, second] + table[second, first] + tied[first, second]) > 0
        first, second = first[met], second[met]
        cells = np.stack([table[first, second], table[second, first], tied[first, second]])
        return cls(systems=tuple(systems), first=first, second=second, cells=cells)


def tally_arrays(
    systems: Sequence[str],
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    rater: ArrayLike | None = None,
    prompt: ArrayLike | None = None,
    count: ArrayLike | None = None,
) -> Tally:
    """Count votes given as columns: indices into `systems`, outcome 0 first won · 1 second won · 2 tie, rater index,
    prompt index (left out: prompts are not known, and intervals can cluster by rater alone), and how many such votes a
    row stands for (left out: one).

    For a million votes from a file or another program; `systems` must be in text order.
    """
    a, b, result = (np.asarray(column, dtype=np.int64) for column in (first, second, outcome))
    people, words = (np.zeros_like(a) if one is None else np.asarray(one, dtype=np.int64) for one in (rater, prompt))
    times = np.ones_like(a) if count is None else np.asarray(count, dtype=np.int64)
    _check_columns(systems, a, b, result, people, words, times)
    swapped = a > b
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    result = np.where(swapped & (result != TIE), 1 - result, result)
    size, crowd, many = len(systems), int(people.max(initial=-1)) + 1, int(words.max(initial=-1)) + 1
    code = (((people * many + words) * size + low) * size + high) * 3 + result
    cells = crowd * many * size * size * 3
    if count is None and cells <= _DENSE_CELLS:
        dense = np.bincount(code, minlength=cells)
        seen = np.flatnonzero(dense)
        number = dense[seen].astype(np.int64)
    else:
        seen, row = np.unique(code[times > 0], return_inverse=True)
        number = np.zeros(len(seen), dtype=np.int64)
        np.add.at(number, row, times[times > 0])
    pair = seen // 3
    who = pair // max(size * size, 1)
    return Tally(
        systems=tuple(systems),
        raters=tuple(f"{i}" for i in range(crowd)) if rater is not None else ("",),
        rater=who // max(many, 1),
        first=pair // size % size,
        second=pair % size,
        outcome=seen % 3,
        count=number,
        prompt=who % max(many, 1),
        prompts=tuple(f"{i}" for i in range(many)) if prompt is not None else ("",),
    )


def _check_columns(
    systems: Sequence[str], a: Whole, b: Whole, outcome: Whole, rater: Whole, prompt: Whole, times: Whole
) -> None:
    shapes = [column.shape for column in (a, b, outcome, rater, prompt, times)]
    if len(set(shapes)) > 1 or a.ndim != 1:
        raise InputError(f"vote columns need one length; got {', '.join(map(str, shapes))}")
    if list(systems) != sorted(set(systems)):
        raise InputError("system names must be different and in text order")
    if a.size and (min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= len(systems) or (a == b).any()):
        raise InputError(f"a vote compares two different systems, indices 0 to {len(systems) - 1}")
    if a.size and (outcome.min() < 0 or outcome.max() > TIE or rater.min() < 0 or prompt.min() < 0):
        raise InputError("an outcome is 0, 1 or 2; rater and prompt indices are 0 or more")
    if times.size and times.min() < 0:
        raise InputError("a row counts 0 votes or more")
