"""Raters from a platform: in by one open link, out with a code; and the list of what they are paid."""

from __future__ import annotations

import csv
import io

import pytest
from sqlalchemy import text

from rushes.study import NotAllowed, StudyError, StudyPlan, VoteForm, VoteRefusal
from rushes.study.recruiting.open_links import HOLD_MS
from rushes.study.recruiting.payments import payments_csv
from rushes.study.recruiting.platforms import RecruitmentPlan

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
PROLIFIC = RecruitmentPlan(
    platform="prolific", quota=2, completion_code="C1DONE", screened_out_code="C2NO", full_code="C3FULL"
)


@pytest.fixture
def worker(service, clock, study, people):
    """Lets a participant in and gives what such a person does; Person is the conftest's."""
    kind = type(people(1)[0])

    class Worker(kind):
        def __init__(self, token, participant):
            self.service, self.clock, self.study = service, clock, study
            joined = service.running.join(token, participant=participant, session=f"s-{participant}")
            assert joined.session is not None, joined
            self.session, self.code = joined.session.token, joined.session.rater
            service.give_consent(self.session)

        def work(self, most=99):
            while most and (task := service.next_task(self.session)):
                self.vote(task)
                most -= 1
            return self

    return Worker


def test_the_round_trip_of_a_participant(service, worker, study):
    token = service.running.open_link(study, PROLIFIC)
    one = worker(token, "5f00aa5f00aa5f00aa5f00aa")
    assert service.running.ending(one.session).outcome is None and service.running.completion_code(one.session) == ""
    one.work()
    end = service.running.ending(one.session)
    assert (end.outcome, end.code, end.votes) == ("completed", "C1DONE", 6)
    assert end.return_url == "https://app.prolific.com/submissions/complete?cc=C1DONE"
    assert [entry.action for entry in service.audit(study)].count("completed") == 1
    service.running.ending(one.session)  # asked again: nothing new
    assert [entry.action for entry in service.audit(study)].count("completed") == 1


def test_the_same_participant_comes_back_to_their_own_work(service, worker, study):
    token = service.running.open_link(study, PROLIFIC)
    first = worker(token, "5f00aa5f00aa5f00aa5f00aa").work(most=2)
    again = worker(token, "5f00aa5f00aa5f00aa5f00aa")
    assert again.code == first.code and again.task().number == 3
    assert service.session(first.session).rater == first.code  # whoever knows an id ends nobody's session
    newer = service.running.open_link(study, PROLIFIC)  # and through the next link of the study
    assert worker(newer, "5f00aa5f00aa5f00aa5f00aa").code == first.code
    with pytest.raises(NotAllowed, match="replaced"):
        service.running.join(token, participant="5f00aa5f00aa5f00aa5f00aa")


def test_when_the_places_are_taken_the_next_one_hears_it(service, worker, clock, study):
    token = service.running.open_link(study, PROLIFIC)
    p1, p2, p3, p4 = (f"{n:024x}" for n in range(4))
    worker(token, p1).work(most=1)
    worker(token, p2)
    late = service.running.join(token, participant=p3)
    assert late.session is None and (late.ending.outcome, late.ending.code) == ("full", "C3FULL")
    assert late.ending.return_url.endswith("cc=C3FULL")
    clock.forward(HOLD_MS + 1)  # p2 never voted and is gone: the place is free; p1 has voted and keeps theirs
    assert service.running.recruitment(study).joined == 1
    worker(token, p3)
    assert service.running.join(token, participant=p4).session is None


def test_ids_are_kept_as_declared_and_never_in_the_log(service, worker, database, study):
    for ids in ("hashed", "plain"):
        token = service.running.open_link(
            study, RecruitmentPlan(platform="other", quota=9, ids=ids, return_url="https://x.org/{code}")
        )
        worker(token, f"person-{ids}")
    with database.read() as connection:
        kept = connection.execute(text("SELECT participant FROM rater WHERE participant IS NOT NULL")).scalars().all()
        whole = str(connection.execute(text("SELECT actor, action, detail FROM audit")).all())
        links = str(connection.execute(text("SELECT * FROM recruitment")).all())
    assert "person-plain" in kept and "person-hashed" not in kept and len(kept) == 2
    assert "person" not in whole and token not in links


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"return_url": "http://x.org/{code}"}, "https://"),
        ({"return_url": "javascript:alert(1)"}, "https://"),
        ({"return_url": "https://{code}.x.org/"}, "https://"),
        ({"return_url": "https://x.org/{secret}"}, "{secret}"),
        ({"return_url": "https://x.org/?p={participant}"}, "--ids plain"),
        ({"completion_code": "<b>"}, "a code is"),
        ({"quota": 0}, "lets in 1 to"),
        ({"platform": "prolific"}, "--completion-code"),
        ({"platform": "toloka"}, "prolific, mturk, other"),
        ({"ids": "both"}, "hashed or plain"),
        ({"participant_form": "P[0-9"}, "regular expression"),
        ({"participant_form": "(a+)+b"}, "no groups"),
        ({"participant_form": "a*a*a*a*"}, "3 repeats"),
        ({"platform": "mturk", "participant_form": "x"}, "form of their own"),
    ],
)
def test_a_link_that_cannot_be_is_refused_in_one_line(service, study, changes, words):
    with pytest.raises(StudyError) as caught:
        service.running.open_link(study, RecruitmentPlan(**({"platform": "other", "quota": 3} | changes)))
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("participant", ["", " ", "{{%PROLIFIC_PID%}}", "a b", "x" * 101, "<script>", "=1+1", "5f00aa"])
def test_an_id_that_is_none_is_refused(service, study, participant):
    token = service.running.open_link(study, PROLIFIC)
    with pytest.raises(StudyError, match="Prolific ID"):
        service.running.join(token, participant=participant)


