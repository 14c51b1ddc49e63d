"""The plain comparison: A, B or the same, after one watch of each; and questions that fit the task."""

from __future__ import annotations

from tests.study.conftest import Person

from rushes.instruments.preference.rubric import RUBRIC, SIMPLE
from rushes.study import Accepted, StudyPlan, VoteForm, VoteRefusal
from rushes.study.evaluate import evaluate_study
from rushes.study.exchange.formats import export_study
from rushes.study.material.sources import from_csv


def test_one_watch_and_one_answer_are_a_vote(service, clock, manifest, two_systems, tmp_path):
    plan = StudyPlan(name="plain", rubric=SIMPLE, gold_every=0, repeat_every=0)
    service.create_study(plan, training=False, clips=from_csv(manifest, clips=two_systems))
    for invitation in service.invite("plain", count=2):
        rater = Person(service, clock, "plain", invitation)
        for number in range(6):
            task = rater.task()
            assert (task.dimensions, task.tags, task.watch.required) == ((), (), 1)
            refused = service.submit_vote(rater.session, task.assignment, VoteForm(winner="A"), key="early")
            assert isinstance(refused, VoteRefusal) and {one.field for one in refused.missing} == {"watch_a", "watch_b"}
            rater.watch(task, passes=1)
            winner = "Tie" if number == 0 else rater.side_of(task, "alpha" if number < 5 else "beta")
            assert isinstance(
                service.submit_vote(rater.session, task.assignment, VoteForm(winner=winner), key="vote"), Accepted
            )
    run = evaluate_study(service, "plain", run=tmp_path / "run")
    found = {m.name for m in run.measurements["plain"]}
    assert "bt_elo" in found and "dimension_mean" not in found
    assert all("rubric:simple-1" in m.signature for m in run.measurements["plain"] if m.name == "bt_elo")
    assert export_study(service, "plain", tmp_path / "votes.csv", form="csv").votes == 12


def test_the_training_pair_of_a_plain_study_asks_for_no_reason(service, clock, manifest, two_systems):
    clips = from_csv(manifest, clips=two_systems)
    service.create_study(StudyPlan(name="plain", rubric=SIMPLE), clips=clips)
    rater = Person(service, clock, "plain", service.invite("plain")[0])
    task = service.training_task(rater.session)
    rater.watch(task, passes=1)
    steady = "A" if "unsteady" not in service.media(task.a.token).source else "B"
    answer = service.submit_vote(rater.session, task.assignment, VoteForm(winner=steady), key="t")
    assert answer.feedback.right and answer.feedback.remark == ""


def test_instructions_leave_out_what_no_task_asks_for(service, clock, manifest, two_systems):
    clips = [clip for clip in from_csv(manifest, clips=two_systems) if clip.family in ("T1", "T2")]
    service.create_study(StudyPlan(name="plain"), training=False, clips=clips)
    service.create_study(StudyPlan(name="all"), training=False, clips=from_csv(manifest, clips=two_systems))
    told = {}
    for name in ("plain", "all"):
        rater = Person(service, clock, name, service.invite(name)[0])
        told[name] = service.presentation(rater.session).rubric
    assert told["all"].instructions == RUBRIC.instructions
    assert [part.key for part in told["all"].dimensions][-1] == "edit_precision"
    words = repr((told["plain"].instructions, told["plain"].dimensions, told["plain"].tag_groups)).lower()
    assert "edit" not in words and "safety" not in words and "realism" in words
