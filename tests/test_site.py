"""The site: its navigation holds every page once, no link is dead, and its metric pages say what the catalogue says."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """The builder, which is a script and no part of the package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import build_site  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    assert isinstance(build_site, ModuleType)
    return build_site


def test_the_navigation_holds_every_page_once(site: ModuleType) -> None:
    listed = Counter(page for _, pages in site.navigation() for page in pages)
    assert not [page for page, times in listed.items() if times > 1]
    wanted = set(site.pages()) - {"index"} | set(site.REPLACED.values())
    assert wanted - set(listed) == set(), "add the page to docs/site/navigation.toml"
    assert set(listed) - wanted == set(), "docs/site/navigation.toml names a page that is not there"


def anchors(text: str) -> set[str]:
    """The anchors that headings give, as GitHub and the site make them."""
    heads = re.findall(r"^#+ +(.*?)\s*$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_no_link_is_dead(site: ModuleType) -> None:
    dead = []
    for path in [ROOT / "README.md", *site.pages().values()]:
        text = path.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)", text):
            aim = (path.parent / target) if target else path
            if not aim.exists() or (anchor and anchor not in anchors(aim.read_text(encoding="utf-8"))):
                dead.append(f"{path.relative_to(ROOT)}: {target}#{anchor}")
    assert not dead


def test_a_page_is_staged_with_the_links_of_the_site(site: ModuleType) -> None:
    text = "<!-- test: takes -->\n```\n$ rushes clip x\n```\n\n[a](../SECURITY.md) [b](metrics.md#fps) [c](clip.md#top) [d](https://x.org/a.md)\n"
    staged = site.staged("report", text, ROOT / "docs" / "report.md")
    assert staged == (
        "```console\n$ rushes clip x\n```\n\n[a](security.md) [b](metrics/index.md#fps) [c](clip.md#top) [d](https://x.org/a.md)\n"
    )
    assert (
        site.staged("examples", "[x](measure_clips.py)", ROOT / "examples" / "README.md")
        == "[x](files/measure_clips.py)"
    )
