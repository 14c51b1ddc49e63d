"""Run pages in a real browser: the player and the timeline are one, filters live in the address, keys work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.browsers import OVERFLOW, PATIENCE_MS, WIDTHS, fits, until, when

from rushes.storage.runs import RunWriter

from .livesite import Site
from .runsite import FLASH_FRAME, HOSTILE, SETTINGS, entry, newer_run, owner, suite_of, write_run
from .watching import watch

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

FRAME_S = 0.04


@pytest.fixture
def look(browser: playwright.Browser, make_site: Callable[..., Site]) -> Iterator[Callable[..., playwright.Page]]:
    """Opens the owner's browser on these runs; fails on a script error and on any request that leaves the machine."""
    contexts: list[playwright.BrowserContext] = []
    faults: list[str] = []

    def make(*runs: Path, suites: Sequence[Path] = (), **options: object) -> playwright.Page:
        site = make_site(runs=runs, suites=suites)
        context = browser.new_context(base_url=site.url, **options)
        context.set_default_timeout(PATIENCE_MS)
        cookie = owner(site).cookies["rushes_admin"]
        context.add_cookies([{"name": "rushes_admin", "value": cookie, "url": site.url}])
        contexts.append(context)
        page = watch(context.new_page(), site.url, faults)
        return page

    yield make
    for context in contexts:
        context.close()
    assert faults == []


def click_at(canvas: playwright.Locator, place: Callable[[float], float]) -> None:
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": place(box["width"]), "y": 60})


def open_take(page: playwright.Page, take: str = "take_1") -> None:
    page.goto(f"/runs/model_a/clip?id={take}")
    playwright.expect(page.locator("canvas")).to_be_visible()
    until(page, "document.querySelector('video').readyState >= 2")


def test_a_click_on_the_timeline_or_a_mark_takes_the_player_there_and_a_signature_is_copied(
    look: Callable[..., playwright.Page], measured: tuple[Path, Path]
) -> None:
    page = look(*measured, permissions=["clipboard-read", "clipboard-write"])
    open_take(page)
    # The spike at frame 20 of 50 is at 0.8 of 2 s; the plot begins 104 px from the left and ends 6 px from the right.
    click_at(page.locator("canvas"), lambda width: 104 + 0.4 * (width - 110))
    until(page, "Math.abs(document.querySelector('video').currentTime - 0.82) < 0.03")
    assert int(page.locator("canvas").get_attribute("aria-valuenow") or 0) == pytest.approx(820, abs=40)
    playwright.expect(page.locator("[data-readout]")).to_contain_text("luma")
    # A mark in the list shows its frame, and keys go from mark to mark.
    page.get_by_role("button", name=f"Spike at 0.80 s (frame {FLASH_FRAME})").click()
    until(page, f"Math.floor(document.querySelector('video').currentTime / {FRAME_S}) === {FLASH_FRAME}")
    page.locator("h1").click()
    page.keyboard.press(",")
    until(page, f"Math.floor(document.querySelector('video').currentTime / {FRAME_S}) === {FLASH_FRAME - 1}")
    page.keyboard.press("n")
    until(page, f"Math.floor(document.querySelector('video').currentTime / {FRAME_S}) === {FLASH_FRAME}")
    page.keyboard.press("n")
    until(page, f"Math.floor(document.querySelector('video').currentTime / {FRAME_S}) === {FLASH_FRAME + 1}")
    page.keyboard.press("p")
    until(page, f"Math.floor(document.querySelector('video').currentTime / {FRAME_S}) === {FLASH_FRAME}")
    # Metrics that did not fire are folded, and signatures are behind an icon; both open by keyboard.
    page.locator("summary", has_text="Motion").press("Enter")
    page.locator("[aria-label='Signature of freeze_frame_ratio']").press("Enter")
    button = page.locator("[data-copy^='freeze_frame_ratio']")
    button.click()
    playwright.expect(button).to_have_text("Copied")
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == "freeze_frame_ratio|eps:1.0|input:raw|plane:luma|range:full|v:1"
    )


