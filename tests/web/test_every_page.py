"""Every page of the list: fits at four widths, light and dark, axe clean, by keyboard, quiet, and asks nobody else.

Every number on it is read back from the run: see `readback.py` for the rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.browsers import OVERFLOW, fits

from rushes.compare.board.board import board_as_data
from rushes.compare.board.judging import judge_board
from rushes.compare.board.page.words import Opening
from rushes.compare.readings.collect import collect_board
from rushes.compare.runs.as_data import comparison_data
from rushes.compare.runs.many import compare_all
from rushes.instruments.clip.signals.profile import load_profile
from rushes.storage.runs import read_run
from rushes.study.evaluate import measure_study

from .firefox import Firefox, firefox_program
from .gallery import PAGES, SCHEMES, WIDTHS, Gallery, GalleryPage, settle, small_gallery, watch
from .readback import Pool, faults, numbers_on
from .visitor import check_with_axe

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    with small_gallery(tmp_path_factory.mktemp("gallery")) as made:
        yield made


@pytest.fixture(scope="module")
def pool(gallery: Gallery) -> Pool:
    """What the runs and the study's votes hold, and what `rushes compare` and `rushes board` compute from them."""
    found = Pool()
    found.limits |= {float(rule.threshold) for rule in load_profile("general").rules}
    for path in gallery.runs.values():
        found.add_all(m for rows in read_run(path).measurements.values() for m in rows)
    found.add_all(measure_study(gallery.study.service, gallery.study.name).measurements)
    board = collect_board(gallery.suite)
    for data in (
        comparison_data(compare_all([gallery.runs[gallery.names[one]] for one in "ab"])),
        board_as_data(board, judge_board(board), opening=Opening(headline="")),
    ):
        found.add_json(json.loads(json.dumps(data)))
    return found


@pytest.fixture(scope="module")
def contexts(browser: Any, gallery: Gallery) -> Iterator[dict[str, Any]]:
    """One signed-in browser for each kind of reader."""
    made: dict[str, Any] = {}
    for page in PAGES:
        if page.who not in made:
            made[page.who] = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
            made[page.who].add_cookies(gallery.cookies(page))
    yield made
    for context in made.values():
        context.close()


def _params() -> list[Any]:
    return [pytest.param(page, id=page.name, marks=() if page.main else pytest.mark.soak) for page in PAGES]


NOT_BY_KEYBOARD = """() => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: false });
  const wanted = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], ' +
    '[role=slider], [role=tab], [role=checkbox], [data-copy]';
  const elsewhere = (e) => e.href && [...document.links].some((a) => a.href === e.href && a.tabIndex >= 0);
  const inGroup = (e) => e.closest('[role=tablist], [role=radiogroup], [role=grid], [role=listbox], [role=toolbar]');
  return [...document.querySelectorAll(wanted)]
    .filter((e) => seen(e) && !e.disabled && e.tabIndex < 0 && !inGroup(e) && !elsewhere(e))
    .map((e) => e.outerHTML.slice(0, 120));
}"""
"""What Tab never comes to. In a group with arrow keys one member is enough, and of two links to one page one."""

FRAME = """() => {
  const look = (name) => getComputedStyle(document.querySelector(name));
  const left = (name) => {
    const e = document.querySelector(name);
    return Math.round(e.getBoundingClientRect().left + parseFloat(getComputedStyle(e).paddingLeft));
  };
  const main = document.querySelector('main');
  return {
    paper: look('body').backgroundColor, header: look('.top').backgroundColor, ink: look('body').color,
    line: look('.top').borderBottomColor, font: look('body').fontFamily, brand: left('.top-in'),
    content: main.classList.contains('narrow') || main.classList.contains('reading') ? left('.top-in') : left('main'),
  };
}"""
"""The header and the palette of a page, and where its header and its content begin."""

PRIVATE = re.compile(r"(?<![\w/])(?:(?<!it )takes?|badges?|tiers?)(?![\w/])|(?<!review )\bsignals?\b", re.IGNORECASE)
"""Words of ours that no page shows. Clips and folders of this material are called so, and a test may take 6 clips."""

FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const box = e.getBoundingClientRect();
  const name = (e.getAttribute('aria-label') || e.textContent || e.title || e.alt || '').trim() ||
    [...(e.labels || [])].map((label) => label.textContent).join(' ').trim() ||
    document.getElementById(e.getAttribute('aria-labelledby'))?.textContent.trim() ||
    (e.getAttribute('aria-describedby') || e.tagName === 'VIDEO' || e.matches('.scroll') ? 'named elsewhere' : '');
  return { html: e.outerHTML.slice(0, 120), shown: box.width > 0 && box.height > 0, name };
}"""


PALETTES: dict[str, dict[str, Any]] = {}
"""By scheme, as the first page has it; all others have the same."""


@pytest.mark.parametrize("page", _params())
def test_a_page(page: GalleryPage, gallery: Gallery, contexts: dict[str, Any], pool: Pool) -> None:
    if not gallery.has(page):
        pytest.skip("the small material has no such run")
    tab = contexts[page.who].new_page()
    trouble = watch(tab, gallery.site.url)
    try:
        answer = tab.goto(gallery.address(page))
        assert page.who == "file" or answer.status == page.status, f"{page.name}: {answer.status}"
        settle(tab)
        if page.who != "rater" and not page.name.startswith(("study", "invitation", "docs")):
            assert PRIVATE.findall(tab.inner_text("body")) == []
        for scheme in SCHEMES:
            tab.emulate_media(color_scheme=scheme)
            if not page.name.startswith("rater") and page.name != "docs":  # clips that are rated have the whole width
                frame = tab.evaluate(FRAME)
                assert frame.pop("brand") == frame.pop("content"), "header and content have one left edge"
                assert PALETTES.setdefault(scheme, frame) == frame, "one header and one palette for all pages"
            # In the dark only colours are different.
            for width, height in WIDTHS if scheme == "light" else ():
                tab.set_viewport_size({"width": width, "height": height})
                assert fits(tab), f"{page.name} is {tab.evaluate(OVERFLOW)} px too wide at {width} px, {scheme}"
            tab.set_viewport_size({"width": 1440, "height": 900})
            check_with_axe(tab, f"{page.name}, {scheme}", only=("color-contrast",) if scheme == "dark" else ())
        tab.emulate_media(color_scheme="light")
        assert tab.evaluate(NOT_BY_KEYBOARD) == []
        _walk(tab, page.name)
        found = numbers_on(tab)
        derived = _twin(contexts[page.who], tab.url) if page.who == "owner" and page.status == 200 else None
    finally:
        tab.close()
    assert trouble == [], page.name
    wrong = list(faults(found, pool.plus(derived)))
    assert not wrong, f"{page.name}: {len(wrong)} of {len(found)} numbers\n" + "\n".join(wrong[:40])


def _twin(context: Any, address: str) -> Any:
    """The page's data, for what is computed on the way to it; None where it has no twin.

    Tried again where the server has just closed the connection that was kept open for the next request.
    """
    place = urlsplit(address)
    answer = context.request.get(place._replace(path=f"{place.path}.json").geturl(), max_retries=5)
    return answer.json() if answer.ok else None


def _walk(tab: Any, name: str) -> None:
    """Twelve steps with Tab from the top: each comes to something that is there and has a name."""
    tab.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0) }")
    for _ in range(12):
        tab.keyboard.press("Tab")
        stop = tab.evaluate(FOCUSED)
        if stop is None:  # past the last one, and round again
            return
        assert stop["shown"] and stop["name"], f"{name}: {stop['html']}"


@pytest.mark.soak
def test_the_main_pages_in_firefox(gallery: Gallery, tmp_path: Path) -> None:
    window = Firefox(firefox_program(), tmp_path)
    try:
        for page in (page for page in PAGES if page.main):
            for cookie in gallery.cookies(page):
                window.cookie(cookie["name"], cookie["value"])
            window.go(gallery.address(page))
            window.until("document.querySelector('h1') !== null")
            for width, height in WIDTHS:
                window.size(width, height)
                assert window.ask(OVERFLOW) <= 0, f"{page.name} at {width} px in Firefox"
    finally:
        window.close()
