"""A participant comes by the open link and leaves with a code; the owner's running page."""

from __future__ import annotations

import re

import pytest

from rushes.study import StudyPlan
from rushes.study.recruiting.platforms import RecruitmentPlan

from .livesite import PASSWORD, Site, Study, vote_through

PLAN = RecruitmentPlan(
    platform="prolific", quota=1, completion_code="C1DONE", screened_out_code="C2NO", full_code="C3FULL"
)
PERSON, OTHER = "5f00aa5f00aa5f00aa5f00aa", "5f00bb5f00bb5f00bb5f00bb"


@pytest.fixture
def study(site: Site, clip_table) -> Study:
    """Without a training pair: these tests are about the way in and out."""
    site.service.create_study(StudyPlan(name="bars", title="Bars", gold_every=0, repeat_every=0), training=False)
    site.service.import_csv("bars", clip_table)
    return Study(site=site, name="bars")


@pytest.fixture
def address(study: Study) -> str:
    return f"/join/{study.service.running.open_link('bars', PLAN)}"


def begin(client, address: str, participant: str = PERSON, **more: str):
    return client.send_form(address, {"participant": participant, "session": "s1", **more})


def test_in_by_the_link_out_with_the_code_and_back_to_the_platform(study: Study, address: str) -> None:
    client = study.site.client()
    page = client.get(f"{address}?PROLIFIC_PID={PERSON}&STUDY_ID=x&SESSION_ID=s1").text
    assert f'name="participant" value="{PERSON}"' in page
    assert study.service.running.recruitment("bars").joined == 0  # a look uses nothing up
    assert begin(client, address).headers["location"] == "/rate"
    consent = client.get("/rate").text
    assert "Before you begin" in consent and "Your ID on the platform that sent you, scrambled" in consent
    assert "Your ID on the platform" not in study.rater(stage="consent").get("/rate").text  # came by invitation
    client.send_form("/rate/consent")
    assert "C1DONE" not in client.get("/rate").text
    vote_through(study, client, lambda task: "A")
    done = client.get("/rate").text
    assert "C1DONE" in done
    assert 'href="https://app.prolific.com/submissions/complete?cc=C1DONE"' in done
    assert PERSON.encode() not in client.seen.replace(page.encode(), b"").split(b"Before you begin")[1]


def test_the_same_person_in_another_browser_goes_on_where_they_were(study: Study, address: str) -> None:
    first, second = study.site.client(), study.site.client()
    begin(first, address)
    first.send_form("/rate/consent")
    task = first.get("/rate.json").json()
    begin(second, address)
    assert second.get("/rate.json").json()["assignment"] == task["assignment"]
    assert first.get("/rate.json").status_code == 200  # an id that somebody knows ends nobody else's session
    assert len(study.service.study_status("bars").raters) == 1


def test_a_link_without_an_id_asks_for_it_and_a_preview_waits(study: Study, address: str) -> None:
    client = study.site.client()
    assert "Your Prolific ID" in client.get(address).text
    refused = begin(client, address, "{{%PROLIFIC_PID%}}")
    assert refused.status_code == 400 and "Prolific ID" in refused.text and "Traceback" not in refused.text
    mturk = study.service.running.open_link("bars", RecruitmentPlan(platform="mturk", quota=3))
    look = client.get(f"/join/{mturk}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE").text
    assert "Accept the task first" in look and "<form method" not in look.split("<main")[1]


def test_the_next_one_hears_that_all_places_are_taken(study: Study, address: str) -> None:
    begin(study.site.client(), address)
    late = begin(study.site.client(), address, OTHER)
    assert "All places are taken" in late.text and "cc=C3FULL" in late.text and "rushes_rater" not in late.cookies


def test_no_thank_you_and_not_agreeing(study: Study, address: str) -> None:
    client = study.site.client()
    said_no = begin(client, address, decline="1")
    assert "cc=C2NO" in said_no.text and not study.service.study_status("bars").raters
    begin(client, address)
    assert "cc=C2NO" in client.send_form("/rate/decline").text
    assert client.get("/rate.json").status_code == 401
    assert study.service.running.recruitment("bars").joined == 0