def test_what_goes_into_a_return_url_is_quoted(service, worker, study):
    plan = RecruitmentPlan(platform="other", quota=3, ids="plain", return_url="https://x.org/?c={code}&p={participant}")
    one = worker(service.running.open_link(study, plan), "a@b.c:1").work()
    end = service.running.ending(one.session)
    assert end.return_url == f"https://x.org/?c={end.code}&p=a%40b.c%3A1" and len(end.code) == 10


def test_who_says_no_leaves_the_place(service, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=1, screened_out_code="NO1"))
    assert service.running.decline(token).code == "NO1" and service.running.recruitment(study).joined == 0
    joined = service.running.join(token, participant="p1")
    assert service.running.refuse(joined.session.token).code == "NO1"
    assert service.running.recruitment(study).joined == 0
    assert service.running.join(token, participant="p2").session is not None


def test_who_changes_their_mind_is_let_in_and_paid(service, worker, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=1, screened_out_code="NO1"))
    service.running.refuse(service.running.join(token, participant="p1").session.token)
    one = worker(token, "p1").work()
    assert service.running.ending(one.session).outcome == "completed"
    other = worker(token, "p1")  # back again after the end: still completed, the same code
    assert service.running.completion_code(other.session) == service.running.completion_code(other.session) != "NO1"


def test_of_many_at_once_only_the_quota_gets_in(service, study):
    from concurrent.futures import ThreadPoolExecutor

    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=3))
    with ThreadPoolExecutor(8) as pool:
        came = list(pool.map(lambda n: service.running.join(token, participant=f"p{n % 8}"), range(16)))
    assert len({one.session.rater for one in came if one.session}) == 3
    assert len(service.study_status(study).raters) == 3


def test_exclusion_takes_no_pay(service, worker, clock, manifest, two_systems):
    plan = RecruitmentPlan(
        platform="prolific", quota=9, completion_code="C1", screened_out_code="C2", partial_code="C4"
    )
    service.create_study(StudyPlan(name="paid", gold_every=0, repeat_every=0, pay="5 EUR/study"), training=False)
    service.import_csv("paid", manifest, clips=two_systems)
    token = service.running.open_link("paid", plan)
    worker(token, "2" * 24).work()
    one = worker(token, "1" * 24).work(most=5)
    with service.database.write() as connection:
        connection.execute(text("UPDATE rater SET excluded = 1 WHERE code = :code"), {"code": one.code})
    end = service.running.ending(one.session)
    assert (end.outcome, end.code) == ("stopped", "C4")
    paid = {line.votes: str(line.suggested_pay) for line in service.running.payments("paid")}
    assert paid[6] == "5.00" and float(paid[5]) >= 4.17  # five of six pairs, or more by the time they took


def test_the_payments_list(service, worker, clock, manifest, two_systems, study):
    service.create_study(StudyPlan(name="paid", gold_every=0, repeat_every=0, pay="12 GBP/hour"), training=False)
    service.import_csv("paid", manifest, clips=two_systems)
    plan = RecruitmentPlan(platform="prolific", quota=9, completion_code="C1")
    token = service.running.open_link("paid", plan)
    p1, p2 = "1" * 24, "2" * 24
    worker(token, p1).work()
    worker(token, p2).work(most=2)
    with service.database.write() as connection:
        connection.execute(text("UPDATE rater SET active_ms = 1500000 WHERE participant IS NOT NULL"))
    for line in service.running.payments("paid"):
        assert line.participant.startswith("hashed:")
    lines = service.running.payments("paid", participants=[p1, p2, "nobody"])
    first, second = lines if lines[0].participant == p1 else lines[::-1]
    # 25 minutes at 12 GBP an hour are 5.00 GBP, finished or not: the rate is for time.
    assert (first.finished, first.votes, first.minutes, str(first.suggested_pay)) == (True, 6, 25.0, "5.00")
    assert first.code == "C1" and (second.finished, second.votes, second.code) == (False, 2, "")
    table = list(csv.DictReader(io.StringIO(payments_csv(lines))))
    assert {row["participant"] for row in table} == {p1, p2} and table[0]["pay_rate"] == "12 GBP/hour"


