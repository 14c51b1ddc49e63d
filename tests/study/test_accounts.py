"""Passwords, invitations, sessions."""

from __future__ import annotations

import pytest

from rushes.study import NotAllowed, StudyError

PASSWORD = "correct horse"


def test_the_password_is_set_once_and_changed_only_by_who_knows_it(service):
    assert not service.admin_exists()
    with pytest.raises(NotAllowed):
        service.admin_login(PASSWORD)
    service.set_admin_password(PASSWORD)
    assert service.admin_exists()
    with pytest.raises(NotAllowed, match="already set"):
        service.set_admin_password("another password")
    with pytest.raises(NotAllowed, match="wrong account or password"):
        service.set_admin_password("another password", current="wrong")
    service.set_admin_password("another password", current=PASSWORD)
    with pytest.raises(NotAllowed):
        service.admin_login(PASSWORD)
    service.admin_login("another password")


def test_members_who_came_first_leave_room_for_the_first_owner(service):
    for name, role in (("maria", "member"), ("ana", "viewer"), ("admin", "adjudicator")):
        service.add_admin(name, role=role, password=None)
    assert not service.admin_exists()
    service.set_admin_password(PASSWORD)
    assert service.admin_exists() and service.admin_login(PASSWORD).role == "owner"
    with pytest.raises(NotAllowed, match="already set"):
        service.set_admin_password("another password")


def test_a_short_password_is_refused(service):
    with pytest.raises(StudyError, match="at least 10"):
        service.set_admin_password("short")


def test_admin_sessions_end(service, clock):
    service.set_admin_password(PASSWORD)
    one, other = service.admin_login(PASSWORD), service.admin_login(PASSWORD)
    service.admin_logout(one.token)
    with pytest.raises(NotAllowed):
        service.admin_session(one.token)
    assert service.admin_session(other.token).expires_ms == other.expires_ms
    clock.forward(13 * 3_600_000)
    with pytest.raises(NotAllowed):
        service.admin_session(other.token)


def test_secrets_are_stored_as_hashes_only(service, study, database):
    service.set_admin_password(PASSWORD)
    admin = service.admin_login(PASSWORD)
    first, second = service.invite(study, count=2)
    session = service.accept_invite(first.token)
    with database.read() as connection:
        stored = " ".join(
            str(row)
            for table in ("admin", "admin_session", "rater", "rater_session", "audit")
            for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        )
    for secret in (PASSWORD, admin.token, first.token, second.token, session.token):
        assert secret not in stored
    assert "$argon2id$" in stored


def test_an_invitation_works_once(service, study):
    (invitation,) = service.invite(study)
    session = service.accept_invite(invitation.token)
    assert (session.study, session.rater, session.stage) == (study, "rater_01", "consent")
    for token in (invitation.token, "made up", ""):
        with pytest.raises(NotAllowed):
            service.accept_invite(token)


def test_a_new_link_ends_the_old_one_and_finds_the_work_again(service, study, people):
    (one,) = people(1)
    task = one.task()
    one.watch(task, passes=1)
    link = service.invite_again(study, one.code)
    with pytest.raises(NotAllowed):
        service.next_task(one.session)
    fresh = service.accept_invite(link.token)
    again = service.next_task(fresh.token)
    assert (fresh.rater, again.assignment, again.watch.text) == (one.code, task.assignment, "A 1/2 · B 1/2")


def test_rater_sessions_end(service, people, clock):
    one, other = people(2)
    service.sign_out(one.session)
    with pytest.raises(NotAllowed):
        service.session(one.session)
    clock.forward(15 * 24 * 3_600_000)
    with pytest.raises(NotAllowed, match="session has ended"):
        service.session(other.session)


def test_codes_count_on_and_names_are_checked(service, study):
    assert [one.rater for one in service.invite(study, count=2)] == ["rater_01", "rater_02"]
    assert [one.rater for one in service.invite(study, names=["ann", "rater_04"])] == ["ann", "rater_04"]
    assert [one.rater for one in service.invite(study, count=2)] == ["rater_03", "rater_05"]
    for bad in (["ann"], ["x", "x"], ["<script>"], [""], ["a" * 41]):
        with pytest.raises(StudyError):
            service.invite(study, names=bad)
    for count in (0, -1, 10_001):
        with pytest.raises(StudyError):
            service.invite(study, count=count)


def test_consent_is_recorded_once(service, study):
    session = service.accept_invite(service.invite(study)[0].token).token
    assert service.give_consent(session).stage == "work"
    service.give_consent(session)
    actions = [entry.action for entry in service.audit(study)]
    assert actions.count("consented") == 1


def test_unknown_studies_and_raters_are_named(service, study):
    with pytest.raises(StudyError, match="no study is called 'nope'; there is takes"):
        service.study_status("nope")
    with pytest.raises(StudyError, match="no rater 'bob'"):
        service.invite_again(study, "bob")
