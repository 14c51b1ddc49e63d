"""Who gets in and what they may do; what slow, broken and forged requests come to."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from rushes.study import StudyError
from rushes.study.owner.administrators import Turns
from rushes.study.owner.blinding import behind
from rushes.web.http.limits import BodyLimit
from rushes.web.serving import TimedProtocol

from .livesite import PASSWORD, SYSTEMS, Client, Site, Study, filled, key_of, vote_through, watch_all

# --- signing in -------------------------------------------------------------------------------------------------------


def guess(client: Client, number: int = 0, *, name: str = "admin", **headers: str) -> int:
    data = {"username": name, "password": f"guess {number}"}
    return client.send_form("/login", data, headers={"x-forwarded-for": f"203.0.113.{number}", **headers}).status_code


def test_a_made_up_forwarded_address_does_not_reset_the_limit(study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    client = study.site.client()
    assert [guess(client, number) for number in range(8)] == [401] * 5 + [429] * 3


def test_a_trusted_proxy_is_believed_and_nothing_before_it(make_site: Callable[..., Site]) -> None:
    """The proxy adds the address it saw at the end; what its client wrote before stays a claim."""
    site = make_site(trusted_proxies=("127.0.0.0/8",))
    site.service.set_admin_password(PASSWORD)
    client = site.client()
    forged = [f"198.51.100.{number}, 203.0.113.9" for number in range(7)]
    tries = [
        client.send_form("/login", {"password": "wrong"}, headers={"x-forwarded-for": chain}).status_code
        for chain in forged
    ]
    assert tries == [401] * 5 + [429] * 2
    other = client.send_form("/login", {"password": PASSWORD}, headers={"x-forwarded-for": "203.0.113.10"})
    assert other.status_code == 303, "somebody else behind the same proxy signs in"


def test_tries_made_at_once_count(study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    clients = [study.site.client() for _ in range(20)]
    tokens = [client.token() for client in clients]

    def attempt(number: int) -> int:
        data = {"csrf_token": tokens[number], "password": f"guess {number}"}
        return clients[number].post("/login", data=data).status_code

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(attempt, range(20)))
    assert answers.count(401) == 5 and answers.count(429) == 15


def test_wrong_tries_of_others_do_not_lock_the_owner_out(study: Study) -> None:
    """Also where everybody seems to come from one address, as behind a proxy nobody was told about."""
    owner = study.admin()
    owner.send_form("/logout")
    stranger = study.site.client()
    assert [guess(stranger, number) for number in range(6)][-1] == 429
    assert owner.send_form("/login", {"password": PASSWORD}).status_code == 303, "a browser known from before"
    assert [guess(owner, number) for number in range(6)][-1] == 429, "it is counted too, by itself"


def test_an_account_is_limited_whatever_address_is_used(make_site: Callable[..., Site]) -> None:
    site = make_site(trusted_proxies=("127.0.0.1",))
    site.service.set_admin_password(PASSWORD)
    client = site.client()
    answers = [guess(client, number) for number in range(32)]
    assert answers == [401] * 30 + [429] * 2
    assert guess(client, 40, name="somebody") == 401


def test_many_passwords_at_once_take_turns() -> None:
    turns, most, inside, lock = Turns(2, 3), [0], [0], threading.Lock()
    gate = threading.Event()

    def work(_: int) -> str:
        try:
            with turns.turn():
                with lock:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                gate.wait(60)
                with lock:
                    inside[0] -= 1
            return "done"
        except StudyError:
            gate.set()
            return "busy"

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(work, range(12)))
    assert most[0] == 2 and 1 <= answers.count("busy") <= 7


# --- accounts and roles -----------------------------------------------------------------------------------------------


def sign_in(study: Study, name: str, role: str) -> Client:
    study.service.add_admin(name, role=role, password=f"{name} has a password")
    client = study.site.client()
    data = {"username": name, "password": f"{name} has a password"}
    assert client.send_form("/login", data).status_code == 303
    return client


def test_roles_limit_what_an_account_may_do(study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    viewer, judge = sign_in(study, "vera", "viewer"), sign_in(study, "adam", "adjudicator")
    assert viewer.get("/studies/bars/results").status_code == 200
    assert viewer.send_form("/studies/bars/invite", {"count": "1"}).status_code == 403
    assert viewer.send_form("/accounts/add", {"name": "x", "role": "owner"}).status_code == 403
    assert viewer.get("/accounts.json").status_code == 403
    for path in ("", "/results", "/raters", "/log", "/export"):
        assert judge.get(f"/studies/bars{path}").status_code == 403, path
    assert judge.get("/studies/new").status_code == 403 and judge.get("/studies/bars/adjudication").status_code == 200
    assert "/studies/bars/adjudication" in judge.get("/").text and "Runs" not in judge.get("/").text
    refused = judge.get("/studies/bars/results.json")
    assert refused.json()["code"] == "role" and "adam is an adjudicator" in refused.json()["error"]


def test_the_log_says_who(study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    owner = sign_in(study, "olga", "owner")
    assert owner.send_form("/studies/bars/invite", {"count": "1"}).status_code == 200
    entry = study.service.audit("bars")[0]
    assert (entry.action, entry.actor) == ("invited", "olga")
    assert study.service.invite("bars") and study.service.audit("bars")[0].actor == "admin"


def test_passwords_are_changed_and_reset_and_accounts_closed(study: Study) -> None:
    admin = study.admin()
    both = {"password": "another password", "again": "another password"}
    assert admin.send_form("/accounts/add", {"name": "Vera", "role": "viewer", **both}).status_code == 200
    assert admin.get("/accounts.json").json()["accounts"] == [
        {"name": "admin", "role": "owner"},
        {"name": "vera", "role": "viewer"},
    ]
    assert admin.send_form("/accounts/add", {"name": "x", "role": "king", **both}).status_code == 400
    vera = study.site.client()
    assert vera.send_form("/login", {"username": "vera", "password": "another password"}).status_code == 303
    wrong = {"current": "not it at all", "password": "a third password", "again": "a third password"}
    assert "not your present password" in vera.send_form("/account/password", wrong).text
    assert vera.send_form("/account/password", {**wrong, "current": "another password"}).status_code == 303
    assert vera.get("/account").status_code == 200, "this session goes on"
    assert admin.send_form("/accounts/vera/password", both).status_code == 303
    assert vera.get("/account").status_code == 303, "a reset ends the account's sessions"
    assert admin.send_form("/accounts/vera/close").status_code == 303
    assert vera.send_form("/login", {"username": "vera", "password": "another password"}).status_code == 401
    assert "last owner" in admin.send_form("/accounts/admin/close").text


def test_adjudication_is_blind_until_it_is_decided(study: Study) -> None:
    """No page and no twin of a page names a system; the decision is kept under its maker's name."""
    for system in SYSTEMS:
        vote_through(
            study,
            study.rater(),
            lambda task, name=system: "A" if name in study.service.media(task.a.token).source else "B",
        )
    study.service.set_admin_password(PASSWORD)
    judge = sign_in(study, "adam", "adjudicator")
    paths = [f"/studies/bars/{page}{twin}" for page in ("adjudication", "disagreements") for twin in ("", ".json")]
    for path in paths:
        text = judge.get(path).text
        assert not [name for name in SYSTEMS if name in text], path
    queue = judge.get("/studies/bars/adjudication.json").json()["queue"]
    assert {opinion["winner"] for item in queue for opinion in item["opinions"]} == {"A", "B"}
    first = [study.service.media(behind(item["clips"][0]["address"].rsplit("/", 1)[1])).source for item in queue]
    item = queue[0]
    wanted = next(name for name in SYSTEMS if name in first[0])
    assert (
        judge.send_form("/studies/bars/adjudication", {"sample": item["key"], "winner": SYSTEMS[0]}).status_code == 400
    )
    decision = {"sample": item["key"], "winner": "A"}
    untagged = judge.send_form("/studies/bars/adjudication", decision)
    assert untagged.status_code == 400 and "adjudicate using reason tags" in untagged.text
    decision["tags"] = "missed constraint"
    assert judge.send_form("/studies/bars/adjudication", decision).status_code == 303
    decided = judge.get("/studies/bars/disagreements.json").json()["disagreements"][-1]
    assert (decided["adjudicated"], decided["by"]) == ("A", "adam")  # no name even then
    entry = next(entry for entry in study.service.audit("bars") if entry.action == "adjudicated")
    assert entry.actor == "adam" and entry.detail["winner"] == wanted


