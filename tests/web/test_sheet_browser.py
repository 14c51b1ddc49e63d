"""A run's page in Chromium: hover, keys, sliders, columns, marks and long sheets. One server and one browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.browsers import PATIENCE_MS, fits, until

from rushes.study.service import open_service
from rushes.web.app import create_app
from rushes.web.clips.triage import FILE, Mark, read_marks

from .livesite import Site
from .runsite import entry, owner, write_run
from .visitor import check_with_axe
from .watching import watch

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

LONG = 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, measured: tuple[Path, Path]) -> Path:
    """A measured run whose clips are there, and a long one whose clips are not."""
    place = tmp_path_factory.mktemp("sheet")
    shutil.copytree(measured[0], place / "model_a")
    badges = ("reject", "flagged", "pass", "pass")
    entries = [entry(f"clip_{n:03d}", n / LONG, 20 + n % 50, badge=badges[n % 4]) for n in range(LONG)]
    write_run(place / "long", entries)
    return place


@pytest.fixture(scope="module")
def site(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    service = open_service(str(tmp_path_factory.mktemp("db") / "studies.db"))
    site = Site(create_app(service=service, runs=[folder / "model_a", folder / "long"]))
    yield site
    site.close()
    service.close()


@pytest.fixture(scope="module")
def cookie(site: Site) -> str:
    return owner(site).cookies["rushes_admin"]


@pytest.fixture
def look(browser: playwright.Browser, site: Site, cookie: str) -> Iterator[Callable[..., playwright.Page]]:
    """Opens the owner's browser; fails on a script error and on any request that leaves the machine."""
    contexts: list[playwright.BrowserContext] = []
    faults: list[str] = []

    def make(context: playwright.BrowserContext | None = None, **options: object) -> playwright.Page:
        if context is None:
            context = browser.new_context(base_url=site.url, **options)
            context.set_default_timeout(PATIENCE_MS)
            context.add_cookies([{"name": "rushes_admin", "value": cookie, "url": site.url}])
            contexts.append(context)
        page = watch(context.new_page(), site.url, faults)
        return page

    yield make
    for context in contexts:
        context.close()
    assert faults == []


PLAYS = "[...document.querySelectorAll('video')].filter((v) => !v.paused && v.muted && v.readyState >= 2).length"


def test_one_clip_plays_while_it_is_pointed_at_or_has_the_focus(look: Callable[..., playwright.Page]) -> None:
    page = look()
    page.goto("/runs/model_a")
    assert page.locator("video").count() == 0, "a player is made when it is wanted"
    until(page, "[...document.querySelectorAll('.shot img')].every((one) => one.naturalWidth === 160)")
    page.locator(".tile .open").nth(0).hover()
    until(page, f"{PLAYS} === 1")
    page.locator(".tile .open").nth(1).hover()
    until(page, f"{PLAYS} === 1 && document.querySelectorAll('.tile')[1].querySelector('video')")
    page.locator("h1").hover()
    playwright.expect(page.locator("video")).to_have_count(0)
    page.keyboard.press("Tab")  # any key: the focus is shown from now on
    page.locator(".tile .open").nth(2).focus()
    until(page, f"{PLAYS} === 1")
    page.keyboard.press(" ")
    playwright.expect(page.locator("video")).to_have_count(0)


def test_nothing_plays_by_itself_where_motion_is_not_wanted(look: Callable[..., playwright.Page]) -> None:
    page = look(reduced_motion="reduce")
    page.goto("/runs/model_a")
    page.locator(".tile .open").first.hover()
    page.wait_for_timeout(400)
    assert page.locator("video").count() == 0
    page.get_by_role("button", name="Play take_0").click()
    until(page, f"{PLAYS} === 1")


