"""Every state of the study's pages fits and can be read: a wide screen in light, a phone in dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rushes.study import VoteForm

from .livesite import PASSWORD, Study, decide, vote_through
from .visitor import Visitor, check_page

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser

LOOKS = [
    pytest.param({"color_scheme": "light", "viewport": {"width": 1280, "height": 900}}, id="light-wide"),
    pytest.param(
        {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}, id="dark-phone", marks=pytest.mark.soak
    ),
]


@pytest.mark.parametrize("look", LOOKS)
def test_the_way_to_the_work(visit: Callable[..., Visitor], study: Study, look: dict[str, object]) -> None:
    rater = visit(**look)
    page = rater.page
    link = study.invitation()
    page.goto(link)
    check_page(page, "invitation")
    page.get_by_role("button", name="Begin").click()
    check_page(page, "consent")
    page.get_by_role("button", name="agree").click()
    check_page(page, "instructions")
    page.get_by_role("link", name="Go to the training pair").click()
    check_page(page, "training")
    rater.send()
    playwright.expect(page.get_by_role("alert")).to_be_visible()
    check_page(page, "a vote that is not complete")
    rater.watched()
    rater.fill(winner="Tie")
    rater.send()
    playwright.expect(page.get_by_role("dialog", name="Most people would see")).to_be_visible()
    check_page(page, "feedback")
    page.get_by_role("link", name="Try the training pair again").click()
    rater.fill(winner="Tie")
    page.evaluate("document.querySelector('[data-vote]').submit()")  # as a page without its script would
    playwright.expect(page.get_by_role("heading", name="Most people would see")).to_be_visible()
    check_page(page, "feedback as a page")
    stranger = visit(**look).page
    stranger.goto(link)
    stranger.get_by_role("button", name="Begin").click()
    playwright.expect(stranger.get_by_role("heading", level=1)).to_be_visible()
    check_page(stranger, "a used invitation")


@pytest.mark.parametrize("look", LOOKS)
def test_the_work(visit: Callable[..., Visitor], study: Study, look: dict[str, object]) -> None:
    rater = visit(**look).at_work()
    page, session = rater.page, rater.session.cookies["rushes_rater"]
    check_page(page, "work")
    page.locator(".reports summary").click()
    check_page(page, "report a problem")
    if look["viewport"]["width"] > 600:  # the button for it is not on a phone, where there are no keys
        page.locator("[data-help]").click()
        check_page(page, "keys")
    task = study.service.next_task(session)
    decide(study, session, task, "A")
    for _ in range(7):
        study.site.app.state.pass_time(5 * 60_000)
        study.service.save_draft(session, study.service.next_task(session).assignment, VoteForm(winner="B"))
    page.goto("/rate")
    playwright.expect(page.get_by_text("Time for a short break?")).to_be_visible()
    playwright.expect(page.get_by_role("link", name="Change my last vote")).to_be_visible()
    check_page(page, "after a vote, time for a break")
    page.get_by_role("link", name="Change my last vote").click()
    check_page(page, "change a vote")
    page.goto("/rate")
    study.service.sign_out(session)
    rater.send()
    playwright.expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()
    check_page(page, "session ended, form kept")
    page.goto("/rate")
    playwright.expect(page.get_by_role("heading", level=1)).to_be_visible()
    check_page(page, "not signed in")
    page.goto(f"/i/{study.service.invite_again('bars', 'rater_01').token}")
    page.get_by_role("button", name="Begin").click()
    page.evaluate("document.querySelector('[data-vote] [name=csrf_token]').value = 'stale'")
    page.evaluate("document.querySelector('[data-vote]').submit()")
    playwright.expect(page.get_by_role("heading", name="Please send this again")).to_be_visible()
    check_page(page, "a stale form, handed back")
    vote_through(study, study.rater(), lambda task: "A")
    cookie = next(cookie for cookie in rater.context.cookies() if cookie["name"] == "rushes_rater")
    while (task := study.service.next_task(cookie["value"])) is not None:
        decide(study, cookie["value"], task, "B")
    page.goto("/rate")
    playwright.expect(page.get_by_role("heading", name="All done")).to_be_visible()
    check_page(page, "done")
    page.get_by_role("button", name="Sign out").click()
    check_page(page, "signed out")


@pytest.mark.parametrize("look", LOOKS)
def test_the_owners_pages(visit: Callable[..., Visitor], study: Study, look: dict[str, object]) -> None:
    owner = visit(**look)
    page = owner.page
    for address in ("/", "/setup?key=k"):
        page.goto(address)
        check_page(page, address)
    study.service.set_admin_password(PASSWORD)
    page.goto("/login")
    check_page(page, "login")
    page.get_by_label("password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    check_page(page, "a wrong password")
    page.get_by_label("password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    pages = ["/", "/studies/new", "/nowhere", *(f"/studies/bars{name}" for name in ("", *OWNER)), "/account"]
    if look["color_scheme"] == "dark":  # in `make soak`; what is there after the votes holds more
        for address in pages:
            page.goto(address)
            check_page(page, f"{address} before the votes")
    for winner in ("A", "A", "Tie"):  # two see the sides swapped: every sample is disputed, and none is settled
        vote_through(study, study.rater(), lambda task, chosen=winner: chosen)
    assert study.service.study_status("bars").disagreements
    for address in pages:
        page.goto(address)
        check_page(page, f"{address} after the votes")
    page.goto("/studies/bars/raters")
    page.get_by_role("button", name="Make links").click()
    check_page(page, "fresh links")


OWNER = ("/raters", "/running", "/disagreements", "/adjudication", "/results", "/export", "/log")