def test_the_letters_do_not_follow_the_names() -> None:
    """Over 400 samples with random tokens, A is the first system about half the time (binomial, p = ½: 4 sd = 40)."""
    import numpy as np

    from rushes.study import Disagreement
    from rushes.study.owner.blinding import blind_data, key_of, sides

    rng = np.random.default_rng(7)
    made = [
        Disagreement(
            sample=f"s{n}.alpha~beta",
            family="T1",
            prompt="",
            system_a="alpha",
            system_b="beta",
            media_a=rng.bytes(12).hex(),
            media_b=rng.bytes(12).hex(),
            opinions=(),
            state="adjudicate",
            suggestion="alpha",
            suggestion_why="",
            adjudicated=None,
        )
        for n in range(400)
    ]
    assert abs(sum(sides(item).a == "alpha" for item in made) - 200) < 40
    assert len({key_of(item) for item in made}) == 400
    assert not any("alpha" in json.dumps(blind_data(item)) for item in made)


# --- votes over HTTP --------------------------------------------------------------------------------------------------


def test_older_votes_and_second_tabs_are_answered_409(study: Study) -> None:
    client = study.rater()
    first = watch_all(client, "/rate.json", study)
    form = filled(first, key_of(client.get("/rate").text))
    assert client.send_quietly("/rate/vote", form).json()["accepted"]
    differing = client.send_quietly("/rate/vote", {**form, "winner": "B"})
    assert differing.status_code == 409 and differing.json()["stored"]["winner"] == "A"
    page = client.send_form("/rate/vote", {**form, "winner": "B"})
    assert page.status_code == 409 and "You have already voted on this pair: A" in page.text
    second = watch_all(client, "/rate.json", study)
    client.send_quietly("/rate/vote", filled(second, key_of(client.get("/rate").text)))
    older = client.send_quietly("/rate/vote", {**form, "winner": "B", "correction": "1", "key": "fix"})
    assert older.status_code == 409 and "Only your last vote" in older.text


