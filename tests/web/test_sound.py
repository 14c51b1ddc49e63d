"""Clips with sound in a real browser: which one is heard, and that it is never both."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rushes.media import AudioTrack, write_clip
from rushes.study import StudyPlan

from .conftest import FPS, moving_bar
from .livesite import SYSTEMS, Site, Study
from .visitor import Visitor

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

HEARD = """() => [...document.querySelectorAll("[data-side]")].filter((figure) => {
  const video = figure.querySelector("video");
  return !video.paused && !video.muted && video.volume > 0 && video.webkitAudioDecodedByteCount > 0;
}).map((figure) => figure.dataset.side).join("")"""
RATE = 16_000


def tone(hertz: float) -> AudioTrack:
    return AudioTrack.of((0.3 * np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE)).astype(np.float32), RATE)


@pytest.fixture
def sounding(site: Site, tmp_path: Path) -> Callable[..., Study]:
    """A study of one pair, in which these systems' clips have a sound track of their own."""

    def make(*systems: str) -> Study:
        rows = [("sample_id", "task_id", "prompt_id", "system", "path")]
        for number, system in enumerate(SYSTEMS):
            track = tone(300 + 200 * number) if system in systems else None
            write_clip(tmp_path / f"{system}.mp4", moving_bar(100 + 60 * number, 0), fps=FPS, audio=track)
            rows.append(("s1", "T1", "p1", system, f"{system}.mp4"))
        with open(tmp_path / "pairs.csv", "w", newline="") as out:
            csv.writer(out).writerows(rows)
        site.service.create_study(StudyPlan(name="sound", gold_every=0, repeat_every=0))
        site.service.import_csv("sound", tmp_path / "pairs.csv")
        return Study(site=site, name="sound")

    return make


def heard(rater: Visitor, expected: str) -> None:
    rater.until(f"({HEARD})() === '{expected}'")


def test_one_clip_is_heard_at_a_time_and_the_button_says_which(
    visit: Callable[..., Visitor], sounding: Callable[..., Study]
) -> None:
    rater = visit(of=sounding(*SYSTEMS)).at_work()
    page = rater.page
    button = page.locator("[data-sound]")
    page.locator("[data-loop]").click()  # so that there is time to listen
    playwright.expect(button).to_have_text("Sound: A")
    page.get_by_role("button", name="Play both").click()
    heard(rater, "A")
    for expected, says in (("B", "Sound: B"), ("", "Sound: off"), ("A", "Sound: A")):
        button.click()
        playwright.expect(button).to_have_text(says)
        heard(rater, expected)
    page.keyboard.press("s")
    heard(rater, "B")
    page.get_by_role("button", name="Play A", exact=True).click()  # alone, a clip is heard whatever was chosen for both
    heard(rater, "A")
    page.get_by_role("button", name="Play B", exact=True).click()
    heard(rater, "B")
    button.click()
    playwright.expect(button).to_have_text("Sound: off")
    page.get_by_role("button", name="Play A", exact=True).click()
    rater.until("!document.querySelector('[data-side=A] video').paused")
    heard(rater, "")


def test_where_one_clip_has_sound_it_is_the_one_that_is_heard(
    visit: Callable[..., Visitor], sounding: Callable[..., Study]
) -> None:
    study = sounding(SYSTEMS[1])
    rater = visit(of=study).at_work()
    page = rater.page
    side = page.locator("[data-side]", has=page.locator("video[data-audio='1']")).get_attribute("data-side")
    button = page.locator("[data-sound]")
    playwright.expect(button).to_have_text(f"Sound: {side}")
    page.locator("[data-loop]").click()
    page.get_by_role("button", name="Play both").click()
    heard(rater, str(side))
    button.click()
    playwright.expect(button).to_have_text("Sound: off")
    heard(rater, "")
    button.click()
    playwright.expect(button).to_have_text(f"Sound: {side}")  # the silent clip is no choice
