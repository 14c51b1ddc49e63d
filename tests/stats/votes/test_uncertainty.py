"""Intervals: coverage by simulation, other implementations, undefined cases."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from rushes.core import Why
from rushes.core.errors import InputError
from rushes.stats.clustered import IntervalKind
from rushes.stats.votes.ranking import Ranking, rank
from rushes.stats.votes.tally import PairCounts, Tally, tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, rank_ranges, strength_estimates, uncertainty

SYSTEMS = ["a", "b", "c", "d"]
FIRST, SECOND = np.triu_indices(4, 1)
RATERS, VOTES, RUNS, SPREAD = 12, 60, 120, 0.5
STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])


def outcome_shares(strength: np.ndarray) -> np.ndarray:
    """Davidson's probabilities (ν = 0.5) per pair: first wins, second wins, tie; any leading axes."""
    d = strength[..., FIRST] - strength[..., SECOND]
    raw = np.stack([np.exp(d / 2), np.exp(-d / 2), np.full_like(d, 0.5)], axis=-1)
    return raw / raw.sum(axis=-1, keepdims=True)


def study(draw: np.random.Generator) -> Tally:
    """12 raters with tastes of their own, 60 votes each, ten on every pair."""
    tastes = STRENGTH + draw.normal(0, SPREAD, (RATERS, 4))
    per_pair = np.stack([draw.multinomial(VOTES // 6, shares) for shares in outcome_shares(tastes)])
    rater, pair, outcome = np.indices(per_pair.shape).reshape(3, -1)
    times = per_pair.ravel()
    columns = [np.repeat(values, times) for values in (FIRST[pair], SECOND[pair], outcome, rater)]
    return tally_arrays(SYSTEMS, *columns[:3], rater=columns[3])


def population() -> Ranking:
    """The fit to the whole population of raters: what the intervals should cover."""
    tastes = STRENGTH + np.random.default_rng(99).normal(0, SPREAD, (400_000, 4))
    shares = outcome_shares(tastes).mean(axis=0) * 1e6
    return rank(PairCounts(systems=tuple(SYSTEMS), first=FIRST, second=SECOND, cells=shares.T))


def test_clustered_intervals_cover_where_independent_ones_do_not() -> None:
    truth = population().log_worth
    hits: dict[IntervalKind, list[bool]] = {"fisher": [], "sandwich": [], "rater-clustered": []}
    for run in range(RUNS):
        votes = study(np.random.default_rng(run))
        fit = rank(votes)
        for kind, found in hits.items():
            strengths = strength_estimates(fit, uncertainty(fit, votes, kind=kind))
            bounds = [one.interval for one in strengths if one.interval is not None]
            found += [b.low <= t <= b.high for b, t in zip(bounds, truth, strict=True)]
    covered = {kind: float(np.mean(found)) for kind, found in hits.items()}
    assert covered["rater-clustered"] >= 0.93
    assert covered["fisher"] < 0.90 and covered["sandwich"] < 0.90


def test_clustered_errors_are_those_of_a_clustered_logit() -> None:
    draw = np.random.default_rng(4)
    first, second, rater = np.tile(FIRST, 60), np.tile(SECOND, 60), draw.integers(0, 9, 360)
    outcome = (draw.random(360) > expit(STRENGTH[first] - STRENGTH[second])).astype(int)
    votes = tally_arrays(SYSTEMS, first, second, outcome, rater=rater)
    fit = rank(votes)
    design = np.zeros((360, 4))
    design[np.arange(360), first], design[np.arange(360), second] = 1.0, -1.0
    logit = sm.Logit(1.0 - outcome, design[:, 1:]).fit(
        disp=False, cov_type="cluster", cov_kwds={"groups": rater, "use_correction": False}
    )
    found = uncertainty(fit, votes)
    assert isinstance(found, Uncertainty)
    bare = replace(found, floors=())
    ours = [bare.difference_se(i, 0) for i in (1, 2, 3)]
    assert ours == pytest.approx(logit.bse * math.sqrt(9 / 8), rel=1e-6)  # our factor G/(G−1)


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper", "half-tie", "drop-tie"])
def test_scores_sum_to_zero_so_one_rater_alone_has_no_spread(policy: str) -> None:
    # With every vote in one of two raters' hands and the other repeating them, both score sums vanish.
    draw = np.random.default_rng(1)
    first, second = np.tile(FIRST, 30), np.tile(SECOND, 30)
    outcome = draw.integers(0, 3, 180)
    twice = [np.tile(column, 2) for column in (first, second, outcome)]
    votes = tally_arrays(SYSTEMS, *twice, rater=np.repeat([0, 1], 180))
    fit = rank(votes, tie_policy=policy)  # type: ignore[arg-type]
    found = uncertainty(fit, votes)
    assert isinstance(found, Uncertainty)
    assert np.abs(found.covariance).max() < 1e-12


def test_one_rater_has_no_clustered_interval() -> None:
    votes = tally_arrays(["x", "y"], [0, 0], [1, 1], [0, 1])
    fit = rank(votes)
    why = uncertainty(fit, votes)
    assert why is Why.NEEDS_TWO_RATERS
    assert [(one.value, one.interval, one.why) for one in strength_estimates(fit, why)] == [(0.0, None, why)] * 2
    assert [(r.best, r.worst, r.why) for r in rank_ranges(fit, why)] == [(1, 2, why), (1, 2, why)]


def test_a_sandwich_without_votes_is_refused() -> None:
    fit = rank(PairCounts.of_wins("xy", [[0, 1], [1, 0]]))
    with pytest.raises(InputError, match="need the tallied votes"):
        uncertainty(fit, kind="sandwich")


def test_rank_ranges_separate_what_is_sure_and_leave_open_what_is_not() -> None:
    # a and b share their duels and both beat c nine times in ten, over 400 votes a pair.
    fit = rank(PairCounts.of_wins("abc", [[0, 200, 360], [200, 0, 360], [40, 40, 0]]))
    found = rank_ranges(fit, uncertainty(fit, kind="fisher"))
    assert [(r.system, r.rank, r.best, r.worst) for r in found] == [("a", 1, 1, 2), ("b", 1, 1, 2), ("c", 3, 3, 3)]


def test_rank_ranges_are_joint() -> None:
    # 63 of 100: z = 2.6, sure as a single difference (1.96) but not among 15 jointly (2.94).
    wins = np.full((6, 6), 50.0)
    wins[0, 1:], wins[1:, 0] = 56, 44
    fit = rank(PairCounts.of_wins("abcdef", wins))
    spread = uncertainty(fit, kind="fisher")
    assert isinstance(spread, Uncertainty)
    lead = fit.log_worth[0] - fit.log_worth[1]
    assert 1.96 < lead / spread.difference_se(0, 1) < 2.93
    assert rank_ranges(fit, spread)[0].worst == 6


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper", "half-tie", "drop-tie"])
def test_one_vote_per_rater_is_the_sandwich(policy: str) -> None:
    draw = np.random.default_rng(2)
    columns = np.tile(FIRST, 20), np.tile(SECOND, 20), draw.integers(0, 3, 120)
    votes = tally_arrays(SYSTEMS, *columns, rater=np.arange(120))
    fit = rank(votes, tie_policy=policy)  # type: ignore[arg-type]
    clustered, sandwich = uncertainty(fit, votes), uncertainty(fit, votes, kind="sandwich")
    assert isinstance(clustered, Uncertainty) and isinstance(sandwich, Uncertainty)
    assert clustered.covariance == pytest.approx(sandwich.covariance * 120 / 119, rel=1e-9)