def test_the_playhead_follows_and_the_timeline_works_by_keyboard(
    look: Callable[..., playwright.Page], measured: tuple[Path, Path]
) -> None:
    page = look(*measured)
    open_take(page, "take_0")
    page.locator("h1").click()
    page.keyboard.press(" ")
    until(page, "document.querySelector('video').ended")
    until(page, "Number(document.querySelector('canvas').getAttribute('aria-valuenow')) > 1800")
    page.locator("canvas").focus()
    page.keyboard.press("Home")
    until(page, "document.querySelector('video').currentTime < 0.05")
    page.keyboard.press("PageUp")
    until(page, "Math.abs(document.querySelector('video').currentTime - 0.22) < 0.05")


def test_filters_survive_a_visit_to_a_take(look: Callable[..., playwright.Page], measured: tuple[Path, Path]) -> None:
    page = look(*measured)
    page.goto("/runs/model_a?view=table&q=take&metric=frame_diff_spike_count&min=2")  # an address of before
    playwright.expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("link", name="take_1").click()
    page.get_by_role("link", name="model_a", exact=True).click()
    playwright.expect(page.locator("tbody tr")).to_have_count(1)
    page.reload()
    playwright.expect(page.get_by_label("frame_diff_spike_count from, exactly")).to_have_value("2")
    page.get_by_role("link", name="Clear filters").click()
    playwright.expect(page.locator("tbody tr")).to_have_count(3)


def test_sorting_is_a_link_and_says_so(look: Callable[..., playwright.Page], measured: tuple[Path, Path]) -> None:
    page = look(*measured)
    page.goto("/runs/model_a?view=table&col=odd_frame_score")
    page.get_by_role("link", name="odd frame ↓").click()
    head = page.locator("th[aria-sort=descending]")
    playwright.expect(head).to_contain_text("odd frame")
    assert page.locator("tbody th a").first.inner_text() == "take_1"
    page.get_by_role("link", name="odd frame ↓").click()
    playwright.expect(page.locator("th[aria-sort=ascending]")).to_contain_text("odd frame")


def test_two_takes_play_on_one_clock(look: Callable[..., playwright.Page], measured: tuple[Path, Path]) -> None:
    page = look(*measured)
    open_take(page)
    page.get_by_role("link", name="Side by side with model_b").click()
    playwright.expect(page.locator("canvas")).to_have_count(2)
    until(page, "[...document.querySelectorAll('video')].every((v) => v.readyState >= 2)")
    page.get_by_role("button", name="Play both").click()
    when(
        page,
        "[...document.querySelectorAll('video')].every((v) => v.currentTime > 0.4)",
        "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Pause').click()",
    )
    playwright.expect(page.get_by_role("button", name="Play both")).to_be_visible()
    times = page.evaluate("[...document.querySelectorAll('video')].map((v) => v.currentTime)")
    assert abs(times[0] - times[1]) < 0.15, times
    click_at(page.locator("canvas").last, lambda width: width - 8)
    until(page, "[...document.querySelectorAll('video')].every((v) => v.currentTime > 1.9)")
    page.locator("h1").click()
    page.keyboard.press(",")
    until(
        page, "new Set([...document.querySelectorAll('video')].map((v) => Math.floor(v.currentTime / 0.04))).size === 1"
    )


def test_ticked_takes_go_to_a_study(look: Callable[..., playwright.Page], measured: tuple[Path, Path]) -> None:
    page = look(*measured)
    page.goto("/runs/model_a?view=table")
    playwright.expect(page.get_by_role("button", name="Send all 3 to a study")).to_be_visible()
    page.get_by_label("Choose take_0").check()
    page.get_by_label("Choose take_2").check()
    playwright.expect(page.get_by_text("2 ticked")).to_be_visible()
    playwright.expect(page.get_by_role("button", name="Side by side")).to_be_enabled()
    page.get_by_role("button", name="Send 2 to a study").click()
    playwright.expect(page.get_by_label("Clips, one per line")).to_have_value("take_0\ntake_2")
    page.get_by_label("Title").fill("Picked takes")
    page.get_by_label("model_b").check()
    page.get_by_role("button", name="Create the study").click()
    playwright.expect(page.get_by_text("2 pairs were added")).to_be_visible()