def test_an_unknown_link_is_gone_and_a_foreign_page_cannot_join_anybody(study: Study, address: str) -> None:
    client = study.site.client()
    assert client.get("/join/nonsense").status_code == 410
    assert begin(client, "/join/nonsense").status_code == 410
    headers = {"origin": "https://elsewhere.example"}
    assert client.send_form(address, {"participant": "x"}, headers=headers).status_code == 403


def test_a_pause_and_a_close_as_raters_see_them(study: Study, address: str) -> None:
    client, owner = study.site.client(), study.admin()
    begin(client, address)
    client.send_form("/rate/consent")
    assignment = client.get("/rate.json").json()["assignment"]
    assert owner.send_form("/studies/bars/state", {"state": "paused", "why": "lunch"}).status_code == 303
    assert "taking a break" in client.get("/rate").text and client.get("/rate.json").json()["stage"] == "paused"
    assert "taking a break" in study.site.client().get(address).text
    owner.send_form("/studies/bars/state", {"state": "open"})
    assert client.get("/rate.json").json()["assignment"] == assignment
    vote_through(study, client, lambda task: "A")
    owner.send_form("/studies/bars/state", {"state": "closed"})
    assert "The study is closed" in client.get("/rate").text and "C1DONE" in client.get("/rate").text
    assert owner.send_form("/studies/bars/state", {"state": "gone"}).status_code == 400


def test_the_owner_opens_a_link_pays_retires_resolves_and_erases(study: Study) -> None:
    owner = study.admin()
    made = owner.send_form("/studies/bars/link", {"platform": "other", "quota": "5", "ids": "plain"}).text
    address = re.search(r"/join/[\w-]+", made)[0]
    client = study.site.client()
    begin(client, address, "jane")
    client.send_form("/rate/consent")
    session = client.cookies["rushes_rater"]
    task = study.service.next_task(session)
    study.service.report_problem(session, task.assignment, kind="other", text="<b>hm</b>")
    vote_through(study, client, lambda task: "A")
    page = owner.get("/studies/bars/running").text
    assert "1 of 5 places taken" in page and "&lt;b&gt;hm" in page
    assert owner.send_form("/studies/bars/problems/1", {"note": "looked at it"}).status_code == 303
    assert owner.get("/studies/bars/running.json").json()["problems"][0]["resolution"] == "looked at it"
    payments = owner.get("/studies/bars/payments.csv")
    assert payments.headers["content-type"].startswith("text/csv") and "jane" in payments.text
    assert "no longer shown" in owner.send_form("/studies/bars/retire", {"sample": "T1_p00", "why": "x"}).text
    assert owner.send_form("/studies/bars/erase", {"participant": "jane"}).status_code == 400  # not ticked
    assert "erased_01" in owner.send_form("/studies/bars/erase", {"participant": "jane", "sure": "yes"}).text
    assert "jane" not in owner.get("/studies/bars/payments.csv").text
    for path in ("running", "running.json", "payments.csv"):
        assert study.site.client().get(f"/studies/bars/{path}").status_code in (303, 401)


def test_an_id_has_the_form_of_its_platform(study: Study, address: str) -> None:
    client = study.site.client()
    for made_up in ("x", "5F00AA5F00AA5F00AA5F00AA", PERSON[1:], PERSON + "0", "a b"):
        refused = begin(client, address, made_up)
        assert refused.status_code == 400 and "not a Prolific ID" in refused.text, made_up
    mturk = f"/join/{study.service.running.open_link('bars', RecruitmentPlan(platform='mturk', quota=3))}"
    assert "not a worker ID" in begin(client, mturk, "a1b2c3d4e5f6g7").text
    assert begin(client, mturk, "A1B2C3D4E5F6G7").headers["location"] == "/rate"
    other = RecruitmentPlan(platform="other", quota=3, participant_form="P[0-9]{6}")
    panel = f"/join/{study.service.running.open_link('bars', other)}"
    assert "not a participant ID of this study" in begin(client, panel, "P12345").text
    assert begin(client, panel, "P123456").headers["location"] == "/rate"
    assert len(study.service.study_status("bars").raters) == 2


