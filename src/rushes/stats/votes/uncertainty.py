"""How sure a ranking is: the covariance of its strengths, and which ranks are still possible.

Kinds       fisher            inverse information; votes independent, model exact
            sandwich          votes independent, model may be wrong
            rater-clustered   raters independent, anything within a rater; factor G/(G−1), t(G−1)
            rater- and prompt-clustered
                              raters and prompts independent, anything within a rater or a prompt; t(min(G) − 1)
            prompt-clustered  raters not known: prompts independent, anything within a prompt; t(G−1)
Floor       no clustered interval is narrower than that of independent votes (fisher), nor, with raters and prompts,
            than that of independent meetings of a rater and a prompt, both with the normal's z: scores that cancel
            within every rater and every prompt gave 1000 to 1000. The second is what best–worst needs, whose votes
            come several from one answer: of m clips, (m − 1)²/(2m − 3) times fisher where systems are equal
Ranks       from pairwise differences, all of them covered together: lowest rank number of i = 1 + #{j surely better};
            highest = n − #{j surely worse}; "surely": the interval of θ_j − θ_i, at the critical value for all
            n(n−1)/2 differences together (Bonferroni), does not hold 0
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from rushes.core import Estimate, Interval, Why
from rushes.core.errors import InputError
from rushes.stats.clustered import BY_PROMPT, ONE_WAY, TWO_WAY, Clusters, IntervalKind, Meat, two_way_covariance
from rushes.stats.families import possible_ranks
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence, normal_quantile, student_quantile
from rushes.stats.votes.estimation import likelihood, sum_zero_inverse
from rushes.stats.votes.ranking import Ranking
from rushes.stats.votes.tally import TIE, PairCounts, Tally

_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uncertainty:
    """Covariance of a ranking's parameters and the critical value that belongs to it."""

    kind: IntervalKind
    covariance: Floats
    critical: float
    level: float
    raters: int
    prompts: int = 0
    freedom: int | None = None
    """Of Student's t; None for the normal distribution."""
    floors: tuple[Floats, ...] = ()
    """Covariances whose variances no variance is taken smaller than (`two_way`)."""

    def difference_se(self, i: int, j: int) -> float:
        """Standard error of θ_i − θ_j, which no choice of origin can move."""
        found = (float(c[i, i] + c[j, j] - 2.0 * c[i, j]) for c in (self.covariance, *self.floors))
        return math.sqrt(max(0.0, *found))

    def interval(self, value: float, k: int) -> Interval:
        """Of the k-th parameter, which has this value."""
        half = self.critical * float(self.standard_errors()[k])
        return Interval(low=value - half, high=value + half, level=self.level, method=self.kind)

    def standard_errors(self) -> Floats:
        """Of every parameter, θ summing to zero."""
        found = np.stack([np.diag(c) for c in (self.covariance, *self.floors)]).max(axis=0)
        return np.asarray(np.sqrt(np.maximum(found, 0.0)))


def uncertainty(
    ranking: Ranking,
    votes: Tally | None = None,
    *,
    kind: IntervalKind = TWO_WAY,
    confidence: float = 0.95,
) -> Uncertainty | Why:
    """The covariance behind intervals of a ranking, or why there is none.

    `votes` are those the ranking was made from; `fisher` does without. Clustered kinds need two raters; of one prompt
    only, the two-way kind becomes `rater-clustered`, and its `kind` says so.
    """
    check_confidence(confidence)
    bread = sum_zero_inverse(ranking.problem.information(ranking.x), ranking.problem.size)
    normal = normal_quantile(0.5 + confidence / 2.0)
    if kind == "fisher":
        raters = len(votes.raters) if votes else 0
        return Uncertainty(kind=kind, covariance=bread, critical=normal, level=confidence, raters=raters)
    if votes is None:
        raise InputError(f"{kind} intervals need the tallied votes, not the ranking alone")
    raters = len(votes.raters)
    if kind == "sandwich":
        meat = _score_squares(ranking, votes)
        covariance = bread @ meat @ bread
        return Uncertainty(kind=kind, covariance=covariance, critical=normal, level=confidence, raters=raters)
    return clustered_uncertainty(bread, _meats(ranking, votes), votes.clusters, kind=kind, confidence=confidence)


