"""Every page of the list: fits at four widths, light and dark, axe clean, by keyboard, quiet, and asks nobody else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .firefox import Firefox
from .gallery import OVERFLOW, PAGES, SCHEMES, WIDTHS, Gallery, GalleryPage, overflow, settle, small_gallery, watch
from .visitor import check_with_axe

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    with small_gallery(tmp_path_factory.mktemp("gallery")) as made:
        yield made


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
  const inGroup = (e) => e.closest('[role=tablist], [role=radiogroup], [role=grid], [role=listbox], [role=toolbar]');
  return [...document.querySelectorAll(wanted)]
    .filter((e) => seen(e) && !e.disabled && e.tabIndex < 0 && !inGroup(e))
    .map((e) => e.outerHTML.slice(0, 120));
}"""
"""Interactive elements that Tab never comes to. In a group with arrow keys one member is enough."""

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


@pytest.mark.parametrize("page", _params())
def test_a_page(page: GalleryPage, gallery: Gallery, contexts: dict[str, Any]) -> None:
    if not gallery.has(page):
        pytest.skip("the small material has no such run")
    tab = contexts[page.who].new_page()
    faults = watch(tab, gallery.site.url)
    try:
        answer = tab.goto(gallery.address(page))
        assert page.who == "file" or answer.status == page.status, f"{page.name}: {answer.status}"
        settle(tab)
        for scheme in SCHEMES:
            tab.emulate_media(color_scheme=scheme)
            for width, height in WIDTHS:
                tab.set_viewport_size({"width": width, "height": height})
                over = overflow(tab)
                assert over <= 0, f"{page.name} is {over} px too wide at {width} px, {scheme}"
            tab.set_viewport_size({"width": 1440, "height": 900})
            check_with_axe(tab, f"{page.name}, {scheme}")
        tab.emulate_media(color_scheme="light")
        assert tab.evaluate(NOT_BY_KEYBOARD) == []
        _walk(tab, page.name)
    finally:
        tab.close()
    assert faults == [], page.name


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
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("needs Debian's Firefox (apt install firefox-esr)")
    window = Firefox(program, tmp_path)
    try:
        for page in (page for page in PAGES if page.main):
            for cookie in gallery.cookies(page):
                value = {"type": "string", "value": cookie["value"]}
                window.call("storage.setCookie", cookie={"name": cookie["name"], "value": value, "domain": "127.0.0.1"})
            window.go(gallery.address(page))
            window.until("document.querySelector('h1') !== null")
            for width, height in WIDTHS:
                window.size(width, height)
                assert window.ask(OVERFLOW) <= 0, f"{page.name} at {width} px in Firefox"
    finally:
        window.close()
