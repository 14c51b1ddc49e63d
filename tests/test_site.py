"""The site: its navigation holds every page once, no link is dead, and its metric pages say what the catalogue says."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from rushes.core import Definition

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
    listed = Counter(site.listed())
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
        "```console\n$ rushes clip x\n```\n\n[a](security.md) [b](metrics/clip-files.md#fps) [c](clip.md#top) [d](https://x.org/a.md)\n"
    )
    assert (
        site.staged("examples", "[x](measure_clips.py)", ROOT / "examples" / "README.md")
        == "[x](files/measure_clips.py)"
    )


def test_every_metric_has_a_page_and_its_facts_are_on_it(site: ModuleType) -> None:
    import site_metrics  # type: ignore[import-not-found]

    from rushes.instruments.catalogue import catalog

    named: dict[str, list[Definition]] = {}
    for definition in catalog().values():
        named.setdefault(definition.name, []).append(definition)
    where = site_metrics.homes()
    assert set(where) == set(named) and set(where.values()) <= {page.slug for page in site_metrics.PAGES}
    page = next(page for page in site_metrics.PAGES if page.slug == "clip-motion")
    text = site_metrics.metric_page(page, {"longest_freeze_ms": named["longest_freeze_ms"]}, {})
    (freeze,) = named["longest_freeze_ms"]
    assert freeze.signature in text
    for words in (freeze.formula, freeze.edge_cases, freeze.raised_by[0], *freeze.history):
        assert site_metrics.escaped(words) in text


def test_two_readings_are_told_apart_by_what_differs(site: ModuleType) -> None:
    import site_metrics

    from rushes.instruments.catalogue import find

    text = site_metrics.metric_page(site_metrics.PAGES[0], {"flicker_score": find("flicker_score")}, {})
    assert "**Reading: statistic std**" in text and "**Reading: statistic mean-abs-delta**" in text


def test_text_of_a_definition_is_no_markup(site: ModuleType) -> None:
    import site_metrics

    assert site_metrics.escaped("a*b*c <x> `d*e` snake_case") == r"a\*b\*c \<x\> `d*e` snake\_case"


def test_values_on_pictures_are_those_of_the_clips(site: ModuleType, tmp_path: Path) -> None:
    """A shift by one pixel costs more SSIM than 10 levels of brightness, and an undamaged frame costs nothing."""
    import site_pictures  # type: ignore[import-not-found]

    html = site_pictures._pair_figures(tmp_path)["fidelity-pixels"]
    ssim = [float(value) for value in re.findall(r"<br>ssim <b>([^<]*)</b>", html)]
    assert ssim[0] == 1.0 and ssim[3] < ssim[4]
    assert len(list(tmp_path.glob("*.jpg"))) == len(ssim) == len(site_pictures.DAMAGE)


def test_what_a_browser_would_fetch_from_elsewhere_is_found(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://x.org">x</a><img src="own.png"><link href="own.css">')
    assert site.requests_outside(tmp_path) == []
    (tmp_path / "b.html").write_text('<link rel="stylesheet" href="https://fonts.example.org/css">')
    (tmp_path / "c.css").write_text(
        "@import 'https://cdn.example.org/c.css'; p { background: url(https://x.org/p.png) }"
    )
    assert [line.partition(":")[0] for line in site.requests_outside(tmp_path)] == ["b.html", "c.css", "c.css"]
