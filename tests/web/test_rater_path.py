"""A rater's path over HTTP: every stage, every refusal, and nothing that tells the systems apart."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from rushes.study.raters import work

from .livesite import SYSTEMS, Client, Study, filled, key_of, stretches, watch_all


def test_the_path_from_invitation_to_thanks(study: Study) -> None:
    client = study.site.client()
    link = study.invitation()
    assert "You are invited" in client.get(link).text
    assert client.get(link).status_code == 200, "looking does not use the link up"
    assert client.send_form(link).headers["location"] == "/rate"
    assert "Before you begin" in client.get("/rate").text
    client.send_form("/rate/consent")
    page = client.get("/rate").text
    assert "Watch both clips fully at least twice" in page and "All constraints satisfied" in page
    watch_all(client, "/rate/training.json", study)
    page = client.get("/rate/training").text
    answer = client.send_form("/rate/vote", filled(client.get("/rate/training.json").json(), key_of(page)))
    assert answer.status_code == 200 and "Start rating" in answer.text
    for number in range(1, 4):
        task = watch_all(client, "/rate.json", study)
        assert task["number"] == number
        assert client.send_form("/rate/vote", filled(task, key_of(client.get("/rate").text))).status_code == 303
    assert "All done" in client.get("/rate").text
    assert client.get("/rate.json").json()["stage"] == "done"


def test_a_used_link_says_so_and_a_stranger_gets_nothing(study: Study) -> None:
    link = study.invitation()
    assert study.site.client().send_form(link).status_code == 303
    assert study.site.client().send_form(link).status_code == 410
    assert study.site.client().send_form("/i/unknown").status_code == 410
    assert study.site.client().get("/rate").status_code == 401


def test_the_used_link_leads_its_own_rater_back_to_work(study: Study) -> None:
    client, link = study.site.client(), study.invitation()
    client.send_form(link)
    assert "Continue" in client.get(link).text
    again = client.send_form(link)
    assert (again.status_code, again.headers["location"]) == (303, "/rate")


def test_pages_ahead_of_the_stage_lead_back(study: Study) -> None:
    client = study.rater(stage="consent")
    assert client.get("/rate/training").headers["location"] == "/rate"
    assert client.get("/rate/instructions").headers["location"] == "/rate"


def test_an_early_vote_is_refused_with_all_that_is_missing(study: Study) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    form = filled(task, "k1") | {"primary_tag": ""}
    refused = client.send_quietly("/rate/vote", form)
    assert refused.status_code == 409
    body = refused.json()
    assert body["code"] == "missing"
    assert {item["field"] for item in body["missing"]} >= {"watch_a", "watch_b", "primary_tag"}
    page = client.send_form("/rate/vote", form)
    assert page.status_code == 409
    for item in body["missing"]:
        assert item["message"] in page.text
    assert 'value="A" checked' in page.text and "seen twice" in page.text, "what was filled in stays"


def test_one_watch_is_not_two(study: Study) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    for clip in task["clips"].values():
        client.get(clip["address"])
    study.site.app.state.pass_time(10_000)
    once = {"assignment": task["assignment"], "events": stretches(task, times=1)}
    watch = client.send_json("/rate/watch", once).json()
    assert watch["text"] == "A 1/2 · B 1/2" and not watch["complete"]
    assert client.send_json("/rate/watch", once).json()["text"] == "A 1/2 · B 1/2", "a report sent twice counts once"
    assert client.send_quietly("/rate/vote", filled(task, "k1")).status_code == 409


@pytest.mark.parametrize(
    "change",
    [{"side": "F"}, {"start_ms": -1}, {"end_ms": 1e12}, {"rate": "fast"}, {"visible": None}, {"extra": 1}],
)
def test_a_malformed_play_report_is_refused(study: Study, change: dict[str, object]) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    events = [stretches(task)[0] | change]
    assert client.send_json("/rate/watch", {"assignment": task["assignment"], "events": events}).status_code == 422


def test_a_draft_comes_back_on_the_next_page(study: Study) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    saved = client.send_quietly("/rate/draft", {"assignment": task["assignment"], "winner": "B", "note": "half <done>"})
    assert saved.json() == {"saved": True}
    page = client.get("/rate").text
    assert 'value="B" checked' in page and "half &lt;done&gt;" in page
    assert client.get("/rate.json").json()["form"]["winner"] == "B"


def test_sending_twice_stores_one_vote(study: Study) -> None:
    client = study.rater()
    task = watch_all(client, "/rate.json", study)
    form = filled(task, key_of(client.get("/rate").text))
    first, second = client.send_quietly("/rate/vote", form), client.send_quietly("/rate/vote", form)
    assert (first.status_code, second.status_code) == (200, 200)
    assert [first.json()["repeated"], second.json()["repeated"]] == [False, True]
    assert len(study.service.votes("bars")) == 1


def test_the_last_vote_can_be_changed(study: Study) -> None:
    client = study.rater()
    assert client.get("/rate/last").headers["location"] == "/rate"
    assert "Change my last vote" not in client.get("/rate").text
    task = watch_all(client, "/rate.json", study)
    sent = filled(task, key_of(client.get("/rate").text), winner="B")
    assert client.send_quietly("/rate/vote", sent).json()["next"] == "/rate"
    assert "Change my last vote" in client.get("/rate").text
    last = client.get("/rate/last.json").json()
    assert last["assignment"] == task["assignment"] and last["correction"] and last["watch"]["complete"]
    assert last["form"]["winner"] == "B" and last["form"]["note"] == "seen twice"
    page = client.get("/rate/last").text
    assert 'name="correction" value="1"' in page and "Report a problem" not in page
    fix = filled(task, key_of(page), winner="A") | {"correction": "1", "csrf_token": client.token()}
    refused = client.post("/rate/vote", data=fix | {"primary_tag": ""})
    assert refused.status_code == 409 and "Choose 1 primary reason tag." in refused.text
    assert 'name="correction" value="1"' in refused.text, "still the page that changes a vote"
    for _ in range(2):  # a double click changes it once
        taken = client.post("/rate/vote", data=fix)
        assert taken.status_code == 303 and taken.headers["location"] == "/rate?changed=1"
    assert "Your last vote was changed" in client.get("/rate?changed=1").text
    assert client.get("/rate/last.json").json()["form"]["winner"] == "A"
    actions = [entry.action for entry in study.service.audit(study.name)]
    assert actions.count("corrected a vote") == 1 and len(study.service.votes(study.name)) == 1


def test_a_reported_problem_takes_the_pair_away(study: Study) -> None:
    client = study.rater()
    before = client.get("/rate.json").json()["assignment"]
    assert client.send_quietly("/rate/problem", {"assignment": before, "kind": "rude"}).status_code == 400
    report = {"assignment": before, "kind": "will not play", "text": "black"}
    assert client.send_quietly("/rate/problem", report).json() == {"reported": True, "next": "/rate"}
    assert client.get("/rate.json").json()["assignment"] != before
    assert [problem.kind for problem in study.service.study_status("bars").problems] == ["will not play"]


def test_an_ended_session_keeps_the_form(study: Study) -> None:
    client = study.rater()
    task = watch_all(client, "/rate.json", study)
    form = filled(task, key_of(client.get("/rate").text))
    client.cookies.set("rushes_rater", "gone", domain="127.0.0.1", path="/")
    client.cookies.delete("rushes_rater", domain="127.0.0.1")
    quiet = client.send_quietly("/rate/vote", form)
    assert quiet.status_code == 401 and quiet.json()["code"] == "session"
    page = client.send_form("/rate/vote", form)
    assert page.status_code == 401
    assert "Send again" in page.text and 'name="winner" value="A"' in page.text and "seen twice" in page.text
    link = study.service.invite_again("bars", "rater_01").token
    client.send_form(f"/i/{link}")
    assert client.send_quietly("/rate/vote", form).json()["accepted"] is True


def test_another_raters_pair_is_not_mine(study: Study) -> None:
    mine, theirs = study.rater(), study.rater()
    task = theirs.get("/rate.json").json()
    for path in ("/rate/vote", "/rate/draft"):
        assert mine.send_quietly(path, filled(task, "k")).json()["code"] == "gone"
    assert mine.get(task["clips"]["A"]["address"]).status_code == 404


def test_the_next_pairs_clips_can_be_loaded_ahead(study: Study) -> None:
    client = study.rater()
    clips = client.get("/rate/next.json").json()["clips"]
    assert len(clips) == 2
    assert all(client.get(address).headers["content-type"] == "video/mp4" for address in clips)
    task = watch_all(client, "/rate.json", study)
    client.send_quietly("/rate/vote", filled(task, key_of(client.get("/rate").text)))
    assert sorted(clip["address"] for clip in client.get("/rate.json").json()["clips"].values()) == sorted(clips)


def test_a_break_is_proposed_after_half_an_hour_of_work(study: Study) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    assert re.search(r"data-break [^>]*hidden", client.get("/rate").text)
    for _ in range(7):
        study.site.app.state.pass_time(5 * 60_000)
        client.send_quietly("/rate/draft", {"assignment": task["assignment"], "winner": "B"})
    page = client.get("/rate").text
    assert "Time for a short break?" in page and not re.search(r"data-break [^>]*hidden", page)


def test_signing_out_ends_the_session(study: Study) -> None:
    client = study.rater()
    assert client.send_form("/rate/sign-out").status_code == 200
    assert client.get("/rate").status_code == 401


def test_edit_precision_is_asked_for_edit_tasks_only(study: Study) -> None:
    client = study.rater()
    seen = {}
    for _ in range(3):
        task = watch_all(client, "/rate.json", study)
        seen[task["prompt"][-2]] = [dimension["key"] for dimension in task["dimensions"]]
        client.send_quietly("/rate/vote", filled(task, key_of(client.get("/rate").text)))
    assert {family: "edit_precision" in keys for family, keys in seen.items()} == {
        "0": False,  # T1
        "1": False,  # T2
        "2": True,  # T4
    }


def test_no_byte_to_a_rater_tells_the_systems_apart(study: Study, clip_table: Path) -> None:
    client = study.rater(stage="consent")
    for path in ("/", "/rate", "/rate.json", "/rate/instructions", "/login", "/studies/bars", "/nowhere", "/rate/none"):
        client.get(path)
    client.send_form("/rate/consent")
    for path in ("/rate", "/rate/training", "/rate/training.json"):
        client.get(path)
    task = watch_all(client, "/rate/training.json", study)
    client.send_form("/rate/vote", filled(task, "t1"))
    for _ in range(4):
        task = client.get("/rate.json").json()
        if task["stage"] == "done":
            break
        for clip in task["clips"].values():
            client.get(clip["address"])
            client.get(clip["address"], headers={"range": "bytes=0-99"})
            client.get(clip["address"], headers={"range": "bytes=999999999-"})
        client.get("/rate/next.json")
        client.send_quietly("/rate/vote", filled(task, "early"))
        client.send_form("/rate/vote", filled(task, "early"))
        watch_all(client, "/rate.json", study)
        client.send_form("/rate/vote", filled(task, key_of(client.get("/rate").text)))
        assert client.get("/rate/last.json").json()["assignment"] == task["assignment"]
        client.send_form("/rate/vote", filled(task, key_of(client.get("/rate/last").text)) | {"correction": "1"})
        client.get("/rate?changed=1")
    _check_nothing_tells(client, clip_table)


def _check_nothing_tells(client: Client, clip_table: Path) -> None:
    seen = bytes(client.seen).lower()
    assert len(seen) > 20_000
    folder = clip_table.parent
    secrets = [name.encode() for name in SYSTEMS] + [str(folder).encode(), folder.name.encode(), b"studies0"]
    for clip in folder.glob("*.mp4"):
        data = clip.read_bytes()
        secrets += [clip.name.encode(), clip.stem.encode()]
        for algorithm in ("sha256", "md5", "sha1"):
            secrets.append(hashlib.new(algorithm, data).hexdigest()[:16].encode())
    for secret in secrets:
        assert secret.lower() not in seen, secret


def test_a_deleted_clip_can_be_reported_and_is_no_trap(study: Study, clip_table: Path, tmp_path: Path) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    address = task["clips"]["A"]["address"]
    token = address.removeprefix("/media/")
    path = Path(study.service.media(token).path)
    kept = path.read_bytes()
    try:
        path.unlink()
        gone = client.get(address)
        assert gone.status_code == 404 and path.name not in gone.text
    finally:
        path.write_bytes(kept)


def test_no_size_length_or_rate_tells_the_systems_apart(study: Study) -> None:
    client = study.rater()
    task = client.get("/rate.json").json()
    assert {key for clip in task["clips"].values() for key in clip} == {"address", "has_audio", "refused"}
    assert task["frame"] in ("wide", "square", "tall")
    page = client.get("/rate").text
    videos = re.findall(r"<video [^>]*>", page)
    assert len(videos) == 2 and not any(re.search(r"(width|height|data-fps)=", video) for video in videos)


def test_a_rater_stops_with_thanks(study: Study) -> None:
    client = study.rater()
    assert "/rate/stop" in client.get("/rate").text
    stopped = client.send_form("/rate/stop")
    assert stopped.status_code == 200 and "You have stopped" in stopped.text
    assert client.get("/rate.json").json()["stage"] == "done"


def test_many_reports_are_refused_with_a_way_out(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are free here instead of three: the study has three pairs."""
    monkeypatch.setattr(work, "FREE_REPORTS", 2)
    client, answered = study.rater(), []
    for _ in range(3):
        task = client.get("/rate.json").json()
        answer = client.send_quietly("/rate/problem", {"assignment": task["assignment"], "kind": "other"})
        answered.append(answer.status_code)
    assert answered == [200, 200, 409] and "stop here" in answer.text
