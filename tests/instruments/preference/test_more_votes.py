"""How many votes would show a lead: the plan's own numbers for the statement that the report makes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import PAIRS, method
from rushes.instruments.preference.numbers.method_plan import opinion_raters_needed
from rushes.instruments.preference.numbers.opinion_plan import OpinionDesign
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.show.more_votes import RUNS, more_votes
from rushes.instruments.preference.votes import Vote
from rushes.stats.votes.plan import Design, raters_needed, simulated_power


def pairs(share: float, *, raters: int = 8, prompts: int = 20, wins: int | None = None) -> list[Vote]:
    """Every rater on every prompt; amber wins at random with this share, or exactly so many."""
    draw, count = np.random.default_rng(8), raters * prompts
    won = draw.random(count) < share if wins is None else draw.permutation(count) < wins
    return [
        Vote(
            sample=f"p{p}",
            prompt=f"p{p}",
            system_a="amber",
            system_b="birch",
            winner="a" if won[k * prompts + p] else "b",
            rater=f"r{k}",
        )
        for k in range(raters)
        for p in range(prompts)
    ]


def test_of_pairs_it_is_the_plans_number_of_raters() -> None:
    votes = pairs(0.5, wins=89)  # 55.6 %
    found = more_votes(study_measurements(votes, rubric_version="0.1"), votes, PAIRS, confidence=0.95)
    design = Design(preference=0.556, prompts=20, votes_per_rater=20, tie_share=0.0)
    needed = raters_needed(design, power=0.8, runs=RUNS)
    assert found is not None and found.raters == needed is None  # prompts that differ this much are too few
    tried = {times * 20: raters_needed(replace(design, prompts=times * 20), runs=RUNS) for times in (2, 4)}
    raters, prompts = min((raters, prompts) for prompts, raters in tried.items() if raters is not None)
    assert found.text == (
        "More raters alone would not show a lead of this size; it takes more prompts, such as "
        f"{prompts} with {raters} raters."
    )
    votes = pairs(0.5, raters=2, wins=25)  # 62.5 % of 40
    found = more_votes(study_measurements(votes, rubric_version="0.1"), votes, PAIRS, confidence=0.95)
    needed = raters_needed(Design(preference=0.625, prompts=20, votes_per_rater=20, tie_share=0.0), runs=RUNS)
    assert found is not None and needed is not None and found.raters == needed
    assert found.text == (
        f"To show a lead of this size 4 times in 5 takes about {needed} raters and "
        f"{20 * needed} votes on these prompts, {20 * needed - 40} more than now."
    )


def test_a_clear_lead_and_an_even_one_ask_for_nothing() -> None:
    clear, even = pairs(0.9), pairs(0.5, wins=80)
    assert more_votes(study_measurements(clear, rubric_version="0.1"), clear, PAIRS, confidence=0.95) is None
    assert more_votes(study_measurements(even, rubric_version="0.1"), even, PAIRS, confidence=0.95) is None


def ratings(gap: float, systems: str = "xy") -> list[Judgement]:
    draw = np.random.default_rng(4)
    return [
        Judgement(
            sample=f"p{p}.{s}",
            systems=(s,),
            rater=f"r{k}",
            prompt=f"p{p}",
            ratings={"overall": int(np.clip(np.rint(3 + gap * (s == "x") + draw.normal(0, 1)), 1, 5))},
        )
        for k in range(5)
        for p in range(8)
        for s in systems
    ]


def test_of_single_clips_it_is_the_plan_at_the_level_of_all_differences() -> None:
    given, asked = ratings(0.3, "xyz"), method("acr")
    measured = study_measurements(given, rubric_version="opinion-1", method=asked)
    found = more_votes(measured, given, asked, confidence=0.95)
    means = sorted((float(m.value) for m in measured if m.name == "mos"), reverse=True)
    gap = round(means[0] - means[1], 2)
    level = round(1 - 0.05 / 3, 9)
    design = OpinionDesign(difference=gap, raters=500, prompts=8, ratings_per_rater=16, confidence=level)
    assert found is not None and found.raters == opinion_raters_needed(design, runs=RUNS // 2)
    assert "ratings" in found.text or "more prompts" in found.text


def test_of_sets_it_is_a_number_or_a_reason() -> None:
    draw, systems = np.random.default_rng(1), ("w", "x", "y", "z")
    given = []
    for k in range(4):
        for p in range(6):
            worth = np.array([0.5, 0.0, 0.0, -0.2]) + draw.gumbel(size=4)
            order = [systems[int(i)] for i in np.argsort(-worth)]
            given.append(
                Judgement(
                    sample=f"p{p}", systems=systems, rater=f"r{k}", prompt=f"p{p}", best=order[0], worst=order[-1]
                )
            )
    asked = method("best-worst")
    measured = study_measurements(given, rubric_version="best-worst-1", method=asked)
    found = more_votes(measured, given, asked, confidence=0.95)
    text = "" if found is None else found.text
    assert not text or re.search(
        r"about \d+ raters and \d+ answers on these prompts, \d+ more than now\.|more prompts", text
    )


def test_the_number_keeps_its_promise() -> None:
    # With as many raters as it says, four studies in five find the difference that was seen.
    design = Design(preference=0.7, prompts=20, votes_per_rater=20, tie_share=0.0)
    needed = raters_needed(design, power=0.8, runs=RUNS)
    assert needed is not None
    assert simulated_power(replace(design, raters=needed), runs=400, seed=99).power == pytest.approx(0.8, abs=0.07)
    assert expit(design.gap) > 0.7  # tastes and prompts differ, so the mean preference is milder than the strength
