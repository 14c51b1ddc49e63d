"""The owner's pages for every method, from no vote to closed: a sentence first, the next step, what to watch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import pvariance
from typing import Any

import pytest

from .livesite import PASSWORD, Client, Site, Study
from .owned import STATES, voted_study
from .trials import METHODS, SYSTEMS
from .visitor import Visitor, check_page

TABS = ("", "/raters", "/running", "/disagreements", "/faults", "/results", "/export", "/log")
QUICK = {("acr-5", "enough"), ("best-worst-3", "few"), ("dcr-5", "nothing"), ("pairs-7", "few"), ("acr-hr-9", "few")}
EVERY = [
    pytest.param(text, state, marks=() if (text, state) in QUICK else pytest.mark.soak)
    for text in METHODS
    for state in STATES
]


@pytest.mark.parametrize(("text", "state"), EVERY)
def test_every_tab_begins_with_a_sentence(site: Site, tmp_path: Path, text: str, state: str) -> None:
    study = voted_study(site, tmp_path, text, state)
    owner, address = study.admin(), f"/studies/{text}-{state}"
    pages = {tab: owner.get(f"{address}{tab}") for tab in TABS}
    assert {tab: page.status_code for tab, page in pages.items()} == dict.fromkeys(TABS, 200)
    pairs = text in ("rubric", "simple") or text.startswith("pairs")
    unit = "pair" if pairs else "set" if text.startswith("best") else "clip"
    for tab, page in pages.items():
        assert re.search(r'<p class="next">.+? <a href="/studies/', page.text), tab
        assert (f'href="{address}/adjudication"' in page.text) == pairs
        assert pairs or not re.search(r"\bpairs?\b", shown(page.text)) or tab in ("/export", "/log"), tab
    result = pages["/results"].text
    sentence, picture, table = (result.find(part) for part in ("lead headline", 'class="forest"', "<table"))
    told = shown(result[sentence:])
    assert 0 < sentence and "to go" in told or "votes; the study is done" in told
    if state == "nothing":
        assert told.startswith("No votes yet. 0 of about") and picture == table == -1
    else:
        ranked = told.startswith("Raters ranked ") and sentence < picture < table
        assert ranked or told.startswith("These votes cannot be ranked.")
    waits = {"nothing": "Nobody has been invited yet.", "few": f"{unit}s wait for raters."}
    assert waits.get(state, "") in pages[""].text
    assert owner.get(f"{address}/adjudication").status_code == (200 if pairs else 303)


def shown(page: str) -> str:
    """What a reader reads of the page's middle, from after the tabs on."""
    middle = page.partition("</nav>\n{}".format('<p class="next">'))[2] or page
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r'^[^<]*"[^<]*>', "", middle)).split())


def adjudicator(study: Study) -> Client:
    study.admin()
    study.service.add_admin("ada", role="adjudicator", password=PASSWORD)
    client = study.site.client()
    assert client.send_form("/login", {"username": "ada", "password": PASSWORD}).status_code == 303
    return client


def test_clips_on_which_ratings_differ_most_come_first_and_can_be_watched(site: Site, tmp_path: Path) -> None:
    study = voted_study(site, tmp_path, "acr-5", "enough")
    owner = study.admin()
    data = owner.get(f"/studies/{study.name}/disagreements.json").json()
    ratings = {}
    for one in study.service.judgements(study.name):
        ratings.setdefault(one.sample, []).append(one.ratings["overall"])
    spread = {sample: pvariance(given) for sample, given in ratings.items()}
    assert data["total"] == len([value for value in spread.values() if value]) > 5
    order = [spread[item["sample"]] for item in data["divided"]]
    assert order == sorted(order, reverse=True)
    first = data["divided"][0]
    assert sorted(int(one["ratings"]["overall"][0]) for one in first["answers"]) == sorted(ratings[first["sample"]])
    assert owner.get(first["clips"][0]["address"]).status_code == 200
    assert first["clips"][0]["label"] in SYSTEMS and first["prompt"].startswith("A lantern swings")


