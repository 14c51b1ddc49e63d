"""Do raters agree? Percent agreement, overall and per task family, and where they differ most.

A unit is a sample, a category its winner (a, b or tie, in terms of true systems). The chance-corrected coefficients
are in `kappa` and `krippendorff`; report percent agreement, α and AC1 together, because κ collapses when nearly all
votes go one way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rushes.preference.statistics.intervals import CONFIDENCE, Estimate, wilson
from rushes.preference.statistics.tally import Floats
from rushes.preference.votes import HIGHEST_RATING, LOWEST_RATING, Vote

WINNER_CATEGORIES = ("a", "tie", "b")
"""In this order, a tie between the two, for the ordinal and interval levels."""
NO_SHARED_UNIT = "no sample has votes of two raters"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTable:
    """How many raters put each unit into each category: one row per unit, one column per category."""

    counts: Floats
    categories: tuple[Hashable, ...]

    @property
    def pairable(self) -> Floats:
        """Rows with two ratings or more; the others say nothing about agreement."""
        return np.asarray(self.counts[self.counts.sum(axis=1) >= 2])


def unit_table(units: Iterable[Sequence[Hashable | None]], *, categories: Sequence[Hashable] = ()) -> UnitTable:
    """Count ratings per unit; None is a missing rating. Without `categories`, those that occur, sorted.

    >>> unit_table([[1, 1, None], [1, 2, 2]]).counts.tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    rows = [[value for value in unit if value is not None] for unit in units]
    names = tuple(categories) or tuple(sorted({value for row in rows for value in row}, key=_sort_key))
    place = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for value in row:
            counts[number, place[value]] += 1.0
    return UnitTable(counts=counts, categories=names)


def _sort_key(value: Hashable) -> tuple[bool, object]:
    return (isinstance(value, str), value)


def votes_by_sample(votes: Iterable[Vote]) -> dict[str, list[Vote]]:
    """Raw votes of each sample in the order they came (`Vote.turn`; the given order where nobody recorded it).

    A rater who voted twice counts once, with the last vote, in the place of the first.
    """
    found: dict[str, dict[str, Vote]] = defaultdict(dict)
    for vote in votes:
        if vote.counts_in_results:
            found[vote.sample][vote.rater] = vote
    return {sample: sorted(by_rater.values(), key=lambda vote: vote.turn) for sample, by_rater in found.items()}


def first_votes(votes: Iterable[Vote], first: int) -> list[Vote]:
    """The first so many raw votes of every sample: what agreement may rest on.

    A sample gets one more rater only when its first raters disagree. Counting that vote would call disputes half
    agreed and leave the rest as it is: raters who toss coins would seem to agree two times in three.
    """
    return [vote for given in votes_by_sample(votes).values() for vote in given[:first]]


def winner_table(votes: Iterable[Vote]) -> UnitTable:
    """Samples × winners, over raw votes; give it `first_votes` where a third rater depends on the first two."""
    samples = votes_by_sample(votes)
    return unit_table(
        ([vote.winner for vote in samples[sample]] for sample in sorted(samples)), categories=WINNER_CATEGORIES
    )


def rating_table(votes: Iterable[Vote], dimension: str) -> UnitTable:
    """Clips × ratings 1–5 of one dimension, over raw votes; a unit is one clip of one sample."""
    samples, units = votes_by_sample(votes), []
    for sample in sorted(samples):
        both = [vote.ratings[dimension] for vote in samples[sample] if dimension in vote.ratings]
        units += [[one for one, _ in both], [other for _, other in both]]
    return unit_table(units, categories=range(LOWEST_RATING, HIGHEST_RATING + 1))


def percent_agreement(table: UnitTable, *, confidence: float = CONFIDENCE) -> Estimate:
    """Share of rater pairs that gave a unit the same category, averaged over units.

    Formula     mean over units with n_u ≥ 2 of Σ_c n_uc (n_uc − 1) / (n_u (n_u − 1))
    Unit        ratio, 0 to 1; higher is more agreement, chance included
    Inputs      ratings per unit; a unit with fewer than two ratings is left out
    Edge cases  no unit with two ratings: None with a reason
    Interval    Wilson's, with units as trials: raters of one unit are not independent

    >>> percent_agreement(unit_table([["a", "a"], ["a", "b"]])).value
    0.5
    """
    shares = unit_agreement(table.pairable)
    if not len(shares):
        return Estimate.undefined(NO_SHARED_UNIT)
    mean = float(shares.mean())
    return Estimate(
        value=mean, count=len(shares), interval=wilson(float(shares.sum()), len(shares), confidence=confidence)
    )


def unit_agreement(counts: Floats) -> Floats:
    """Share of agreeing rater pairs in each row."""
    size = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1.0)).sum(axis=1) / (size * (size - 1.0)))
