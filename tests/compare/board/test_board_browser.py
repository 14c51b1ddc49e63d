"""The board in a real browser, opened from disk, with clips that lie beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.browsers import PATIENCE_MS, fits, until

from rushes.compare.board.board import write_board
from rushes.compare.board.model import BoardClip, BoardData, Reading, System
from rushes.core import Measurement
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.media import write_clip
from rushes.storage.runs import read_run
from rushes.suite.prompts import Prompt

from .board_made import board_data, reading, verdict

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

FRAMES = {"amber": 20, "birch": 12}


def bar(frames: int, speed: int) -> Iterator[np.ndarray]:
    for number in range(frames):
        frame = np.full((48, 64, 3), 60, np.uint8)
        frame[8:40, (speed * number) % 56 : (speed * number) % 56 + 8] = 230
        yield frame


@pytest.fixture(scope="module")
def measured_board(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BoardData]:
    """Two systems, two prompts, clips of other lengths; birch's second clip is gone after it was measured."""
    folder = tmp_path_factory.mktemp("suite")
    for speed, (name, frames) in enumerate(FRAMES.items(), 2):
        (folder / name).mkdir()
        for prompt in ("p1", "p2"):
            write_clip(folder / name / f"{prompt}.mp4", bar(frames, speed), fps=10)
    evaluate_clips([folder / name for name in FRAMES], run=folder / "run", jobs=1)
    run = read_run(folder / "run")
    clips: dict[tuple[str, str], BoardClip] = {}
    values: dict[str, dict[str, Measurement]] = {name: {} for name in FRAMES}
    for subject in run.subjects:
        path = Path(subject.path)
        name = path.parent.name
        clips[name, path.stem] = BoardClip(path=str(path), run=0, subject=subject.id, facts=subject.facts)
        values[name][path.stem] = run.one("freeze_frame_ratio", subject=subject.id)
    whole = {name: row["p1"] for name, row in values.items()}
    one = Reading(definition=whole["amber"].definition, label="frozen", instrument="clip", per_prompt=True)
    (folder / "birch" / "p2.mp4").unlink()
    data = BoardData(
        systems=tuple(System(name=name, runs=(run,)) for name in FRAMES),
        prompts=(Prompt(id="p1", text="a bar", group="shapes"), Prompt(id="p2", text="another", group="things")),
        readings=(one,),
        values={(name, one.key): row for name, row in values.items()},
        whole={(name, one.key): m for name, m in whole.items()},
        clips=clips,
    )
    made = write_board(data, folder / "board.html", verdicts={}, jobs=1)
    return Path(made.path), data


