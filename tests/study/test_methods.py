"""Other methods than pairs, through the service: what a trial shows, what is taken, and what comes of it."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.study.conftest import HandClock, Person, _sequences

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.rubric import SIMPLE
from rushes.instruments.preference.votes import Fault
from rushes.study import Accepted, PlayEvent, StudyPlan, StudyService, Task, VoteForm, VoteRefusal
from rushes.study.evaluate import measure_study
from rushes.study.material.sources import from_csv


class Judge(Person):
    """A rater of any method."""

    def see(self, task: Task) -> None:
        self.service.load_clips(self.session, task)
        self.clock.forward(sum(view.duration_ms for view in task.clips.values()))
        events = [
            PlayEvent(side=side, start_ms=0, end_ms=view.duration_ms, sequence=next(_sequences))
            for side, view in task.clips.items()
        ]
        assert self.service.record_play(self.session, task.assignment, events).complete

    def send(self, task: Task, form: VoteForm) -> Accepted | VoteRefusal:
        self.see(task)
        return self.service.submit_vote(self.session, task.assignment, form, key=task.assignment)

    def system(self, task: Task, side: str = "A") -> str:
        return self.service.media(task.clips[side].token).source.rsplit("/", 1)[1].split("_")[0]


def made(service: StudyService, clips, text: str, **plan) -> str:
    asked = method(text)
    words = {} if asked.is_pairs else {"rubric": rubric_of_method(asked)}
    settings = {"gold_every": 0, "repeat_every": 0, **words, **plan}
    service.create_study(StudyPlan(name="s", method=asked, **settings), training=False, clips=clips)
    return "s"


def judges(service: StudyService, clock: HandClock, count: int) -> list[Judge]:
    return [Judge(service, clock, "s", one) for one in service.invite("s", count=count)]


@pytest.fixture
def clips(manifest, takes):
    return from_csv(manifest, clips=takes)


def test_single_clips_are_rated_and_balanced(service, clock, clips):
    made(service, clips, "acr-5", min_raters=3)
    people = judges(service, clock, 3)
    liked = {"alpha": 5, "beta": 3, "gamma": 2}
    seen: dict[str, list[str]] = {}
    for number in range(18):
        for person in people:
            task = person.task()
            assert list(task.clips) == ["A"] and task.number == number + 1 and task.total == 18
            system = person.system(task)
            seen.setdefault(person.code, []).append(system)
            score = liked[system] - (person is people[0]) * (system != "gamma")
            faults = (Fault("A", 200, task.fault_tags[0]),) if system == "gamma" else ()
            form = VoteForm(ratings_a={"overall": score}, faults=faults)
            assert isinstance(person.send(task, form), Accepted)
    assert all(service.next_task(person.session) is None for person in people)
    assert all(
        max(Counter(row[:k]).values()) - min(Counter(row[:k]).values()) <= 1 for row in seen.values() for k in (9, 18)
    )
    found = {(m.name, *m.place.values()): m for m in measure_study(service, "s").measurements}
    assert found["mos", "overall", "alpha"].value == pytest.approx((4 + 5 + 5) / 3)
    assert found["mos", "overall", "gamma"].interval.high - found["mos", "overall", "gamma"].interval.low > 0
    assert found["clip_mos", "T1/0", "overall", "alpha"].value == pytest.approx(14 / 3)
    assert found["fault_count", "gamma", "Flicker"].value == 18
    assert found["mos", "overall", "alpha"].signature.count("method:acr-5") == 1
    assert found["mos_rank", "overall", "alpha"].value == 1
    # Raters 2 and 3 never differ, so the weighted model believes them alone: it says so instead of giving scores.
    assert "follows one rater alone" in found["rater_bias", "overall", "rater_01"].note
    removed = {m.value for m in measure_study(service, "s").measurements if m.name == "mos_bias_removed"}
    assert None in removed and len(removed) > 1
    status = service.study_status("s")
    assert status.families[0].votes == status.families[0].votes_expected and not status.disagreements
    assert service.votes("s") == [] and len(service.judgements("s")) == 54


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # refused before anything is stored
@pytest.mark.parametrize(
    ("form", "field"),
    [
        (VoteForm(), "ratings_a.overall"),
        (VoteForm(ratings_a={"overall": 6}), "ratings_a.overall"),
        (VoteForm(ratings_a={"overall": 3, "beauty": 3}), "ratings_a.beauty"),
        (VoteForm(ratings_a={"overall": 3}, winner="A"), "assignment"),
        (VoteForm(ratings_a={"overall": 3}, ratings_b={"overall": 3}), "assignment"),
        (VoteForm(ratings_a={"overall": 3}, faults=(Fault("B", 0, "Flicker"),)), "faults"),
        (VoteForm(ratings_a={"overall": 3}, faults=(Fault("A", 99_000, "Flicker"),)), "faults"),
        (VoteForm(ratings_a={"overall": 3}, faults=(Fault("A", 0, "Ugly"),)), "faults"),
    ],
)
def test_what_a_rating_may_not_be(service, clock, clips, form, field):
    made(service, clips, "acr-5")
    (person,) = judges(service, clock, 1)
    answer = person.send(person.task(), form)
    assert isinstance(answer, VoteRefusal) and [one.field for one in answer.missing] == [field]


def test_the_hidden_reference_gives_differences(service, clock, clips):
    made(service, clips, "acr-hr-11", reference="gamma")
    for k, person in enumerate(judges(service, clock, 2)):
        for _ in range(18):
            task = person.task()
            score = {"alpha": 4, "beta": 9, "gamma": 8}[person.system(task)] + k
            assert isinstance(person.send(task, VoteForm(ratings_a={"overall": score})), Accepted)
    found = {(m.name, m.place.get("system")): m for m in measure_study(service, "s").measurements}
    # V(clip) − V(reference) + 10: alpha 4 − 8, beta 9 − 8; what a rater adds to both is gone.
    assert (found["dmos", "alpha"].value, found["dmos", "beta"].value) == (6.0, 11.0)
    assert ("mos", "gamma") in found and ("dmos", "gamma") not in found and ("mos_rank", "gamma") not in found
    assert found["mos", "beta"].interval.high <= 10


def test_the_reference_comes_first(service, clock, clips):
    made(service, clips, "dcr-5", reference="gamma")
    (person,) = judges(service, clock, 1)
    systems = Counter()
    for _ in range(12):
        task = person.task()
        assert person.system(task, "A") == "gamma"
        systems[person.system(task, "B")] += 1
        refused = service.submit_vote(person.session, task.assignment, VoteForm(ratings_a={"overall": 5}), key="x")
        assert isinstance(refused, VoteRefusal)
        assert isinstance(person.send(task, VoteForm(ratings_b={"overall": 4})), Accepted)
    assert systems == {"alpha": 6, "beta": 6}
    assert {one.shown for one in service.judgements("s")} == {("gamma", "alpha"), ("gamma", "beta")}


def test_best_and_worst_of_three(service, clock, clips):
    made(service, clips, "best-worst", min_raters=3)
    first = Counter()
    for person in judges(service, clock, 3):
        for _ in range(6):
            task = person.task()
            sides = {person.system(task, side): side for side in task.clips}
            assert sorted(sides) == ["alpha", "beta", "gamma"]
            first[person.system(task), task.prompt] += 1
            same = person.send(task, VoteForm(best="A", worst="A"))
            assert isinstance(same, VoteRefusal) and same.missing[0].field == "worst"
            best = sides["beta" if task.prompt.endswith("5") else "alpha"]
            form = VoteForm(best=best, worst=sides["gamma"])
            assert isinstance(service.submit_vote(person.session, task.assignment, form, key="k"), Accepted)
            assert service.last_vote(person.session).draft.best == best
    assert set(first.values()) == {1}  # every clip stood first once for each prompt
    found = {(m.name, m.place.get("system")): m for m in measure_study(service, "s").measurements}
    assert found["best_worst_score", "alpha"].value == pytest.approx(15 / 18)
    assert found["best_worst_score", "gamma"].value == -1.0 and found["best_worst_score", "gamma"].interval.high > -1
    assert found["bt_elo", "alpha"].note or found["bt_elo", "alpha"].value is not None


def test_seven_points_are_a_vote_and_a_degree(service, clock, clips):
    made(service, clips, "pairs-7", rubric=SIMPLE)
    (one, two) = judges(service, clock, 2)
    for person in (one, two):
        for _ in range(18):
            task = person.task()
            short = person.send(task, VoteForm(winner="A"))
            assert isinstance(short, VoteRefusal) and short.missing[0].field == "winner"
            names = {person.system(task, side): side for side in "AB"}
            winner = names.get("alpha") or "Tie"
            form = VoteForm(winner=winner, degree=None if winner == "Tie" else 2)
            assert isinstance(service.submit_vote(person.session, task.assignment, form, key="k"), Accepted)
    found = {(m.name, *m.place.values()): m for m in measure_study(service, "s").measurements}
    assert found["cmos", "beta", "alpha"].value == 2.0 and found["cmos", "alpha", "beta"].value == -2.0
    assert found["cmos", "beta", "gamma"].value == 0.0
    assert "method:pairs-7" in found["tie_share",].signature


def test_without_a_tie(service, clock, clips):
    made(service, clips, "pairs-2-no-tie", rubric=SIMPLE)
    (person,) = judges(service, clock, 1)
    answer = person.send(person.task(), VoteForm(winner="Tie"))
    assert isinstance(answer, VoteRefusal) and answer.missing[0].message == "Choose A or B."


def test_anchors_and_repeats_check_raters(service, clock, manifest, takes, tmp_path):
    from dataclasses import replace

    clips = from_csv(manifest, clips=takes)
    anchor = replace(clips[0], sample="anchor", kind="gold", expected="low", prompt="a")
    made(service, [*clips, anchor], "acr-5", gold_every=4, repeat_every=5)
    (person,) = judges(service, clock, 1)
    scores = iter([1, 5] * 40)
    while (task := service.next_task(person.session)) is not None:
        assert isinstance(person.send(task, VoteForm(ratings_a={"overall": next(scores)})), Accepted)
    (line,) = service.study_status("s").raters
    assert line.gold_total == 1 and line.repeats_total >= 3 and line.chose_a == 0
    checks = [one for one in service.judgements("s") if not one.counts_in_results]
    assert {one.is_gold for one in checks} == {True, False}


def test_training_of_every_method(service, clock, clips):
    for text, form, right in (
        ("acr-5", VoteForm(ratings_a={"overall": 2}), True),
        ("acr-hr-9", VoteForm(ratings_a={"overall": 7}), False),
        ("dcr-5", VoteForm(ratings_b={"overall": 1}), True),
    ):
        asked = method(text)
        plan = StudyPlan(name=text, method=asked, rubric=rubric_of_method(asked), reference="gamma")
        service.create_study(plan, clips=clips)
        person = Judge(service, clock, text, service.invite(text)[0])
        answer = person.send(service.training_task(person.session), form)
        assert answer.feedback.right == right and answer.feedback.expected == "low"
    asked = method("best-worst")
    service.create_study(StudyPlan(name="bw", method=asked, rubric=rubric_of_method(asked)), clips=clips)
    person = Judge(service, clock, "bw", service.invite("bw")[0])
    task = service.training_task(person.session)
    kinds = {service.media(view.token).source.rsplit("/", 1)[1]: side for side, view in task.clips.items()}
    answer = person.send(task, VoteForm(best=kinds["steady.mp4"], worst=kinds["unsteady.mp4"]))
    assert answer.feedback.right and answer.feedback.expected == f"{kinds['steady.mp4']}>{kinds['unsteady.mp4']}"
