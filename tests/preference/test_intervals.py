"""Intervals: coverage by simulation, other implementations, undefined cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint

from rushes.errors import InputError
from rushes.preference.statistics.intervals import (
    Bounds,
    IntervalKind,
    Uncertainty,
    clustered_mean,
    score_intervals,
    uncertainty,
    wilson,
)
from rushes.preference.statistics.rank_ranges import rank_ranges
from rushes.preference.statistics.ranking import Ranking, rank
from rushes.preference.statistics.tally import PairCounts, Tally, tally_arrays

SYSTEMS = ["a", "b", "c", "d"]
FIRST, SECOND = np.triu_indices(4, 1)
RATERS, VOTES, RUNS, SPREAD = 12, 60, 300, 0.5
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
    return rank(
        PairCounts(
            systems=tuple(SYSTEMS),
            first=FIRST,
            second=SECOND,
            wins_first=shares[:, 0],
            wins_second=shares[:, 1],
            ties=shares[:, 2],
        )
    )


def test_clustered_intervals_cover_where_independent_ones_do_not() -> None:
    truth = population().log_worth
    hits: dict[IntervalKind, list[bool]] = {"fisher": [], "sandwich": [], "rater-clustered": []}
    for run in range(RUNS):
        votes = study(np.random.default_rng(run))
        fit = rank(votes)
        for kind, found in hits.items():
            bounds = score_intervals(fit, uncertainty(fit, votes, kind=kind))
            found += [b.lower <= t <= b.upper for b, t in zip(bounds, truth, strict=True)]  # type: ignore[operator]
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
    ours = [found.difference_se(i, 0) for i in (1, 2, 3)]
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
    reason = uncertainty(fit, votes)
    assert reason == "clustered intervals need two raters"
    assert score_intervals(fit, reason) == (Bounds.undefined(str(reason)),) * 2
    assert [(r.best, r.worst, r.reason) for r in rank_ranges(fit, reason)] == [(1, 2, reason), (1, 2, reason)]


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


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 3), (7, 7), (50, 101), (999, 1000)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_matches_statsmodels(successes: int, trials: int, confidence: float) -> None:
    expected = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
    found = wilson(successes, trials, confidence=confidence)
    assert (found.lower, found.upper) == (pytest.approx(expected[0], abs=1e-12), pytest.approx(expected[1]))


def test_wilson_of_nothing_is_undefined() -> None:
    assert wilson(0, 0) == Bounds.undefined("no trials")


def test_clustered_mean_by_hand() -> None:
    # Groups (0, 0) and (1, 1): m = ½, group sums −1 and 1, se = √(2/1 · 2)/4 = ½; t(1) at 0.95 = 12.7062.
    found = clustered_mean([0, 0, 1, 1], ["r", "r", "s", "s"])
    assert found.lower == pytest.approx(0.5 - 12.7062047 / 2)
    assert found.within(0, 1) == Bounds(lower=0, upper=1)
    assert clustered_mean([1.0, 2.0], ["r", "r"]).lower is None


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_bad_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        wilson(1, 2, confidence=confidence)


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper", "half-tie", "drop-tie"])
def test_one_vote_per_rater_is_the_sandwich(policy: str) -> None:
    draw = np.random.default_rng(2)
    columns = np.tile(FIRST, 20), np.tile(SECOND, 20), draw.integers(0, 3, 120)
    votes = tally_arrays(SYSTEMS, *columns, rater=np.arange(120))
    fit = rank(votes, tie_policy=policy)  # type: ignore[arg-type]
    clustered, sandwich = uncertainty(fit, votes), uncertainty(fit, votes, kind="sandwich")
    assert isinstance(clustered, Uncertainty) and isinstance(sandwich, Uncertainty)
    assert clustered.covariance == pytest.approx(sandwich.covariance * 120 / 119, rel=1e-9)
