"""Tries, roles in a study, tokens and imports in both databases: counted, kept, refused by name."""

from __future__ import annotations

import threading

import pytest
from tests.study.test_command import done, rushes

from rushes.study import NotAllowed, StudyError
from rushes.study.material.import_state import STALE_MS


def test_tries_are_counted_in_a_window_that_moves(service, clock):
    ask = {"address 10.0.0.7": 2, "account ana": 3}
    assert [service.begin_try(ask, window_s=300) for _ in range(3)] == [0, 0, 300]
    clock.forward(100_000)
    assert service.begin_try({"address 10.0.0.8": 2, "account ana": 3}, window_s=300) == 0
    # The account's third try was just now; its first two leave the window 200 s from here.
    assert service.begin_try({"address 10.0.0.9": 2, "account ana": 3}, window_s=300) == 200
    clock.forward(200_000)
    assert service.begin_try(ask, window_s=300) == 0


def test_a_good_try_does_not_count(service):
    for _ in range(5):
        assert service.begin_try({"a": 1}, window_s=300) == 0
        service.try_succeeded({"a": 1})


def test_of_many_tries_at_once_only_as_many_as_allowed_begin(service):
    begun: list[int] = []
    threads = [
        threading.Thread(target=lambda: begun.append(service.begin_try({"a": 3}, window_s=300))) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(wait == 0 for wait in begun) == 3


def test_an_import_that_has_gone_silent_is_said_to_have_stopped(service, clock):
    assert service.import_progress("takes") == ("none", "")
    service.note_import("takes", "running", "3 so far")
    assert service.import_progress("takes") == ("running", "3 so far")
    clock.forward(STALE_MS + 1)
    assert service.import_progress("takes")[0] == "failed"
    service.note_import("takes", "done", "6 pairs were added.")
    clock.forward(10 * STALE_MS)
    assert service.import_progress("takes") == ("done", "6 pairs were added.")


def test_roles_in_a_study(service, study):
    service.add_admin("maria", role="member", password=None)
    service.set_study_role("takes", "maria", "viewer")
    service.set_study_role("takes", "maria", "adjudicator")
    assert service.roles_of("maria") == {"takes": "adjudicator"}
    assert [(one.name, one.role) for one in service.roles_in("takes")] == [("maria", "adjudicator")]
    with pytest.raises(StudyError, match="owner, adjudicator, viewer or none; got 'king'"):
        service.set_study_role("takes", "maria", "king")
    with pytest.raises(StudyError, match="no account 'nobody'"):
        service.set_study_role("takes", "nobody", "viewer")
    with pytest.raises(StudyError, match="no study is called 'shots'"):
        service.set_study_role("shots", "maria", "viewer")
    service.set_study_role("takes", "maria", "none")
    assert service.roles_of("maria") == {}
    assert [line.detail["role"] for line in service.audit("takes") if line.action == "role given"] in (
        ["viewer", "adjudicator", "none"],
        ["none", "adjudicator", "viewer"],
    )


def test_an_account_without_a_password_cannot_sign_in_with_one(service):
    service.set_admin_password("the first password")
    service.add_admin("ana@example.org", role="viewer", password=None)
    for password in ("", "the first password"):
        with pytest.raises(NotAllowed):
            service.admin_login(password, name="ana@example.org")
    assert service.admin_at_proxy("ana@example.org").role == "viewer"
    service.close_admin("ana@example.org")
    with pytest.raises(NotAllowed, match="has no account here"):
        service.admin_at_proxy("ana@example.org")


def test_tokens(service, study, clock):
    secret = service.make_token("nightly", ["export", "read"], study="takes", days=2)
    found = service.read_token(secret)
    assert (found.scopes, found.study, found.made_by) == (("read", "export"), "takes", "admin")
    clock.forward(2 * 86_400_000)
    with pytest.raises(NotAllowed, match="past its time"):
        service.read_token(secret)
    for scopes, more, says in (
        ([], {}, "one or more of"),
        (["write"], {}, "one or more of read, import, export; got 'write'"),
        (["import"], {"study": "takes"}, "leave the study out"),
        (["read"], {"study": "shots"}, "no study is called"),
        (["read"], {"days": 0}, "1 to 3650 days"),
    ):
        with pytest.raises(StudyError, match=says):
            service.make_token("other", scopes, **more)
    with pytest.raises(StudyError, match="there is or was a token 'nightly'"):
        service.make_token("nightly", ["read"])
    service.revoke_token("nightly")
    with pytest.raises(StudyError, match="no token 'nightly' to revoke; there is none"):
        service.revoke_token("nightly")


def test_the_commands(tmp_path, manifest, two_systems):
    db = tmp_path / "studies.db"
    done("study", "create", "takes", manifest, "--clips", two_systems, "--db", db)
    done("study", "account", "add", "ana", "--role", "member", "--no-password", "--db", db)
    assert done("study", "account", "role", "ana", "viewer", "--study", "takes", "--db", db).stdout == (
        "ana is viewer in takes now.\n"
    )
    assert "takes viewer" in done("study", "account", "list", "--db", db).stdout
    secret = done("study", "token", "make", "nightly", "--scope", "read", "--db", db).stdout.strip()
    assert secret.startswith("rushes_") and secret not in done("study", "token", "list", "--db", db).stdout
    done("study", "token", "revoke", "nightly", "--db", db)
    assert "revoked" in done("study", "token", "list", "--db", db).stdout
    refused = rushes("study", "token", "make", "x", "--scope", "all", "--db", db)
    assert refused.exit_code == 1 and "read, import, export" in " ".join(refused.stderr.split())
