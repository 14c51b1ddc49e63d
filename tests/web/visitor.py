"""A person's browser for the tests: what they do on the pages, and what a script can tell about a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from tests.browsers import PATIENCE_MS, shoot, until

from rushes.study import PlayEvent

from .livesite import Study

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")

WATCHED = re.compile(r"A 2/2 · B 2/2")
COUNT_ENDS = """() => {
  window.ends = 0;
  for (const video of document.querySelectorAll("[data-side] video")) video.onended = () => { window.ends += 1; };
}"""


class Visitor:
    """One person's browser: a context with a page, which notes what went wrong and all that came over the wire."""

    def __init__(self, browser: playwright.Browser, study: Study, **options: object) -> None:
        self.study = study
        self.context = browser.new_context(base_url=study.site.url, **options)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        self.addresses: set[str] = set()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self._console(message))
        self.page.on("request", self._request)

    def _console(self, message: playwright.ConsoleMessage) -> None:
        # A refused vote (409) and an ended session (401) are part of some stories; a script that fails never is.
        expected = ("the server responded with a status of", "ERR_INTERNET_DISCONNECTED")
        if message.type == "error" and not any(text in message.text for text in expected):
            self.faults.append(message.text)

    def _request(self, request: playwright.Request) -> None:
        self.addresses.add(request.url)
        if urlsplit(request.url).scheme in ("http", "https") and not request.url.startswith(self.study.site.url):
            self.elsewhere.append(request.url)

    def begin(self) -> None:
        """From the invitation to the training pair."""
        self.page.goto(self.study.invitation())
        self.page.get_by_role("button", name="Begin").click()
        self.page.get_by_role("button", name="agree to take part").click()
        self.page.get_by_role("link", name="Go to the training pair").click()

    def watched(self) -> None:
        """Both clips watched twice, as the server's ledger has it; for tests that are not about watching."""
        self.until("[...document.querySelectorAll('[data-side] video')].every((video) => video.readyState >= 4)")
        cookies = {cookie["name"]: cookie["value"] for cookie in self.context.cookies()}
        session, service = cookies["rushes_rater"], self.study.service
        training = urlsplit(self.page.url).path == "/rate/training"
        task = service.training_task(session) if training else service.next_task(session)
        self.study.site.app.state.pass_time(2 * max(task.a.duration_ms, task.b.duration_ms))
        service.record_play(
            session,
            task.assignment,
            [
                PlayEvent(side=side, start_ms=0, end_ms=clip.duration_ms, sequence=number)
                for number in (1, 2)
                for side, clip in (("A", task.a), ("B", task.b))
            ],
        )
        self.page.reload()
        playwright.expect(self.page.locator("[data-watch]")).to_have_text(WATCHED)

    def fill(self, *, winner: str = "A", tag: str = "Flicker / temporal jitter") -> None:
        page = self.page
        page.locator("label", has=page.locator(f"[name=winner][value={winner}]")).click()
        page.locator(".tag .main", has=page.locator(f'[value="{tag}"]')).click()
        for box in page.locator("fieldset.rate").all():
            box.locator("label", has_text="4").click()

    def send(self) -> None:
        self.page.locator("[data-submit]").click()

    def steady_side(self) -> str:
        """The side of the training pair that should win."""
        from sqlalchemy import select

        from rushes.study.database.tables import assignment, pair

        query = select(assignment.c.left, pair.c.expected).join(pair, pair.c.id == assignment.c.pair_id)
        with self.study.service.database.read() as connection:
            left, expected = connection.execute(query.where(pair.c.kind == "training")).one()
        return "A" if left == expected else "B"

    def at_work(self) -> Visitor:
        """On the first real pair; what comes before it was done over HTTP."""
        self.sign_in()
        self.page.goto("/rate")
        self.at_pair(1)
        return self

    def sign_in(self) -> None:
        self.session = self.study.rater()
        cookie = self.session.cookies["rushes_rater"]
        self.context.add_cookies([{"name": "rushes_rater", "value": cookie, "url": self.study.site.url}])

    def at_pair(self, number: int) -> None:
        """Wait until the page of a pair listens: its words are there before its script has run, and a key is lost.

        What the script shows is no sign of it: until all of the style sheets have come, what is hidden may be visible.
        """
        playwright.expect(self.page.get_by_text(f"Pair {number} of")).to_be_visible()
        self.page.wait_for_load_state("load")

    def play_until_counted(self, play: Callable[[], object], *, times: int = 9) -> int:
        """Play the clips to their ends until each has all its watches, or so many; how often `play` was called for it.

        As often as the study asks is enough, unless the machine is so busy that a clip stutters: what was lost is not
        credited. The ends are counted in the page: a short clip is over before a busy machine looks.
        """
        watch, videos = self.page.locator("[data-watch]"), self.page.locator("[data-side] video")
        self.page.wait_for_load_state("load")  # a key that is pressed before the page's scripts ran is lost
        self.page.evaluate(COUNT_ENDS)
        for plays in range(1, 9):
            due = re.sub(r"(\d)/(\d)", lambda seen: f"{min(int(seen[1]) + 1, int(seen[2]))}/{seen[2]}", self.watches())
            play()
            self.until(f"ends >= {plays * videos.count()}")
            with suppress(AssertionError):  # the last report may still be on its way, for as long as reports take
                playwright.expect(watch).to_have_text(due, timeout=5000)
            if all(int(done) >= min(times, int(asked)) for done, asked in re.findall(r"(\d)/(\d)", self.watches())):
                return plays
        raise AssertionError(f"played and not counted: {self.watches()}")

    def watches(self) -> str:
        """ "A 1/2 · B 0/2", also where the page does not show it."""
        return self.page.locator("[data-watch]").text_content() or ""

    def until(self, expression: str) -> None:
        until(self.page, expression)

    def train(self) -> None:
        """Through the training pair to the first real one."""
        self.begin()
        self.watched()
        self.fill(winner=self.steady_side())
        self.send()
        again = self.page.get_by_role("link", name="Try the training pair again")
        playwright.expect(again.or_(self.page.get_by_role("link", name="Start rating"))).to_be_visible()
        if again.is_visible():  # the steady clip stood on the right
            again.click()
            self.fill(winner="B")
            self.send()
        self.page.get_by_role("link", name="Start rating").click()
        self.at_pair(1)

    def close(self) -> None:
        assert self.faults == []
        assert self.elsewhere == [], "a page asked another server for something"
        self.context.close()


