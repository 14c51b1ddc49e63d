"""A rater's way in Firefox: from the invitation to a stored vote, with the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .firefox import CONTROL, ENTER, Firefox, firefox_program
from .livesite import Study

pytestmark = [pytest.mark.browser, pytest.mark.soak]


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    window = Firefox(firefox_program(), tmp_path)
    yield window
    window.close()


def test_a_vote_in_firefox(firefox: Firefox, study: Study) -> None:
    rater = study.rater()
    page = firefox
    page.go(f"{study.site.url}{study.invitation()}")
    page.ask("document.querySelector('main button').click()")
    page.until("document.querySelector('form[action=\"/rate/consent\"]') !== null")
    page.cookie("rushes_rater", rater.cookies["rushes_rater"])
    page.go(f"{study.site.url}/rate")
    page.until("[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)")
    grey = "getComputedStyle(document.querySelector('{}')).backgroundColor === 'rgb(117, 117, 117)'"
    assert all(page.ask(grey.format(place)) for place in ("body", "[data-stage]", "video"))
    assert page.ask("document.querySelector('video').clientWidth") >= 680
    for times in (1, 2):
        page.press(" ")
        page.until(f"document.querySelector('[data-watch]').textContent === 'A {times}/2 · B {times}/2'")
        page.until("document.querySelector('[data-both]').textContent === 'Play both'")
    for key in ("b", "h", *"54433422"):
        page.press(key)
    assert page.ask("document.querySelector('[name=winner]:checked').value") == "B"
    page.ask("scrollTo(0, 600)")
    page.until("document.querySelector('video').getBoundingClientRect().top >= 0")
    page.press(CONTROL, ENTER)
    page.until("document.body.textContent.includes('Pair 2 of')")
    (vote,) = study.service.votes(study.name)
    assert vote.primary_tag == "Flicker / temporal jitter" and len(vote.ratings) == 4
    assert vote.viewing["viewport"] == [1440, 900]
