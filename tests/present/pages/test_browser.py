"""The page in a real browser, opened from disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browsers import PATIENCE_MS, shoot
from tests.storage.runs.judged import GOLDENS, write_judged

from rushes.compare.report import write_report
from rushes.core.words.number_text import number_text
from rushes.storage.runs import Run

from .conftest import HOSTILE

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser


class Reader:
    """One person's browser, which notes every fault and every request that leaves the file."""

    def __init__(self, browser: playwright.Browser, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        self.path = Path()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._request(request.url))

    def visit(self, path: Path) -> None:
        """The page as if opened for the first time, in a window of the usual size."""
        self.path = path
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.goto("about:blank")  # or an address that differs behind its # alone would load nothing
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def _request(self, url: str) -> None:
        if url != self.path.as_uri() and not url.startswith("data:"):
            self.elsewhere.append(url)

    @property
    def names(self) -> list[str]:
        return self.page.locator("button.open").all_inner_texts()  # type: ignore[no-any-return]

    def open(self, name: str) -> playwright.Locator:
        self.page.get_by_role("button", name=name, exact=True).click()
        return self.page.locator("tr.detail")


@pytest.fixture(scope="module")
def usual(browser: playwright.Browser) -> Iterator[Reader]:
    """A browser window without options, which the tests use one after the other."""
    reader = Reader(browser)
    yield reader
    reader.context.close()


@pytest.fixture
def read(browser: playwright.Browser, usual: Reader, page: Path) -> Iterator[Callable[..., Reader]]:
    readers: list[Reader] = []

    def make(path: Path = page, **options: Any) -> Reader:
        readers.append(Reader(browser, **options) if options else usual)
        readers[-1].visit(path)
        return readers[-1]

    yield make
    found = [(reader.faults, reader.elsewhere) for reader in readers]
    usual.faults, usual.elsewhere = [], []
    for reader in readers:
        if reader is not usual:
            reader.context.close()
    for faults, elsewhere in found:
        assert faults == []
        assert elsewhere == [], "the page asked for something outside itself"


def test_opens_from_disk_worst_first_and_shows_names_as_names(read: Callable[..., Reader]) -> None:
    reader = read()
    assert reader.names[0] == "broken"
    assert any("img_src_x" in name for name in reader.names)
    assert HOSTILE in reader.open(next(n for n in reader.names if "img" in n)).locator(".path").inner_text()
    assert reader.page.locator("img[src='x']").count() == 0


def test_sorts_by_a_column_both_ways_with_missing_values_last(read: Callable[..., Reader]) -> None:
    reader = read()
    head = reader.page.locator("th", has=reader.page.get_by_role("button", name="frozen ms"))
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    rising = reader.names
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert reader.names[0] == "frozen" and rising[-2] == "frozen"
    assert reader.names[-1] == rising[-1] == "broken", "what has no value comes last, whichever way"
    reader.page.get_by_label("Sort by").select_option("clip")
    assert reader.names == sorted(reader.names, key=str.lower)