def check_with_axe(page: playwright.Page, name: str, *, only: tuple[str, ...] = ()) -> None:
    """No violation that axe-core calls moderate or worse: WCAG 2.2 A and AA, best practices; or `only` these."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page.wait_for_load_state("load")
    options: dict[str, object] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    if only:
        options = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": list(only)}}
    violations = axe.Axe().run(page, options=options).response["violations"]
    found = [
        (v["id"], v["impact"], [node["html"][:120] for node in v["nodes"]])
        for v in violations
        if v["impact"] in ("moderate", "serious", "critical")
    ]
    assert not found, f"{name}: {found}"


SMALL = """() => [...document.querySelectorAll("button, select, input:not([type=hidden]):not([hidden]), a.button")]
  .map((control) => (control.matches(".segmented input, .chips input, .check input, .tag input")
    ? control.parentElement : control))
  .map((control) => [control.getBoundingClientRect(), control.outerHTML.slice(0, 80)])
  .filter(([box]) => box.width && Math.min(box.width, box.height) < 24)
  .map(([, text]) => text)"""
"""Controls that are hard to hit; stricter than axe's rule, which forgives a small one with room around it."""


def check_page(page: playwright.Page, name: str) -> None:
    """Fits, readable, labelled, large enough to hit, one heading: WCAG 2.2 AA as far as a script can tell."""
    check_with_axe(page, name)
    assert page.evaluate(SMALL) == [], name
    assert page.locator("h1").count() == 1, name
    size = page.viewport_size
    shoot(page, re.sub(r"\W+", "_", name), back=(size["width"], size["height"]))
