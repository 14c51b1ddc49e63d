"""Votes as counts: the one step that looks at every vote, so that a million of them cost no more than a table.

Everything a ranking or an interval needs is how often each rater gave each outcome on each prompt and pair of systems.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.errors import InputError
from rushes.preference.votes import Vote

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

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
    rater: Whole
    first: Whole
    second: Whole
    outcome: Whole
    count: Whole
    prompt: Whole
    prompts: tuple[str, ...]
    """What clusters votes beside raters; one empty name where prompts are not known."""

    @property
    def votes(self) -> int:
        return int(self.count.sum())

    @property
    def ties(self) -> int:
        return int(self.count[self.outcome == TIE].sum())

    def pairs(self) -> PairCounts:
        """The same counts summed over raters: one row per pair."""
        code = self.first * len(self.systems) + self.second
        seen, row = np.unique(code, return_inverse=True)
        table = np.zeros((len(seen), 3))
        np.add.at(table, (row, self.outcome), self.count)
        return PairCounts(
            systems=self.systems,
            first=seen // max(len(self.systems), 1),
            second=seen % max(len(self.systems), 1),
            wins_first=table[:, WIN_A],
            wins_second=table[:, WIN_B],
            ties=table[:, TIE],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCounts:
    """Wins and ties per pair of systems; fractions are allowed (half a tie for each side)."""

    systems: tuple[str, ...]
    first: Whole
    second: Whole
    wins_first: Floats
    wins_second: Floats
    ties: Floats

    @property
    def total(self) -> float:
        return float(self.wins_first.sum() + self.wins_second.sum() + self.ties.sum())

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
        return cls(
            systems=tuple(systems),
            first=first,
            second=second,
            wins_first=table[first, second],
            wins_second=table[second, first],
            ties=tied[first, second],
        )


def tally(votes: Iterable[Vote], *, systems: Collection[str] = ()) -> Tally:
    """Count votes. `systems` adds names that nobody voted on yet.

    >>> t = tally([Vote(sample="s", system_a="x", system_b="y", winner="tie", rater="r")])
    >>> t.systems, t.votes, t.ties
    (('x', 'y'), 1, 1)
    """
    given = tuple(votes)
    first, second, people, prompt = (
        [vote.system_a for vote in given],
        [vote.system_b for vote in given],
        [vote.rater for vote in given],
        [vote.prompt_key for vote in given],
    )
    names, raters = sorted({*first, *second, *systems}), sorted(set(people))
    prompts = sorted(set(prompt))
    place, person, words = ({name: i for i, name in enumerate(each)} for each in (names, raters, prompts))
    counted = tally_arrays(
        names,
        [place[name] for name in first],
        [place[name] for name in second],
        [OUTCOMES[vote.winner] for vote in given],
        rater=[person[name] for name in people],
        prompt=[words[name] for name in prompt],
    )
    return replace(counted, raters=tuple(raters), prompts=tuple(prompts))


def tally_arrays(
    systems: Sequence[str],
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    rater: ArrayLike | None = None,
    prompt: ArrayLike | None = None,
) -> Tally:
    """Count votes given as columns: indices into `systems`, outcome 0 first won · 1 second won · 2 tie, rater index,
    prompt index (left out: prompts are not known, and intervals can cluster by rater alone).

    For a million votes from a file or another program; `systems` must be in text order.
    """
    a, b, result = (np.asarray(column, dtype=np.int64) for column in (first, second, outcome))
    people, words = (np.zeros_like(a) if one is None else np.asarray(one, dtype=np.int64) for one in (rater, prompt))
    _check_columns(systems, a, b, result, people, words)
    swapped = a > b
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    result = np.where(swapped & (result != TIE), 1 - result, result)
    size, crowd, many = len(systems), int(people.max(initial=-1)) + 1, int(words.max(initial=-1)) + 1
    code = (((people * many + words) * size + low) * size + high) * 3 + result
    cells = crowd * many * size * size * 3
    if cells <= _DENSE_CELLS:
        dense = np.bincount(code, minlength=cells)
        seen = np.flatnonzero(dense)
        count = dense[seen].astype(np.int64)
    else:
        seen, count = np.unique(code, return_counts=True)
    pair = seen // 3
    who = pair // max(size * size, 1)
    return Tally(
        systems=tuple(systems),
        raters=tuple(f"{i}" for i in range(crowd)),
        rater=who // max(many, 1),
        first=pair // size % size,
        second=pair % size,
        outcome=seen % 3,
        count=count,
        prompt=who % max(many, 1),
        prompts=tuple(f"{i}" for i in range(many)) if prompt is not None else ("",),
    )


def _check_columns(systems: Sequence[str], a: Whole, b: Whole, outcome: Whole, rater: Whole, prompt: Whole) -> None:
    shapes = [column.shape for column in (a, b, outcome, rater, prompt)]
    if len(set(shapes)) > 1 or a.ndim != 1:
        raise InputError(f"vote columns need one length; got {', '.join(map(str, shapes))}")
    if list(systems) != sorted(set(systems)):
        raise InputError("system names must be different and in text order")
    if a.size and (min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= len(systems) or (a == b).any()):
        raise InputError(f"a vote compares two different systems, indices 0 to {len(systems) - 1}")
    if a.size and (outcome.min() < 0 or outcome.max() > TIE or rater.min() < 0 or prompt.min() < 0):
        raise InputError("an outcome is 0, 1 or 2; rater and prompt indices are 0 or more")
