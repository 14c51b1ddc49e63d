"""A rater's page for every method, in Chromium and Firefox: one screen, keys, marks, and nothing names a system."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browsers import until

from rushes.study.raters.play_credit import Ledger

from .firefox import Firefox, firefox_program
from .livesite import Site, Study
from .trials import METHODS, ONE_SCREEN, SHAPES, SYSTEMS, WINDOWS, session_at_work, shaped_clips, trial_study
from .visitor import Visitor, check_page

pytestmark = pytest.mark.browser
LOADED = """[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)
  && !document.querySelector('[data-transport]').hidden"""


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    return shaped_clips(tmp_path_factory.mktemp("shaped"))


def begun(site: Site, clips: Any, text: str) -> Study:
    return trial_study(site, clips, text, "lanterns")


def at_work(visit: Callable[..., Visitor], study: Study, **options: object) -> Visitor:
    visitor = visit(study, **options)
    visitor.page.goto(study.invitation())
    visitor.page.get_by_role("button", name="Begin").click()
    visitor.page.get_by_role("button", name="agree to take part").click()
    with study.site.service.database.write() as connection:
        connection.exec_driver_sql("UPDATE rater SET trained_ms = 1")
    visitor.page.goto(f"{study.site.url}/rate")
    visitor.until(LOADED)
    return visitor


def seen(study: Study) -> None:
    """Every clip of the open trial watched, as the ledger has it."""
    service = study.site.service
    with service.database.write() as connection:
        row = connection.exec_driver_sql("SELECT id, arrangement FROM assignment WHERE state = 'open'").first()
        sides = "ABCDE"[: len(row[1] or "ab")]
        watch = {side: Ledger().add(0, 400, passes=1).plain() for side in sides}
        sent = zip(sides, _sizes(connection, row), strict=True)
        sizes = {side: {"late_ms": 0, "spans": [[0, size]]} for side, size in sent}
        connection.exec_driver_sql(
            "UPDATE assignment SET watch = ?, sent = ? WHERE id = ?", (json.dumps(watch), json.dumps(sizes), row[0])
        )


def _sizes(connection: Any, row: Any) -> list[int]:
    pair = connection.exec_driver_sql(
        "SELECT clip_a_id, clip_b_id, clip_c_id FROM pair JOIN assignment ON pair_id = pair.id WHERE assignment.id = ?",
        (row[0],),
    ).first()
    ids = dict(zip("abc", pair, strict=True))
    order = row[1] or "ab"
    return [
        connection.exec_driver_sql("SELECT size FROM clip WHERE id = ?", (ids[letter],)).scalar() for letter in order
    ]


class Chromium:
    """The same few commands as `Firefox` has."""

    def __init__(self, browser: Any, site: Site) -> None:
        self.context = browser.new_context(base_url=site.url)
        self.page = self.context.new_page()

    def cookie(self, name: str, value: str) -> None:
        self.context.clear_cookies()
        self.context.add_cookies([{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}])

    def go(self, address: str) -> None:
        self.page.goto(address)

    def size(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def ask(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def until(self, expression: str) -> None:
        until(self.page, expression)

    def close(self) -> None:
        self.context.close()


def not_on_one_screen(window: Any, study: Study) -> list[str]:
    """What is below the fold, covered or cut on a rater's page, in every size of window."""
    window.cookie("rushes_rater", session_at_work(study))
    window.go(f"{study.site.url}/rate")
    window.until(LOADED)
    found = []
    for width, height in WINDOWS:
        window.size(width, height)
        end = time.monotonic() + 30
        while faults := json.loads(window.ask(f"({ONE_SCREEN})()")):  # until the page has been drawn anew
            if time.monotonic() > end:
                break
        found += [f"{study.name}, {width} px: {fault}" for fault in faults]
    text = window.ask("document.documentElement.outerHTML")
    return found + [f"{study.name} names {system}" for system in SYSTEMS if system in text]


@pytest.mark.parametrize(("text", "shape"), [("simple", "square"), ("dcr-5", "wide"), ("best-worst-5", "tall")])
def test_question_and_clips_are_on_one_screen(site: Site, browser: Any, shaped: Any, text: str, shape: str) -> None:
    window = Chromium(browser, site)
    assert not_on_one_screen(window, trial_study(site, shaped(shape), text, f"{text}-{shape}")) == []
    window.size(1440, 900)
    check_page(window.page, text)
    window.close()


@pytest.mark.soak
@pytest.mark.parametrize("program", ["chromium", "firefox"])
def test_every_method_and_shape_on_one_screen(
    site: Site, request: pytest.FixtureRequest, shaped: Any, tmp_path: Path, program: str
) -> None:
    if program == "firefox":
        window: Any = Firefox(firefox_program(), tmp_path)
    else:
        window = Chromium(request.getfixturevalue("browser"), site)
    try:
        found = []
        for text in METHODS:
            for shape in SHAPES:
                found += not_on_one_screen(window, trial_study(site, shaped(shape), text, f"{text}-{shape}"))
                if program == "chromium" and shape == "wide":
                    window.size(1440, 900)
                    check_page(window.page, text)
        assert found == []
        print(f"{program}: {len(METHODS) * len(SHAPES) * len(WINDOWS)} views")
    finally:
        window.close()


