"""Bradley–Terry with ties: small cases by hand, other implementations, order laws."""

from __future__ import annotations

import math

import choix
import numpy as np
import pytest
import statsmodels.api as sm

from rushes.core.errors import InputError
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import PairCounts, tally_arrays


def two(wins: int, losses: int, ties: int = 0) -> PairCounts:
    return PairCounts.of_wins(["x", "y"], [[0, wins], [losses, 0]], [[0, ties], [ties, 0]])


def round_robin(size: int, votes: int, seed: int) -> tuple[PairCounts, list[tuple[int, int]]]:
    draw = np.random.default_rng(seed)
    strength = draw.normal(0, 1, size)
    first = draw.integers(0, size, votes)
    second = (first + draw.integers(1, size, votes)) % size
    first_wins = draw.random(votes) < 1 / (1 + np.exp(strength[second] - strength[first]))
    won, lost = np.where(first_wins, first, second), np.where(first_wins, second, first)
    wins = np.zeros((size, size))
    np.add.at(wins, (won, lost), 1)
    return PairCounts.of_wins([f"s{k:02d}" for k in range(size)], wins), list(
        zip(won.tolist(), lost.tolist(), strict=True)
    )


def test_two_systems_by_hand() -> None:
    # 3 wins to 1: θ_x − θ_y = ln 3, each ±½ ln 3; Elo = 1000 ± 200 log10(3).
    fit = rank(two(3, 1))
    assert fit.log_worth == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert fit.elo == pytest.approx([1000 + 200 * math.log10(3), 1000 - 200 * math.log10(3)])
    assert fit.worth == pytest.approx([0.75, 0.25])


def test_davidson_two_systems_by_hand() -> None:
    # Saturated: p = (4, 1, 2)/7, so π_x/π_y = 4/1 and ν = p_tie / √(p_x p_y) = 2/√4 = 1.
    fit = rank(two(4, 1, 2))
    assert fit.log_worth[0] - fit.log_worth[1] == pytest.approx(math.log(4))
    assert fit.tie_parameter == pytest.approx(1.0)
    assert fit.goodness is not None and fit.goodness.g2 == pytest.approx(0.0, abs=1e-9) and fit.goodness.df == 0
    assert fit.goodness.p_value is None


def test_rao_kupper_two_systems_by_hand() -> None:
    # p_x = 4/7 = π/(π + η), p_y = 1/7 = 1/(1 + ηπ) with π_y = 1: π = 4η/3 and ηπ = 6, so η² = 4.5.
    fit = rank(two(4, 1, 2), tie_policy="rao-kupper")
    assert fit.tie_parameter == pytest.approx(math.sqrt(4.5))
    assert fit.log_worth[0] - fit.log_worth[1] == pytest.approx(math.log(4 / 3 * math.sqrt(4.5)))


@pytest.mark.parametrize(("policy", "expected"), [("half-tie", math.log(5 / 2)), ("drop-tie", math.log(4))])
def test_simple_policies_by_hand(policy: str, expected: float) -> None:
    fit = rank(two(4, 1, 2), tie_policy=policy)  # type: ignore[arg-type]
    assert fit.log_worth[0] - fit.log_worth[1] == pytest.approx(expected)
    assert fit.tie_parameter is None


@pytest.mark.parametrize(("policy", "without_ties"), [("davidson", 0.0), ("rao-kupper", 1.0)])
def test_without_ties_the_tie_models_are_plain_bradley_terry(policy: str, without_ties: float) -> None:
    fit = rank(two(3, 1), tie_policy=policy)  # type: ignore[arg-type]
    assert fit.log_worth[0] == pytest.approx(math.log(3) / 2)
    assert fit.tie_parameter == without_ties


def test_half_tie_and_prior_have_no_goodness() -> None:
    assert rank(two(4, 1, 2), tie_policy="half-tie").goodness is None
    assert rank(two(4, 1, 2), prior=1.0).goodness is None


@pytest.mark.parametrize("size", [3, 12])
def test_choix_finds_the_same_strengths(size: int) -> None:
    counts, pairs = round_robin(size, 800, seed=size)
    reference = choix.opt_pairwise(size, pairs, alpha=0.0, tol=1e-10)
    assert rank(counts).log_worth == pytest.approx(reference - reference.mean(), abs=1e-5)


def test_choix_finds_the_same_strengths_under_a_prior() -> None:
    counts, pairs = round_robin(6, 60, seed=5)
    # choix's penalty is alpha · Σθ²; ours, the log of a normal density, is (prior / 2) · Σθ².
    reference = choix.opt_pairwise(6, pairs, alpha=0.7, tol=1e-10)
    assert rank(counts, prior=1.4).log_worth == pytest.approx(reference, abs=1e-5)


def test_statsmodels_logit_finds_the_same_strengths() -> None:
    _, pairs = round_robin(5, 800, seed=1)
    counts, _ = round_robin(5, 800, seed=1)
    design = np.zeros((len(pairs), 5))
    for row, (won, lost) in enumerate(pairs):
        design[row, won], design[row, lost] = 1.0, -1.0
    # A logit needs both outcomes: mirror every second row, and take system 0 as the origin.
    turned = np.where(np.arange(len(pairs)) % 2 == 0, 1.0, -1.0)
    fit = sm.Logit((turned > 0).astype(float), (design * turned[:, None])[:, 1:]).fit(disp=False)
    ours = rank(counts).log_worth
    assert ours[1:] - ours[0] == pytest.approx(fit.params, abs=1e-6)


def test_order_breaks_equals_by_name() -> None:
    assert rank(two(2, 2)).order == ("x", "y")


def test_order_of_votes_does_not_move_a_byte() -> None:
    draw = np.random.default_rng(0)
    first, outcome = draw.integers(0, 3, 300), draw.integers(0, 3, 300)
    second = (first + draw.integers(1, 3, 300)) % 3
    shuffle = draw.permutation(300)
    one = rank(tally_arrays(["x", "y", "z"], first, second, outcome))
    other = rank(tally_arrays(["x", "y", "z"], first[shuffle], second[shuffle], outcome[shuffle]))
    assert one.log_worth.tobytes() == other.log_worth.tobytes()


def test_renaming_sides_mirrors_the_strengths() -> None:
    assert rank(two(7, 3, 2)).log_worth == pytest.approx(-rank(two(3, 7, 2)).log_worth)


def test_one_more_win_never_weakens() -> None:
    leads = [rank(two(wins, 5, 4)).log_worth[0] for wins in range(1, 12)]
    assert leads == sorted(leads) and len(set(leads)) == len(leads)


@pytest.mark.parametrize("prior", [-1.0, math.nan, math.inf])
def test_a_bad_prior_is_refused(prior: float) -> None:
    with pytest.raises(InputError, match="precision"):
        rank(two(1, 1), prior=prior)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(InputError, match="one of davidson, rao-kupper, half-tie, drop-tie"):
        rank(two(1, 1), tie_policy="both-bad")  # type: ignore[arg-type]


def test_very_lopsided_votes_still_settle() -> None:
    fit = rank(two(10_000_000, 1, 3))
    assert fit.log_worth[0] - fit.log_worth[1] == pytest.approx(math.log(1e7), rel=1e-6)
