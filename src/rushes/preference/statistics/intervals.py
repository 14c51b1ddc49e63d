"""How sure is a number? Intervals for strengths, shares and means.

One person's votes resemble each other, and so do the votes on one prompt: intervals that treat votes as independent are
too narrow (measured coverage 0.71 to 0.80 at nominal 0.95), and so are those that cluster by rater alone where prompts
differ (0.75 to 0.83). So the default everywhere clusters by both (`two_way`).

Kinds       fisher            inverse information; votes independent, model exact
            sandwich          votes independent, model may be wrong
            rater-clustered   raters independent, anything within a rater; factor G/(G−1), t(G−1)
            rater- and prompt-clustered
                              raters and prompts independent, anything within a rater or a prompt; t(min(G) − 1)
            wilson            a share of independent trials (Wilson 1927)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Interval
from rushes.errors import InputError
from rushes.preference.statistics.estimation import sum_zero_inverse
from rushes.preference.statistics.quantiles import normal_quantile, student_quantile
from rushes.preference.statistics.ranking import Ranking
from rushes.preference.statistics.tally import TIE, Floats, PairCounts, Tally, Whole
from rushes.preference.statistics.tie_models import likelihood
from rushes.preference.statistics.two_way import Meat, numbered, two_way_covariance, two_way_error

IntervalKind: TypeAlias = Literal["fisher", "sandwich", "rater-clustered", "rater- and prompt-clustered"]
ONE_WAY: IntervalKind = "rater-clustered"
TWO_WAY: IntervalKind = "rater- and prompt-clustered"
CLUSTERS: Mapping[IntervalKind, str] = MappingProxyType(
    {"fisher": "none", "sandwich": "none", ONE_WAY: "rater", TWO_WAY: "rater+prompt"}
)
"""What an interval clusters by, as signatures spell it."""
ONE_PROMPT = "one prompt: nothing is said about others"
CONFIDENCE = 0.95
_NO_FLOORS: tuple[Floats, ...] = ()
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The two ends of an interval; both None, with the reason, where there is none."""

    lower: float | None
    upper: float | None
    reason: str = ""
    method: str = ""
    """How they were drawn, where that is not as asked: raters alone, because there is one prompt."""

    @classmethod
    def undefined(cls, reason: str) -> Bounds:
        return cls(lower=None, upper=None, reason=reason)

    def within(self, lowest: float, highest: float) -> Bounds:
        """Cut to a range that the number cannot leave."""
        if self.lower is None or self.upper is None:
            return self
        return replace(self, lower=max(lowest, self.lower), upper=min(highest, self.upper))

    def as_interval(self, level: float, method: str) -> Interval | None:
        """As a measurement carries it; None where there are no bounds."""
        if self.lower is None or self.upper is None:
            return None
        return Interval(low=self.lower, high=self.upper, level=level, method=self.method or method)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with what it rests on, before it gets its definition: value, count, interval, or the reason of none."""

    value: float | None
    count: int
    """Votes, samples, rater pairs: what the number counts is said where it is made."""
    interval: Bounds | None = None
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, *, count: int = 0) -> Estimate:
        return cls(value=None, count=count, interval=Bounds.undefined(reason), reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uncertainty:
    """Covariance of a ranking's parameters and the critical value that belongs to it."""

    kind: IntervalKind
    covariance: Floats
    critical: float
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

    def standard_errors(self) -> Floats:
        """Of every parameter, θ summing to zero."""
        found = np.stack([np.diag(c) for c in (self.covariance, *self.floors)]).max(axis=0)
        return np.asarray(np.sqrt(np.maximum(found, 0.0)))


def uncertainty(
    ranking: Ranking, votes: Tally | None = None, *, kind: IntervalKind = TWO_WAY, confidence: float = 0.95
) -> Uncertainty | str:
    """The covariance behind intervals of a ranking, or in words why there is none.

    `votes` are those the ranking was made from; `fisher` does without. Clustered kinds need two raters; of one prompt
    only, the two-way kind becomes `rater-clustered`, and its `kind` says so.
    """
    check_confidence(confidence)
    bread = sum_zero_inverse(ranking.problem.information(ranking.x), ranking.problem.size)
    normal = normal_quantile(0.5 + confidence / 2.0)
    if kind == "fisher":
        return Uncertainty(kind=kind, covariance=bread, critical=normal, raters=len(votes.raters) if votes else 0)
    if votes is None:
        raise InputError(f"{kind} intervals need the tallied votes, not the ranking alone")
    raters = len(votes.raters)
    if kind == "sandwich":
        meat = _score_squares(ranking, votes)
        return Uncertainty(kind=kind, covariance=bread @ meat @ bread, critical=normal, raters=raters)
    return clustered_uncertainty(bread, _meats(ranking, votes), votes, kind=kind, confidence=confidence)