def clustered_uncertainty(
    bread: Floats, meat: Meat, clusters: Clusters, *, kind: IntervalKind = TWO_WAY, confidence: float = LEVEL
) -> Uncertainty | Why:
    """A clustered covariance from the inverse information and the scores' products, or why there is none."""
    raters, prompts = clusters.raters, clusters.prompts
    floors: list[Floats] = []
    single: tuple[Floats, ...] = (bread,)
    if kind == BY_PROMPT:
        if prompts < 2:
            return Why.NEEDS_TWO_PROMPTS
        raters, freedom = 0, prompts - 1
        covariance = bread @ meat(clusters.prompt) @ bread * (prompts / (prompts - 1.0))
    elif raters < 2:
        return Why.NEEDS_TWO_RATERS
    elif kind == TWO_WAY and prompts > 1:
        freedom = min(raters, prompts) - 1
        covariance, (*floors, met) = two_way_covariance(bread, meat, clusters)
        single = bread, met
    else:
        kind, freedom = ONE_WAY, raters - 1
        covariance = bread @ meat(clusters.rater) @ bread * (raters / (raters - 1.0))
    critical = student_quantile(0.5 + confidence / 2.0, freedom)
    # An interval of independent votes has z where a clustered one has t: the floor is of intervals, not of variances.
    narrower = (normal_quantile(0.5 + confidence / 2.0) / critical) ** 2
    return Uncertainty(
        kind=kind,
        covariance=covariance,
        critical=critical,
        level=confidence,
        raters=raters,
        prompts=prompts,
        freedom=freedom,
        floors=(*floors, *(each * narrower for each in single)),
    )


def _slopes(ranking: Ranking, votes: Tally) -> tuple[Floats, Floats]:
    """∂ log P / ∂d and ∂u of one vote, for each row of the tally; ties score nothing under drop-tie.

    Worked out once per pair of systems: scores depend on the outcome and on d, not on counts.
    """
    size, theta = ranking.problem.size, ranking.log_worth
    d = (theta[:, None] - theta[None, :]).ravel()
    index = np.zeros(len(d), dtype=np.int64)
    blank = PairCounts(systems=ranking.systems, first=index, second=index, cells=np.zeros((3, len(d))))
    at = likelihood(d, float(ranking.x[-1]) if ranking.problem.has_tie else None, blank, ranking.tie_policy)
    pair = votes.first * size + votes.second
    slope = at.score_d[votes.outcome, pair]
    if ranking.tie_policy == "drop-tie":
        slope = np.where(votes.outcome == TIE, 0.0, slope)
    return slope, at.score_u[votes.outcome, pair]


