"""The built documentation in a browser: nothing wider than a phone, a short index of metrics, a search that finds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browsers import browser as browser

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]  # building the site takes a minute on a quiet machine

PAGES = (
    "index",
    "metrics/index",
    "metrics/longest_freeze_ms",
    "metrics/landmark_distance",
    "commands",
    "verdict-rates",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    script = ROOT / "scripts" / "build_site.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, text=True)
    return folder


@pytest.fixture(params=["light", "dark"])
def phone(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


def test_no_page_is_wider_than_a_phone_and_wide_tables_say_that_they_scroll(phone: Any, site: Path) -> None:
    noted = {}
    for name in PAGES:
        phone.goto((site / f"{name}.html").as_uri())
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390, name
        wide, marked = (
            phone.evaluate(f"[...document.querySelectorAll('.table-wrapper')].filter((t) => {rule}).length")
            for rule in ("t.scrollWidth > t.clientWidth + 2", "t.classList.contains('wide')")
        )
        assert wide == marked, name
        noted[name] = marked
    assert noted["verdict-rates"] > 0


def test_the_index_of_metrics_is_short_and_its_filter_finds_other_names(phone: Any, site: Path) -> None:
    phone.goto((site / "metrics" / "index.html").as_uri())
    assert phone.evaluate("document.documentElement.scrollHeight") < 4000
    phone.fill("#metric-filter", "csim")
    shown = "[...document.querySelectorAll('details.metrics tbody tr')].filter((r) => r.offsetParent)"
    found = phone.evaluate(f"{shown}.map((r) => r.querySelector('a').textContent)")
    assert found == ["identity_similarity"]


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("exit code", "errors.html"),
        ("longest_freeze_ms", "metrics/longest_freeze_ms.html"),
        ("glossary", "glossary.html"),
    ],
)
def test_the_search_finds_the_page_first(phone: Any, site: Path, asked: str, page: str) -> None:
    phone.goto(f"{(site / 'search.html').as_uri()}?q={asked.replace(' ', '+')}")
    first = phone.locator("ul.search li a").first
    first.wait_for()
    assert first.get_attribute("href") == page
