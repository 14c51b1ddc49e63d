"""Opening a page in the user's browser, where there is one."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def has_browser() -> bool:
    """Whether a window can open here. Without one, Python would start a text browser in this very terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


def open_page(page: Path) -> bool:
    """Open a file in the browser; False where there is none."""
    if not has_browser():
        return False
    import webbrowser

    return webbrowser.open(page.resolve().as_uri())