def test_a_cell_of_the_payments_list_is_never_a_formula(service, worker, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=9, ids="plain"))
    worker(token, "@SUM-1").work(most=1)
    assert "'@SUM-1" in payments_csv(service.running.payments(study))


@pytest.mark.parametrize("pay", ["12", "12 pounds/hour", "-1 GBP/hour", "1e9 GBP/hour", "12 GBP/day"])
def test_a_rate_that_is_none_is_refused(service, database, pay):
    with pytest.raises(StudyError, match="12 GBP/hour"):
        service.create_study(StudyPlan(name="paid", pay=pay), training=False)


def test_reports_do_not_stand_in_for_the_work(service, worker, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=9))
    one = worker(token, "p1").work(most=1)
    for _ in range(3):
        assert service.report_problem(one.session, one.task().assignment, kind="other")
    assert not service.report_problem(one.session, one.task().assignment, kind="other")
    assert service.running.ending(one.session).outcome is None  # one vote earns no completion code
    (line,) = [line for line in service.study_status(study).raters if line.rater == one.code]
    assert line.reports == 3
    one.work()
    assert service.running.ending(one.session).outcome == "completed"


def test_every_way_out_has_a_code(service, worker, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=9, completion_code="DONE"))
    early, some = worker(token, "p1"), worker(token, "p2").work(most=2)
    held = some.task()
    ends = [service.running.stop(one.session) for one in (early, some)]
    assert [end.outcome for end in ends] == ["stopped"] * 2 and ends[1].votes == 2
    assert all(len(end.code) == 10 for end in ends) and ends[0].code != ends[1].code
    assert service.next_task(some.session) is None and service.running.stop(some.session) == ends[1]
    assert service.session(some.session).stage == "done" and not service.more_work(some.session)
    other = worker(token, "p3")
    seen = {service.media(task.a.token).source for task in [other.task()]}
    assert seen and held.assignment  # the place that was left is free for others
    other.work()
    assert service.running.ending(other.session).votes == 6


def test_time_is_paid_from_the_first_page_on(service, clock, manifest, two_systems):
    """Consent 1.5 min, instructions 3 min, and 61 s of thought for each of five pairs: all of it counts."""
    service.create_study(StudyPlan(name="paid", gold_every=0, repeat_every=0, pay="12 GBP/hour"), training=False)
    service.import_csv("paid", manifest, clips=two_systems)
    token = service.running.open_link("paid", RecruitmentPlan(platform="other", quota=9))
    session = service.running.join(token, participant="p1").session.token
    began = clock()
    clock.forward(90_000)
    service.give_consent(session)
    clock.forward(180_000)
    for number in range(5):
        task = service.standing(session)[1]
        clock.forward(61_000)
        service.save_draft(session, task.assignment, VoteForm())
        if number < 3:
            service.report_problem(session, task.assignment, kind="other")
    (line,) = service.running.payments("paid")
    assert line.minutes == pytest.approx((clock() - began) / 60_000, abs=0.1) and line.minutes > 9
    clock.forward(11 * 60_000)  # a break is none
    service.standing(session)
    assert service.running.payments("paid")[0].minutes == line.minutes


def test_an_id_alone_shows_and_changes_no_vote(service, worker, clock, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=9))
    victim = worker(token, "P000001")
    task = victim.task()
    victim.vote(task, note="mine alone")
    clock.forward(60_000)
    thief = service.running.join(token, participant="P000001").session.token
    assert service.last_vote(thief) is None and service.last_vote(victim.session) is not None
    form = victim.form(task, "B")
    answer = service.submit_vote(thief, task.assignment, form, key="stolen", correction=True)
    assert isinstance(answer, VoteRefusal)
    assert service.session(victim.session).rater == victim.code


def test_made_up_ids_hold_no_place_for_long(service, worker, clock, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=3))
    for name in ("x1", "x2", "x3"):
        assert service.running.join(token, participant=name).session is not None
    assert service.running.join(token, participant="real").session is None
    clock.forward(10 * 60_000 + 1)
    assert service.running.join(token, participant="real").session is not None


def test_a_long_id_is_refused_before_any_form_is_tried(service, study):
    plan = RecruitmentPlan(platform="other", quota=3, participant_form=".+-.+")
    token = service.running.open_link(study, plan)
    with pytest.raises(StudyError, match="1–100 letters"):
        service.running.join(token, participant="-" * 1_000_000 + "\na")  # took a minute for a tenth of it
    assert service.running.join(token, participant="a-b").session is not None


def test_the_sound_check_cannot_be_guessed(service, people, study, database):
    person = people(1)[0]
    with database.write() as connection:
        connection.execute(text("UPDATE study SET audio_check = 1"))
        connection.execute(text("UPDATE clip SET has_audio = 1"))
    told = [service.answer_sound_check(person.session, "0000") for _ in range(5)]
    from rushes.study.raters.sound_check import sequence

    assert not any(told) and service.presentation(person.session).sound_tries_left == 0
    assert not service.answer_sound_check(person.session, sequence(1, person.code, 5))