def clustered_uncertainty(
    bread: Floats, meat: Meat, votes: Tally, *, kind: IntervalKind = TWO_WAY, confidence: float = CONFIDENCE
) -> Uncertainty | str:
    """A clustered covariance from the inverse information and the scores' products; in words why there is none."""
    raters, prompts, floors = len(votes.raters), len(votes.prompts), _NO_FLOORS
    if raters < 2:
        return "clustered intervals need two raters"
    if kind == TWO_WAY and prompts > 1:
        freedom = min(raters, prompts) - 1
        covariance, floors = two_way_covariance(bread, meat, votes.rater, votes.prompt, raters=raters, prompts=prompts)
    else:
        kind, freedom = ONE_WAY, raters - 1
        covariance = bread @ meat(votes.rater) @ bread * (raters / (raters - 1.0))
    return Uncertainty(
        kind=kind,
        covariance=covariance,
        critical=student_quantile(0.5 + confidence / 2.0, freedom),
        raters=raters,
        prompts=prompts,
        freedom=freedom,
        floors=floors,
    )


def _slopes(ranking: Ranking, votes: Tally) -> tuple[Floats, Floats]:
    """∂ log P / ∂d and ∂u of one vote, for each row of the tally; ties score nothing under drop-tie.

    Worked out once per pair of systems: scores depend on the outcome and on d, not on counts.
    """
    size, theta = ranking.problem.size, ranking.log_worth
    d = (theta[:, None] - theta[None, :]).ravel()
    nothing, index = np.zeros_like(d), np.zeros(len(d), dtype=np.int64)
    blank = PairCounts(
        systems=ranking.systems, first=index, second=index, wins_first=nothing, wins_second=nothing, ties=nothing
    )
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


def score_intervals(ranking: Ranking, spread: Uncertainty | str) -> tuple[Bounds, ...]:
    """Interval of every θ (mean 0), in the order of `ranking.systems`."""
    if isinstance(spread, str):
        return (Bounds.undefined(spread),) * len(ranking.systems)
    half = spread.critical * spread.standard_errors()
    return tuple(
        Bounds(lower=float(theta - width), upper=float(theta + width))
        for theta, width in zip(ranking.log_worth, half[: len(ranking.systems)], strict=True)
    )


def wilson(successes: float, trials: float, *, confidence: float = CONFIDENCE) -> Bounds:
    """Wilson's score interval of a share.

    Formula     (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)
    Edge cases  no trials: undefined. 0 of n has the lower bound 0, n of n the upper bound 1.

    >>> found = wilson(8, 10)
    >>> round(found.lower, 8), round(found.upper, 8)
    (0.49016247, 0.94331785)
    """
    check_confidence(confidence)
    if trials <= 0:
        return Bounds.undefined("no trials")
    z2 = normal_quantile(0.5 + confidence / 2.0) ** 2
    p = successes / trials
    half = math.sqrt(z2 * (p * (1.0 - p) / trials + z2 / (4.0 * trials**2)))
    centre, scale = p + z2 / (2.0 * trials), 1.0 + z2 / trials
    lower = 0.0 if successes <= 0 else (centre - half) / scale
    upper = 1.0 if successes >= trials else (centre + half) / scale
    return Bounds(lower=lower, upper=upper)


def clustered_mean(
    values: Sequence[float] | Floats,
    clusters: Sequence[str],
    prompts: Sequence[str] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Bounds:
    """Interval of a mean whose observations come in groups: one person's answers and, where given, one prompt's.

    Formula     m ± t(G−1) √(G/(G−1) Σ_g (Σ_{k∈g} (v_k − m))²) / n for raters alone; `two_way` with prompts
    Edge cases  fewer than two raters: undefined. One prompt: raters alone, and the method says so.
    """
    check_confidence(confidence)
    rater, raters = numbered(clusters)
    if raters < 2:
        return Bounds.undefined("clustered intervals need two raters")
    data = np.asarray(values, dtype=float)
    centre = float(data.mean())
    prompt, many = (rater, 0) if prompts is None else numbered(prompts)
    if many > 1:
        se = two_way_error(data - centre, rater, prompt, raters=raters, prompts=many)
        half = student_quantile(0.5 + confidence / 2.0, min(raters, many) - 1) * se
        return Bounds(lower=centre - half, upper=centre + half)
    sums = np.bincount(rater, weights=data - centre)
    se = math.sqrt(raters / (raters - 1.0) * float(sums @ sums)) / len(data)
    half = student_quantile(0.5 + confidence / 2.0, raters - 1) * se
    why = "" if prompts is None else ONE_PROMPT
    return Bounds(lower=centre - half, upper=centre + half, reason=why, method=ONE_WAY if why else "")


def check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise InputError(f"a confidence is between 0 and 1, such as 0.95; got {confidence}")
