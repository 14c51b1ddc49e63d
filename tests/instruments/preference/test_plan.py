"""Power by simulation: deterministic, honest where nothing is to be found, and the same fast and slow."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from tests.study.test_command import done, rushes
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.agreement.credential import shipped_credentials
from rushes.core.errors import InputError
from rushes.instruments.preference.numbers.plan import plan_study, prompts_with_metric
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
        assert effect == pytest.approx((error / alone.difference_se(0, 1)) ** 2, rel=5e-3)  # a cut eigenvalue


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
    assert "30 pairs (30 prompts, 2 systems), 6 raters each and one more if they disagree" in " ".join(shown.split())
    assert "rushes study create NAME SUITE --min-raters 6 --quota 22" in shown and "Power 0.8 needs about" in shown
    assert "study_power|clusters:rater+prompt|" in done(*words, "-v").output
    assert done(*words, "--json").output == done(*words, "--json").output
    bad = rushes("study", "plan", "--preference", "0.4")
    assert bad.exit_code == 1 and "a preference to find is between 0.5 and 1" in bad.output


def test_a_design_in_which_nobody_can_lose_has_no_design_effect() -> None:
    plan = plan_study(Design(preference=0.99, raters=2, prompts=2, votes_per_rater=2, taste=0.0, leaning=0.0), runs=3)
    assert plan.effect.value is None and "finite" in plan.effect.note


def test_a_metric_on_all_prompts_spares_rated_ones() -> None:
    """50 (1 − 0.36) / (1 − 0.36 · 50/500) = 32 / 0.964 = 33.195; on endless prompts 32."""
    design = Design(preference=0.6, prompts=50)
    few = prompts_with_metric(design, 0.6, 500)
    assert few.value == pytest.approx(33.195, abs=5e-4) and few.definition.unit == "prompts"
    assert few.signature == "prompts_with_metric|correlation:0.6|metric_prompts:500|prompts:50|v:1"
    assert prompts_with_metric(design, 0.6).value == pytest.approx(32)
    assert prompts_with_metric(design, -0.6).value == 50


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "0.6",
            "With a metric of ρ 0.6 on 500 prompts, 34 rated prompts are worth 50 without it: about 134 fewer votes",
        ),
        ("0", "With a metric of ρ 0 on 500 prompts, 50 rated prompts are worth 50 without it: it saves no votes"),
        ("luma_alternation", "within one system, FETV) on 500 prompts"),
        ("luma_alternation", "the clips of FETV were seen while luma_alternation was made"),
        ("umtscore", "--with takes a correlation from -1 to 1, a credential's file or"),
        ("1.5", "a correlation lies between -1 and 1; got 1.5"),
    ],
)
def test_plan_with_a_metric(given: str, said: str) -> None:
    asked = ["study", "plan", "--runs", "2", "--power", "0.1", "--with", given, "--metric-prompts", "500"]
    shown = CliRunner().invoke(app, asked)
    assert said in " ".join(shown.output.split())
    assert (shown.exit_code == 0) == (given in ("0.6", "0", "luma_alternation"))


def test_plan_with_a_credential_of_ones_own(tmp_path: Path) -> None:
    (one,) = (
        one
        for one in shipped_credentials()
        if one.signature.startswith("luma_alternation|") and "input:raw" in one.signature
    )
    file = tmp_path / "own.toml"
    file.write_text(replace(one, seen="no").toml(), "utf-8")
    asked = ["study", "plan", "--runs", "2", "--power", "0.1", "--with", str(file), "--json"]
    numbers = json.loads(CliRunner().invoke(app, asked).stdout)["measurements"]
    rho = one.within_system.value if one.within_system else 0
    assert numbers[-1]["value"] == pytest.approx(50 * (1 - rho**2), abs=1e-6)
    file.write_text(replace(one, within_system=None).toml(), "utf-8")
    assert "no agreement within one system" in " ".join(CliRunner().invoke(app, asked).output.split())


def test_the_plan_is_of_the_study_that_create_makes() -> None:
    """Numbers of studies that a service ran, 300 of each: votes 128, 435 and 1190; power by ranks 0.35, 0.49, 0.82."""
    five = Design(systems=5, prompts=17, raters=60, votes_per_rater=20, preference=0.7, min_raters=2)
    ran = ((Design(raters=20, min_raters=2), 128, 0.35), (five, 435, 0.49), (replace(five, min_raters=7), 1190, 0.82))
    for design, votes, power in ran:
        found = simulated_power(design, runs=150)
        assert found.votes == pytest.approx(votes, rel=0.02)
        assert found.power == pytest.approx(power, abs=0.05 + 0.04)  # 0.04: one standard error of 150 studies
    with pytest.raises(InputError, match="expected 2 to 20 raters per pair; got 21"):
        Design(raters=20, min_raters=21)


def test_a_rater_sees_a_pair_once_and_gives_no_more_than_asked() -> None:
    design = Design(systems=3, prompts=7, raters=5, votes_per_rater=9, min_raters=3)
    for seed in range(5):
        first, second, outcome, rater, prompt = plan._study(design, np.random.default_rng(seed))
        seen = list(zip(rater.tolist(), prompt.tolist(), first.tolist(), second.tolist(), strict=True))
        assert len(set(seen)) == len(seen) == len(outcome) <= design.votes
