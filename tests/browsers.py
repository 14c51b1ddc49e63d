"""One Chromium for the tests of a file, and how long a test waits for a page: a busy machine draws and plays slowly."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium; the test is skipped where it or Playwright is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("the browser tests need Debian's chromium (apt install chromium)")
    playwright.expect.set_options(timeout=PATIENCE_MS)
    with playwright.sync_playwright() as tool:
        # Closed with the file: while it is open its event loop runs, and other tests start their own.
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
