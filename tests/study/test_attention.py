"""Attention in every method, through the service: who does not look is found, and who merely differs is not."""

from __future__ import annotations

import pytest
from scipy.stats import betabinom
from tests.study.test_methods import Judge, judges, made

from rushes.study import Accepted, ExclusionRule, VoteForm
from rushes.study.material.sources import from_csv
from rushes.study.owner.attention import agreement_probability
from rushes.study.records import ATTENTION

WORTH = {"alpha": 5, "beta": 3, "gamma": 1}


@pytest.fixture
def clips(manifest, takes):
    return from_csv(manifest, clips=takes)


def work(person: Judge, answer, *, think_ms: int = 4000) -> None:
    """Answer everything there is, after so much time beyond watching."""
    while (task := person.service.next_task(person.session)) is not None:
        person.see(task)
        person.clock.forward(think_ms)
        given = person.service.submit_vote(person.session, task.assignment, answer(task), key=task.assignment)
        assert isinstance(given, Accepted), given


def reasons(service) -> dict[str, str]:
    return {line.rater: line.reason for line in service.study_status("s").raters}


@pytest.mark.parametrize(("text", "reference"), [("acr-9", ""), ("acr-hr-5", "gamma"), ("dcr-5", "gamma")])
def test_raters_of_single_clips(service, clock, clips, text, reference):
    rule = ExclusionRule(**(ATTENTION | {"max_run_p": 0.01}))
    made(service, clips, text, reference=reference, min_raters=5, exclusion=rule)
    strict, mild, same, hurried, wrong = people = judges(service, clock, 5)
    side = people[0].service.study_status("s").summary.method.startswith("dcr") and "ratings_b" or "ratings_a"

    def score(person: Judge, change):
        def form(task):
            rated = "B" if side == "ratings_b" else "A"
            return VoteForm(**{side: {"overall": change(WORTH[person.system(task, rated)])}})

        return form

    work(strict, score(strict, lambda worth: max(1, worth - 1)))
    work(mild, score(mild, lambda worth: min(5, worth + 1)))
    work(same, score(same, lambda worth: 3))
    work(hurried, score(hurried, lambda worth: worth), think_ms=100)
    work(wrong, score(wrong, lambda worth: 6 - worth))
    told = reasons(service)
    assert told[strict.code] == told[mild.code] == ""
    # Always the same score is on one's own mean every time.
    assert told[same.code].startswith("agreed with the other raters in 0 of 12 votes (p ")
    assert told[hurried.code] == "voted 0.1 s after watching, in the median (at least 0.5 s)"
    assert told[wrong.code].startswith("agreed with the other raters in 0 of ")
    assert set(service.apply_exclusions("s")) == {same.code, hurried.code, wrong.code}


def test_raters_of_sets(service, clock, clips):
    rule = ExclusionRule(max_consensus_p=0.01, min_think_s=2)  # clips may be watched side by side: the longest counts
    made(service, clips, "best-worst-3", min_raters=4, exclusion=rule)
    good, fair, wrong, hurried = judges(service, clock, 4)

    def ends(person: Judge, best: str, worst: str):
        def form(task):
            sides = {person.system(task, side): side for side in task.clips}
            return VoteForm(best=sides[best], worst=sides[worst])

        return form

    work(good, ends(good, "alpha", "gamma"))
    work(fair, ends(fair, "alpha", "beta"))
    work(wrong, ends(wrong, "gamma", "alpha"))
    work(hurried, ends(hurried, "alpha", "gamma"), think_ms=0)
    told = reasons(service)
    assert told[good.code] == told[fair.code] == ""
    assert told[wrong.code].startswith("agreed with the other raters in 0 of 12 votes")
    assert told[hurried.code].startswith("voted 1.0 s after watching")


@pytest.mark.parametrize(("agreed", "compared", "share"), [(4, 20, 0.6), (30, 60, 0.75), (0, 12, 0.4), (9, 10, 0.97)])
def test_the_probability_is_scipys_beta_binomial(agreed, compared, share):
    mean = min(share, 0.94)
    size = mean * (1 - mean) / 0.06**2 - 1
    expected = betabinom.cdf(agreed, compared, mean * size, (1 - mean) * size)
    assert agreement_probability(agreed, compared, share) == pytest.approx(expected)
