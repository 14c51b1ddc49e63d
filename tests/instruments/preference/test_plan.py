"""Power by simulation: deterministic, honest where nothing is to be found, and the same fast and slow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from tests.study.test_command import done, rushes

from rushes.core.errors import InputError
from rushes.instruments.preference.numbers.plan import plan_study
from rushes.stats.power import votes_needed
from rushes.stats.votes import plan
from rushes.stats.votes.plan import Design, raters_needed, simulated_power
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, uncertainty


def test_two_systems_without_a_fit_are_the_fit() -> None:
    design = Design(raters=8, prompts=20, votes_per_rater=20)
    for seed in range(12):
        first, second, outcome, rater, prompt = plan._study(design, np.random.default_rng(seed))
        votes = tally_arrays(["0", "1"], first, second, outcome, rater=rater, prompt=prompt)
        fit = rank(votes)
        spread, alone = uncertainty(fit, votes), uncertainty(fit, votes, kind="sandwich")
        assert isinstance(spread, Uncertainty) and isinstance(alone, Uncertainty)
        error = spread.difference_se(0, 1)
        hit, effect = plan._found_of_two(design, outcome, rater, prompt)
        assert hit == (fit.log_worth[0] - fit.log_worth[1] > spread.critical * error)
        assert effect == pytest.approx((error / alone.difference_se(0, 1)) ** 2, rel=1e-6)


def test_the_gap_gives_the_population_the_preference_asked_for() -> None:
    design = Design(preference=0.65, taste=0.8, leaning=0.6)
    draw = np.random.default_rng(0).normal(0, np.sqrt(2 * (0.8**2 + 0.6**2)), 400_000)
    assert expit(design.gap + draw).mean() == pytest.approx(0.65, abs=0.002)
    assert Design(preference=0.65, taste=0, leaning=0).gap == pytest.approx(np.log(0.65 / 0.35))


def test_independent_votes_give_about_the_sign_tests_number() -> None:
    # votes_needed(0.6) = 194 decided votes at power 0.8; the two-way interval with t is a little more careful.
    design = Design(taste=0, leaning=0, tie_share=0, raters=20, prompts=100, votes_per_rater=10)
    found = simulated_power(design, runs=200)
    assert votes_needed(0.6) < design.votes and 0.6 < found.power < 0.85
    assert found.design_effect < 1.6


def test_taste_and_prompts_cost_power() -> None:
    # The review's case: 10 raters and some 194 votes have nothing like the power that independent votes would have.
    alike = simulated_power(Design(raters=10, prompts=20, votes_per_rater=20, taste=0, leaning=0), runs=150)
    apart = simulated_power(Design(raters=10, prompts=20, votes_per_rater=20, taste=0.6, leaning=0.6), runs=150)
    assert apart.power < alike.power - 0.15 and apart.design_effect > alike.design_effect


def test_few_are_found_where_hardly_anything_is_there() -> None:
    assert simulated_power(Design(preference=0.5001, raters=12, prompts=20, votes_per_rater=20), runs=200).power < 0.06


def test_the_same_seed_gives_the_same_and_more_raters_do_better() -> None:
    design = Design(preference=0.7, prompts=40, votes_per_rater=20)
    assert simulated_power(design, runs=40, seed=7) == simulated_power(design, runs=40, seed=7)
    needed = raters_needed(design, power=0.8, runs=50)
    assert needed is not None and 3 < needed < 60


def test_numbers_have_definitions_and_say_what_else_would_help() -> None:
    found = plan_study(Design(prompts=4, votes_per_rater=4, leaning=1.5), runs=20, power=0.95)
    assert found.power.signature.startswith("study_power|clusters:rater+prompt|confidence:0.95|leaning:1.5|")
    assert found.power.interval is not None and found.power.count == 20
    assert found.raters.value is None and "not reached by 500 raters: the prompts are too few" in found.raters.note


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"preference": 0.5}, "a preference to find is between 0.5 and 1"),
        ({"votes_per_rater": 51}, "a rater sees each pair once, so at most 50"),
        ({"raters": 1}, "two raters"),
        ({"tie_share": 1.0}, "ties are a share below 1"),
        ({"taste": -1.0}, "spreads are 0 or more"),
        ({"confidence": 2.0}, "a confidence is between 0 and 1"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_one_line(changes: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Design(**changes)  # type: ignore[arg-type]


def test_the_command_says_what_the_study_needs() -> None:
    words = ("study", "plan", "--preference", "0.7", "--prompts", "30", "--votes-per-rater", "20", "--runs", "30")
    shown = done(*words).output
    assert "10 raters × 20 votes on 30 prompts = 200 votes" in shown and "Power 0.8 needs about" in shown
    assert "study_power|clusters:rater+prompt|" in done(*words, "-v").output
    assert done(*words, "--json").output == done(*words, "--json").output
    bad = rushes("study", "plan", "--preference", "0.4")
    assert bad.exit_code == 1 and "a preference to find is between 0.5 and 1" in bad.output


def test_a_design_in_which_nobody_can_lose_has_no_design_effect() -> None:
    plan = plan_study(Design(preference=0.99, raters=2, prompts=2, votes_per_rater=2, taste=0.0, leaning=0.0), runs=3)
    assert plan.effect.value is None and "finite" in plan.effect.note