def test_filters_by_words_signal_and_reason(read: Callable[..., Reader]) -> None:
    reader = read()
    everything = reader.names
    page = reader.page
    page.get_by_label("Find").fill("FROZ")
    assert reader.names == ["frozen"]
    playwright.expect(page.locator("[data-shown]")).to_contain_text("1 of 5 clips")
    page.get_by_label("Find").fill("no such clip")
    playwright.expect(page.get_by_text("No clip fits these filters.")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    assert reader.names == everything
    page.locator(".tile.reject").click()
    assert reader.names == ["broken"] and page.locator("select[name=signal]").input_value() == "reject"
    playwright.expect(page.locator(".tile.reject")).to_have_attribute("aria-pressed", "true")
    page.locator(".tile.reject").click()
    page.locator("[data-reason=longest_freeze_ms]").click()
    assert reader.names == ["frozen"]
    page.get_by_role("button", name="Clear", exact=True).click()
    assert reader.names == everything


def test_one_click_copies_a_signature(read: Callable[..., Reader]) -> None:
    reader = read(permissions=["clipboard-read", "clipboard-write"])
    detail = reader.open("good")
    detail.locator("tr", has_text="freeze_frame_ratio").locator("button.copy").click()
    copied = reader.page.evaluate("navigator.clipboard.readText()")
    assert copied == "freeze_frame_ratio|eps:1.0|input:raw|plane:luma|range:full|v:1"
    playwright.expect(reader.page.get_by_role("status")).to_contain_text(copied)


def test_an_open_row_shows_the_run_s_numbers(read: Callable[..., Reader], clip_run: Path) -> None:
    reader = read()
    detail = reader.open("cut")
    shown = {}
    for row in detail.locator("[data-signature]").all():
        value = row.locator("td.value button")
        shown[row.get_attribute("data-signature")] = (
            value.inner_text(),
            value.get_attribute("data-value"),
            row.locator("td.unit").inner_text(),
            row.locator("td.count").inner_text(),
        )
    stored = [json.loads(line) for line in (clip_run / "measurements.jsonl").read_text().splitlines()]
    definitions = json.loads((clip_run / "run.json").read_text())["definitions"]
    mine = {m["signature"]: m for m in stored if m["subject"] == "cut"}
    assert shown.keys() == mine.keys()
    for signature, (value, exact, unit, count) in shown.items():
        expected = mine[signature]["value"]
        words = {True: "yes", False: "no", None: "–"}
        if expected is None or isinstance(expected, bool):
            assert value == exact == words[expected]
        else:
            assert float(exact) == expected and value == number_text(expected), (
                "the page's rule is core/words/number_text.py's"
            )
        assert (
            unit == definitions[signature]["unit"].replace("1", "no unit", definitions[signature]["unit"] == "1")
            and int(count) == mine[signature]["count"]
        )
    assert detail.get_by_text("Scene cut at 0.80 s (frame 20)").count() == 1


def test_an_open_row_has_what_fired_first_and_a_timeline_with_key_frames(read: Callable[..., Reader]) -> None:
    reader = read()
    detail = reader.open("frozen")
    first = detail.locator("[data-signature]").first
    assert "longest_freeze_ms" in first.inner_text() and "the reason" in first.inner_text()
    assert first.locator(".limit").inner_text() == "flagged > 350"
    canvas = detail.get_by_role("slider")
    drawn = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v)"
    assert canvas.evaluate(drawn)
    detail.get_by_role("button", name=re.compile("^Still")).click()
    # Steps 10 to 34: from frame 9 (360 ms) to frame 34 (1360 ms); the middle is 860 ms.
    playwright.expect(canvas).to_have_attribute("aria-valuenow", "860")
    playwright.expect(detail.locator(".reading")).to_contain_text("difference ≈")
    playwright.expect(detail.locator(".strip li.near")).to_have_count(1)
    canvas.focus()
    reader.page.keyboard.press("Home")
    playwright.expect(canvas).to_have_attribute("aria-valuenow", "0")
    reader.page.keyboard.press("ArrowRight")
    playwright.expect(canvas).to_have_attribute("aria-valuenow", "40")
    canvas.hover(position={"x": 300, "y": 60})
    playwright.expect(detail.locator(".reading")).to_contain_text("luma ≈")


def test_the_first_screen_has_the_verdict_pictures_and_reasons(read: Callable[..., Reader]) -> None:
    page = read().page
    assert page.locator(".headline").inner_text() == "2 of 5 clips need a look: 1 reject, 1 flagged. 3 pass."
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for part in (page.locator(".takes .reason"), page.locator(".takes img")):
            assert part.count() and (box := part.last.bounding_box()) and box["y"] + box["height"] <= height
    assert [take.split("\n")[0] for take in page.locator(".takes li").all_inner_texts()][-1] == "frozen"


@pytest.mark.parametrize("number", [2, 4])
def test_a_second_reading_that_fired_is_the_reason(read: Callable[..., Reader], tmp_path: Path, number: int) -> None:
    """A rule on blur_p10 marks the 10th percentile of blur_score, and not its mean; in an old run too."""
    run = GOLDENS / "format2" if number == 2 else write_judged(tmp_path / "run")
    write_report([run], tmp_path / "page.html", strips=0)
    rows = read(tmp_path / "page.html").open("cut").locator("[data-signature]")
    marked = rows.filter(has_text="the reason")
    assert marked.count() >= 1 and "statistic:p10" in str(marked.first.get_attribute("data-signature"))
    assert rows.first.get_attribute("data-signature") == marked.first.get_attribute("data-signature")
    assert marked.first.locator(".limit").inner_text() == "< 47850"


