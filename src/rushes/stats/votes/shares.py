"""Shares of votes: who won how much of what, as an exact fraction, with an interval that is never of zero width.

Formula     p = Σ points / n over n votes, 1 for a win, ½ for a tie; SE clustered by whoever is known (`clustered`);
            effective votes m = min(n, p (1 − p) / SE²), n where nothing varies; Wilson's interval of p with m trials,
            Student's t of the clusters − 1 in place of z (z where votes are taken as independent)
Unit        ratio, 0 to 1: the interval stays inside
Edge cases  no vote: none. 75 of 75 over five prompts is 1 (0.907 to 1): 75 / (75 + t²). Never narrower than independent
            votes allow. Raters unknown and one prompt: votes as independent, and `why` says so. One rater: no interval.
Reference   Wilson 1927; Dean & Pagano 2015 and Franco et al. 2019 on Wilson's interval with effective counts
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Estimate, Why
from rushes.stats.clustered import BY_PROMPT, ONE_WAY, TWO_WAY, Clusters, IntervalKind
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence, normal_quantile, student_quantile, wilson
from rushes.stats.votes.tally import TIE, WIN_A, Tally

Ties: TypeAlias = Literal["drop", "half"]
"""What a tie is to a share: left out, or half a win for each side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one system won of its votes, or of those against one other."""

    system: str
    against: str
    """ "" for all of its votes."""
    exact: Fraction
    estimate: Estimate


def clustered_share(
    points: Floats, count: Whole, clusters: Clusters, *, kind: IntervalKind = TWO_WAY, confidence: float = LEVEL
) -> Estimate:
    """The mean of points between 0 and 1, each row standing for `count` votes; see the module.

    >>> one = Clusters(np.arange(4) % 2, 2, np.arange(4) // 2, 2)
    >>> found = clustered_share(np.ones(4), np.full(4, 10), one)
    >>> found.value, found.interval.low < 0.3, found.interval.high  # two raters, two prompts
    (1.0, True, 1.0)
    """
    check_confidence(confidence)
    number = int(count.sum())
    if not number:
        return Estimate.none(Why.NO_DATA)
    mean = float(points @ count) / number
    squared, freedom, kind, why = _spread((points - mean) * count, clusters, kind)
    if freedom == 0:
        return Estimate(value=mean, count=number, why=why)
    share = 0.5 + confidence / 2.0
    quantile = normal_quantile(share) if freedom is None else student_quantile(share, freedom)
    room = mean * (1.0 - mean)
    trials = min(number, room * number**2 / squared) if squared > 1e-12 * number**2 and room > 0 else float(number)
    interval = wilson(mean * trials, trials, level=confidence, method=f"wilson, {kind}", quantile=quantile)
    return Estimate(value=mean, count=number, interval=interval, why=why)


def _spread(
    residuals: Floats, clusters: Clusters, kind: IntervalKind
) -> tuple[float, int | None, IntervalKind, Why | None]:
    """Variance of the summed residuals, degrees of freedom (0: no interval, None: the normal), the kind, and why."""
    if kind in ("fisher", "sandwich"):
        return 0.0, None, kind, None
    (rater, raters), (prompt, prompts), (met, meetings) = clusters.ways()
    if kind == BY_PROMPT and prompts < 2:
        return 0.0, None, "fisher", Why.ONE_PROMPT
    if kind == BY_PROMPT:
        return _squares(residuals, prompt, prompts), prompts - 1, kind, None
    if raters < 2:
        return 0.0, 0, kind, Why.NEEDS_TWO_RATERS
    by_rater = _squares(residuals, rater, raters)
    if kind == ONE_WAY or prompts < 2:
        return by_rater, raters - 1, ONE_WAY, Why.ONE_PROMPT if kind == TWO_WAY else None
    by_prompt = _squares(residuals, prompt, prompts)
    both = by_rater + by_prompt - _squares(residuals, met, meetings)
    return max(both, by_rater, by_prompt), min(raters, prompts) - 1, kind, None


def _squares(residuals: Floats, cluster: Whole, groups: int) -> float:
    sums = np.bincount(cluster, weights=residuals)
    return float(sums @ sums) * groups / max(groups - 1.0, 1.0)


def win_shares(
    votes: Tally, *, ties: Ties = "half", kind: IntervalKind = TWO_WAY, confidence: float = LEVEL
) -> Iterator[Share]:
    """Every system's share of all its votes, in text order; a tie is half a win, or dropped."""
    for k in range(len(votes.systems)):
        rows = _rows(votes, (votes.first == k) | (votes.second == k), ties)
        if len(rows):
            yield _share(votes, rows, k, "", kind, confidence)


def head_to_head(
    votes: Tally, *, ties: Ties = "half", kind: IntervalKind = TWO_WAY, confidence: float = LEVEL
) -> Iterator[Share]:
    """Every system's share of its votes against every other that it met, in text order; a tie as above."""
    for i in range(len(votes.systems)):
        for j, against in enumerate(votes.systems):
            rows = _rows(votes, (votes.first == min(i, j)) & (votes.second == max(i, j)), ties)
            if len(rows):
                yield _share(votes, rows, i, against, kind, confidence)


def _rows(votes: Tally, chosen: NDArray[np.bool_], ties: Ties) -> Whole:
    return np.flatnonzero(chosen & (votes.outcome != TIE) if ties == "drop" else chosen)


def _share(votes: Tally, rows: Whole, k: int, against: str, kind: IntervalKind, confidence: float) -> Share:
    outcome, count = votes.outcome[rows], votes.count[rows]
    won = (outcome == WIN_A) == (votes.first[rows] == k)
    points = np.where(outcome == TIE, 0.5, won.astype(float))
    clusters = votes.clusters
    (rater, raters), (prompt, prompts) = (_renumbered(names[rows]) for names in (clusters.rater, clusters.prompt))
    met = Clusters(rater, raters, prompt, prompts)
    return Share(
        system=votes.systems[k],
        against=against,
        exact=Fraction(int((2 * points).astype(np.int64) @ count), 2 * int(count.sum())),
        estimate=clustered_share(points, count, met, kind=kind, confidence=confidence),
    )


def _renumbered(names: Whole) -> tuple[Whole, int]:
    found, index = np.unique(names, return_inverse=True)
    return index.astype(np.int64).reshape(-1), len(found)
