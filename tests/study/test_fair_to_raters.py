"""Checks of screen and line, withdrawal, retention, and what Prolific is sent: nobody loses pay by any of them."""

from __future__ import annotations

import csv
from decimal import Decimal

import pytest
from sqlalchemy import text
from tests.study.conftest import Person
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.study import NotAllowed, StudyError, StudyPlan, VoteRefusal
from rushes.study.owner.attention import LEAST_COMPARED
from rushes.study.records import ATTENTION, ExclusionRule, ScreenRule
from rushes.study.recruiting.platforms import RecruitmentPlan
from rushes.study.recruiting.prolific import approvals, bonuses
from rushes.study.recruiting.screening import ScreenFound

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
ONE, TWO = "5f00aa5f00aa5f00aa5f00aa", "5f00bb5f00bb5f00bb5f00bb"
LINK = RecruitmentPlan(platform="prolific", quota=9, completion_code="DONE", partial_code="PART", ids="plain")
WIDE = ScreenFound(width=1440, pointer=True, mbps=50.0)


def made(service, manifest, two_systems, **plan) -> str:
    service.create_study(StudyPlan(name="fair", gold_every=0, repeat_every=0, **plan), training=False)
    service.import_csv("fair", manifest, clips=two_systems)
    return "fair"


def joined(service, clock, study, participant):
    token = service.running.open_link(study, LINK)
    person = object.__new__(Person)
    session = service.running.join(token, participant=participant).session
    person.service, person.clock, person.study = service, clock, study
    person.session, person.code = session.token, session.rater
    service.give_consent(person.session)
    return person


# --- screens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        (ScreenFound(width=390, pointer=False, mbps=0.4), ("width", "device", "mbps")),
        (ScreenFound(width=1023, pointer=True, mbps=5.0), ("width",)),
        (ScreenFound(width=1024, pointer=False, mbps=5.0), ("device",)),
        (ScreenFound(width=1024, pointer=True, mbps=4.99), ("mbps",)),
        (ScreenFound(width=1024, pointer=True, mbps=5.0), ()),
    ],
)
def test_what_is_required_is_checked(service, clock, manifest, two_systems, found, lacks) -> None:
    rule = ScreenRule(min_width=1024, device="desktop", min_mbps=5)
    study = made(service, manifest, two_systems, screens=rule)
    person = joined(service, clock, study, ONE)
    assert service.presentation(person.session).screen_check
    assert service.answer_screen(person.session, found) == lacks
    assert service.presentation(person.session).screen_check == bool(lacks)
    (line,) = service.study_status(study).raters
    assert line.screen == ", ".join(lacks)


def test_a_vote_without_the_check_is_refused(service, clock, manifest, two_systems) -> None:
    person = joined(service, clock, made(service, manifest, two_systems, screens=ScreenRule(min_width=800)), ONE)
    task = person.task()
    person.watch(task)
    refused = service.submit_vote(person.session, task.assignment, person.form(task), key="k")
    assert isinstance(refused, VoteRefusal) and refused.missing[0].field == "screen"
    service.answer_screen(person.session, WIDE)
    person.vote(task)


def test_who_fails_leaves_with_a_code_and_is_paid_for_the_time(service, clock, manifest, two_systems) -> None:
    study = made(service, manifest, two_systems, screens=ScreenRule(min_width=800), pay="12 GBP/hour")
    person = joined(service, clock, study, ONE)
    for _ in range(3):
        clock.forward(100_000)
        service.answer_screen(person.session, ScreenFound(width=390, pointer=False, mbps=1.0))
    assert service.running.stop(person.session).code == "PART"
    (line,) = service.running.payments(study)
    assert (line.outcome, line.suggested_pay) == ("stopped", Decimal("1.00"))  # 300 s of an hour at 12
    failures = [entry for entry in service.audit(study) if entry.action == "failed the screen check"]
    assert len(failures) == 1  # tries fill no log