# --- slow and broken requests -----------------------------------------------------------------------------------------


def closes_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_half_a_request_is_not_waited_for(make_site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimedProtocol, "head_s", 0.3)
    site = make_site()
    address = ("127.0.0.1", int(site.url.rsplit(":", 1)[1]))
    silent, half, dripping = (socket.create_connection(address) for _ in range(3))
    with silent, half, dripping:
        with suppress(OSError):  # closed before it was all sent, by a machine that is busy
            half.sendall(b"GET / HTTP/1.1\r\nhost: 127")
            dripping.sendall(b"GET / HTTP/1.1\r\n")
            for letter in b"x: y":
                dripping.sendall(bytes([letter]))
                time.sleep(0.05)
        assert all(closes_within(connection, 60) for connection in (silent, half, dripping))
    assert site.client().get("/").status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BodyLimit, "seconds", 0.3)
    head = (
        f"POST /login HTTP/1.1\r\nhost: {study.site.url.removeprefix('http://')}\r\norigin: {study.site.url}\r\n"
        "content-type: application/x-www-form-urlencoded\r\naccept: application/json\r\ncontent-length: 1000\r\n\r\nna"
    )
    with socket.create_connection(("127.0.0.1", int(study.site.url.rsplit(":", 1)[1]))) as connection:
        connection.sendall(head.encode())
        connection.settimeout(60)
        answer = connection.recv(4096)
    assert re.match(rb"HTTP/1.1 408 ", answer), answer


def test_a_browser_that_leaves_in_the_middle_makes_no_noise(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    client = study.rater()
    token, address = client.token(), ("127.0.0.1", int(study.site.url.rsplit(":", 1)[1]))
    head = (
        f"POST /rate/draft HTTP/1.1\r\nhost: {study.site.url.removeprefix('http://')}\r\norigin: {study.site.url}\r\n"
        f"content-type: application/x-www-form-urlencoded\r\ncontent-length: 900\r\nx-csrf-token: {token}\r\n\r\nnote="
    )
    with caplog.at_level(logging.WARNING):
        with socket.create_connection(address) as connection:
            connection.sendall(head.encode())
            time.sleep(0.2)
        for _ in range(20):
            time.sleep(0.02)
    assert not [record for record in caplog.records if record.exc_info or "failed" in record.getMessage()]
