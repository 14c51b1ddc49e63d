"""Does standing on the left win votes? The side as a parameter of the Bradley–Terry model, beside the strengths.

Formula     d = θ_i − θ_j + δ · s, s = 1 where i stood on the left and −1 where j did; δ and θ by maximum likelihood
            under the study's tie policy; exp δ is what standing on the left multiplies the odds by
Unit        log odds; 0 is no effect. Unlike the plain share of left wins, it knows how strong the two systems were
Interval    clustered by rater and prompt (`two_way`)
Edge cases  no vote, or one side that won everything: none, with the reason; votes that cannot be ranked: `RankingError`
Reference   Agresti 2002, home advantage in baseball (0.302); Davidson & Beaver 1977 for ties
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rushes.core import Estimate, Why
from rushes.stats.clustered import Clusters, numbered, summed_meat
from rushes.stats.intervals import LEVEL, Floats, Whole
from rushes.stats.votes.connection import require_connected, require_finite
from rushes.stats.votes.estimation import Likelihood, Problem, likelihood, maximum, prepared, sum_zero_inverse
from rushes.stats.votes.tally import PairCounts
from rushes.stats.votes.tie_policies import TiePolicy
from rushes.stats.votes.uncertainty import clustered_uncertainty

_LARGEST = 20.0
"""Odds of e²⁰ to 1 are no estimate: one side won everything."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SidedProblem(Problem):
    """The likelihood with δ among its parameters: θ, then δ, then the tie parameter where the model has one."""

    side: Floats
    """Per row of the counts: 1 where the first system stood on the left, −1 where the second did."""

    def start(self) -> Floats:
        x = Problem.start(self)
        return np.insert(x, self.size, 0.0)

    def at(self, x: Floats) -> Likelihood:
        d = x[self.counts.first] - x[self.counts.second] + self.side * x[self.size]
        return likelihood(d, float(x[-1]) if self.has_tie else None, self.counts, self.policy)

    def gradient(self, x: Floats) -> Floats:
        found, at = Problem.gradient(self, x), self.at(x)
        found[self.size] = float((self.counts.cells * at.score_d).sum(axis=0) @ self.side)
        return found

    def information(self, x: Floats) -> Floats:
        found, at, here = Problem.information(self, x), self.at(x), self.size
        cross = np.zeros(len(x))
        np.add.at(cross, self.counts.first, at.dd * self.side)
        np.subtract.at(cross, self.counts.second, at.dd * self.side)
        cross[here] = float(at.dd.sum())
        if self.has_tie:
            cross[-1] = float(at.du @ self.side)
        found[here, :] = found[:, here] = cross
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SidedVotes:
    """Votes whose side is known, one an entry: systems in text order, outcome 0 first won · 1 second won · 2 tie."""

    first: Sequence[str]
    second: Sequence[str]
    outcome: Sequence[int]
    first_left: Sequence[bool]
    """Whether the first system stood on the left."""
    raters: Sequence[str]
    prompts: Sequence[str]

    def __len__(self) -> int:
        return len(self.first)


def side_effect(votes: SidedVotes, *, tie_policy: TiePolicy = "davidson", confidence: float = LEVEL) -> Estimate:
    """δ of the left side; under drop-tie give it no ties."""
    if not len(votes):
        return Estimate.none(Why.NO_DATA)
    counts, side, row = _cells(votes)
    problem = SidedProblem(counts=prepared(counts, tie_policy), policy=tie_policy, prior=0.0, side=side)
    require_connected(problem.counts)
    require_finite(problem.counts, has_prior=False)
    x = maximum(problem)
    value = float(x[problem.size])
    if abs(value) > _LARGEST:
        return Estimate.none(Why.ONE_SIDE_WON_ALL, count=len(votes))
    spread = clustered_uncertainty(
        sum_zero_inverse(problem.information(x), problem.size),
        summed_meat(_scores(problem, x, row, np.asarray(votes.outcome, dtype=np.int64))),
        Clusters(*numbered(votes.raters), *numbered(votes.prompts)),
        confidence=confidence,
    )
    if isinstance(spread, Why):
        return Estimate(value=value, count=len(votes), why=spread)
    return Estimate(value=value, count=len(votes), interval=spread.interval(value, problem.size))


def _cells(votes: SidedVotes) -> tuple[PairCounts, Floats, Whole]:
    """Counts per pair and side, the sides, and which row each vote is in."""
    systems = sorted({*votes.first, *votes.second})
    place = {name: number for number, name in enumerate(systems)}
    keys = [
        (place[one], place[other], left)
        for one, other, left in zip(votes.first, votes.second, votes.first_left, strict=True)
    ]
    rows = sorted(set(keys))
    index = {key: number for number, key in enumerate(rows)}
    row = np.array([index[key] for key in keys], dtype=np.int64)
    cells = np.zeros((3, len(rows)))
    np.add.at(cells, (np.asarray(votes.outcome, dtype=np.int64), row), 1.0)
    first, second, lefts = np.array(rows, dtype=np.int64).T
    counts = PairCounts(systems=tuple(systems), first=first, second=second, cells=cells)
    return counts, np.where(lefts, 1.0, -1.0), row


def _scores(problem: SidedProblem, x: Floats, row: Whole, outcome: Whole) -> Floats:
    """Votes × parameters: the derivative of each vote's log likelihood."""
    at, number = problem.at(x), np.arange(len(row))
    slope = at.score_d[outcome, row]
    found = np.zeros((len(row), len(x)))
    found[number, problem.counts.first[row]], found[number, problem.counts.second[row]] = slope, -slope
    found[:, problem.size] = slope * problem.side[row]
    if problem.has_tie:
        found[:, -1] = at.score_u[outcome, row]
    return found