@pytest.mark.parametrize("rule", [ScreenRule(min_width=-1), ScreenRule(device="phone"), ScreenRule(min_mbps=1e9)])
def test_a_rule_that_cannot_be(service, rule) -> None:
    with pytest.raises(StudyError):
        service.create_study(StudyPlan(name="s", screens=rule), training=False)


# --- withdrawal -------------------------------------------------------------------------------------------------------


def test_a_rater_takes_votes_back_and_is_paid(service, clock, manifest, two_systems, database) -> None:
    study = made(service, manifest, two_systems, pay="0.50 EUR/vote")
    one, two = joined(service, clock, study, ONE), joined(service, clock, study, TWO)
    for person in (one, two):
        for _ in range(3):
            person.vote(person.task(), note="something private")
    key = service.running.withdrawal_key(one.session)
    assert service.running.withdrawal(key) == 3 and service.running.withdraw(key) == 3
    assert {vote.rater for vote in service.votes(study)} == {two.code}
    with database.read() as connection:
        for table in ("vote", "play", "assignment"):
            where = "" if table == "play" else f" WHERE rater_id = (SELECT id FROM rater WHERE code = '{one.code}')"
            count = connection.execute(text(f"SELECT count(*) FROM {table}{where}")).scalar()
            assert table == "play" or count == 0
    line = next(line for line in service.running.payments(study) if line.participant == ONE)
    assert (line.votes, line.suggested_pay, line.code) == (3, Decimal("1.50"), "PART")
    status = {line.rater: line for line in service.study_status(study).raters}
    assert status[one.code].withdrawn == 3 and status[two.code].withdrawn == 0  # the owner sees the count
    assert service.next_task(one.session) is None and not service.more_work(one.session)
    assert service.running.withdraw(key) == 0 and service.running.withdrawal(key) is None


def test_an_id_alone_withdraws_nothing(service, clock, manifest, two_systems) -> None:
    """Somebody who knows a participant's id joins with it: no key for them, and no other key does anything."""
    study = made(service, manifest, two_systems)
    one = joined(service, clock, study, ONE)
    one.vote(one.task())
    assert service.running.withdrawal_key(one.session)
    clock.forward(60_000)
    thief = service.running.join(service.running.open_link(study, LINK), participant=ONE).session.token
    assert service.running.withdrawal_key(thief) == ""
    for key in ("", "guess", "%"):
        with pytest.raises(NotAllowed):
            service.running.withdraw(key)


# --- retention --------------------------------------------------------------------------------------------------------