def _meats(ranking: Ranking, votes: Tally) -> Meat:
    """Σ s_g s_gᵀ over clusters of the tally's rows, s_g the derivative of a cluster's whole log likelihood."""
    slope, tie_slope = (values * votes.count for values in _slopes(ranking, votes))
    width = len(ranking.x)

    def sums(cluster: Whole, rows: Whole, groups: int) -> Floats:
        first, cells = cluster * width + votes.first[rows], groups * width
        flat: Floats = np.bincount(first, weights=slope[rows], minlength=cells).astype(np.float64)
        flat -= np.bincount(cluster * width + votes.second[rows], weights=slope[rows], minlength=cells)
        found = flat.reshape(groups, width)
        if ranking.problem.has_tie:
            found[:, -1] = np.bincount(cluster, weights=tie_slope[rows], minlength=groups)
        return found

    def meat(cluster: Whole) -> Floats:
        order = np.argsort(cluster, kind="stable")
        ends = np.flatnonzero(np.diff(cluster[order])) + 1
        edges = np.concatenate([[0], ends, [len(order)]])
        step, total = max(1, _MOST_CELLS // width), np.zeros((width, width))
        # A few clusters at a time: a million meetings of raters and prompts need no million rows in memory.
        for start in range(0, len(edges) - 1, step):
            low, high = edges[start], edges[min(start + step, len(edges) - 1)]
            rows = order[low:high]
            inside = np.searchsorted(edges[start:], np.arange(low, high), side="right") - 1
            part = sums(inside.astype(np.int64), rows, int(inside[-1]) + 1)
            total += part.T @ part
        return total

    return meat


def _score_squares(ranking: Ranking, votes: Tally) -> Floats:
    """Σ over votes of score · scoreᵀ."""
    slope, tie_slope = _slopes(ranking, votes)
    width, ends = len(ranking.x), ((votes.first, 1.0), (votes.second, -1.0))
    found = np.zeros(width * width)
    for row, row_sign in ends:
        for column, sign in ends:
            weights = row_sign * sign * votes.count * slope**2
            found += np.bincount(row * width + column, weights=weights, minlength=width * width)
    table = found.reshape(width, width)
    if ranking.problem.has_tie:
        for row, sign in ends:
            weights = sign * votes.count * slope * tie_slope
            table[:, -1] += np.bincount(row, weights=weights, minlength=width)
        table[-1, :] = table[:, -1]
        table[-1, -1] = float(votes.count @ tie_slope**2)
    return np.asarray(table)


def strength_estimates(ranking: Ranking, spread: Uncertainty | Why) -> tuple[Estimate, ...]:
    """Every θ (mean 0) with its interval, in the order of `ranking.systems`; counts are those of all votes."""
    count, strengths = int(ranking.votes), [float(theta) for theta in ranking.log_worth]
    if isinstance(spread, Why):
        return tuple(Estimate(value=theta, count=count, why=spread) for theta in strengths)
    return tuple(
        Estimate(value=theta, count=count, interval=spread.interval(theta, k)) for k, theta in enumerate(strengths)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """The ranks a system may hold; 1 is the strongest, and equals share a rank (1, 1, 3)."""

    system: str
    rank: int
    best: int
    worst: int
    why: Why | None = None


def rank_ranges(ranking: Ranking, spread: Uncertainty | Why, *, confidence: float = LEVEL) -> tuple[RankRange, ...]:
    """A range for every system, strongest first. `spread` is what `uncertainty` gave.

    Edge cases  no covariance (one rater): every rank from 1 to n stays possible, and `why` says so. Strengths that
                agree to nine decimals are equal, and a rank is one more than the number of stronger systems.
    """
    strength = ranking.log_worth.round(9)
    ranks = {name: 1 + int((strength > own).sum()) for name, own in zip(ranking.systems, strength, strict=True)}
    why = spread if isinstance(spread, Why) else None
    sure = () if isinstance(spread, Why) else significant_pairs(ranking, spread, confidence)
    ends = possible_ranks(ranking.systems, tuple(sure))
    return tuple(
        RankRange(system=name, rank=ranks[name], best=ends[name][0], worst=ends[name][1], why=why)
        for name in ranking.order
    )


def significant_pairs(ranking: Ranking, spread: Uncertainty, confidence: float) -> Iterator[tuple[str, str]]:
    """Which systems are ranked above which, the better first: what the possible ranks rest on."""
    size = len(ranking.systems)
    tail = (1.0 - confidence) / (2.0 * max(size * (size - 1) // 2, 1))
    critical = -student_quantile(tail, math.inf if spread.freedom is None else spread.freedom)
    for i, j in permutations(range(size), 2):
        lead = float(ranking.log_worth[i] - ranking.log_worth[j])
        if lead >= 1e-12 and lead > critical * spread.difference_se(i, j):
            yield ranking.systems[i], ranking.systems[j]
