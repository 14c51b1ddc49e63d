"""Pages of the checks and of withdrawal: what a rater meets, and what nobody else can do with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.study import StudyPlan
from rushes.study.records import ScreenRule

from .livesite import Client, Site, Study, decide


@pytest.fixture
def checked(site: Site, clip_table: Path) -> Study:
    rule = ScreenRule(min_width=900, device="desktop", min_mbps=2)
    plan = StudyPlan(name="checked", gold_every=0, repeat_every=0, screens=rule, retain_until="2031-01-31")
    site.service.create_study(plan, training=False)
    site.service.import_csv("checked", clip_table)
    return Study(site=site, name="checked")


def agreed(study: Study) -> Client:
    return study.rater(stage="training")


GOOD = {"width": 1200, "pointer": True, "mbps": 20.0}


def test_the_way_through_the_check(checked: Study) -> None:
    client = agreed(checked)
    assert client.get("/rate").headers["location"] == "/rate/screen"
    page = client.get("/rate/screen").text
    assert "at least 900 px" in page and "at least 2" in page and "Stop here" in page
    assert len(client.get("/rate/speed.bin").content) == 512 * 1024
    assert client.send_json("/rate/screen", GOOD | {"width": 390}).json() == {"passed": False, "lacking": ["width"]}
    assert client.send_json("/rate/screen", GOOD).json() == {"passed": True, "lacking": []}
    assert client.get("/rate/screen").status_code == 303 and "<video" in client.get("/rate").text


def test_who_fails_leaves(checked: Study) -> None:
    client = agreed(checked)
    client.send_json("/rate/screen", GOOD | {"pointer": False})
    assert "Your answers are kept" in client.send_form("/rate/stop").text
    assert "All done" in client.get("/rate").text or client.get("/rate").headers.get("location") == "/rate/screen"


@pytest.mark.parametrize(
    "report",
    [{}, GOOD | {"width": -1}, GOOD | {"mbps": 1e9}, GOOD | {"mbps": "NaN"}, GOOD | {"more": 1}, {"width": "wide"}],
)
def test_a_report_that_is_none_is_refused(checked: Study, report: dict[str, object]) -> None:
    client = agreed(checked)
    assert client.send_json("/rate/screen", report).status_code == 422
    assert client.get("/rate").headers["location"] == "/rate/screen"


def test_nobody_else_gets_the_bytes_or_sends_a_report(checked: Study) -> None:
    stranger = checked.site.client()
    assert stranger.get("/rate/speed.bin").status_code == 401
    assert stranger.send_json("/rate/screen", GOOD).status_code == 401
    client = agreed(checked)
    assert client.post("/rate/screen", json=GOOD).status_code == 403  # no CSRF token


def test_consent_states_the_day_and_the_link(checked: Study) -> None:
    page = checked.rater(stage="consent").get("/rate").text
    assert "2031-01-31" in page and "withdraw your answers" in page and "checks that your window" in page


def test_withdrawal_by_the_link_without_a_session(study: Study) -> None:
    client = study.rater()
    session = client.cookies["rushes_rater"]
    task = study.service.next_task(session)
    assert task is not None
    decide(study, session, task, "A")
    key = study.service.running.withdrawal_key(session)
    assert f"/withdraw/{key}" in client.get("/rate/instructions").text
    later = study.site.client()  # another browser, weeks after
    page = later.get(f"/withdraw/{key}")
    assert page.status_code == 200 and "in this study: 1." in page.text and study.service.votes(study.name)
    assert later.post(f"/withdraw/{key}").status_code == 403 and study.service.votes(study.name)  # no CSRF token
    assert "are deleted" in later.send_form(f"/withdraw/{key}").text
    assert study.service.votes(study.name) == []
    assert "are deleted" in later.get(f"/withdraw/{key}").text
    for other in ("x", "%00", "A" * 500):
        assert later.get(f"/withdraw/{other}").status_code in (404, 410)
        assert later.send_form(f"/withdraw/{other}").status_code in (404, 410)


def test_the_owner_sees_withdrawals_and_the_next_step(study: Study) -> None:
    client = study.rater()
    session = client.cookies["rushes_rater"]
    task = study.service.next_task(session)
    assert task is not None
    decide(study, session, task, "A")
    study.service.running.withdraw(study.service.running.withdrawal_key(session))
    admin = study.admin()
    page = admin.get(f"/studies/{study.name}").text
    assert "took 1 vote back" in page
    assert "3 pairs wait for raters." in page
    assert "took 1 back" in admin.get(f"/studies/{study.name}/raters").text
