"""What somebody tries who means harm: names that are commands, ids that are patterns, others' work, forged headers."""

from __future__ import annotations

import http.client
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rushes.instruments.preference.votes import Vote
from rushes.study import StudyPlan
from rushes.study.raters.sound_check import MOST_TRIES
from rushes.study.recruiting.platforms import RecruitmentPlan
from rushes.web.http.limits import BODY_LIMIT

from .livesite import PASSWORD, Client, Site, Study, filled, key_of, watch_all
from .owned import voted_study
from .test_owner_methods import adjudicator
from .test_paths import raw_get
from .test_sound_gate import agreed, one_pair

NASTY = (
    "alpha\x1b[2J\x1b]0;gone\x07",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "be\u202eta\r\nSet-Cookie: a=b",
)
TABS = ("", "/raters", "/disagreements", "/adjudication", "/faults", "/results", "/export", "/log")


def test_names_that_are_commands_are_shown_as_signs(site: Site) -> None:
    """They come in a file of ratings, which anybody may have made."""
    site.service.create_study(StudyPlan(name="named", gold_every=0, repeat_every=0), training=False)
    pairs = list(combinations(sorted(NASTY), 2))
    votes = [
        Vote(
            sample=f"s{number}-{rater}",
            system_a=first,
            system_b=second,
            winner="a" if (number + rater) % 3 else "b",
            rater=f"r{rater}",
            primary_tag="Flicker / temporal jitter",
            note="\x1b[31m<img src=x onerror=alert(1)>",
        )
        for number, (first, second) in enumerate(pairs)
        for rater in range(3)
    ]
    try:
        site.service.import_ratings("named", votes)
    except Exception as refused:  # one line that says why is as good
        assert "\x1b" not in str(refused) and "\n" not in str(refused)
        return
    owner = Study(site=site, name="named").admin()
    for tab in TABS:
        for ending in ("", ".json"):
            answer = owner.get(f"/studies/named{tab}{ending}")
            assert answer.status_code == 200, (tab, ending)
            assert b"\x1b" not in answer.content, (tab, ending)
            assert ending or not any(part in answer.text for part in ("<script>alert", "\u202e")), tab
            assert b"<img src=x" not in answer.content or ending == ".json", tab
    for key in ("csv", "jsonl", "dpo", "arena"):
        answer = owner.get(f"/studies/named/export/{key}")
        assert answer.status_code < 500 and "set-cookie" not in answer.headers, key
    csv = owner.get("/studies/named/export/csv").text
    assert "\n=cmd" not in csv and ",=cmd" not in csv and ',"=cmd' not in csv
    assert owner.get("/").status_code == 200  # the server is still there


def test_an_id_that_is_a_pattern_or_very_long_is_refused_at_once(study: Study) -> None:
    """A form that backtracks over such an id takes longer than a test may."""
    plan = RecruitmentPlan(platform="other", quota=50, participant_form=".+-.+-.+")
    address = f"/join/{study.service.running.open_link('bars', plan)}"
    client = study.site.client()
    for participant in ("-" * 60_000 + "\na", "-" * 128 + "!", "a" * 100, "\x00", "\u202e", "a\r\nb", "%s%n", "'; --"):
        answer = client.send_form(address, {"participant": participant, "session": "s"})
        assert answer.status_code == 400, participant[:20]
        assert participant not in answer.text or len(participant) < 3
    assert client.send_form(address, {"participant": "a-b-c", "session": "s"}).status_code == 303


def test_somebody_elses_assignment_is_nobodys(study: Study) -> None:
    """Clips, watching, drafts, votes, problems and corrections go by the session alone."""
    mine, theirs = study.rater(), study.rater()
    task = watch_all(mine, "/rate.json", study)
    form = filled(task, key_of(mine.get("/rate").text))
    watch = {"assignment": task["assignment"], "events": []}
    assert theirs.send_json("/rate/watch", watch).status_code in (404, 409)
    for path in ("/rate/vote", "/rate/draft", "/rate/problem"):
        answer = theirs.send_quietly(path, {**form, "kind": "other", "text": "x"})
        assert answer.status_code in (404, 409), (path, answer.text)
    for clip in task["clips"].values():
        assert theirs.get(clip["address"]).status_code == 404
    assert theirs.get(f"/rate/source/{task['assignment']}").status_code in (404, 409)
    assert study.service.votes("bars") == []
    assert mine.send_quietly("/rate/vote", form).json()["accepted"]
    note = b"seen twice"
    theirs.seen.clear()
    theirs.get("/rate/last.json")
    changed = theirs.send_quietly("/rate/vote", {**form, "winner": "B", "correction": "1", "key": "other"})
    assert changed.status_code in (303, 404, 409) and note not in theirs.seen
    assert [vote.note for vote in study.service.votes("bars")] == ["seen twice"]


