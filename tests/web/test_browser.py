"""The pages in a real browser, with clips that really play."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.browsers import shoot, until

from .livesite import PASSWORD, SYSTEMS, Study, vote_through
from .visitor import COUNT_ENDS, WATCHED, Visitor

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = pytest.mark.browser


def test_two_raters_at_once_from_invitation_to_the_ranking(visit: Callable[..., Visitor], study: Study) -> None:
    one, two = visit(), visit()
    one.train()
    two.at_work()
    for rater in (one, two):  # both play at the same time, on the same study
        rater.page.evaluate(COUNT_ENDS)
        rater.page.get_by_role("button", name="Play both").click()
    for rater in (one, two):
        rater.until("ends === 2")
        rater.play_until_counted(rater.page.get_by_role("button", name="Play both").click)
        rater.fill()
        rater.send()
        playwright.expect(rater.page.get_by_text("Pair 2 of")).to_be_visible()
    for number in (2, 3):
        playwright.expect(one.page.get_by_text(f"Pair {number} of")).to_be_visible()
        one.watched()
        one.fill(winner="B" if number == 2 else "Tie")
        one.send()
    playwright.expect(one.page.get_by_text("All done. Thank you.")).to_be_visible()
    vote_through(study, two.session, lambda task: "A")
    votes = study.service.votes("bars")
    assert len(votes) == 6 and {vote.rater for vote in votes} == {"rater_01", "rater_02"}
    study.service.set_admin_password(PASSWORD)
    owner = visit()
    owner.page.goto("/studies/bars/results")
    owner.page.get_by_label("password").fill(PASSWORD)
    owner.page.get_by_role("button", name="Sign in").click()
    playwright.expect(owner.page.get_by_role("heading", name="Ranking", exact=True)).to_be_visible()
    for system in SYSTEMS:
        playwright.expect(owner.page.get_by_role("rowheader", name=system).first).to_be_visible()


def test_a_reload_and_a_closed_tab_lose_nothing(visit: Callable[..., Visitor]) -> None:
    """Closed in the middle of the second watch, a moment after the last word was typed."""
    rater = visit().at_work()
    page = rater.page
    rater.play_until_counted(page.get_by_role("button", name="Play both").click, times=1)
    playwright.expect(page.locator("[data-watch]")).to_have_text("A 1/2 · B 1/2")
    page.locator("[name=winner][value=A]").check(force=True)
    page.get_by_label("note").fill("the bar jumps")
    playwright.expect(page.locator("[data-saved]")).to_have_text("Saved.")
    page.reload()
    playwright.expect(page.locator("[name=winner][value=A]")).to_be_checked()
    playwright.expect(page.get_by_label("note")).to_have_value("the bar jumps")
    playwright.expect(page.locator("[data-watch]")).to_have_text("A 1/2 · B 1/2")
    page.get_by_role("button", name="Play both").click()
    rater.until("document.querySelector('video').currentTime > 0.4")
    rater.fill(winner="B")
    page.get_by_label("note").fill("typed last")
    page.close()
    again = rater.context.new_page()
    again.goto("/rate")
    playwright.expect(again.get_by_text("Pair 1 of")).to_be_visible()
    playwright.expect(again.get_by_label("note")).to_have_value("typed last")
    playwright.expect(again.locator("[name=winner][value=B]")).to_be_checked()
    playwright.expect(again.locator("[data-watch]")).to_have_text(re.compile("A [12]/2 · B [12]/2"))
    rater.page = again
    rater.watched()
    rater.send()
    playwright.expect(again.get_by_text("Pair 2 of")).to_be_visible()
    again.close()


def test_what_the_server_never_got_is_kept_in_the_browser(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    rater.context.set_offline(True)
    rater.page.get_by_label("note").fill("typed without a connection")
    playwright.expect(rater.page.locator("[data-saved]")).to_contain_text("Kept in this browser")
    rater.context.set_offline(False)
    rater.page.reload()
    playwright.expect(rater.page.get_by_label("note")).to_have_value("typed without a connection")
    playwright.expect(rater.page.locator("[data-saved]")).to_have_text("Saved.")


def test_an_ended_session_keeps_the_form_on_the_page(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    rater.watched()
    rater.fill(winner="B")
    cookies = [cookie for cookie in rater.context.cookies() if cookie["name"] != "rushes_rater"]
    rater.context.clear_cookies()
    rater.context.add_cookies(cookies)
    rater.send()
    dialog = rater.page.get_by_role("dialog", name="Your session has ended")
    playwright.expect(dialog).to_be_visible()
    other = rater.context.new_page()
    other.goto(f"/i/{rater.study.service.invite_again('bars', 'rater_01').token}")
    other.get_by_role("button", name="Begin").click()
    other.close()
    dialog.get_by_role("button", name="Try again").click()
    playwright.expect(rater.page.get_by_text("Pair 2 of")).to_be_visible()
    assert len(rater.study.service.votes("bars")) == 1


def test_the_keyboard_alone_is_enough(visit: Callable[..., Visitor]) -> None:
    rater = visit()
    page = rater.page

    def tab_to(selector: str) -> None:
        for _ in range(80):
            if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reached {selector}")

    page.goto(rater.study.invitation())
    for selector, then in (
        ("main button", "Before you begin"),
        ("main button", "For each pair"),
        ("main a.button", "Play both"),
    ):
        tab_to(selector)
        page.keyboard.press("Enter")
        playwright.expect(page.get_by_text(then).first).to_be_visible()
    rater.play_until_counted(lambda: page.locator("body").press(" "))
    tab_to("[name=winner]")
    page.keyboard.press("Space")  # the left one; the steady clip may be the right one
    for _ in range(("A", "Tie", "B").index(rater.steady_side())):
        page.keyboard.press("ArrowRight")
    tab_to("[name=primary_tag]")
    page.keyboard.press("Space")
    while not page.locator("[name=primary_tag][value^=Flicker]").is_checked():
        page.keyboard.press("ArrowRight")
    for _ in range(8):
        tab_to("fieldset.rate input:not(:checked)")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
    tab_to("[data-submit]")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("dialog")).to_be_visible()
    tab_to("dialog[open] a[href='/rate']")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_text("Pair 1 of")).to_be_visible()


def test_the_last_vote_can_be_changed_with_the_keyboard(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    page, service = rater.page, rater.study.service
    playwright.expect(page.get_by_role("link", name="Change my last vote")).to_have_count(0)
    rater.watched()
    rater.fill(winner="A")
    page.get_by_label("note").fill("B flickers at the end")
    rater.send()
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()
    (first,) = service.votes("bars")
    change = page.get_by_role("link", name="Change my last vote")
    change.focus()
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("heading", level=1)).to_contain_text("Change your vote on pair 1")
    playwright.expect(page.locator("[name=winner][value=A]")).to_be_checked()
    playwright.expect(page.get_by_label("note")).to_have_value("B flickers at the end")
    playwright.expect(page.locator("[data-watch]")).to_have_text(WATCHED)  # nobody has to watch again
    shoot(page, "change_vote")
    page.wait_for_load_state("load")  # its scripts have run: keys are heard
    page.keyboard.press("b")
    playwright.expect(page.locator("[name=winner][value=B]")).to_be_checked()
    page.get_by_role("button", name="Change my vote").focus()
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_text("Your last vote was changed")).to_be_visible()
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()
    (standing,) = service.votes("bars")
    assert {first.winner, standing.winner} == {"a", "b"} and standing.note == first.note
    page.get_by_role("link", name="Change my last vote").click()
    playwright.expect(page.locator("[name=winner][value=B]")).to_be_checked()
    page.get_by_role("link", name="Keep it as it was").click()
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()
    assert [entry.action for entry in service.audit("bars")].count("corrected a vote") == 1


def test_keys_step_choose_help_and_stay_quiet_while_typing(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    page = rater.page
    rater.until("[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)")
    place = "Math.round(document.querySelector('video').currentTime * 25 - 0.5)"
    page.locator("body").press(".")
    rater.until(f"{place} === 1")
    page.locator("body").press(".")
    rater.until(f"{place} === 2")
    page.locator("body").press(",")
    rater.until(f"{place} === 1")
    page.locator("body").press("t")
    playwright.expect(page.locator("[name=winner][value=Tie]")).to_be_checked()
    page.locator("body").press("l")
    playwright.expect(page.get_by_role("button", name="Loop")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("note").press_sequentially("1, 2. ? a b")
    playwright.expect(page.get_by_label("note")).to_have_value("1, 2. ? a b")
    playwright.expect(page.locator("[name=winner][value=Tie]")).to_be_checked()
    playwright.expect(page.get_by_role("dialog")).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    page.locator("body").press("?")
    playwright.expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.get_by_label("Switch these keys off").check()
    page.keyboard.press("Escape")
    page.locator("body").press("a")
    playwright.expect(page.locator("[name=winner][value=Tie]")).to_be_checked()


def test_a_phone_is_enough_and_one_clip_alone_in_a_loop_counts_too(visit: Callable[..., Visitor]) -> None:
    rater = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).at_work()
    page = rater.page
    page.get_by_role("button", name="Loop").click()
    page.get_by_role("button", name="Play A", exact=True).click()
    playwright.expect(page.locator("[data-watch]")).to_have_text("A 2/2 · B 0/2")
    page.get_by_role("button", name="Pause A").click()
    page.get_by_role("button", name="Play B", exact=True).click()
    playwright.expect(page.locator("[data-watch]")).to_have_text(WATCHED)
    rater.fill()
    rater.send()
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()


def test_skipping_to_the_end_is_not_watching_and_one_clip_is_heard(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    page = rater.page
    rater.until("[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)")
    for _ in range(2):
        page.evaluate("for (const video of document.querySelectorAll('video')) video.currentTime = 0.9")
        page.get_by_role("button", name="Play both").click()
        rater.until("[...document.querySelectorAll('video')].every((video) => video.ended)")
    playwright.expect(page.get_by_role("button", name="Play both")).to_be_visible()
    with page.expect_response("**/rate/vote"):
        rater.send()
    # What is missing gets the focus, and the page moves: a click before that lands elsewhere.
    playwright.expect(page.locator("[data-submit]")).to_be_enabled()
    playwright.expect(page.locator("[data-watch]")).to_have_text("A 0/2 · B 0/2")
    muted = "JSON.stringify([...document.querySelectorAll('video')].map((video) => video.muted))"
    rater.until(f"{muted} === '[false,true]'")  # as both played
    page.get_by_role("button", name="Play B", exact=True).click()
    rater.until(f"{muted} === '[false,false]'")
    playwright.expect(page.get_by_role("button", name="Sound")).to_have_count(0)  # these clips have none


def test_a_clip_that_will_not_play_can_be_reported(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    page = rater.page
    page.route("**/media/**", lambda route: route.fulfill(status=200, content_type="video/mp4", body=b"no clip"))
    page.reload()
    playwright.expect(page.get_by_text("This clip cannot be played here").first).to_be_visible()
    page.unroute("**/media/**")
    page.get_by_label("What is wrong?").select_option("will not play")
    page.get_by_role("button", name="Report and skip this pair").click()
    playwright.expect(page.get_by_text("Pair 2 of")).to_be_visible()
    assert [problem.kind for problem in rater.study.service.study_status("bars").problems] == ["will not play"]


def test_the_next_pair_is_loaded_ahead(visit: Callable[..., Visitor]) -> None:
    rater = visit().at_work()
    page = rater.page
    clips = page.evaluate("() => fetch('/rate/next.json').then((answer) => answer.json())")["clips"]
    assert len(clips) == 2
    until(page, lambda: {f"{rater.study.site.url}{address}" for address in clips} <= rater.addresses)


def test_the_overview_follows_the_votes(visit: Callable[..., Visitor], study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    owner = visit()
    owner.page.goto("/login?next=/studies/bars")
    owner.page.get_by_label("password").fill(PASSWORD)
    owner.page.get_by_role("button", name="Sign in").click()
    votes = owner.page.locator(".figures div", has_text="Votes").locator("dd")
    playwright.expect(votes).to_contain_text("0 of 6")
    vote_through(study, study.rater(), lambda task: "A")
    playwright.expect(votes).to_contain_text("3 of 6")
