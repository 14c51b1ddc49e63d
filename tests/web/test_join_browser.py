"""A participant of a recruiting platform, in a real browser: in by the open link, out with the code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.browsers import shoot

from rushes.study import StudyPlan

from .livesite import Site, Study
from .test_join import PERSON, PLAN
from .visitor import Visitor

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser


def test_a_participant_s_whole_way_in_a_browser(visit: Callable[..., Visitor], site: Site, clip_table: Path) -> None:
    """From the platform's address over consent, training and a vote to the code and the way back; on a phone."""
    plan = StudyPlan(name="paid", title="Bars that cross", gold_every=0, repeat_every=0, quota=1)
    site.service.create_study(plan)
    site.service.import_csv("paid", clip_table)
    address = f"/join/{site.service.running.open_link('paid', PLAN)}"
    person = visit(of=Study(site=site, name="paid"), viewport={"width": 390, "height": 844})
    page = person.page
    page.goto(f"{address}?PROLIFIC_PID={PERSON}&STUDY_ID=x&SESSION_ID=s1")
    shoot(page, "join", back=(390, 844))
    page.get_by_role("button", name="Begin").click()
    playwright.expect(page.get_by_role("button", name="I do not want to take part")).to_be_visible()
    page.get_by_role("button", name="agree to take part").click()
    page.get_by_role("link", name="Go to the training pair").click()
    person.watched()
    person.fill(winner=person.steady_side())
    person.send()
    page.get_by_role("link", name="Start rating").click()
    playwright.expect(page.get_by_text("Pair 1 of 1")).to_be_visible()
    person.watched()
    person.fill()
    person.send()
    playwright.expect(page.get_by_role("heading", name="All done")).to_be_visible()
    playwright.expect(page.locator("[data-code]")).to_have_text("C1DONE")
    back = page.get_by_role("link", name="Return to the platform")
    playwright.expect(back).to_have_attribute("href", "https://app.prolific.com/submissions/complete?cc=C1DONE")
    shoot(page, "done_with_code", back=(390, 844))
    assert len(site.service.votes("paid")) == 1 and site.service.running.recruitment("paid").joined == 1