def test_a_run_still_going_fills_up_before_your_eyes(look: Callable[..., playwright.Page], tmp_path: Path) -> None:
    with RunWriter(tmp_path / "live", instrument="clip", settings=SETTINGS, inputs=["x", "y"]) as run:
        page = look(tmp_path / "live")
        page.goto("/runs/live?view=table")
        playwright.expect(page.get_by_text("Nothing is finished yet")).to_be_visible()
        run.add(entry("x", 0.1))
        playwright.expect(page.get_by_role("link", name="x", exact=True)).to_be_visible()
        run.add(entry("y", 0.2))
        run.finish(["x", "y"])
    playwright.expect(page.get_by_text("Still going")).to_have_count(0)
    playwright.expect(page.locator("tbody tr")).to_have_count(2)


def test_hostile_names_do_nothing(look: Callable[..., playwright.Page], tmp_path: Path) -> None:
    page = look(write_run(tmp_path / "hostile", [entry(name, 0.4, badge="flagged") for name in HOSTILE]))
    for name in HOSTILE:
        page.goto("/runs/hostile?view=table")
        page.get_by_role("link", name=name, exact=True).click()
        playwright.expect(page.locator("h1")).to_have_text(name)
        playwright.expect(page.get_by_text("moved or deleted")).to_be_visible()
        assert page.evaluate("window.hit") is None


def test_rare_pages_fit_at_three_widths(
    look: Callable[..., playwright.Page], measured: tuple[Path, Path], tmp_path: Path
) -> None:
    """Those that `gallery.py` does not have."""
    page = look(*measured, newer_run(tmp_path / "newer"), write_run(tmp_path / "empty", []))
    filtered = "/runs/model_a?signal=flagged&metric=flicker_score&min=1&sort=flicker_score"
    for address in (filtered, "/runs/newer", "/runs/empty"):
        page.goto(address)
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            assert fits(page), f"{address} is {page.evaluate(OVERFLOW)} px too wide at {width} px"


def test_a_board_plays_its_clips_on_one_clock_and_axe_finds_nothing_in_its_dialogs(
    look: Callable[..., playwright.Page], measured: tuple[Path, Path], tmp_path: Path
) -> None:
    """From the home page to two players with timelines, under the server's policy."""
    page = look(suites=[suite_of(tmp_path / "takes", dict(zip(("amber", "birch"), measured, strict=True)))])
    page.goto("/")
    page.get_by_role("link", name="takes").click()
    page.wait_for_selector("html[data-ready]")
    page.locator("#matrix").scroll_into_view_if_needed()
    until(page, "[...document.querySelectorAll('.matrix img')].filter((one) => one.naturalWidth > 0).length == 6")
    page.get_by_role("button", name="take_1", exact=True).click()
    until(page, "[...document.querySelectorAll('#theatre video')].filter((v) => v.readyState >= 2).length == 2")
    assert page.locator("#theatre canvas").count() == 2
    _no_serious_fault(page, "clips of a prompt")
    page.keyboard.press(".")
    page.keyboard.press(".")
    until(page, "[...document.querySelectorAll('#theatre video')].every((v) => Math.abs(v.currentTime - 0.1) < 0.021)")
    page.keyboard.press("Escape")
    page.locator(".board-table [data-reading]").first.click()
    playwright.expect(page.locator("#about")).to_contain_text("sign-flip")
    _no_serious_fault(page, "every pair of a reading")


def _no_serious_fault(page: playwright.Page, where: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    violations = axe.Axe().run(page).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"]) for v in violations if v["impact"] in ("serious", "critical")]
    assert serious == [], where