def test_joins_from_one_address_are_limited(study: Study, monkeypatch) -> None:
    monkeypatch.setattr("rushes.web.views.study.rater.JOINS_PER_HOUR", 3)
    address = f"/join/{study.service.running.open_link('bars', RecruitmentPlan(platform='other', quota=9))}"
    client = study.site.client()
    assert [begin(client, address, f"p{n}").status_code for n in range(5)] == [303, 303, 303, 429, 429]
    refused = begin(client, address, "p9")
    assert "Many people have come from your network" in refused.text and int(refused.headers["retry-after"]) > 3000
    assert begin(client, address, decline="1").status_code == 200  # to say no is always possible
    assert len(study.service.study_status("bars").raters) == 3


def test_the_pages_of_the_open_link_speak_the_study_s_language(site: Site, clip_table) -> None:
    plan = StudyPlan(name="bars", title="Bars", gold_every=0, repeat_every=0, language="de")
    site.service.create_study(plan, training=False)
    site.service.import_csv("bars", clip_table)
    address = f"/join/{site.service.running.open_link('bars', PLAN)}"
    client = site.client()
    assert "Videoclips vergleichen" in client.get(address).text
    assert "Ihre Prolific-ID" in client.get(address).text
    assert "keine Prolific-ID" in begin(client, address, "x").text
    assert "Das ist in Ordnung" in begin(client, address, decline="1").text
    begin(client, address)
    assert "Ich möchte nicht teilnehmen" in client.get("/rate").text
    assert "Alle Plätze sind vergeben" in begin(site.client(), address, OTHER).text
    site.service.running.set_state("bars", "paused")
    client.send_form("/rate/consent")
    assert "macht eine Pause" in client.get("/rate").text and "macht eine Pause" in site.client().get(address).text


def test_the_log_says_which_owner_ran_the_study_and_others_see_no_codes_or_payments(study: Study, clip_table) -> None:
    study.admin()
    for name, role in (("maria", "owner"), ("vera", "viewer"), ("ada", "adjudicator")):
        study.service.add_admin(name, role=role, password=PASSWORD)
    maria, vera, ada = (study.site.client() for _ in range(3))
    for client, name in ((maria, "maria"), (vera, "vera"), (ada, "ada")):
        assert client.send_form("/login", {"username": name, "password": PASSWORD}).status_code == 303
    link = {"platform": "prolific", "quota": "5", "ids": "plain", "completion_code": "C1DONE"}
    address = re.search(r"/join/[\w-]+", maria.send_form("/studies/bars/link", link).text)[0]
    person = study.site.client()
    begin(person, address)
    person.send_form("/rate/consent")
    session = person.cookies["rushes_rater"]
    study.service.report_problem(session, study.service.next_task(session).assignment, kind="other", text="hm")
    for path in ("running", "running.json", "raters", "raters.json", "log", "log.json", "results.json"):
        seen = vera.get(f"/studies/bars/{path}")
        assert seen.status_code == 200 and PERSON not in seen.text and "C1DONE" not in seen.text, path
    assert "<form" not in vera.get("/studies/bars/running").text.split("</nav>")[-1]
    changes = {"state": {"state": "paused"}, "retire": {"sample": "T1_p00", "why": "x"}, "problems/1": {"note": "x"}}
    changes |= {"link": link, "erase": {"participant": PERSON, "sure": "yes"}}
    for client in (vera, ada):
        assert client.get("/studies/bars/payments.csv").status_code == 403
        for path, form in changes.items():
            assert client.send_form(f"/studies/bars/{path}", form).status_code == 403, path
    assert ada.get("/studies/bars/running").status_code == 403
    assert PERSON in maria.get("/studies/bars/payments.csv").text
    for path in ("problems/1", "retire", "state", "erase"):
        assert maria.send_form(f"/studies/bars/{path}", changes[path]).status_code in (200, 303), path
    done = {entry.action: entry.actor for entry in study.service.audit("bars")}
    named = ("opened link", "resolved a problem", "retired a pair", "paused")
    assert {action: done[action] for action in named} == dict.fromkeys(named, "maria")
    assert next(actor for action, actor in done.items() if "erased" in action) == "maria"
    assert study.service.study_status("bars").problems[0].resolved_by == "maria"
