"""JOD against pwcmp's published values, the side effect against Agresti's, κ and its errors against SAS and irrCAC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import norm
from statsmodels.stats.inter_rater import cohens_kappa

from rushes.core import Why
from rushes.core.errors import InputError
from rushes.instruments.preference.tallies import WINNER_CATEGORIES, sided_votes, tally, winners_by_rater
from rushes.instruments.preference.votes import Vote
from rushes.stats.agreement import UnitTable, jackknifed, krippendorff_alpha, unit_table
from rushes.stats.kappa import KAPPA_WEIGHTS, cohen_kappa, fleiss_kappa, gwet_ac1, mean_cohen_kappa
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.jod import JOD_PRIORS, _loss, jod, jod_uncertainty
from rushes.stats.votes.side_effect import side_effect
from rushes.stats.votes.tally import PairCounts
from rushes.stats.votes.uncertainty import Uncertainty

from .conftest import MakeVote

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "goldens" / "scales.json").read_text())


@pytest.mark.parametrize("scene", GOLDEN["pwcmp"]["scenes"])
def test_jod_repeats_pwcmps_published_values(scene: str) -> None:
    given = GOLDEN["pwcmp"]["scenes"][scene]
    counts = PairCounts.of_wins(GOLDEN["pwcmp"]["conditions"], given["wins_row_over_col"])
    published = np.array(given["jod"])
    assert jod(counts) == pytest.approx(published - published.mean(), abs=1e-3)  # asked: 0.02
    # The other priors pull unanimous pairs differently, and nothing else.
    assert np.abs(jod(counts, prior="none") - jod(counts)).max() < 0.07


@pytest.mark.parametrize("prior", JOD_PRIORS)
def test_the_gradient_is_that_of_the_loss(prior: str) -> None:
    given = GOLDEN["pwcmp"]["scenes"]["exhibition"]["wins_row_over_col"]
    counts = PairCounts.of_wins(GOLDEN["pwcmp"]["conditions"], given)
    at = np.random.default_rng(0).normal(size=7)
    assert check_grad(lambda q: _loss(q, counts, prior)[0], lambda q: _loss(q, counts, prior)[1], at) < 1e-3


def test_one_jod_is_three_of_four_votes_and_ties_say_nothing() -> None:
    q = jod(PairCounts.of_wins(["x", "y"], [[0, 75], [25, 0]], [[0, 40], [40, 0]]))
    assert q[0] - q[1] == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(RankingError, match="every vote is a tie"):
        jod(PairCounts.of_wins(["x", "y"], [[0, 0], [0, 0]], [[0, 4], [4, 0]]))
    with pytest.raises(RankingError, match="never lost"):
        jod(PairCounts.of_wins(["x", "y"], [[0, 9], [0, 0]]), prior="none")
    assert np.isfinite(jod(PairCounts.of_wins(["x", "y"], [[0, 9], [0, 0]]))).all()
    with pytest.raises(InputError, match="a JOD prior is bounded, gaussian, none; got 'flat'"):
        jod(PairCounts.of_wins(["x", "y"], [[0, 9], [1, 0]]), prior="flat")  # type: ignore[arg-type]


def test_jod_errors_of_two_systems_by_hand(make: MakeVote) -> None:
    # Independent votes, one per rater and prompt: q = σ Φ⁻¹(p), so se = σ √(p(1−p)/n) / φ(Φ⁻¹(p)), times √(n/(n−1)).
    votes = [make("a" if k < 60 else "b", sample=f"s{k}", rater=f"r{k:03d}") for k in range(100)]
    counted = tally(votes)
    q = jod(counted.pairs())
    spread = jod_uncertainty(q, counted)
    assert isinstance(spread, Uncertainty)
    expected = 1.4826 * np.sqrt(0.24 / 100) / norm.pdf(norm.ppf(0.6)) * np.sqrt(100 / 99)
    assert spread.difference_se(0, 1) == pytest.approx(expected, rel=1e-4)


def baseball() -> list[Vote]:
    rows = [
        (home, away, *both)
        for home, row in GOLDEN["baseball"]["home_wins_losses"].items()
        for away, both in row.items()
    ]
    return [
        Vote.seen(sample=f"{home}-{away}", left=home, right=away, choice="left" if k < won else "right", rater=f"r{k}")
        for home, away, won, lost in rows
        for k in range(won + lost)
    ]


def test_the_home_effect_is_agrestis() -> None:
    found = side_effect(sided_votes(baseball()))
    assert found.count == 273
    assert found.value == pytest.approx(GOLDEN["baseball"]["home_effect"], abs=5e-4)
    swapped = [
        Vote(**{**{k: getattr(v, k) for k in v.__slots__}, "shown_left": "ab"[v.shown_left == "a"]}) for v in baseball()
    ]
    assert side_effect(sided_votes(swapped)).value == pytest.approx(-float(found.value or 0), abs=1e-9)


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper", "half-tie", "drop-tie"])
def test_a_planted_side_effect_is_found_under_every_tie_policy(policy: str) -> None:
    # Equal systems; left 0.55, right 0.25, tie 0.20: without ties the log odds are ln(55/25) = 0.788.
    draw = np.random.default_rng(5)
    votes = [
        Vote.seen(
            sample=f"s{k % 40}",
            left="xy"[k % 2],
            right="yx"[k % 2],
            choice=("left", "right", "tie")[int(draw.choice(3, p=[0.55, 0.25, 0.20]))],  # type: ignore[arg-type]
            rater=f"r{k % 9}",
        )
        for k in range(1800)
    ]
    found = side_effect(sided_votes(votes, ties=policy != "drop-tie"), tie_policy=policy)  # type: ignore[arg-type]
    assert found.value is not None and found.interval is not None
    assert found.interval.low > 0.0
    if policy in ("davidson", "drop-tie"):
        assert found.value == pytest.approx(0.788, abs=0.15)


def test_no_side_effect_without_sides_or_with_one_side_only(make: MakeVote) -> None:
    assert side_effect(sided_votes([make("a")])).why is Why.NO_DATA
    always = [make("ab"[k % 2], sample=str(k), rater=f"r{k % 3}", shown_left="ab"[k % 2]) for k in range(40)]
    assert side_effect(sided_votes(always)).value is None


def test_kappa_and_its_errors_are_those_of_sas_and_statsmodels() -> None:
    given = GOLDEN["sas"]
    for weights, name in (("none", "simple"), ("linear", "weighted_linear")):
        value, error, lower, upper = given[name]
        found = cohen_kappa(given["table"], weights=weights)  # type: ignore[arg-type]
        assert found.value == pytest.approx(value, abs=5e-5) and f"{found.error:.4f}" == f"{error:.4f}"
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == (
            pytest.approx(lower, abs=5e-5),
            pytest.approx(upper, abs=5e-5),
        )
    draw = np.random.default_rng(3)
    for weights in KAPPA_WEIGHTS:
        table = draw.integers(0, 30, (4, 4))
        oracle = cohens_kappa(table, wt=None if weights == "none" else weights)
        found = cohen_kappa(table, weights=weights)
        assert found.value == pytest.approx(oracle.kappa, abs=1e-12) and found.interval is not None
        assert found.interval.low == pytest.approx(oracle.kappa_low, abs=1e-9)
    with pytest.raises(InputError, match="kappa's weights are none, linear, quadratic; got 'cubic'"):
        cohen_kappa(table, weights="cubic")  # type: ignore[arg-type]


def abstractors() -> UnitTable:
    table = GOLDEN["irrcac"]["table"]
    return unit_table([[i, j] for i in range(3) for j in range(3) for _ in range(table[i][j])])


def test_jackknife_errors_are_gwets() -> None:
    # irrCAC prints its linearised errors; on 100 units the jackknife is within 3 % of them.
    value, error = GOLDEN["irrcac"]["scott_pi"]
    found = jackknifed(abstractors(), fleiss_kappa)
    assert found.value == pytest.approx(value, abs=1e-7)  # of two raters, Fleiss's κ is Scott's π
    assert found.error == pytest.approx(error, rel=0.03)
    value, error = GOLDEN["irrcac"]["cohen_kappa"]
    kappa = cohen_kappa(GOLDEN["irrcac"]["table"])
    assert kappa.value == pytest.approx(value, abs=1e-7)
    assert kappa.error == pytest.approx(error, rel=0.01)


@pytest.mark.parametrize("statistic", [gwet_ac1, fleiss_kappa, krippendorff_alpha])
def test_equal_rows_left_out_once_give_the_plain_jackknife(statistic: Any) -> None:
    table = abstractors()
    values = [
        statistic(UnitTable(counts=np.delete(table.counts, k, axis=0), categories=table.categories)).value
        for k in range(100)
    ]
    plain = np.sqrt(99 / 100 * np.square(np.array(values) - np.mean(values)).sum())
    assert jackknifed(table, statistic).error == pytest.approx(plain)


def test_no_spread_and_single_samples_have_no_interval(make: MakeVote) -> None:
    same = jackknifed(unit_table([[1, 1], [2, 2]] * 3), fleiss_kappa)
    assert same.value == 1.0 and same.interval is None and same.why is Why.NO_SAMPLE_MOVES_IT
    assert jackknifed(unit_table([[1, 1]]), fleiss_kappa).value is None
    votes = [
        make("ab"[(k + (r == 1 and k < 3)) % 2], sample=str(k), rater=f"r{r}") for k in range(20) for r in range(2)
    ]
    by_rater = winners_by_rater(votes)
    kappa = mean_cohen_kappa(by_rater, categories=WINNER_CATEGORIES)
    assert kappa.value == pytest.approx(0.7, abs=0.02) and kappa.interval is not None
    weighted = mean_cohen_kappa(by_rater, categories=WINNER_CATEGORIES, weights="quadratic")
    assert weighted.value == pytest.approx(kappa.value)  # no ties: nothing between
