"""Does standing on the left win votes? The side as a parameter of the Bradley–Terry model, beside the strengths.

Formula     d = θ_i − θ_j + δ · s, s = 1 where i stood on the left and −1 where j did; δ and θ by maximum likelihood
            under the study's tie policy; exp δ is what standing on the left multiplies the odds by
Unit        log odds; 0 is no effect. Unlike the plain share of left wins, it knows how strong the two systems were
Interval    clustered by rater and prompt (`two_way`)
Edge cases  no vote with a known side, one side that won everything, or votes that cannot be ranked: None with a reason
Reference   Agresti 2002, home advantage in baseball (0.302); Davidson & Beaver 1977 for ties
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rushes.preference.statistics.connection import RankingError, require_connected, require_finite
from rushes.preference.statistics.estimation import Problem, maximum, sum_zero_inverse
from rushes.preference.statistics.intervals import CONFIDENCE, Bounds, Estimate, clustered_uncertainty
from rushes.preference.statistics.tally import OUTCOMES, TIE, Floats, PairCounts, Tally, Whole, tally
from rushes.preference.statistics.tie_models import Likelihood, likelihood, prepared
from rushes.preference.statistics.two_way import summed_meat
from rushes.preference.votes import TiePolicy, Vote

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
        seen = np.stack([self.counts.wins_first, self.counts.wins_second, self.counts.ties])
        found[self.size] = float((seen * at.score_d).sum(axis=0) @ self.side)
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


def side_effect(
    votes: Iterable[Vote], *, tie_policy: TiePolicy = "davidson", confidence: float = CONFIDENCE
) -> Estimate:
    """δ of the left side over raw votes whose side is known."""
    known = [vote for vote in votes if vote.counts_in_results and vote.shown_left is not None]
    given = [vote for vote in known if tie_policy != "drop-tie" or vote.winner != "tie"]
    if not given:
        return Estimate.undefined("no vote with a known side")
    counts, side, row = _cells(given)
    problem = SidedProblem(counts=prepared(counts, tie_policy), policy=tie_policy, prior=0.0, side=side)
    try:
        require_connected(problem.counts)
        require_finite(problem.counts, has_prior=False)
        x = maximum(problem)
    except RankingError as error:
        return Estimate.undefined(str(error), count=len(given))
    value = float(x[problem.size])
    if abs(value) > _LARGEST:
        return Estimate.undefined("one side won every decided vote", count=len(given))
    spread = clustered_uncertainty(
        sum_zero_inverse(problem.information(x), problem.size),
        summed_meat(_scores(problem, x, row, given)),
        _clusters(given),
        confidence=confidence,
    )
    if isinstance(spread, str):
        return Estimate(value=value, count=len(given), interval=Bounds.undefined(spread))
    half = spread.critical * float(spread.standard_errors()[problem.size])
    bounds = Bounds(lower=value - half, upper=value + half, method=spread.kind)
    return Estimate(value=value, count=len(given), interval=bounds)


def _cells(given: Sequence[Vote]) -> tuple[PairCounts, Floats, Whole]:
    """Counts per pair and side, the sides, and which row each vote is in."""
    systems = sorted({name for vote in given for name in (vote.system_a, vote.system_b)})
    place = {name: number for number, name in enumerate(systems)}
    keys = [(place[vote.system_a], place[vote.system_b], vote.shown_left == "a") for vote in given]
    rows = sorted(set(keys))
    index = {key: number for number, key in enumerate(rows)}
    row = np.array([index[key] for key in keys], dtype=np.int64)
    table = np.zeros((len(rows), 3))
    np.add.at(table, (row, _outcomes(given)), 1.0)
    counts = PairCounts(
        systems=tuple(systems),
        first=np.array([first for first, _, _ in rows], dtype=np.int64),
        second=np.array([second for _, second, _ in rows], dtype=np.int64),
        wins_first=table[:, 0],
        wins_second=table[:, 1],
        ties=table[:, TIE],
    )
    return counts, np.array([1.0 if left else -1.0 for _, _, left in rows]), row


def _outcomes(given: Sequence[Vote]) -> Whole:
    return np.array([OUTCOMES[vote.winner] for vote in given], dtype=np.int64)


def _scores(problem: SidedProblem, x: Floats, row: Whole, given: Sequence[Vote]) -> Floats:
    """Votes × parameters: the derivative of each vote's log likelihood."""
    at, outcome = problem.at(x), _outcomes(given)
    slope, number = at.score_d[outcome, row], np.arange(len(given))
    found = np.zeros((len(given), len(x)))
    found[number, problem.counts.first[row]], found[number, problem.counts.second[row]] = slope, -slope
    found[:, problem.size] = slope * problem.side[row]
    if problem.has_tie:
        found[:, -1] = at.score_u[outcome, row]
    return found


def _clusters(given: Sequence[Vote]) -> Tally:
    """Raters and prompts of the votes, one row a vote."""
    counted = tally(given)
    person, prompt = ({name: i for i, name in enumerate(each)} for each in (counted.raters, counted.prompts))
    return Tally(
        systems=counted.systems,
        raters=counted.raters,
        rater=np.array([person[vote.rater] for vote in given], dtype=np.int64),
        first=counted.first,
        second=counted.second,
        outcome=counted.outcome,
        count=counted.count,
        prompt=np.array([prompt[vote.prompt_key] for vote in given], dtype=np.int64),
        prompts=counted.prompts,
    )
