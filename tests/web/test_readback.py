"""The reading back itself: on small pages with a number too many, a wrong one, and one of each kind that is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from .readback import Pool, faults, numbers_on

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

SIGNATURE = "blur_score|plane:luma|input:raw canon|v:1"
BOUNDS = {"low": 11.5, "high": 13.25, "level": 0.95}

CASES = [
    (f'<p data-signature="{SIGNATURE}">12.35</p>', ""),
    (f'<p data-signature="{SIGNATURE}">12.4</p>', "not a number under blur_score"),
    (f'<p><b data-copy="{SIGNATURE}">12</b> over <b>8</b> clips</p>', ""),
    (f'<p data-signature="{SIGNATURE}">12.3 (95 % interval 11.5 to 13.2)</p>', ""),
    (f'<p data-signature="{SIGNATURE}">12.3 (95 % interval 11.5 to 14.2)</p>', "not a number under blur_score"),
    ('<p data-signature="other|v:1">12.3</p>', "no number of the run has the signature other|v:1"),
    ("<p>12.35</p>", "no provenance"),
    ("<p>8 of 20 clips, page 3</p>", ""),
    ("<p>at 0.80 s, 25 fps, 64 × 48, 1.2–3.4 s</p>", ""),
    ('<p>more than <span data-kind="threshold">0.33</span></p>', ""),
    ('<p data-kind="nonsense">0.33</p>', "data-kind is one of"),
    ("<li>soft (blur_score=12.35 &lt; 20.5)</li>", ""),
    ("<li>soft (blur_score=12.99 &lt; 20.5)</li>", "blur_score has no such value"),
    (f'<table><thead><tr><th>clip<th data-signature="{SIGNATURE}">blur<tbody><tr><th>a<td>12.35</table>', ""),
    (
        f'<table><thead><tr><th>clip<th data-signature="{SIGNATURE}">blur<tbody><tr><th>a<td>9</table>',
        "not a number under blur_score",
    ),
    (f'<table><tbody><tr><th>blur<td>12.35<td>8<td>44<td data-copy="{SIGNATURE}">s</table>', ""),
    (f'<table><tbody><tr><th>blur<td>12.99<td data-copy="{SIGNATURE}">s</table>', "not a number under blur_score"),
    ("<p>more than the rule: &gt; 20.5</p>", ""),
    ("<p>more than the rule: &gt; 21.5</p>", "no rule of the profile has this threshold"),
    ("<li>take_1 blur_score (mean) −0.25; sharp</li>", ""),
    ("<li>take_1 blur_score (mean) −0.27; sharp</li>", "blur_score has no such value"),
    ("<p>take_12.5 and v1.2.3 at <code>0.5</code></p>", ""),
    ("<p hidden>0.123</p>", ""),
]


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    return browser.new_page()


@pytest.mark.parametrize(("html", "says"), CASES, ids=range(len(CASES)))
def test_a_number(tab: Any, html: str, says: str) -> None:
    pool = Pool(limits={20.5})
    pool.add({"signature": "value_difference|of:blur_score;plane:luma|v:1", "value": -0.25})
    pool.add_json([{"x": {"signature": SIGNATURE, "value": 12.3466, "count": 8, "interval": BOUNDS}}])
    tab.set_content(html)
    wrong = list(faults(numbers_on(tab), pool))
    assert (len(wrong) == 1 and says in wrong[0]) if says else wrong == []
