"""The languages of the raters' pages. By themselves, because the first page of `rushes view` waits for this list."""

from __future__ import annotations

LANGUAGES = ("en", "de")
"""`web/strings` has one file for each."""
