"""Raters from a platform: in by one open link, out with a code; and the list of what they are paid."""

from __future__ import annotations

import csv
import io

import pytest
from sqlalchemy import text

from rushes.study import ExclusionRule, NotAllowed, StudyError, StudyPlan
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
    with pytest.raises(NotAllowed):
        service.session(first.session)  # one person, one browser
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


def test_who_is_excluded_before_the_end_gets_the_code_for_that(service, worker, clock, manifest, two_systems):
    service.declare_exclusion("takes", ExclusionRule(max_side_bias=0.0))
    plan = RecruitmentPlan(platform="prolific", quota=9, completion_code="C1", screened_out_code="C2")
    one = worker(service.running.open_link("takes", plan), "1" * 24).work(most=5)
    with service.database.write() as connection:
        connection.execute(text("UPDATE rater SET excluded = 1 WHERE code = :code"), {"code": one.code})
    end = service.running.ending(one.session)
    assert (end.outcome, end.code) == ("screened out", "C2")


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
