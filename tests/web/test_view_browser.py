"""`rushes view` in Chromium: the link, the cards, keys alone, a phone, what is new, and axe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browsers import PATIENCE_MS, fits

from rushes.storage.runs import RunWriter
from rushes.web.view_app import view_app

from .livesite import Site
from .runsite import SETTINGS, entry, suite_of, write_run
from .visitor import check_with_axe

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser
TOKEN = "a-token-that-only-the-terminal-shows"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six runs: two share clips, and a board over two others."""
    here = tmp_path_factory.mktemp("evaluations")
    for name, blur in (("week1/model_a", 80.0), ("week2/model_a", 90.0)):
        takes = [entry(f"p{n}", 0.1, blur + n, badge="flagged" if n == 2 else "pass") for n in range(6)]
        write_run(here / name, takes)
    write_run(here / "alone", [entry("other", 0.9, badge="reject"), entry("third", 0.4, badge="flagged")])
    long = "a_very_long_prompt_that_says_everything_about_the_clip_and_then_goes_on_for_a_while_longer" * 2
    write_run(here / long[:120] / "run", [entry("x", 0.1)])
    systems = {
        name: write_run(here / "board" / name, [entry("p0", 0.1), entry("p1", 0.2)]) for name in ("amber", "birch")
    }
    suite_of(here / "takes", systems)
    return here


@pytest.fixture(scope="module")
def viewed(folder: Path) -> Iterator[Site]:
    app = view_app([folder], token=TOKEN)
    app.state.workbench.discovery._every_s = 0
    site = Site(app)  # type: ignore[arg-type]
    yield site
    site.close()


@pytest.fixture
def page(browser: Any, viewed: Site) -> Iterator[Any]:
    """A window on the home page, by the link; at the end nothing may have failed or come from elsewhere."""
    context = browser.new_context(base_url=viewed.url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    one = context.new_page()
    faults: list[str] = []
    one.on("pageerror", lambda error: faults.append(str(error)))
    # The runs here have no clips, so there is no picture of one either (404); a script that fails is another matter.
    expected = "the server responded with a status of"
    one.on("console", lambda m: faults.append(m.text) if m.type == "error" and expected not in m.text else None)
    one.on("request", lambda request: request.url.startswith(viewed.url) or faults.append(request.url))
    one.goto(f"/?token={TOKEN}")
    yield one
    context.close()
    assert not faults


def waited(page: Any) -> None:
    playwright.expect(page.locator(".waiting")).to_have_count(0)


def test_the_link_opens_the_page_and_leaves_the_address_bar(page: Any, viewed: Site) -> None:
    playwright.expect(page).to_have_url(f"{viewed.url}/")
    page.reload()
    playwright.expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    waited(page)
    assert "rank systems" in page.locator(".verdict").first.inner_text()
    page.get_by_role("link", name="week1/model_a", exact=True).click()
    playwright.expect(page.locator("h1")).to_have_text("week1/model_a")


def test_keys_alone_filter_tick_and_compare(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("week")
    playwright.expect(page.locator("[data-matching]")).to_have_text("2 of 6")
    assert page.locator("[data-run]:visible").count() == 2
    page.get_by_label("compare week1/model_a").focus()
    page.keyboard.press("Space")
    playwright.expect(page.locator("[data-ticked]")).to_have_text("week1/model_a and …")
    page.locator("[data-filter]").fill("")
    playwright.expect(page.get_by_label("compare alone")).to_be_disabled()
    playwright.expect(page.get_by_label("compare week2/model_a")).to_be_enabled()
    page.get_by_label("compare week2/model_a").focus()
    page.keyboard.press("Space")
    button = page.get_by_role("button", name="Compare")
    playwright.expect(button).to_be_enabled()
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/runs?a=week1%2Fmodel_a&b=week2%2Fmodel_a")


def test_a_filter_that_fits_nothing_says_so(page: Any) -> None:
    page.locator("[data-filter]").fill("zzz")
    playwright.expect(page.get_by_text("No run fits this filter.")).to_be_visible()


def test_a_new_run_appears_and_keeps_what_was_typed(page: Any, folder: Path) -> None:
    page.locator("[data-filter]").fill("late")
    inputs = [f"{n}.mp4" for n in range(4)]
    with RunWriter(folder / "late" / "run", instrument="clip", settings=SETTINGS, inputs=inputs) as run:
        run.add(entry("0", 0.4, badge="flagged"))
        card = page.locator("[data-run='late/run']")
        playwright.expect(card).to_contain_text("1 of 4")
        playwright.expect(card).to_contain_text("still going")
        playwright.expect(page.locator("[data-filter]")).to_be_focused()
        assert page.locator("[data-filter]").input_value() == "late" and page.locator("[data-run]:visible").count() == 1
        run.finish(["0"])
    playwright.expect(card).not_to_contain_text("still going")


LOOKS = [
    pytest.param(("light", 1440), id="light-1440", marks=pytest.mark.soak),
    pytest.param(("dark", 390), id="dark-phone"),
    pytest.param(("dark", 2560), id="dark-2560", marks=pytest.mark.soak),
    pytest.param(("light", 900), id="light-900", marks=pytest.mark.soak),
]


@pytest.mark.parametrize("look", LOOKS)
def test_it_fits_and_axe_finds_nothing(browser: Any, viewed: Site, look: tuple[str, int]) -> None:
    scheme, width = look
    context = browser.new_context(
        base_url=viewed.url, color_scheme=scheme, viewport={"width": width, "height": 844 if width == 390 else 900}
    )
    page = context.new_page()
    page.goto("/")
    playwright.expect(page.get_by_role("heading", name="Not taken")).to_be_visible()
    if width == 390:
        check_with_axe(page, "without the link")
    page.goto(f"/?token={TOKEN}")
    waited(page)
    check_with_axe(page, f"home {scheme} {width}")
    _fits_with_a_verdict_in_sight(page)
    if width == 390:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.emulate_media(color_scheme="light")
        check_with_axe(page, "home light 1440", only=("color-contrast",))
        _fits_with_a_verdict_in_sight(page)
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme=scheme)
    if folder := os.environ.get("RUSHES_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/view_{width}_{scheme}.png", full_page=True)
    context.close()


def _fits_with_a_verdict_in_sight(page: Any) -> None:
    assert fits(page)
    first = page.locator(".verdict").first.bounding_box()
    assert first is not None and first["y"] + first["height"] < 844, "the first verdict is on the first screen"


def test_an_empty_folder_says_what_to_type(browser: Any, tmp_path: Path) -> None:
    site = Site(view_app([tmp_path], token=TOKEN))  # type: ignore[arg-type]
    context = browser.new_context(base_url=site.url)
    page = context.new_page()
    page.goto(f"/?token={TOKEN}")
    playwright.expect(page.get_by_text("rushes clip CLIPS -o runs/first")).to_be_visible()
    check_with_axe(page, "an empty folder")
    context.close()
    site.close()