def test_the_address_keeps_filter_sort_and_opened_row(read: Callable[..., Reader], browser: Any, page: Path) -> None:
    reader = read()
    tab = reader.page
    tab.get_by_label("Find").fill("o")
    tab.locator("select[name=signal]").select_option("pass")
    tab.get_by_label("Sort by").select_option("clip")
    shown, address = reader.names, tab.url
    assert address.endswith("#run-1?find=o&signal=pass&sort=id")
    other = browser.new_context().new_page()
    other.goto(address)
    other.wait_for_selector("html[data-ready]")
    assert other.locator("button.open").all_inner_texts() == shown and other.get_by_label("Find").input_value() == "o"
    other.goto(page.as_uri() + "#run-1?badge=nonsense&sort=999&open=frozen")
    other.wait_for_selector("tr.detail")
    assert other.locator("button.open[aria-expanded=true]").inner_text() == "frozen"
    other.locator(".takes a").first.click()
    playwright.expect(other.locator("button.open[aria-expanded=true]").first).to_have_text("broken")
    other.context.close()
    tab.get_by_role("button", name="Clear", exact=True).click()
    tab.get_by_label("Sort by").select_option("signal")
    assert "#" not in tab.url


def test_the_keyboard_is_enough(read: Callable[..., Reader]) -> None:
    reader = read()
    page, keys = reader.page, reader.page.keyboard
    page.get_by_label("Find").focus()
    keys.press("ArrowDown")
    assert page.evaluate("document.activeElement.innerText") == reader.names[0]
    keys.press("ArrowUp")
    assert page.evaluate("document.activeElement.name") == "find"
    keys.press("Enter")
    assert page.locator("tr.detail").count() == 1
    page.reload()
    page.wait_for_selector("html[data-ready]")
    keys.press("/")
    keys.type("o")
    playwright.expect(page.get_by_label("Find")).to_be_focused()
    playwright.expect(page.get_by_label("Find")).to_have_value("o")
    page.locator("button.open").first.focus()
    keys.press("ArrowDown")
    second = page.locator("button.open").nth(1)
    playwright.expect(second).to_be_focused()
    keys.press("Enter")
    playwright.expect(second).to_have_attribute("aria-expanded", "true")
    playwright.expect(page.locator("tr.detail")).to_have_count(1)
    keys.press("Escape")
    playwright.expect(page.locator("tr.detail")).to_have_count(0)
    keys.press("Home")
    playwright.expect(page.locator("button.open").first).to_be_focused()


@pytest.mark.parametrize(("name", "opened"), [("page", "frozen"), ("sweep_page", "")])
def test_no_accessibility_violation_and_fits_every_window(
    read: Callable[..., Reader], request: pytest.FixtureRequest, name: str, opened: str
) -> None:
    """Of what axe looks at, the dark page differs in its colours alone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    reader = read(request.getfixturevalue(name), color_scheme="light")
    if opened:
        reader.open(opened)
    shoot(reader.page, name)
    reader.page.set_viewport_size({"width": 1280, "height": 720})
    for fold in reader.page.locator("details > summary").all():
        fold.click()
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        reader.page.emulate_media(color_scheme=scheme)
        # Without `resultTypes` it would hand over every element of the page with all that is right about it.
        found = axe.Axe().run(reader.page, options={"resultTypes": ["violations"]} | options).response["violations"]
        assert [f"{v['id']}: {v['nodes'][0]['html']}" for v in found] == [], scheme


@pytest.fixture(scope="module")
def long_page(many: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """250 rows, of which the page shows 100 at a time."""
    made = write_report([many(250)], tmp_path_factory.mktemp("long") / "many.html", strips=0)
    return Path(made.path)


def test_many_rows_come_as_they_are_needed(read: Callable[..., Reader], long_page: Path) -> None:
    reader = read(long_page)
    assert len(reader.names) < 250
    reader.page.locator("[data-more]").scroll_into_view_if_needed()
    playwright.expect(reader.page.locator("button.open").nth(199)).to_be_attached()
    reader.page.get_by_label("Find").fill("clip_00249")
    assert reader.names == ["clip_00249"]
    assert "No film strip was asked" in reader.open("clip_00249").inner_text()


def test_prints_more_than_the_screen_shows(read: Callable[..., Reader], long_page: Path) -> None:
    reader = read(long_page)
    data = reader.page.pdf(format="A4")
    assert data.startswith(b"%PDF") and len(reader.names) == 250


def test_reads_without_scripts(browser: playwright.Browser, page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(page.as_uri())
    assert tab.locator("tr.subject").count() == 5
    playwright.expect(tab.locator("tr.subject").first).to_contain_text("broken")
    context.close()
