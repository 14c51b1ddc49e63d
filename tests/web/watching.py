"""What every browser test of the workbench does alike: keep a page's faults."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request


def watch(page: Page, url: str, faults: list[str]) -> Page:
    """Keep in `faults` what goes wrong on the page: requests to other servers than `url`, errors, console errors."""

    def asked(request: Request) -> None:
        if urlsplit(request.url).scheme in ("http", "https") and not request.url.startswith(url):
            faults.append(f"asked another server: {request.url}")

    page.on("request", asked)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" and "status of" not in m.text else None)
    return page