@pytest.fixture(scope="module")
def window(browser: playwright.Browser) -> tuple[playwright.Page, list[str]]:
    """One tab for the tests of this file, each of which opens its page anew; and what went wrong in it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
    return page, faults


@pytest.fixture
def tab(window: tuple[playwright.Page, list[str]]) -> Iterator[playwright.Page]:
    page, faults = window
    yield page
    assert faults == []


def opened(tab: playwright.Page, path: Path) -> playwright.Page:
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]")
    return tab


def times(tab: playwright.Page) -> list[float]:
    found: list[float] = tab.evaluate("[...document.querySelectorAll('#theatre video')].map((v) => v.currentTime)")
    return found


def test_clips_are_named_from_where_the_page_lies(measured_board: tuple[Path, BoardData]) -> None:
    html = measured_board[0].read_text()
    assert '["amber/p1.mp4",10.0,"64×48, 10 fps, 2.00 s"' in html


def test_a_row_plays_in_step_and_steps_by_frame(tab: playwright.Page, measured_board: tuple[Path, BoardData]) -> None:
    opened(tab, measured_board[0])
    assert tab.locator(".matrix img").count() == 3  # of four clips one is gone
    assert tab.locator(".matrix .no-clip").count() == 1
    tab.get_by_role("button", name="p1", exact=True).click()
    until(tab, "[...document.querySelectorAll('#theatre video')].every((v) => v.readyState >= 2)")
    assert tab.locator("#theatre canvas").count() == 2
    for _ in range(3):
        tab.keyboard.press(".")
    assert times(tab) == pytest.approx([0.35, 0.35])  # the middle of frame 3 at 10 fps
    tab.keyboard.press(",")
    assert times(tab) == pytest.approx([0.25, 0.25])
    assert "frame 2" in tab.locator("[data-time]").inner_text()
    tab.evaluate("document.querySelector('[name=seek]').value = 900")
    tab.locator("[name=seek]").dispatch_event("input")
    assert times(tab) == pytest.approx([1.8, 1.2], abs=0.01)  # the shorter one stays on its last frame
    tab.keyboard.press("n")
    assert "The clip is no longer where the run found it" in tab.locator("#theatre").inner_text()
    tab.keyboard.press("Escape")
    until(tab, "document.querySelectorAll('#theatre video').length === 0")


def test_playing_moves_one_clock(tab: playwright.Page, measured_board: tuple[Path, BoardData]) -> None:
    opened(tab, measured_board[0])
    tab.get_by_role("button", name="p1", exact=True).click()
    until(tab, "[...document.querySelectorAll('#theatre video')].every((v) => v.readyState >= 2)")
    tab.locator("[data-play]").click()
    until(tab, "[...document.querySelectorAll('#theatre video')].every((v) => v.currentTime > 0.3)")
    tab.locator("[data-play]").click()
    one, other = times(tab)
    assert one == pytest.approx(other, abs=0.02)


def test_a_clip_of_the_strip_plays_at_one_click(tab: playwright.Page, measured_board: tuple[Path, BoardData]) -> None:
    """Lengths are not known yet at the click: the clock must wait for them, and then run."""
    opened(tab, measured_board[0])
    tab.locator(".takes a").first.click()
    until(tab, "document.querySelector('#theatre video')?.currentTime > 0.2")
    assert tab.evaluate("getComputedStyle(document.querySelector('#theatre video')).objectFit") == "contain"
    tab.keyboard.press("Escape")


def test_timelines_of_a_row_share_one_scale(tab: playwright.Page, measured_board: tuple[Path, BoardData]) -> None:
    """Two series, 0 to 10 and 0 to 20, the longer clip 2 s: on one scale level 254 of the first becomes 127."""
    opened(tab, measured_board[0])
    code = joined_scale()
    low, high = tab.evaluate(code)
    assert (low["points"], high["points"]) == ([0, 127, 255], [0, 254, 255])
    assert low["ends"] == high["ends"] == [0, 20, 2000]


def joined_scale() -> str:
    from rushes.present.pages.page import joined_modules

    return (
        "() => {"
        + joined_modules(("dom.js", "players.js"), "rushes.compare")
        + """
      const line = (high, ms) => ({ duration_ms: ms, times: [0, ms], marks: [], lanes: [{ label: "Luma", band: false,
        series: [{ name: "luma", word: "luma", low: 0, high, points: btoa(String.fromCharCode(0, 254, 255)) }] }] });
      return onOneScale([line(10, 1000), line(20, 2000)], "Luma").map((data) => {
        const [one] = data.lanes[0].series;
        const points = [...atob(one.points)].map((letter) => letter.charCodeAt(0));
        return { points, ends: [one.low, one.high, data.duration_ms] };
      });
    }"""
    )


FLICKER, FROZEN = reading("flicker", label="Flicker"), reading("frozen", label="Frozen", better="higher")


@pytest.fixture(scope="module")
def made_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = board_data(readings=(FLICKER, FROZEN), prompts=90)
    judged = {one.key: verdict(data, one, [["amber"], ["birch", "cedar"]]) for one in data.readings}
    return Path(write_board(data, tmp_path_factory.mktemp("made") / "board.html", verdicts=judged).path)


def systems(tab: playwright.Page) -> list[str]:
    return tab.locator(".board-table tbody th").all_inner_texts()  # type: ignore[no-any-return]


def test_columns_sort_best_first(tab: playwright.Page, made_board: Path) -> None:
    opened(tab, made_board)
    tab.get_by_role("button", name="Sort by Frozen").click()  # higher is better
    assert systems(tab) == ["cedar", "birch", "amber"]
    tab.get_by_role("button", name="Sort by Flicker").click()  # lower is better
    assert systems(tab) == ["amber", "birch", "cedar"]
    tab.get_by_role("button", name="Sort by Flicker").click()
    assert systems(tab) == ["cedar", "birch", "amber"]


def test_a_head_opens_definition_and_every_pair(tab: playwright.Page, made_board: Path) -> None:
    opened(tab, made_board)
    tab.locator(".about").first.click()
    text = tab.locator("#about").inner_text()
    assert "flicker|v:1" in text and "mean |Δ|" in text and "amber is better" in text
    cells = tab.locator("#about .wtl tbody tr").first.locator("td").all_inner_texts()
    assert cells == ["·", "90–0–0", "90–0–0"]
    tab.keyboard.press("Escape")
    assert not tab.locator("#about").is_visible()


def test_rows_are_drawn_as_they_are_scrolled_to(tab: playwright.Page, made_board: Path) -> None:
    opened(tab, made_board)
    assert 24 <= tab.locator(".matrix tbody tr").count() < 90
    scrolled = "document.querySelector('.matrix-scroll').scrollTop = 1e6"
    until(tab, f"({scrolled}, document.querySelectorAll('.matrix tbody tr').length === 90)")


def test_prompts_are_filtered_and_sorted(tab: playwright.Page, made_board: Path) -> None:
    opened(tab, made_board)
    tab.locator("[name=find]").fill("number 17")
    assert tab.locator(".matrix .open").all_inner_texts() == ["p017"]
    tab.locator("[name=find]").fill("")
    tab.locator("[name=group]").select_option("people")
    assert "45 of 90 prompts" in tab.locator("[data-shown]").inner_text()
    tab.locator("[name=sort]").select_option("worst")
    numbers = [
        max(float(text) for text in row.locator(".number").all_inner_texts())
        for row in tab.locator(".matrix tbody tr").all()[:5]
    ]
    assert numbers == sorted(numbers, reverse=True)  # flicker: the highest of a row is its worst


def test_the_page_is_never_wider_than_the_window(tab: playwright.Page, made_board: Path) -> None:
    for width in (1440, 800, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        opened(tab, made_board)
        assert fits(tab), f"{width} px"
