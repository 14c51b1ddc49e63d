"""The page of a clip that a judge was asked about: prompt, questions, answers, reasons and control beside it."""

from __future__ import annotations

import html
from collections.abc import Iterator

import pytest
from tests.instruments.judge.judged_world import Judge, make_prompts, make_system

from rushes.instruments.judge.evaluate import judge_clips
from rushes.web.view_app import view_app

from .livesite import Client, Site
from .runsite import HOSTILE, judged_run, measured_runs


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    home = tmp_path_factory.mktemp("judged")
    measured_runs(home)
    judged_run(home)
    systems = {name: make_system(home / name, 4, contrast) for name, contrast in (("amber", 0.6), ("birch", 0.2))}
    given = {"judge": Judge(), "prompts": make_prompts(home / "prompts.csv", 4), "frames": 3, "side": 64}
    judge_clips(systems, form="pairs", run=home / "runs/pairs", **given)  # type: ignore[arg-type]
    judge_clips(systems["amber"], form="questions", run=home / "runs/questions", **given)  # type: ignore[arg-type]
    site = Site(view_app([home / "runs"], token="open"))  # type: ignore[arg-type]
    client = site.client()
    assert client.get("/?token=open").status_code == 200
    yield client
    site.close()


def panel(browser: Client, run: str, clip: str) -> dict:
    return browser.get(f"/runs/{run}/clip.json?id={clip}").json()["asked"]


def test_every_answer_its_reason_the_control_and_the_prompt_are_beside_the_clip(browser: Client) -> None:
    page = browser.get("/runs/judge/clip?id=take_1").text
    assert html.escape(f"A bar crosses. {HOSTILE[0]}", quote=False) in page, "the prompt"
    assert "How well does the clip show what the prompt asks for?" in page
    found = panel(browser, "judge", "take_1")
    follows = found["questions"][0]
    assert [(row["of"], row["answer"]) for row in follows["answers"][:2]] == [("Answer", "5"), ("Answer", "2")]
    control = follows["answers"][2]
    assert (
        control["of"].startswith("Control, with another clip's prompt: “A bar crosses. ") and control["answer"] == "2"
    )
    assert [row["reason"].split(".")[0] for row in follows["answers"]] == ["Seen 1", "Seen 2", "Seen 1"]
    assert follows["value"] == "3.500" and not follows["planted"]
    assert [row["of"] for row in found["questions"][1]["planted"]][:2] == ["blur, mild", "blur, strong"]


def test_what_the_judge_is_worth_is_above_its_numbers(browser: Client) -> None:
    worth = panel(browser, "judge", "take_1")["worth"]
    assert worth.startswith("It is not clear whether this judge follows the prompt")
    for address in ("/runs/judge", "/runs/judge/clip?id=take_1"):
        page = html.unescape(browser.get(address).text)
        assert page.index(worth) < page.index("judge_grade")


def test_texts_of_prompts_and_judges_stay_texts(browser: Client) -> None:
    for address in ("/runs/judge", "/runs/judge/clip?id=take_1"):
        page = browser.get(address).text
        assert "window.hit=1" in page and "<script>window.hit" not in page and "<img src=x" not in page


def test_a_pair_names_the_preferred_system_in_either_order(browser: Client) -> None:
    found = panel(browser, "pairs", "p2")
    (one,) = found["questions"]
    assert [(row["of"], row["answer"]) for row in one["answers"]] == [
        ("amber shown before birch (2 times)", "amber"),
        ("birch shown before amber (2 times)", "amber"),
    ]
    assert one["value"] == "amber 1" and "That of birch is " in found["shows"]


def test_questions_from_the_prompt_have_their_negations_and_another_prompts(browser: Client) -> None:
    *own, other = panel(browser, "questions", "p0")["questions"]
    assert [(row["of"], row["answer"]) for row in own[0]["answers"]] == [
        ("Answer (2 times)", "yes"),
        ("Negated: “Is it another colour than red?”", "no"),
    ]
    assert other["question"].startswith("Control, questions of another clip's prompt: “a ")
    assert {row["answer"] for row in other["answers"]} == {"no", "yes"}


def test_the_judge_itself_has_no_panel(browser: Client) -> None:
    assert panel(browser, "judge", "judge") is None
    assert "Questions, answers, reasons" not in browser.get("/runs/judge/clip?id=judge").text