def test_purge_waits_for_the_day_and_leaves_an_anonymous_copy(service, clock, manifest, two_systems, tmp_path) -> None:
    study = made(service, manifest, two_systems, retain_until="2023-12-31")  # the clock is in November 2023
    for person in (joined(service, clock, study, ONE), joined(service, clock, study, TWO)):
        for _ in range(6):
            person.vote(person.task(), note="a name", winner="A")
    db = str(service.database.path)
    out = tmp_path / "copy"
    with pytest.raises(StudyError, match="until 2023-12-31; --now"):
        service.running.purge(study)
    done = CliRunner().invoke(app, ["study", "purge", study, "-o", str(out), "--db", db])
    assert done.exit_code == 0, done.output  # today's clock is later
    assert service.votes(study) == [] and service.studies()[0].state == "closed"
    with open(out / "votes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 and {row["rater"] for row in rows} == {"r001", "r002"}
    assert {row["note"] for row in rows} == {""} and {row["viewing"] for row in rows} == {""}
    assert (out / "results" / "measurements.jsonl").stat().st_size > 1000
    with service.database.read() as connection:
        kept = connection.execute(text("SELECT participant, platform_session, withdraw_key FROM rater")).all()
    assert set(kept) == {(None, None, None)}


def test_a_day_that_is_none(service) -> None:
    for day in ("31.12.2027", "2027-02-30", "20271231"):
        with pytest.raises(StudyError, match="a day such as"):
            service.create_study(StudyPlan(name="s", retain_until=day), training=False)


# --- Prolific ---------------------------------------------------------------------------------------------------------


def test_prolifics_two_files(service, clock, manifest, two_systems) -> None:
    """`id,amount` without a header for bonuses, one id a line for approvals: docs.prolific.com, Set up bonuses."""
    study = made(service, manifest, two_systems, pay="0.50 GBP/vote", quota=4)
    one, two = joined(service, clock, study, ONE), joined(service, clock, study, TWO)
    for person, votes in ((one, 4), (two, 2)):
        for _ in range(votes):
            person.vote(person.task())
    service.running.ending(one.session)
    service.running.stop(two.session)
    lines = service.running.payments(study)
    assert approvals(lines) == f"{ONE}\n"
    assert bonuses(lines, reward=Decimal("1.50")) == f"{ONE},0.50\n{TWO},1.00\n"
    assert bonuses(lines, reward=Decimal("9")) == f"{TWO},1.00\n"


# --- attention --------------------------------------------------------------------------------------------------------


def test_attention_excludes_and_pays(service, clock, takes, manifest) -> None:
    """Three raters of eighteen pairs: two choose alpha or the earlier name, the third the other one, in no time."""
    rule = ExclusionRule(**ATTENTION)
    service.create_study(
        StudyPlan(name="s", min_raters=3, gold_every=0, repeat_every=0, exclusion=rule, pay="1 EUR/vote"),
        training=False,
    )
    service.import_csv("s", manifest, clips=takes)
    for number, invitation in enumerate(service.invite("s", count=3)):
        person = Person(service, clock, "s", invitation)
        while (task := service.next_task(person.session)) is not None:
            person.watch(task)
            clock.forward(100 if number == 2 else 5000)
            names = [service.media(view.token).source.rpartition("/")[2] for view in (task.a, task.b)]
            better = "A" if (names[0] < names[1]) != (number == 2) else "B"
            service.submit_vote(person.session, task.assignment, person.form(task, better), key="k")
    lines = service.study_status("s").raters
    assert [line.compared for line in lines] == [0, 0, 18] and lines[2].agreed == 0  # the first two face a split
    assert LEAST_COMPARED <= 18 and [line.reason != "" for line in lines] == [False, False, True]
    assert service.apply_exclusions("s") == ("rater_03",)
    paid = {line.rater: line.suggested_pay for line in service.running.payments("s")}
    assert paid["rater_03"] == paid["rater_01"] == Decimal(18)


# --- training ---------------------------------------------------------------------------------------------------------


def test_several_training_pairs_of_ones_own(service, clock, takes, tmp_path) -> None:
    rows = ["sample_id,task_id,prompt_id,system,path,kind,expected,feedback"]
    for sample, kind in (("s1", "sample"), ("t1", "training"), ("t2", "training")):
        for system in ("alpha", "beta"):
            expected = "alpha" if kind == "training" else ""
            rows.append(f"{sample},T1,{sample},{system},{takes}/{system}_T1_p00.mp4,{kind},{expected},look at {sample}")
    (tmp_path / "clips.csv").write_text("\n".join(rows) + "\n")
    service.create_study(StudyPlan(name="s"))
    service.import_csv("s", tmp_path / "clips.csv")
    person = Person(service, clock, "s", service.invite("s")[0])
    seen = []
    for right in (False, True, True):
        task = service.training_task(person.session)
        person.watch(task)
        better = person.side_of(task, "alpha")
        answer = service.submit_vote(
            person.session,
            task.assignment,
            person.form(task, better if right else {"A": "B", "B": "A"}[better]),
            key=f"k{len(seen)}",
        )
        seen.append((answer.feedback.text, answer.feedback.right))
        assert service.session(person.session).stage == ("work" if len(seen) == 3 else "training")
    assert seen == [("look at t1", False), ("look at t1", True), ("look at t2", True)]
