"""One Chromium for all tests of a process, and how a test waits: for a state, however slowly a busy machine draws."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PATIENCE_MS = 60_000


def until(page: Any, holds: str | Callable[[], object]) -> None:
    """Wait for something to hold; an expression is asked for from outside: a page's CSP lets nobody evaluate inside."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not (page.evaluate(holds) if isinstance(holds, str) else holds()):
        assert time.monotonic() < end, f"never came true: {holds}"
        page.wait_for_timeout(50)


def when(page: Any, holds: str, then: str) -> None:
    """Do something in a page as soon as something holds there: from outside, a busy machine comes too late."""
    look = f"const look = () => {holds} ? done(void {then}) : requestAnimationFrame(look)"
    page.evaluate(f"new Promise((done) => {{ {look}; look(); }})")


WIDTHS = ((1440, 900), (900, 900), (390, 844))
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
"""How many pixels a page is wider than its window."""


def fits(page: Any) -> bool:
    """Whether a page is no wider than its window, once what a script draws has been drawn anew."""
    end = time.monotonic() + PATIENCE_MS / 2000
    while (over := page.evaluate(OVERFLOW)) > 0 and time.monotonic() < end:
        page.wait_for_timeout(50)
    return bool(over <= 0)


def shoot(page: Any, name: str, *, back: tuple[int, int] = (1280, 900)) -> None:
    """Check that the page fits at three widths; keep pictures where RUSHES_SCREENSHOTS says so."""
    folder = os.environ.get("RUSHES_SCREENSHOTS")
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert fits(page), f"{name} is {page.evaluate(OVERFLOW)} px too wide at {width} px"
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{folder}/{name}_{width}.png", full_page=True)
    page.set_viewport_size({"width": back[0], "height": back[1]})


@cache
def _chromium(config: pytest.Config) -> tuple[Any, asyncio.AbstractEventLoop]:
    """Debian's Chromium and the loop its driver runs in, to the end of the session: a start costs two seconds."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("the browser tests need Debian's chromium (apt install chromium)")
    playwright.expect.set_options(timeout=PATIENCE_MS)
    tool = playwright.sync_playwright().start()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        asyncio._set_running_loop(loop)
        tool.stop()

    config.add_cleanup(stop)
    return tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"]), loop


@pytest.fixture(scope="module")
def browser(pytestconfig: pytest.Config) -> Iterator[Any]:
    """Chromium for the tests of a file; they are skipped where it or Playwright is missing."""
    browser, loop = _chromium(pytestconfig)
    asyncio._set_running_loop(loop)
    yield browser
    for context in browser.contexts:
        context.close()
    # The driver's loop rests until the next file that asks for the browser: tests in between start their own.
    asyncio._set_running_loop(None)
