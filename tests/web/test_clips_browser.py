"""Clips on one clock, the grid and the map in a real browser: sizes, keys, hover, phone, axe. One server for all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browsers import OVERFLOW, PATIENCE_MS, fits, until, when

from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.distribution.features.rows import FeatureSet, keep_features
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.study.service import open_service
from rushes.web.app import create_app

from .livesite import Site
from .runsite import FLASH_FRAME, bar, owner, suite_of
from .visitor import check_with_axe
from .watching import watch

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

LONG = "a_dog_that_runs_along_the_beach_at_sunset_like_in_a_documentary_variant_7"
FRAME_S = 0.04


def stuttering(shade: int) -> Iterator[np.ndarray]:
    """Two seconds: 15 still frames, a step, 15 still frames (one still of 29 steps), then a moving bar."""
    frames = list(bar(shade, flash=False))
    yield from [frames[0]] * 15 + [frames[6]] * 15 + frames[10:30]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, training_pair: Path) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("clips")
    runs = []
    for shade, system in ((220, "model_a"), (120, "model_b")):
        folder = root / "clips" / system
        folder.mkdir(parents=True)
        flash = system == "model_a"
        write_clip(folder / "flash.mp4", bar(shade, flash=flash), fps=25)
        # Of model_b half as long, so that the time scales would differ.
        frames = list(stuttering(shade))
        write_clip(folder / f"{LONG}.mp4", iter(frames if flash else frames[:25]), fps=25)
        runs.append(evaluate_clips([folder], run=root / "runs" / system, jobs=1).path)
    suite = suite_of(root / "board", dict(zip(("amber", "birch"), runs, strict=True)))
    shutil.copytree(training_pair, root / "studies.media" / "training")
    app = create_app(
        service=open_service(str(root / "studies.db")), runs=[*runs, _sets(root / "sets", root)], suites=[suite]
    )
    live = Site(app)
    yield live
    live.close()


def _sets(folder: Path, root: Path) -> Path:
    """A run of two sets with features by hand: a real cross, and generated clips at its right and far to its left."""
    with RunWriter(folder, instrument="distribution", settings={}, inputs=["x", "y"]) as run:
        for name in ("generated", "ground_truth"):
            subject = Subject(id=name, kind="set", path=str(root / "clips" / "model_a"), sha256="ab" * 32)
            run.add(Entry(subject=subject, measurements=()))
        run.finish(["generated", "ground_truth"])
    real = np.array([[2, 0], [-2, 0], [0, 1], [0, -1], [1, 0.5], [-1, -0.5]], np.float32)
    names = tuple(f"r{n}.mp4" for n in range(6))
    generated = FeatureSet(
        names=("flash.mp4", "far.mp4"), digests=("0" * 64,) * 2, features=np.array([[3, 0], [-9, 0]], np.float32)
    )
    truth = FeatureSet(names=names, digests=("1" * 64,) * 6, features=real)
    how = {"backbone": "i3d"}
    keep_features(folder, {"generated": [(how, generated)], "ground_truth": [(how, truth)]})
    return folder


@pytest.fixture
def look(browser: playwright.Browser, site: Site) -> Iterator[Callable[..., playwright.Page]]:
    """Opens a page; fails on a script error and on any request that leaves the machine."""
    contexts: list[playwright.BrowserContext] = []
    faults: list[str] = []
    cookie = owner(site).cookies["rushes_admin"]

    def make(address: str, *, width: int = 1440, height: int = 900, **options: Any) -> playwright.Page:
        context = browser.new_context(base_url=site.url, viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE_MS)
        context.add_cookies([{"name": "rushes_admin", "value": cookie, "url": site.url}])
        contexts.append(context)
        page = watch(context.new_page(), site.url, faults)
        page.goto(address)
        return page

    yield make
    for context in contexts:
        context.close()
    assert faults == []


PAIR = f"/compare?a=model_a/{LONG}&b=model_b/{LONG}"
BOXES = (
    "[...document.querySelectorAll('video, [data-transport]')].map((e) => e.getBoundingClientRect())"
    ".map((b) => [b.top, b.bottom])"
)


def test_controls_and_both_pictures_are_on_one_screen(look: Callable[..., playwright.Page]) -> None:
    page = look(PAIR)
    playwright.expect(page.locator("canvas")).to_have_count(2)
    boxes = page.evaluate(BOXES)
    assert len(boxes) == 3 and all(0 <= top and bottom <= 900 for top, bottom in boxes), boxes
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    top = page.evaluate("document.querySelector('[data-transport]').getBoundingClientRect().top")
    assert 0 <= top < 10, "the controls stay when the page scrolls"
    playwright.expect(page.get_by_role("button", name="Play both")).to_be_in_viewport()


def test_timelines_share_one_scale_in_time_and_value(look: Callable[..., playwright.Page]) -> None:
    page = look(PAIR)
    playwright.expect(page.locator("canvas")).to_have_count(2)
    # 50 and 25 frames of 40 ms: both axes reach to 2 s.
    ends = page.evaluate("[...document.querySelectorAll('canvas')].map((c) => c.getAttribute('aria-valuemax'))")
    assert ends == ["2000", "2000"]
    until(page, "[...document.querySelectorAll('video')].every((v) => v.readyState >= 2)")
    second = page.locator("canvas").last
    box = second.bounding_box()
    assert box is not None
    # 1.5 s on the shorter clip's axis is beyond its end: the longer goes there, the shorter rests on its last frame.
    second.click(position={"x": 104 + 0.75 * (box["width"] - 110), "y": 60})
    until(page, "Math.abs(document.querySelectorAll('video')[0].currentTime - 1.52) < 0.05")
    until(page, "document.querySelectorAll('video')[1].currentTime >= 0.9")
    playwright.expect(page.locator("[data-readout]")).to_contain_text("the clip ends at 1.00 s")


def test_a_video_keeps_its_place_before_it_comes(look: Callable[..., playwright.Page]) -> None:
    page = look("/")
    page.route("**/clips/*", lambda route: route.fulfill(status=404, body=""))
    page.goto(PAIR)
    sizes = page.evaluate("[...document.querySelectorAll('video')].map((v) => [v.clientWidth, v.clientHeight])")
    for width, height in sizes:
        assert height == pytest.approx(min(width * 90 / 160, 0.48 * 900), abs=2), (
            "160 × 90, or as high as there is room"
        )


def test_four_clips_play_on_one_clock_with_keys(look: Callable[..., playwright.Page]) -> None:
    flash = "model_a/flash&b=model_b/flash"
    page = look(f"/compare?a={flash}&c=model_a/{LONG}&d=model_a/flash")
    playwright.expect(page.locator("canvas")).to_have_count(4)
    until(page, "[...document.querySelectorAll('video')].every((v) => v.readyState >= 2)")
    boxes = page.evaluate(BOXES)
    assert len(boxes) == 5 and all(bottom <= 900 for _, bottom in boxes), boxes
    page.keyboard.press(" ")
    when(
        page,
        "[...document.querySelectorAll('video')].every((v) => v.currentTime > 0.3)",
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true }))",
    )
    times = page.evaluate("[...document.querySelectorAll('video')].map((v) => v.currentTime)")
    assert max(times) - min(times) < 0.25, times
    page.keyboard.press(".")
    same = f"new Set([...document.querySelectorAll('video')].map((v) => Math.floor(v.currentTime / {FRAME_S}))).size"
    until(page, f"{same} === 1")


def test_on_a_phone_clips_are_stacked_and_nothing_is_cut(look: Callable[..., playwright.Page]) -> None:
    addresses = {
        "clip": f"/runs/model_a/clip?id={LONG}",
        "grid": "/boards/board/grid",
        "map": "/runs/sets/map",
        "none": "/runs/model_a/map",
        "pair": PAIR,
    }
    folder = os.environ.get("RUSHES_SCREENSHOTS")
    page = look("about:blank", width=390, height=844)
    for name, address in addresses.items():
        page.goto(address)
        for width, height in ((2560, 1300), (1440, 900), (900, 900), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            assert fits(page), f"{name} is {page.evaluate(OVERFLOW)} px too wide at {width} px"
            if folder:
                Path(folder).mkdir(parents=True, exist_ok=True)
                page.wait_for_timeout(500)
                page.screenshot(path=f"{folder}/clips_{name}_{width}.png", full_page=True)
    (_, first_bottom), (second_top, _) = page.evaluate(BOXES)[1:]
    assert second_top >= first_bottom, "one above the other"
    page.evaluate("window.scrollTo(0, 700)")
    playwright.expect(page.get_by_role("button", name="Play both")).to_be_in_viewport()


def test_the_timeline_is_below_the_video_and_a_reason_goes_to_its_place(look: Callable[..., playwright.Page]) -> None:
    page = look("/runs/model_a/clip?id=flash")
    playwright.expect(page.locator("canvas")).to_be_visible()
    video, canvas = page.locator("video").bounding_box(), page.locator("canvas").bounding_box()
    assert video is not None and canvas is not None
    assert video["y"] + video["height"] < canvas["y"] < 800 and canvas["y"] + canvas["height"] <= 900
    assert video["width"] / video["height"] == pytest.approx(160 / 90, rel=0.01), "no bars beside the picture"
    until(page, "document.querySelector('video').readyState >= 2")
    page.locator("button.reason", has_text="glitch").press("Enter")
    until(page, f"Math.floor(document.querySelector('video').currentTime / {FRAME_S}) === {FLASH_FRAME}")
    # What fired has a bar on the timeline, at the place that the reason names.
    fired = page.evaluate("fetch(document.querySelector('[data-clip-page]').dataset.timeline).then((a) => a.json())")
    spans = {one["word"]: one["span"] for one in fired["timeline"]["fired"]}
    assert spans["glitch"][0] == pytest.approx(1000 * FRAME_S * FLASH_FRAME, abs=1)


def test_the_list_has_the_long_still_and_counts_the_rest(look: Callable[..., playwright.Page]) -> None:
    page = look(f"/runs/model_a/clip?id={LONG}")
    marks = page.locator("button.mark")
    playwright.expect(marks.first).to_be_visible()
    # Steps 1 to 14 and 16 to 29 are still: one line over the step between them, 0.00 s to 1.16 s.
    playwright.expect(page.get_by_role("button", name="Still 0.00 s to 1.16 s (28 steps)")).to_be_visible()
    page.goto("/runs/model_a/clip?id=flash")
    spike = page.get_by_role("button", name=f"Spike at 0.80 s (frame {FLASH_FRAME})")
    playwright.expect(spike).to_contain_text("▼")
    playwright.expect(page.locator("tr.fired th").first).to_contain_text("odd_frame_score fired")
    assert page.locator("table.judged tbody tr").first.get_attribute("class") == "fired flagged"


def test_a_cell_of_the_grid_plays_on_hover_and_opens_all_systems(look: Callable[..., playwright.Page]) -> None:
    page = look("/boards/board/grid")
    shot = page.locator("a.shot").first
    until(page, "[...document.querySelectorAll('.shot img')].filter((i) => i.naturalWidth > 0).length >= 4")
    shot.hover()
    until(page, "document.querySelector('.shot video')?.currentTime > 0.05")
    page.locator("h1").hover()
    playwright.expect(page.locator(".shot video")).to_have_count(0)
    shot.focus()
    playwright.expect(page.locator(".shot video")).to_have_count(1)
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("button", name="Play both")).to_be_visible()
    playwright.expect(page.locator("canvas")).to_have_count(2)
    page.get_by_role("link", name="grid").click()
    page.get_by_label("Search prompts").fill("flash")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("tbody tr")).to_have_count(1)


def test_the_map_goes_by_pointer_and_by_keys(look: Callable[..., playwright.Page]) -> None:
    page = look("/runs/sets/map")
    page.locator(".dot.generated").first.hover()
    playwright.expect(page.locator("[data-shown] h2")).to_have_text("flash.mp4")
    until(page, "document.querySelector('[data-shown] img').naturalWidth > 0")
    page.locator("[data-plot]").focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    playwright.expect(page.locator("[data-shown] h2")).to_have_text("far.mp4")
    playwright.expect(page.locator("[data-shown]")).to_contain_text("generated, ")
    assert page.locator("tbody tr").first.locator("a").inner_text() == "far.mp4"
    page.locator(".dot.generated").first.click()
    page.wait_for_url("**/map/0.clip*")


def test_axe_finds_nothing_serious(look: Callable[..., playwright.Page]) -> None:
    """On the pages that `test_every_page.py` leaves to `make soak`."""
    page = look("about:blank", color_scheme="dark")
    for address in ("/boards/board/grid", "/runs/sets/map"):
        page.goto(address)
        check_with_axe(page, f"{address}, dark")
    page.emulate_media(color_scheme="light")
    check_with_axe(page, "/runs/sets/map, light", only=("color-contrast",))
