"""Pausing, closing and opening a study; retired pairs; resolved problems; people who ask to be erased."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from rushes.study import StudyError, StudyPlan
from rushes.study.recruiting.platforms import RecruitmentPlan

ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def actions(service, study="takes"):
    return [entry.action for entry in service.audit(study)]


@ON_SQLITE
def test_a_paused_study_gives_out_nothing_and_loses_nothing(service, people, study):
    one, other = people(2)
    task = one.task()
    service.running.set_state(study, "paused", why="a clip has to be checked", by="ada")
    assert service.next_task(other.session) is None
    one.vote(task)  # it was on the screen
    assert service.next_task(one.session) is None and len(service.votes(study)) == 1
    assert service.session(one.session).study_state == "paused" and service.studies()[0].state == "paused"
    with pytest.raises(StudyError, match="already paused"):
        service.running.set_state(study, "paused")
    service.running.set_state(study, "open")
    assert service.next_task(one.session).number == 2
    assert actions(service)[:1] == ["opened again"] and "paused" in actions(service)


@ON_SQLITE
def test_a_closed_study_gives_those_who_worked_their_code(service, people, study):
    token = service.running.open_link(study, RecruitmentPlan(platform="other", quota=5, full_code="F"))
    joined = service.running.join(token, participant="p1").session.token
    service.give_consent(joined)
    (one,) = people(1)
    one.session = joined
    one.vote(one.task())
    assert service.running.ending(joined).outcome is None
    idle = service.running.join(token, participant="p2").session.token
    service.running.set_state(study, "closed")
    assert service.running.ending(joined).outcome == "completed" and service.running.completion_code(joined)
    assert (service.running.ending(idle).outcome, service.running.completion_code(idle)) == ("full", "F")
    assert service.running.join(token, participant="p3").ending.code == "F"


@ON_SQLITE
def test_a_retired_pair_is_shown_to_nobody_and_keeps_its_votes(service, people, study):
    one, other, third = people(3)
    task = one.task()
    one.vote(task)
    sample = service.votes(study)[0].sample
    held = other.task()  # a pair that is begun comes first: it is the same
    assert service.running.retire_pair(study, sample, why="damaged") == 1
    for person in (other, third):
        seen = set()
        while (task := service.next_task(person.session)) is not None:
            seen.add(task.assignment)
            person.vote_for(task, "alpha")
        assert len(seen) == 5 and held.assignment not in seen
    assert sum(vote.sample == sample for vote in service.votes(study)) == 1
    family = service.study_status(study)
    assert sum(f.samples for f in family.families) == 5 and sum(f.finished for f in family.families) == 5
    assert actions(service).count("retired a pair") == 1
    for call, words in (((sample,), "already retired"), (("nothing",), "no pair")):
        with pytest.raises(StudyError, match=words):
            service.running.retire_pair(study, *call, why="x")


@ON_SQLITE
def test_a_problem_is_resolved_with_a_note(service, people, study):
    (one,) = people(1)
    service.report_problem(one.session, one.task().assignment, kind="no sound", text="silent")
    (problem,) = service.study_status(study).problems
    with pytest.raises(StudyError, match="what was done"):
        service.running.resolve_problem(study, problem.id, note=" ")
    service.running.resolve_problem(study, problem.id, note="the file has no sound; fine", by="ada")
    (problem,) = service.study_status(study).problems
    assert (problem.resolution, problem.resolved_by) == ("the file has no sound; fine", "ada")
    with pytest.raises(StudyError, match="no problem 99"):
        service.running.resolve_problem(study, 99, note="x")
    assert actions(service)[0] == "resolved a problem"


def everything(database) -> str:
    with database.read() as connection:
        tables = ("rater", "vote", "audit", "play", "problem", "rater_session", "assignment")
        return "".join(str(connection.execute(text(f"SELECT * FROM {name}")).all()) for name in tables)


def working_person(service, people, on_erase, manifest, two_systems):
    plan = StudyPlan(name="erasable", gold_every=0, repeat_every=0, on_erase=on_erase)
    service.create_study(plan, training=False)
    service.import_csv("erasable", manifest, clips=two_systems)
    token = service.running.open_link("erasable", RecruitmentPlan(platform="other", quota=5, ids="plain"))
    (one,) = people(1)
    one.session = service.running.join(token, participant="jane-doe", session="visit-7").session.token
    service.give_consent(one.session)
    task = one.task()
    one.vote(task, note="my dog Rex")
    service.submit_vote(one.session, task.assignment, one.form(task, "B", note="Rex"), key="again", correction=True)
    one.vote(one.task())
    service.report_problem(one.session, one.task().assignment, kind="other", text="I am Jane")
    one.task()
    return one


@pytest.mark.parametrize("on_erase", ["keep", "remove"])
def test_a_person_is_erased_as_the_study_declared(service, people, database, manifest, two_systems, on_erase):
    one = working_person(service, people, on_erase, manifest, two_systems)
    before = service.votes("erasable")
    assert service.running.erase_rater("erasable", participant="jane-doe", by="ada") == ("erased_01", 2)
    left = everything(database)
    for trace in ("jane", "Jane", "visit-7", "Rex"):
        assert trace not in left, trace
    names = {(entry.actor, json.dumps(dict(entry.detail))) for entry in service.audit("erasable")}
    assert not any("rater_01" in actor or "rater_01" in detail for actor, detail in names)
    assert actions(service, "erasable")[0] == "erased a rater"
    after = service.votes("erasable")
    if on_erase == "keep":
        assert [(v.sample, v.winner, v.ratings) for v in after] == [(v.sample, v.winner, v.ratings) for v in before]
        assert {vote.rater for vote in after} == {"erased_01"} and {vote.note for vote in after} == {""}
    else:
        assert after == [] and sum(f.votes for f in service.study_status("erasable").families) == 0
    with pytest.raises(StudyError, match="already erased"):
        service.running.erase_rater("erasable", rater="erased_01")
    with pytest.raises(StudyError, match="session has ended"):
        service.next_task(one.session)


def test_the_door_is_shut_again_and_was_open_for_one_person_only(service, people, database, manifest, two_systems):
    working_person(service, people, "keep", manifest, two_systems)
    service.running.erase_rater("erasable", rater="rater_01")
    for statement in (
        "DELETE FROM vote",
        "DELETE FROM audit",
        "UPDATE vote SET note = 'x'",
        "UPDATE audit SET actor = 'x'",
    ):
        with pytest.raises(DBAPIError, match="append-only"), database.write() as connection:
            connection.execute(text(statement))
    with pytest.raises(DBAPIError, match="append-only"), database.write() as connection:
        # Somebody else's votes stay shut while a person is being erased, and no row is ever changed.
        connection.execute(text("UPDATE rater SET erasing = :yes WHERE code <> 'erased_01'"), {"yes": True})
        connection.execute(text("DELETE FROM vote"))
    with pytest.raises(DBAPIError, match="append-only"), database.write() as connection:
        connection.execute(text("UPDATE rater SET erasing = :yes"), {"yes": True})
        connection.execute(text("UPDATE vote SET winner = 'tie'"))


def test_a_database_of_the_first_version_opens_and_keeps_its_votes(tmp_path, first_tables):
    from rushes.study import open_service

    clip = "'c', 'c', 'c', '', 1000, 25, 64, 48, 0, 'video/mp4', 9"
    with first_tables(tmp_path / "old.db") as connection:
        for statement in (
            "INSERT INTO study VALUES (1, 'old', 'Old', '0.1', 1, 2, NULL, 0, 0, '{}', '{\"passes\": 2}', 0, 1)",
            f"INSERT INTO clip VALUES (1, 1, 'alpha', {clip}, 't1'), (2, 1, 'beta', {clip}, 't2')",
            "INSERT INTO pair VALUES (1, 1, 'sample', 's1', 'T1', 'p1', '', 1, 2, NULL, NULL, '', 'a', "
            "1, 1, 1, 2, 1, 'open')",
            "INSERT INTO rater VALUES (1, 1, 'rater_01', NULL, 1, 1, 1, 1, 60000, 1, 0)",
            "INSERT INTO assignment VALUES (1, 1, 1, 1, 'k', 'sample', 1, 1, 'a', 'ta', 'tb', 'voted', 1, "
            "NULL, NULL, 1, 1, 1)",
            "INSERT INTO vote VALUES (1, 1, 1, 1, 1, 'sample', 'k', 'a', 'a', 'tag', '[]', '{}', '{}', 'words', '[]', "
            "NULL, 2)",
        ):
            connection.execute(statement)
    with open_service(tmp_path / "old.db") as service:
        (vote,) = service.votes("old")
        (study,) = service.studies()
        assert (vote.winner, vote.note, study.state, study.on_erase) == ("a", "words", "open", "keep")
        assert study.pairing == "round-robin"
        assert service.running.erase_rater("old", rater="rater_01") == ("erased_01", 1)
        assert service.votes("old")[0].note == ""
