"""The rater's page in a real browser: how large clips stand, keys, what is recorded, what is seen when it fails."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.browsers import fits, shoot, until

from rushes.instruments.preference.own_rubric import own_rubric
from rushes.media import write_clip
from rushes.study import StudyPlan

from .conftest import FPS, moving_bar
from .livesite import SYSTEMS, Site, Study, vote_through
from .visitor import Visitor

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

PICTURES = """() => [...document.querySelectorAll("[data-side] video")].map((video) =>
  Math.min(video.clientWidth, video.clientHeight * video.videoWidth / video.videoHeight))"""
IN_SIGHT = """() => [...document.querySelectorAll("[data-side] video")].every((video) => {
  const { top, bottom } = video.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
})"""


def loaded(rater: Visitor) -> None:
    rater.until("[...document.querySelectorAll('video')].every((video) => video.readyState >= 1)")


def test_clips_are_as_large_as_the_window_and_stay_in_sight(visit: Callable[..., Visitor]) -> None:
    """16:9 clips fill half of the window's width each; on a phone they stand above each other, and the question with
    its answers is on the same screen."""
    rater = visit().at_work()
    page = rater.page
    for width, height, least in ((1440, 900, 690), (1920, 1080, 930), (2560, 1440, 1250), (3840, 2160, 1890)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        loaded(rater)
        rater.until(f"({PICTURES})().every((width) => width >= {least})")
        rater.until(f"({IN_SIGHT})()")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator("#note").scroll_into_view_if_needed()
    rater.until(f"({IN_SIGHT})() && scrollY > 100")
    rater.until(f"({PICTURES})().every((width) => width >= 500)")
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("scrollTo(0, 0)")
    rater.until(f"({PICTURES})().every((width) => width >= 250)")
    rater.until(
        "[...document.querySelectorAll('[data-side] video, .winner label')].every((one) => {"
        " const box = one.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; })"
    )
    page.locator("#note").scroll_into_view_if_needed()
    rater.until(f"({IN_SIGHT})() && scrollY > 100")
    shoot(page, "pair")


LEFT_BY_THEN = """() => addEventListener("fullscreenchange",
  () => Object.defineProperty(document, "fullscreenElement", { value: null, configurable: true }),
  { capture: true, once: true })"""
"""When the page hears of it, full screen has been left again: so it is for a rater who presses `f` twice, fast."""
SURROUND = """() => [...document.querySelectorAll("body, [data-stage], [data-side] video")].map((element) =>
  getComputedStyle(element).backgroundColor)"""


def test_a_vote_takes_fifteen_keys_at_most_and_says_how_it_was_seen(visit: Callable[..., Visitor]) -> None:
    """Two plays, the winner, a tag, eight ratings and the chord to send: 13 presses, on a page nobody clicked on."""
    rater = visit(color_scheme="dark", device_scale_factor=2, viewport={"width": 1440, "height": 900}).at_work()
    page = rater.page
    assert set(page.evaluate(SURROUND)) == {"rgb(117, 117, 117)"}
    page.emulate_media(color_scheme="light")
    assert set(page.evaluate(SURROUND)) == {"rgb(117, 117, 117)"}
    page.emulate_media(color_scheme="dark")
    loaded(rater)
    page.get_by_role("button", name="One clip pixel").click()
    rater.until("document.querySelector('video').clientWidth === 80")  # 160 clip pixels on 160 screen pixels
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("o")
    rater.until("document.querySelector('video').clientWidth > 600")
    page.evaluate(LEFT_BY_THEN)
    page.keyboard.press("f")
    rater.until("Object.hasOwn(document, 'fullscreenElement')")
    page.evaluate("delete document.fullscreenElement")
    rater.until("document.fullscreenElement?.matches('[data-stage]') === true")
    page.keyboard.press("f")
    rater.until("document.fullscreenElement === null && innerWidth === 1440")
    presses = 0

    def press(key: str) -> None:
        nonlocal presses
        presses += 1
        page.keyboard.press(key)

    again = rater.play_until_counted(lambda: press(" ")) - 2
    press("a")
    playwright.expect(page.locator("[data-blame]")).to_have_text("What was wrong with clip B, the one that lost?")
    press("h")
    for score in "54433422":
        press(score)
    playwright.expect(page.locator("[name=winner][value=A]")).to_be_checked()
    playwright.expect(page.locator("[data-submit]")).to_be_focused()
    press("Control+Enter")
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()
    assert presses - again == 13
    (vote,) = rater.study.service.votes("bars")
    assert vote.primary_tag == "Flicker / temporal jitter"
    given = sorted(tuple(sorted(both, reverse=True)) for both in vote.ratings.values())
    assert given == [(2, 2), (4, 3), (4, 3), (5, 4)]
    seen = dict(vote.viewing)
    assert seen["viewport"] == [1440, 900] and seen["pixel_ratio"] == 2.0 and seen["theme"] == "dark"
    assert seen["one_to_one"] is True and seen["full_screen"] is True and seen["language"] == "en"
    assert seen["left_clip"][0] >= 690 and len(seen["screen"]) == 2


def test_a_digit_rates_the_focused_scale_and_leaves_the_winner_alone(visit: Callable[..., Visitor]) -> None:
    """`2` on "Prompt Adherence, clip A" once changed the winner from A to B, in silence."""
    rater = visit().at_work()
    page = rater.page
    page.keyboard.press("a")
    scale = page.get_by_role("radiogroup", name="Prompt Adherence, clip A")
    scale.locator("input").first.focus()
    page.keyboard.press("2")
    playwright.expect(page.locator("[name=winner][value=A]")).to_be_checked()
    playwright.expect(scale.locator("[value='2']")).to_be_checked()
    playwright.expect(
        page.get_by_role("radiogroup", name="Prompt Adherence, clip B").locator("input").first
    ).to_be_focused()
    page.locator("[name=winner]").first.focus()
    page.keyboard.press("2")  # away from the scales it shows where a digit counts, and rates nothing
    playwright.expect(page.locator("[name=winner][value=A]")).to_be_checked()
    assert page.locator("[data-rate] input:checked").count() == 1
    for key in ("h", "c", "c", "h", "d"):  # main, added, taken back, main taken back, another main
        page.keyboard.press(key)
    playwright.expect(page.locator("[name=primary_tag]:checked")).to_have_value("Added hallucinated element")
    assert page.locator("[name=secondary_tags]:checked").count() == 0
    page.keyboard.press("n")
    page.keyboard.type("1 b t")
    page.keyboard.press("Escape")
    playwright.expect(page.get_by_label("note")).to_have_value("1 b t")
    playwright.expect(page.locator("[name=winner][value=A]")).to_be_checked()
    page.keyboard.press("t")
    playwright.expect(page.locator("[data-blame]")).to_have_text("A tie: name the fault that both clips have.")
    page.keyboard.press("?")
    for words in ("rate the scale that has the focus", "the letter beside a tag", "send (Cmd on a Mac)"):
        playwright.expect(page.get_by_role("dialog", name="Keys")).to_contain_text(words)


def test_what_is_missing_and_what_was_not_sent_is_seen(visit: Callable[..., Visitor]) -> None:
    """The list follows the form; a vote that got lost on the way is shown in a place of its own and tried again."""
    rater = visit().at_work()
    page = rater.page
    rater.send()
    missing = page.locator("[data-missing]")
    playwright.expect(page.get_by_role("alert")).to_contain_text("This vote is not complete yet")
    playwright.expect(missing).to_contain_text("Choose A, B or Tie.")
    playwright.expect(missing.locator("li")).to_have_count(12)  # two watches, winner, tag, four scales for two clips
    page.keyboard.press("b")
    playwright.expect(missing).not_to_contain_text("Choose A, B or Tie.")
    rater.fill(winner="B")
    playwright.expect(missing.locator("li")).to_have_count(2)
    for side in "AB":
        playwright.expect(missing).to_contain_text(f"Watch clip {side}")
    assert rater.study.service.votes("bars") == []
    playwright.expect(page.locator("[data-todo]")).to_have_text("To do: watch A, watch B.")
    playwright.expect(page.locator("[data-saved]")).to_have_text("Saved.")
    rater.watched()
    playwright.expect(missing).to_be_hidden()
    playwright.expect(page.locator("[data-todo]")).to_have_text("Ready to submit.")
    rater.context.set_offline(True)
    rater.send()
    failure = page.locator("[data-failure]")
    playwright.expect(failure).to_contain_text("Not sent: no connection to the server. Your answer is kept.")
    page.get_by_label("note").fill("typed later")
    playwright.expect(page.locator("[data-saved]")).to_contain_text("Kept in this browser")
    playwright.expect(failure).to_be_visible()  # the draft's message has a place of its own
    rater.context.set_offline(False)
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()  # nobody pressed anything
    assert [vote.note for vote in rater.study.service.votes("bars")] == ["typed later"]


def test_an_answer_given_before_the_script_has_come_is_saved(visit: Callable[..., Visitor], study: Study) -> None:
    """On a slow line a rater reads and clicks before the page listens: that was saved with the next click, or never."""
    rater = visit()
    rater.sign_in()
    held: list[playwright.Route] = []
    rater.page.route("**/static/rate.js", lambda route: held.append(route))
    rater.page.goto("/rate", wait_until="commit")
    rater.page.locator("[name=primary_tag][value^=Flicker]").press("Space")
    until(rater.page, lambda: held)
    (script,) = held
    script.continue_()
    playwright.expect(rater.page.locator("[data-saved]")).to_have_text("Saved.")
    task = study.service.next_task(rater.session.cookies["rushes_rater"])
    assert task.draft is not None and task.draft.primary_tag == "Flicker / temporal jitter"


def test_german_pages_store_the_rubrics_own_words(visit: Callable[..., Visitor], study: Study) -> None:
    rater = visit(viewport={"width": 390, "height": 844}).at_work()
    page = rater.page
    page.get_by_role("button", name="Deutsch").click()
    playwright.expect(page.get_by_text("Paar 1 von 3")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "de"
    assert fits(page)
    page.locator(".tag .main").get_by_text("Flackern / zeitliches Zittern").click()
    playwright.expect(page.locator("[data-saved]")).to_have_text("Gespeichert.")
    assert (
        study.service.next_task(rater.session.cookies["rushes_rater"]).draft.primary_tag == "Flicker / temporal jitter"
    )
    page.get_by_role("button", name="English").click()
    playwright.expect(page.get_by_text("Pair 1 of 3")).to_be_visible()


def test_the_last_page_counts_and_offers_a_third_look(visit: Callable[..., Visitor], study: Study) -> None:
    rater = visit().at_work()
    page = rater.page
    vote_through(study, rater.session, lambda task: "A")
    page.goto("/rate")
    playwright.expect(page.get_by_role("heading", name="All done")).to_be_visible()
    playwright.expect(page.locator("[data-pairs]")).to_have_text("3")
    playwright.expect(page.locator("[data-more]")).to_be_hidden()
    session = rater.session.cookies["rushes_rater"]
    assert not study.service.more_work(session)
    _add_pair(study, Path(study.service.media_folder) / "more")
    assert study.service.more_work(session)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # the page asks by itself every 20 s
    playwright.expect(page.locator("[data-more]")).to_be_visible()
    page.get_by_role("link", name="Show me the pair").click()
    playwright.expect(page.get_by_text("Pair 4 of")).to_be_visible()


def _add_pair(study: Study, folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = [("sample_id", "task_id", "prompt_id", "system", "path")]
    for number, system in enumerate(SYSTEMS):
        write_clip(folder / f"{number}.mp4", moving_bar(50 + 90 * number, 8), fps=FPS)
        rows.append(("T1_p09", "T1", "p09", system, f"{number}.mp4"))
    with open(folder / "pairs.csv", "w", newline="") as out:
        csv.writer(out).writerows(rows)
    study.service.import_csv(study.name, folder / "pairs.csv")


def test_an_edit_shows_its_source_and_a_refusal_is_a_card(
    visit: Callable[..., Visitor], site: Site, study: Study, tmp_path: Path
) -> None:
    """Neither is part of the watch: the source may be looked at, and the card has nothing to play or to rate."""
    for name, shade in (("one", 90), ("two", 180), ("before", 20)):
        write_clip(tmp_path / f"{name}.mp4", moving_bar(shade, 1), fps=FPS)
    said = "I cannot make that."
    rows = [
        ("sample_id", "task_id", "prompt_id", "system", "path", "source", "refused"),
        ("T4_p1", "T4", "p1", SYSTEMS[0], "one.mp4", "before.mp4", ""),
        ("T4_p1", "T4", "p1", SYSTEMS[1], "two.mp4", "before.mp4", ""),
        ("T7_p1", "T7", "p1", SYSTEMS[0], "one.mp4", "", ""),
        ("T7_p1", "T7", "p1", SYSTEMS[1], "", "", said),
    ]
    with open(tmp_path / "pairs.csv", "w", newline="") as out:
        csv.writer(out).writerows(rows)
    words = own_rubric(
        {
            "dimensions": [{"key": "care", "label": "Care", "anchors": [[5, "all of it"], [1, "none"]]}],
            "tag_groups": [{"label": "Faults", "tags": ["Careless", "Unsafe"]}],
            "full_watches": 1,
            "tag_on_tie": False,
        }
    )
    site.service.create_study(StudyPlan(name="edits", gold_every=0, repeat_every=0, rubric=words))
    site.service.import_csv("edits", tmp_path / "pairs.csv")
    edits = Study(site=site, name="edits")
    rater = visit(of=edits).at_work()
    page = rater.page
    seen = set()
    for number in (1, 2):
        rater.at_pair(number)
        card, source = page.get_by_text(said), page.locator("[data-source]")
        seen.add((card.count(), source.count()))
        if source.count():
            rater.until("document.querySelector('[data-source]').readyState >= 3")
            page.keyboard.press("v")
            rater.until("document.querySelector('[data-source]').currentTime > 0")
        rater.play_until_counted(page.get_by_role("button", name="Play both").click)
        playwright.expect(page.locator("[data-todo]")).not_to_contain_text("watch")
        page.keyboard.press("t")
        for _ in range(1 if card.count() else 2):
            page.keyboard.press("3")
        playwright.expect(page.locator("[data-todo]")).to_have_text("Ready to submit.")
        page.keyboard.press("Control+Enter")
    playwright.expect(page.get_by_role("heading", name="All done")).to_be_visible()
    assert seen == {(0, 1), (1, 0)}
    votes = {vote.family: vote for vote in site.service.votes("edits")}
    assert votes["T4"].ratings == {"care": (3, 3)} and votes["T4"].primary_tag == ""
    assert votes["T7"].ratings in ({"care": (3, None)}, {"care": (None, 3)})
    assert words.version in site.service.study_status("edits").agreement.definition.signature
    assert len(site.service.clips("edits")) == 5  # two of the training pair, three of the systems; no source


def test_the_sound_check_is_heard_typed_and_kept(visit: Callable[..., Visitor], site: Site, tmp_path: Path) -> None:
    from rushes.media import AudioTrack
    from rushes.study.raters.sound_check import sequence

    tone = AudioTrack.of((0.2 * np.sin(np.arange(16_000) / 5)).astype(np.float32), 16_000)
    rows = [("sample_id", "task_id", "prompt_id", "system", "path")]
    for number, system in enumerate(SYSTEMS):
        write_clip(tmp_path / f"{number}.mp4", moving_bar(90 + 80 * number, 2), fps=FPS, audio=tone)
        rows.append(("s1", "T8", "p1", system, f"{number}.mp4"))
    with open(tmp_path / "pairs.csv", "w", newline="") as out:
        csv.writer(out).writerows(rows)
    consent = {"contact": "lab@example.org", "compensation": "9 EUR an hour", "de": {"contact": "Labor, Zimmer 3"}}
    plan = StudyPlan(name="heard", gold_every=0, repeat_every=0, audio_check=True, consent=consent, language="de")
    site.service.create_study(plan)
    site.service.import_csv("heard", tmp_path / "pairs.csv")
    rater = visit(of=Study(site=site, name="heard"))
    page = rater.page
    page.goto(Study(site=site, name="heard").invitation())
    page.get_by_role("button", name="Begin").click()
    for text in ("Labor, Zimmer 3", "9 EUR an hour", "365 Tage", "lokalen Speicher"):
        playwright.expect(page.get_by_text(text)).to_be_visible()
    page.get_by_role("button", name="nehme teil").click()
    playwright.expect(page.get_by_role("heading", name="Können Sie das hören?")).to_be_visible()
    rater.until("document.querySelector('audio').duration > 2")
    page.get_by_label("Töne in jeder Gruppe").fill("9 9 9")
    page.get_by_role("button", name="Weiter").click()
    playwright.expect(page.get_by_role("alert")).to_contain_text("Das war es nicht")
    page.goto("/rate/training")
    playwright.expect(page.get_by_role("heading", name="Können Sie das hören?")).to_be_visible()
    page.get_by_label("Töne in jeder Gruppe").fill(" ".join(sequence(1, "rater_01", 1)))
    page.get_by_role("button", name="Weiter").click()
    playwright.expect(page.get_by_role("heading", name="Anleitung")).to_be_visible()
    actions = [entry.action for entry in site.service.audit("heard")]
    assert actions.count("failed the sound check") == 1 and actions.count("passed the sound check") == 1