@pytest.mark.parametrize("text", ["acr-hr-5", "best-worst-3"])
def test_an_adjudicator_learns_no_system_from_what_divides_raters(site: Site, tmp_path: Path, text: str) -> None:
    study = voted_study(site, tmp_path, text, "enough")
    client = adjudicator(study)
    client.seen.clear()
    pages = [client.get(f"/studies/{study.name}/disagreements{ending}") for ending in ("", ".json")]
    assert [page.status_code for page in pages] == [200, 200]
    clips = [clip for item in pages[1].json()["divided"] for clip in item["clips"]]
    assert {client.get(clip["address"]).status_code for clip in clips} == {200}
    assert len({clip["address"] for clip in clips}) == len(clips)
    assert not [system for system in SYSTEMS if system.encode() in client.seen]
    for tab in ("", "/faults", "/results", "/raters", "/faults.json"):
        assert client.get(f"/studies/{study.name}{tab}").status_code == 403


@pytest.mark.parametrize("text", ["rubric", "acr-5"])
def test_an_adjudicator_is_offered_only_what_opens(site: Site, tmp_path: Path, text: str) -> None:
    study = voted_study(site, tmp_path, text, "enough")
    client, address = adjudicator(study), f"/studies/{study.name}"
    own = [f"{address}/disagreements", *[f"{address}/adjudication"] * (text == "rubric")]
    assert own[-1] in client.get("/").text
    for page in own:
        text = client.get(page).text
        links = set(re.findall(r'<a [^>]*href="(/[^"#]*)"', text))
        assert {link for link in links if link.startswith(address)} == set(own) and "/account" in links
        assert {link: client.get(link).status_code for link in links if client.get(link).status_code != 200} == {}
    everything = study.admin().get(own[0]).text
    assert f"{address}/results" in everything and "/studies/new" in everything


def test_the_table_of_studies_says_what_each_shows(site: Site, tmp_path: Path) -> None:
    for text, unit in (("rubric", "pair"), ("acr-5", "clip"), ("best-worst-3", "set")):
        (folder := tmp_path / unit).mkdir()
        study = voted_study(site, folder, text, "nothing")
        row = re.search(rf'href="/studies/{study.name}">.*?</tr>', study.admin().get("/").text, re.S)
        assert row is not None and re.search(rf">\d+ {unit}s<", row[0]) and ">Pairs<" not in row[0]


@pytest.mark.parametrize("text", ["rubric", "best-worst-3"])
def test_faults_are_listed_by_clip_with_their_times(site: Site, tmp_path: Path, text: str) -> None:
    study = voted_study(site, tmp_path, text, "enough")
    owner = study.admin()
    data = owner.get(f"/studies/{study.name}/faults.json").json()
    answers = [*study.service.votes(study.name), *study.service.judgements(study.name)]
    sent = sorted((one.sample, mark.clip, mark.ms, mark.tag, one.rater) for one in answers for mark in one.faults)
    listed = [
        (one["sample"], one["clip"]["system"], mark["ms"], mark["tag"], rater)
        for one in data["clips"]
        for mark in one["marks"]
        for rater in mark["raters"]
    ]
    assert sorted(listed) == sent and sent
    lost = sum(sum(one["reasons"].values()) for one in data["clips"])
    assert lost == sum(1 for one in study.service.votes(study.name) if one.primary_tag and one.winner != "tie")
    counts = [sum(len(m["raters"]) for m in one["marks"]) + sum(one["reasons"].values()) for one in data["clips"]]
    assert counts == sorted(counts, reverse=True)
    assert {owner.get(one["address"]).status_code for one in data["clips"]} == {200}


LOOKS = {"light": (1440, 900), "dark": (390, 844)}


@pytest.mark.browser
@pytest.mark.parametrize(
    "text", [pytest.param(text, marks=() if text == "acr-5" else pytest.mark.soak) for text in METHODS]
)
def test_the_pages_can_be_read_and_a_fault_is_shown_in_its_clip(
    site: Site, visit: Callable[..., Visitor], tmp_path: Path, text: str
) -> None:
    study = voted_study(site, tmp_path, text, "enough")
    cookie: dict[str, Any] = {"name": "rushes_admin", "value": study.admin().cookies["rushes_admin"], "url": site.url}
    for scheme, (width, height) in LOOKS.items():
        visitor = visit(study, color_scheme=scheme, viewport={"width": width, "height": height})
        visitor.context.add_cookies([cookie])
        for tab in ("", "/raters", "/disagreements", "/faults", "/results"):
            visitor.page.goto(f"/studies/{study.name}{tab}")
            check_page(visitor.page, f"{text} {tab} {scheme}")
    visitor.page.goto(f"/studies/{study.name}/faults")
    visitor.until("document.querySelector('video').readyState >= 1")
    visitor.page.locator("[data-seek]").first.click()
    visitor.until("Math.abs(document.querySelector('video').currentTime - 0.08) < 0.001")
