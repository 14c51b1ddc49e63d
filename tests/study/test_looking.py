"""Looking before the end: logged, paid for with wider intervals, and no false winners however often somebody looks."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.conftest import Person

from rushes.stats.clustered import clustered_mean
from rushes.study import StudyPlan
from rushes.study.evaluate import evaluate_study, measure_study
from rushes.study.material.sources import from_csv
from rushes.study.owner.looking import Look


@pytest.fixture
def vote(service, clock, manifest, two_systems):
    plan = StudyPlan(name="s", gold_every=0, repeat_every=0)
    service.create_study(plan, training=False, clips=from_csv(manifest, clips=two_systems))
    people = [Person(service, clock, "s", one) for one in service.invite("s", count=2)]

    def some(count: int) -> None:
        for _ in range(count):
            for person in people:
                person.vote_for(person.task(), "alpha")

    return some


def test_early_looks_are_logged_and_cost_width(service, vote, tmp_path):
    assert service.look("s") == Look(done=True)  # nothing to see yet
    vote(2)
    first = service.look("s")
    assert (first.done, first.number, first.share) == (False, 1, 0.25)
    assert service.look("s") == first  # the same votes are the same look
    vote(1)
    second = evaluate_study(service, "s", run=tmp_path / "run")
    shares = [m for m in second.measurements["s"] if m.name == "head_to_head"]
    assert {m.interval.level for m in shares} == {0.99583333}
    assert "This is look 2 before the end; intervals are at 99.58 %" in second.entries[0].subject.facts["looks"]["text"]
    vote(3)
    last = service.look("s")
    assert (last.done, last.earlier, last.share) == (True, 2, 0.5)
    assert last.text(0.95) == "The results were read 2 times before the end, so intervals are at 97.5 %."
    assert [entry.detail["votes"] for entry in service.audit("s") if entry.action == "looked at results"] == [12, 6, 4]


def test_a_study_that_is_done_has_its_full_level(service, vote):
    vote(6)
    assert measure_study(service, "s").look == Look(done=True)
    assert measure_study(service, "s").look.text(0.95) == ""


def test_votes_after_a_final_look_void_the_promise(service, vote):
    vote(2)
    service.running.set_state("s", "closed")
    assert service.look("s").share == 1.0
    service.running.set_state("s", "open")
    vote(1)
    assert service.look("s").void and "exploratory" in service.look("s").text(0.95)


def test_looking_all_the_time_finds_no_false_winner():
    # 20 raters × 20 prompts, no difference, taste and leaning of 0.5: the worst look of 20 decides.
    draw, false, naive, studies, looks = np.random.default_rng(6), 0, 0, 200, 20
    for _ in range(studies):
        rater, prompt = np.repeat(np.arange(20), 20), np.tile(np.arange(20), 20)
        order = draw.permutation(400)
        rater, prompt = rater[order], prompt[order]
        lean = draw.normal(0, 0.7, 20)[rater] + draw.normal(0, 0.7, 20)[prompt]
        won = (draw.random(400) < 1 / (1 + np.exp(-lean))).astype(float)
        found = plain = False
        for k in range(1, looks + 1):
            n = 20 * k
            share = 0.5 if k == looks else 0.5 / (k * (k + 1))
            level = Look(done=k == looks, number=k, share=share).level(0.95)
            names = rater[:n].astype(str), prompt[:n].astype(str)
            found |= _finds(won[:n], *names, level)
            plain |= _finds(won[:n], *names, 0.95)
        false, naive = false + found, naive + plain
    assert false / studies <= 0.05 < 0.1 < naive / studies


def _finds(won, raters, prompts, level):
    span = clustered_mean(won, raters, prompts, confidence=level, lowest=0.0, highest=1.0).interval
    return not span.low <= 0.5 <= span.high