def test_a_rating_takes_two_keys_and_keeps_its_marks(site: Site, visit: Callable[..., Visitor], shaped: Any) -> None:
    study = begun(site, shaped("wide"), "acr-5")
    visitor = at_work(visit, study, viewport={"width": 1440, "height": 900})
    page = visitor.page
    page.keyboard.press("+")
    assert page.locator("[data-marks] li").count() == 1
    page.keyboard.press("4")
    assert page.locator("[name='ratings_a.overall']:checked").input_value() == "4"
    seen(study)
    page.keyboard.press("Control+Enter")
    page.get_by_text("Clip 2 of 3").wait_for()
    (answer,) = study.site.service.judgements("lanterns")
    assert answer.ratings == {"overall": 4} and answer.faults[0].tag == "Flicker"


def test_best_and_worst_by_keys(site: Site, visit: Callable[..., Visitor], shaped: Any) -> None:
    study = begun(site, shaped("wide"), "best-worst-3")
    visitor = at_work(visit, study, viewport={"width": 1440, "height": 900})
    visitor.page.keyboard.press("c")
    visitor.page.keyboard.press("1")
    seen(study)
    visitor.page.keyboard.press("Control+Enter")
    visitor.page.get_by_text("All done").wait_for()
    (answer,) = study.site.service.judgements("lanterns")
    assert (answer.best, answer.worst) == (answer.shown[2], answer.shown[0])


def test_the_reference_plays_first_and_then_the_clip(site: Site, visit: Callable[..., Visitor], shaped: Any) -> None:
    study = begun(site, shaped("wide"), "dcr-5")
    visitor = at_work(visit, study, viewport={"width": 1440, "height": 900})
    page = visitor.page
    assert page.locator("figure.now").get_attribute("data-side") == "A"
    page.get_by_role("button", name="Play reference, then clip").click()
    visitor.until("document.querySelector('figure.now').dataset.side === 'B'")
    visitor.until("document.querySelector('[data-count=\"B\"]').textContent.includes('1 of 1')")
    assert "1 of 1" in page.locator("[data-count='A']").text_content()


ANSWERS = {
    "pairs-7": (("6",), "[name=winner]:checked", "B2"),
    "dcr-5": (("4",), "[name='ratings_b.overall']:checked", "4"),
    "acr-11": (("0", "x"), "[name='ratings_a.overall']:checked", "10"),
    "simple": (("t",), "[name=winner]:checked", "Tie"),
}


@pytest.mark.parametrize(
    "text", [pytest.param(t, marks=() if t in ("dcr-5", "acr-11") else pytest.mark.soak) for t in ANSWERS]
)
def test_the_keyboard_is_enough(site: Site, visit: Callable[..., Visitor], shaped: Any, text: str) -> None:
    """The answer by its key, and the same answer by Tab and the arrows; the dialog of keys names what there is."""
    study = begun(site, shaped("wide"), text)
    visitor = at_work(visit, study, viewport={"width": 1440, "height": 900})
    page = visitor.page
    keys, chosen, value = ANSWERS[text]
    for key in keys:
        page.keyboard.press(key)
    assert page.locator(chosen).input_value() == value
    page.reload()
    visitor.until(LOADED)
    page.keyboard.press("?")
    check_page(page, f"{text} keys")
    page.keyboard.press("Escape")
    group = page.locator(".answers [role=radiogroup]").first
    for _ in range(40):
        page.keyboard.press("Tab")
        if group.locator("input:focus").count():
            break
    assert group.locator("input:focus").count() == 1
    before = group.locator("input:checked").input_value()
    page.keyboard.press("ArrowRight")
    assert group.locator("input:checked").input_value() != before


@pytest.mark.parametrize("text", [pytest.param(t, marks=() if t == "acr-5" else pytest.mark.soak) for t in METHODS])
def test_the_way_to_the_work_of_every_method(site: Site, visit: Callable[..., Visitor], shaped: Any, text: str) -> None:
    study = begun(site, shaped("wide"), text)
    visitor = visit(study, color_scheme="dark", viewport={"width": 390, "height": 844})
    page = visitor.page
    page.goto(study.invitation())
    page.get_by_role("button", name="Begin").click()
    check_page(page, f"{text} consent")
    page.get_by_role("button", name="agree to take part").click()
    page.goto("/rate/instructions")
    check_page(page, f"{text} instructions")
    pairs = text in ("rubric", "simple") or text.startswith("pairs")
    words = page.locator("main").inner_text()
    assert ("both clips" in words) == pairs and ("The reference plays first" in words) == text.startswith("dcr")