def test_the_keyboard_alone_ticks_stars_tags_and_opens(look: Callable[..., playwright.Page], folder: Path) -> None:
    page = look()
    page.goto("/runs/model_a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    page.keyboard.press("Tab")
    playwright.expect(page.get_by_role("link", name="Skip to the first clip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    first = page.locator(".tile .open").first
    playwright.expect(first).to_be_focused()
    page.keyboard.press("ArrowRight")
    playwright.expect(page.locator(".tile .open").nth(1)).to_be_focused()
    name = page.locator(".tile").nth(1).get_attribute("data-clip") or ""
    before = page.locator(".tile").nth(1).evaluate("(one) => getComputedStyle(one).backgroundColor")
    page.keyboard.press("x")
    playwright.expect(page.get_by_text("1 ticked")).to_be_visible()
    assert page.locator(".tile").nth(1).evaluate("(one) => getComputedStyle(one).backgroundColor") != before
    page.keyboard.press("s")
    playwright.expect(page.get_by_role("button", name=f"Star {name}")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("t")
    playwright.expect(page.locator("#mark-tags")).to_be_focused()
    page.keyboard.type("soft, wrong  hand")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("c")
    playwright.expect(page.locator("#mark-comment")).to_be_focused()
    page.keyboard.type("Look at the hand.")
    page.get_by_role("button", name="Save").press("Enter")
    playwright.expect(page.locator(".tile").nth(1)).to_contain_text("“Look at the hand.”")
    mark = Mark(star=True, tags=("soft", "wrong hand"), comment="Look at the hand.")
    assert read_marks(folder / "model_a").marks == {name: mark}
    page.get_by_text("wrong hand", exact=True).first.click()  # the new tag is a filter at once
    playwright.expect(page.locator(".tile")).to_have_count(1)
    page.locator(".tile .open").focus()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("h1")).to_have_text(name)
    (folder / "model_a" / FILE).unlink()


def test_two_tabs_are_told_of_each_other_s_comments(look: Callable[..., playwright.Page], folder: Path) -> None:
    one = look()
    other = look(one.context)
    for page in (one, other):
        page.goto("/runs/model_a?view=table")
        page.get_by_role("button", name="Tag or comment on take_0").click()
    one.locator("#mark-comment").fill("first")
    one.get_by_role("button", name="Save").click()
    playwright.expect(one.get_by_role("dialog")).to_be_hidden()
    other.locator("#mark-comment").fill("second")
    other.locator("#mark-tags").fill("mine")
    other.get_by_role("button", name="Save").click()
    playwright.expect(other.get_by_role("alert")).to_contain_text("“first”")
    assert read_marks(folder / "model_a").marks["take_0"].comment == "first"
    other.get_by_role("button", name="Save").click()
    playwright.expect(other.get_by_role("dialog")).to_be_hidden()
    assert read_marks(folder / "model_a").marks["take_0"] == Mark(tags=("mine",), comment="second")
    (folder / "model_a" / FILE).unlink()


def test_filters_take_effect_as_they_are_moved(look: Callable[..., playwright.Page]) -> None:
    page = look()
    page.goto("/runs/long?view=table")
    page.get_by_label("Search", exact=True).fill("clip_01")
    playwright.expect(page.get_by_role("status").first).to_contain_text("10 of 500 clips")
    playwright.expect(page.get_by_label("Search", exact=True)).to_be_focused()
    low = page.get_by_label("freeze_frame_ratio from", exact=True)
    low.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")  # a tenth of a bin of 0.05 each: 0.03
    playwright.expect(page.get_by_role("status").first).to_contain_text("5 of 500 clips")  # 0.030 to 0.038
    assert parse_qs(urlsplit(page.url).query)["min.freeze_frame_ratio"] == ["0.03"]
    page.get_by_label("blur_score to, exactly").fill("36")
    playwright.expect(page.get_by_role("status").first).to_contain_text("2 of 500 clips")  # 20 + 15 and 20 + 16
    page.reload()
    playwright.expect(low).to_have_value("0.03")
    playwright.expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Clear filters").click()
    page.get_by_label("reject 125").check()
    playwright.expect(page.get_by_role("status").first).to_contain_text("125 of 500 clips, page 1 of 2")
    page.get_by_role("link", name="Page 2").click()
    playwright.expect(page.locator("tbody tr")).to_have_count(25)


def test_columns_are_chosen_and_remembered(look: Callable[..., playwright.Page]) -> None:
    page = look()
    page.goto("/runs/model_a?view=table")
    page.get_by_text("Columns", exact=True).click()
    while page.locator("[data-column]:checked").count():
        page.locator("[data-column]:checked").first.uncheck()
    page.get_by_label("fps", exact=True).check()
    page.get_by_role("button", name="Show these").click()
    playwright.expect(page.locator("thead th.num")).to_have_count(1)
    assert parse_qs(urlsplit(page.url).query) == {"view": ["table"], "col": ["fps"]}
    page.goto("/runs/model_a?view=table&q=take_1")
    page.wait_for_url("**col=fps*")
    playwright.expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("button", name="The usual ones").click()
    page.wait_for_url(lambda address: "col=" not in address)
    assert page.locator("thead th.num").count() > 1


def test_a_selection_goes_out_as_a_file_a_folder_or_two_side_by_side(
    look: Callable[..., playwright.Page], tmp_path: Path
) -> None:
    page = look()
    page.goto("/runs/model_a")
    page.get_by_label("Choose take_2").check()
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename == "model_a.csv" and [line[:6] for line in text.splitlines()[2:]] == [
        "take_2"
    ]
    page.get_by_label("Folder of links").fill(str(tmp_path / "look"))
    page.get_by_label("Folder of links").press("Enter")
    playwright.expect(page.locator("[data-link-answer]")).to_contain_text("1 link in")
    assert [link.name for link in (tmp_path / "look").iterdir()] == ["take_2.mp4"]
    page.keyboard.press("Escape")
    page.get_by_label("Choose take_0").check()
    page.get_by_label("Choose take_1").check()
    page.get_by_role("button", name="Side by side").click()  # of two to four
    playwright.expect(page.locator("canvas")).to_have_count(3)


def test_a_long_sheet_comes_in_pieces_and_keeps_its_ticks(look: Callable[..., playwright.Page]) -> None:
    page = look(viewport={"width": 1440, "height": 900})
    page.goto("/runs/long")
    assert page.locator(".tile").count() == 60 and page.locator("[data-pages]").is_hidden()
    page.locator("[name=only]").first.check()
    high = page.evaluate("document.documentElement.scrollHeight")
    page.locator(".tile .open").first.focus()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    until(page, "document.querySelector('[data-piece=\"9\"]').children.length === 20")
    # Cards with more reasons are higher, so what was not there yet was estimated; what is in sight stays in sight.
    assert page.evaluate("document.documentElement.scrollHeight") == pytest.approx(high, rel=0.1)
    assert page.evaluate("document.querySelector('[data-piece=\"9\"]').getBoundingClientRect().top < innerHeight")
    page.locator("[data-piece='9'] .open").last.focus()
    page.keyboard.press("ArrowLeft")
    playwright.expect(page.locator("[data-piece='9'] .open").nth(18)).to_be_focused()
    page.locator("[data-piece='9'] [name=only]").last.check()
    page.evaluate("scrollTo(0, 0)")
    playwright.expect(page.get_by_text("2 ticked")).to_be_visible()
    assert page.locator("[name=only]").first.is_checked()
    page.get_by_label("Search", exact=True).fill("clip_49")  # another view keeps the ticks
    playwright.expect(page.get_by_role("status").first).to_contain_text("10 of 500 clips, 2 ticked")


FIRST_ROW = """() => {
  const box = document.querySelector('.tile .shot').getBoundingClientRect();
  const columns = getComputedStyle(document.querySelector('.sheet')).gridTemplateColumns.split(' ').length;
  return { top: box.top, bottom: box.bottom, columns };
}"""


def test_clips_are_on_the_first_screen_and_fill_the_window(look: Callable[..., playwright.Page]) -> None:
    page = look()
    page.goto("/runs/model_a")
    found = {}
    for width, height in ((390, 844), (1440, 900), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        found[width] = page.evaluate(FIRST_ROW)
        assert found[width]["bottom"] < height, f"the first clip is below the first screen at {width} px"
    assert found[1440]["top"] < 200 and found[2560]["columns"] > found[1440]["columns"] > found[390]["columns"]
    assert page.locator(".rail").is_visible() and page.get_by_role("button", name="Filters").is_hidden()
    page.evaluate("scrollTo(0, 400)")
    assert page.evaluate("document.querySelector('.top').getBoundingClientRect().top") == 0, "the header stays"


def test_on_a_phone_filters_come_when_asked_for(look: Callable[..., playwright.Page]) -> None:
    page = look(viewport={"width": 390, "height": 844})
    page.goto("/runs/long")
    assert page.locator(".rail").is_hidden()
    page.get_by_role("button", name="Filters").press("Enter")
    page.get_by_label("reject 125").check()
    playwright.expect(page.get_by_role("status").first).to_contain_text("125 of 500 clips")
    page.keyboard.press("Escape")
    playwright.expect(page.locator(".rail")).to_be_hidden()


def test_the_size_of_the_cards_is_remembered(look: Callable[..., playwright.Page]) -> None:
    page = look(viewport={"width": 1440, "height": 900})
    page.goto("/runs/long")
    before = page.evaluate(FIRST_ROW)["columns"]
    slider = page.get_by_label("Size of the pictures")
    slider.fill("400")
    large = page.evaluate(FIRST_ROW)["columns"]
    assert large < before
    page.reload()
    playwright.expect(slider).to_have_value("400")
    assert page.evaluate(FIRST_ROW)["columns"] == large


def test_every_view_fits_and_axe_finds_nothing(look: Callable[..., playwright.Page]) -> None:
    page = look(color_scheme="light")
    for address in ("/runs/long", "/runs/long?view=table&min.blur_score=30&star=1", "/runs/model_a?view=table"):
        page.goto(address)
        for width in (390, 2560, 900):
            page.set_viewport_size({"width": width, "height": 900})
            assert fits(page), (address, width)
    page.goto("/runs/model_a")
    page.get_by_label("Choose take_0").check()
    page.get_by_text("Export", exact=True).click()
    assert fits(page), "a menu near the edge"
    check_with_axe(page, "sheet")
    page.goto("/runs/model_a?view=table&min.sharpness=0.1")
    page.get_by_text("Columns", exact=True).click()
    check_with_axe(page, "table")
    dark = look(color_scheme="dark", viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    dark.goto("/runs/model_a")
    dark.get_by_role("button", name="Tag or comment on take_0").click()
    check_with_axe(dark, "dark phone, marking a clip")