def test_a_participants_id_alone_shows_and_changes_no_vote(study: Study) -> None:
    link = study.service.running.open_link("bars", RecruitmentPlan(platform="other", quota=5))
    first, second = study.site.client(), study.site.client()
    person = {"participant": "P000001", "session": "one"}
    assert first.send_form(f"/join/{link}", person).status_code == 303
    assert second.send_form(f"/join/{link}", {**person, "session": "two"}).status_code in (200, 303)
    assert second.get("/rate/last.json").status_code in (303, 401, 409)
    assert "winner" not in second.get("/rate/last.json").text


def test_the_sound_check_cannot_be_passed_by_trying(site: Site, tmp_path: Path) -> None:
    study = one_pair(site, tmp_path, sounding=True, asked=True)
    client = agreed(study)
    for guess in range(3 * MOST_TRIES):
        client.send_form("/rate/sound", {"heard": f"{1 + guess % 4}2{1 + guess % 3}"})
    assert client.get("/rate").headers["location"] == "/rate/sound"
    session = client.cookies["rushes_rater"]
    assert study.service.presentation(session).sound_tries_left == 0
    assert study.service.presentation(session).sound_check


FORGED = (
    ("host", "evil.example"),
    ("host", "127.0.0.1\tevil.example"),
    ("x-forwarded-host", "evil.example"),
    ("x-forwarded-proto", "https"),
    ("forwarded", "host=evil.example"),
    ("x-original-url", "/studies/bars/results"),
    ("x-rewrite-url", "/studies/bars/results"),
    ("x-http-method-override", "DELETE"),
)


@pytest.mark.parametrize(("name", "value"), FORGED)
def test_a_forged_header_changes_nothing(study: Study, name: str, value: str) -> None:
    place = urlsplit(study.site.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 0, timeout=120)
    try:
        connection.putrequest("GET", "/login", skip_host=True)
        if name != "host":
            connection.putheader("host", place.netloc)
        connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    assert answer.status in ((400, 421) if name == "host" else (200,))
    assert b"evil.example" not in body and b"bars" not in body


def test_no_text_from_outside_becomes_a_header(study: Study) -> None:
    client = study.admin()
    split = "%0d%0aset-cookie:%20stolen=1"
    for path in (f"/login{split}", f"/studies/bars/export/csv{split}", f"/login?next=/{split}", f"/i/x{split}"):
        status, headers, _ = raw_get(client, path)
        assert status < 500 and "stolen" not in headers.get("set-cookie", ""), path
    anybody = study.site.client()
    answer = anybody.send_form("/login", {"password": PASSWORD, "next": "/\r\nset-cookie: stolen=1"})
    assert "stolen" not in answer.headers.get("set-cookie", "") and "\n" not in answer.headers.get("location", "")
    rater = study.rater()
    answer = rater.send_form("/rate/language", {"language": "de\r\nx: y", "back": "//evil.example/\r\nx: y"})
    assert answer.status_code < 500 and "evil" not in answer.headers.get("location", "") and "x" not in answer.headers


@pytest.mark.parametrize("path", ["/rate/vote", "/rate/draft", "/rate/problem", "/rate/language", "/join/x", "/login"])
def test_every_form_has_a_largest_size(study: Study, path: str) -> None:
    client = study.rater()
    data = {"csrf_token": client.token(), "note": "x" * (BODY_LIMIT + 1)}
    assert client.post(path, data=data).status_code == 413


def test_a_form_of_very_many_fields_is_refused_or_read_quickly(study: Study) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    many = {f"ratings_a.x{number}": "3" for number in range(5000)}
    answer = client.send_quietly("/rate/vote", {"assignment": task["assignment"], "key": "k", **many})
    assert answer.status_code in (400, 409, 413, 422)
    faults = "[" * 4000
    answer = client.send_quietly("/rate/vote", {"assignment": task["assignment"], "key": "k", "faults": faults})
    assert answer.status_code == 409
    assert study.service.votes("bars") == []


def test_an_alias_opens_only_what_it_stands_for(site: Site, tmp_path: Path) -> None:
    """An adjudicator's addresses: a rater cannot use them, and a changed one leads nowhere."""
    study = voted_study(site, tmp_path, "best-worst-3", "enough")
    client = adjudicator(study)
    data = client.get(f"/studies/{study.name}/disagreements.json").json()
    address: str = data["divided"][0]["clips"][0]["address"]
    assert client.get(address).status_code == 200
    stranger: Client = site.client()
    assert stranger.get(address).status_code == 404
    last = "0" if address[-1] != "0" else "1"
    for other in (f"{address[:-1]}{last}", f"{address}00", address.replace("~", ""), f"/media/~{'0' * 24}{'41' * 200}"):
        assert client.get(other).status_code == 404, other
