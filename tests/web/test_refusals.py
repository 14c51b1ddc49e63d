"""A system that refused has no clip: raters judge what it said, owners read it, and no page asks for a file of it.

The same small study has a rubric of its own, so that the owner's pages show whose tags they offer.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from rushes.instruments.preference.own_rubric import own_rubric
from rushes.media import write_clip
from rushes.study import StudyPlan

from .conftest import FPS, moving_bar
from .livesite import SYSTEMS, Client, Site, Study, decide, key_of, vote_through

SAID = "I cannot make <that>."
CARELESS, UNSAFE = "Careless", "Unsafe"
WORDS = own_rubric(
    {
        "dimensions": [{"key": "care", "label": "Care", "anchors": [[5, "all of it"], [1, "none"]]}],
        "tag_groups": [
            {"label": "Manners", "tags": [CARELESS]},
            {"label": "Harm", "tags": [UNSAFE]},
            {"label": "Cuts", "tags": ["Cut short"], "families": ["T4"]},
        ],
        "full_watches": 1,
    }
)


@pytest.fixture
def refusing(site: Site, tmp_path: Path) -> Study:
    """One safety pair: a clip of half a second, and a refusal."""
    write_clip(tmp_path / "one.mp4", list(moving_bar(90, 1))[:12], fps=FPS)
    rows = [
        ("sample_id", "task_id", "prompt_id", "system", "path", "refused"),
        ("T7_p1", "T7", "p1", SYSTEMS[0], "one.mp4", ""),
        ("T7_p1", "T7", "p1", SYSTEMS[1], "", SAID),
    ]
    with open(tmp_path / "pairs.csv", "w", newline="") as out:
        csv.writer(out).writerows(rows)
    plan = StudyPlan(name="safe", title="Safe clips", gold_every=0, repeat_every=0, rubric=WORDS)
    site.service.create_study(plan, training=False)
    site.service.import_csv("safe", tmp_path / "pairs.csv")
    return Study(site=site, name="safe")


def at_work(study: Study) -> Client:
    """A rater of a study without a training pair."""
    token = study.service.accept_invite(study.service.invite(study.name)[0].token).token
    study.service.give_consent(token)
    client = study.site.client()
    client.cookies.set("rushes_rater", token, domain="127.0.0.1")
    return client


def test_a_vote_on_a_refusal_asks_for_no_watching_of_it(refusing: Study) -> None:
    """The clip is loaded and played once; of the refusal nothing is loaded, played or rated."""
    client = at_work(refusing)
    task = client.get("/rate.json").json()
    (clip,) = [side for side, facts in task["clips"].items() if not facts["refused"]]
    (card,) = {"A", "B"} - {clip}
    assert task["clips"][card] | {"refused": SAID, "address": ""} == task["clips"][card]
    page = client.get("/rate").text
    assert page.count("<video") == 1 and "I cannot make &lt;that&gt;." in page
    form = {"assignment": task["assignment"], "key": key_of(page), "winner": card, "primary_tag": CARELESS}
    form[f"ratings_{clip.lower()}.care"] = "2"
    early = client.send_quietly("/rate/vote", form)
    assert early.status_code == 409
    assert [item["field"] for item in early.json()["missing"]] == [f"watch_{clip.lower()}"]
    facts = task["clips"][clip]
    assert client.get(facts["address"]).status_code == 200
    refusing.site.app.state.pass_time(2 * 2000)
    play = {"side": clip, "start_ms": 0, "end_ms": 2000, "rate": 1.0, "visible": True}
    report = {"assignment": task["assignment"], "events": [{**play, "client_ms": 0, "sequence": 1}]}
    answer = client.send_json("/rate/watch", report).json()
    assert answer["complete"] and answer["A"] == answer["B"] == 1
    voted = client.send_quietly("/rate/vote", form)
    assert voted.status_code == 200 and voted.json()["accepted"], voted.text
    (vote,) = refusing.service.votes("safe")
    assert vote.winner == "b" and vote.ratings == {"care": (2, None)}  # the refusing system is the pair's second


def test_owners_read_a_refusal_as_a_card_and_no_page_asks_for_its_file(refusing: Study) -> None:
    for winner in ("A", "B"):
        client = at_work(refusing)
        session = client.cookies["rushes_rater"]
        task = refusing.service.next_task(session)
        assert task is not None
        # One for the clip, one for the refusal: which side the card is on differs from rater to rater.
        decide(refusing, session, task, winner if not task.a.refused else {"A": "B", "B": "A"}[winner])
    admin = refusing.admin()
    for page in ("adjudication", "disagreements", "results", "", "log"):
        text = admin.get(f"/studies/safe/{page}".rstrip("/")).text
        for address in re.findall(r'<(?:video|source|a|img)[^>]*(?:src|href)="(/media/[^"]+)"', text):
            assert admin.get(address).status_code == 200, (page, address)
        if page in ("adjudication", "disagreements"):
            assert text.count("<video") == 1 and text.count("I cannot make &lt;that&gt;.") == 1, page
    (item,) = admin.get("/studies/safe/disagreements.json").json()["disagreements"]
    assert sorted((clip["refused"], bool(clip["address"])) for clip in item["clips"]) == [("", True), (SAID, False)]


def test_the_adjudicator_is_offered_the_studys_own_tags(refusing: Study) -> None:
    """Those of this task's family alone: the decision takes no others."""
    for side in ("A", "B"):
        client = at_work(refusing)
        task = refusing.service.next_task(client.cookies["rushes_rater"])
        assert task is not None
        winner = side if not task.a.refused else {"A": "B", "B": "A"}[side]
        decide(refusing, client.cookies["rushes_rater"], task, winner, tag=(CARELESS, UNSAFE)[side == "B"])
    admin = refusing.admin()
    page = admin.get("/studies/safe/adjudication").text
    assert re.findall(r'<optgroup label="([^"]+)"', page) == ["Manners", "Harm"]
    assert re.findall(r"<option>([^<]+)</option>", page) == [CARELESS, UNSAFE]
    (item,) = admin.get("/studies/safe/adjudication.json").json()["queue"]
    assert item["suggestion"] and CARELESS in item["suggestion_why"]
    decision = {"sample": item["key"], "winner": "A", "tags": UNSAFE}
    assert admin.send_form("/studies/safe/adjudication", decision).status_code == 303
    (made,) = [vote for vote in refusing.service.votes("safe", adjudicated=True) if vote.adjudicated]
    assert made.primary_tag == UNSAFE


def test_nothing_is_loaded_ahead_of_a_refusal(refusing: Study, tmp_path: Path) -> None:
    rows = ["sample_id,task_id,prompt_id,system,path,refused"]
    rows += [f"T7_p2,T7,p2,{SYSTEMS[0]},one.mp4,", f"T7_p2,T7,p2,{SYSTEMS[1]},,No."]
    (tmp_path / "more.csv").write_text("\n".join(rows) + "\n")
    refusing.service.import_csv("safe", tmp_path / "more.csv")
    client = at_work(refusing)
    client.get("/rate")
    (ahead,) = client.get("/rate/next.json").json()["clips"]
    assert client.get(ahead).headers["content-type"] == "video/mp4"
    vote_through(refusing, client, lambda task: "A")
    assert len(refusing.service.votes("safe")) == 2
