"""No number of a study has an interval without width: all raters agree, answers cancel, few raters, few prompts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rushes.core import Measurement
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.tallies import tally
from rushes.instruments.preference.votes import Vote
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.uncertainty import strength_estimates, uncertainty

SYSTEMS = ("amber", "birch", "cedar")
RANKS = ("bt_rank", "mos_rank")
"""Whole numbers: a range of one rank is a statement about the others' differences."""
SIZES = [(2, 2), (2, 4), (4, 2), (6, 6), (12, 1), (1, 6), (6, 12)]
"""Raters and prompts."""


def without_width(found: tuple[Measurement, ...]) -> list[str]:
    return sorted(
        {
            m.name
            for m in found
            if m.interval is not None and m.name not in RANKS and m.interval.high - m.interval.low < 1e-6
        }
    )


@pytest.mark.parametrize(("raters", "prompts"), SIZES)
@pytest.mark.parametrize("kind", ["agree", "cancel", "tie"])
def test_pairs(raters: int, prompts: int, kind: str) -> None:
    def winner(p: int, r: int) -> str:
        return {"agree": "a", "cancel": "ab"[(p + r) % 2], "tie": ("a", "b", "tie")[(p + r) % 3]}[kind]

    votes = [
        Vote(
            sample=f"{a}{b}{p}",
            system_a=a,
            system_b=b,
            winner=(won := winner(p, r)),  # type: ignore[arg-type]
            rater=f"r{r}",
            prompt=f"p{p}",
            degree=0 if won == "tie" else 2,
        )
        for a, b in combinations(SYSTEMS, 2)
        for p in range(prompts)
        for r in range(raters)
    ]
    for prior in (0.0, 0.1):
        assert without_width(study_measurements(votes, rubric_version="0.1", prior=prior)) == []
    assert without_width(study_measurements(votes, rubric_version="0.1", method=method("pairs-7"))) == []


@pytest.mark.parametrize(("raters", "prompts"), SIZES)
@pytest.mark.parametrize("text", ["acr-5", "acr-11", "acr-hr-9", "dcr-5"])
@pytest.mark.parametrize("kind", ["agree", "top", "prompts", "raters"])
def test_scales(raters: int, prompts: int, text: str, kind: str) -> None:
    asked = method(text)

    def score(s: int, p: int, r: int) -> int:
        return {"agree": 4 - s, "top": asked.highest, "prompts": 2 + p % 2, "raters": 2 + r % 2}[kind]

    answers = [
        Judgement(
            sample=f"{name}{p}", systems=(name,), rater=f"r{r}", ratings={"overall": score(s, p, r)}, prompt=f"p{p}"
        )
        for s, name in enumerate(SYSTEMS)
        for p in range(prompts)
        for r in range(raters)
    ]
    reference = "cedar" if asked.name == "acr-hr" else ""
    assert (
        without_width(study_measurements(answers, rubric_version="opinion-1", method=asked, reference=reference)) == []
    )


@pytest.mark.parametrize(("raters", "prompts"), SIZES)
@pytest.mark.parametrize("kind", ["agree", "cancel", "prompts", "raters", "circle"])
def test_best_worst(raters: int, prompts: int, kind: str) -> None:
    def turn(p: int, r: int) -> int:
        return {"agree": 0, "cancel": (p + r) % 2 * 3, "prompts": p % 6, "raters": r % 6, "circle": (p + r) % 3}[kind]

    orders = [("amber", "birch", "cedar"), ("birch", "cedar", "amber"), ("cedar", "amber", "birch")]
    orders += [order[::-1] for order in orders]
    answers = [
        Judgement(
            sample=f"s{p}",
            systems=SYSTEMS,
            rater=f"r{r}",
            best=orders[turn(p, r)][0],
            worst=orders[turn(p, r)][-1],
            prompt=f"p{p}",
        )
        for p in range(prompts)
        for r in range(raters)
    ]
    for prior in (0.0, 0.1):
        found = study_measurements(answers, rubric_version="best-worst-1", method=method("best-worst-3"), prior=prior)
        assert without_width(found) == []


@pytest.mark.parametrize(("raters", "prompts"), [(4, 4), (8, 12)])
def test_elo_of_equal_systems_is_covered_in_best_worst(raters: int, prompts: int) -> None:
    """Four systems of equal strength, tastes and prompts that lean: 95 % asked."""
    draw, names, held = np.random.default_rng([raters, prompts]), ("amber", "birch", "cedar", "dogwood"), []
    for _ in range(40):
        taste, leaning = draw.normal(0, 0.5, (raters, 4)), draw.normal(0, 0.5, (prompts, 4))
        answers = []
        for r, p in np.ndindex(raters, prompts):
            order = np.argsort(taste[r] + leaning[p] + draw.gumbel(size=4))
            best, worst = names[order[-1]], names[order[0]]
            one = Judgement(sample=f"s{p}", systems=names, rater=f"r{r}", best=best, worst=worst, prompt=f"p{p}")
            answers.append(one)
        votes = tally([vote for one in answers for vote in one.implied_votes()])
        fit = rank(votes, prior=1e-6)
        for one in strength_estimates(fit, uncertainty(fit, votes)):
            assert one.interval is not None
            held.append(one.interval.low <= 0.0 <= one.interval.high)
    assert np.mean(held) >= 0.93
