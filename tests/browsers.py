"""One Chromium for all tests of a process, and how long a test waits for a page: a busy machine draws slowly."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

PATIENCE_MS = 60_000


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
