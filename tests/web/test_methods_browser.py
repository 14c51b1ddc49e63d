"""A rater's page for every method, in a browser: one screen, keys, marks, and nothing that names a system."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.rubric import SIMPLE
from rushes.media import write_clip
from rushes.study import StudyPlan
from rushes.study.material.sources import SourceClip
from rushes.study.raters.play_credit import Ledger

from .livesite import Site, Study
from .visitor import Visitor, check_page

pytestmark = pytest.mark.browser
SYSTEMS = ("Northwind", "Southgate", "Eastlake")
SHAPES = {"wide": (54, 96), "square": (64, 64), "tall": (96, 54)}


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[SourceClip]]:
    folder = tmp_path_factory.mktemp("shaped")

    def clips(shape: str) -> list[SourceClip]:
        made = []
        for number, system in enumerate(SYSTEMS):
            path = folder / f"{shape}{number}.mp4"
            if not path.exists():
                frames = [np.full((*SHAPES[shape], 3), (60 + 60 * number, 90, 4 * k), np.uint8) for k in range(10)]
                write_clip(path, frames, fps=25)
            words = "A lantern swings in the wind."
            clip = SourceClip(system=system, sample="p1", path=path, name=f"c{number}", prompt="p1", prompt_text=words)
            made.append(clip)
        return made

    return clips


def begun(site: Site, clips: list[SourceClip], text: str, name: str = "lanterns") -> Study:
    asked = method(text)
    words = SIMPLE if asked.is_pairs else rubric_of_method(asked)
    reference = SYSTEMS[2] if asked.needs_reference else ""
    plan = StudyPlan(name=name, method=asked, rubric=words, reference=reference, gold_every=0, repeat_every=0)
    site.service.create_study(plan, training=False, clips=clips)
    return Study(site=site, name=name)


def at_work(visit: Callable[..., Visitor], study: Study, **options: object) -> Visitor:
    visitor = visit(study, **options)
    visitor.page.goto(study.invitation())
    visitor.page.get_by_role("button", name="Begin").click()
    visitor.page.get_by_role("button", name="agree to take part").click()
    with study.site.service.database.write() as connection:
        connection.exec_driver_sql("UPDATE rater SET trained_ms = 1")
    visitor.page.goto(f"{study.site.url}/rate")
    visitor.until("[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)")
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


FITS = """() => {
  const card = document.querySelector('.answers .card').getBoundingClientRect();
  const bar = document.querySelector('.submit').getBoundingClientRect();
  const shown = [...document.querySelectorAll('video')].filter((video) => video.clientHeight);
  const clip = shown.map((video) => video.getBoundingClientRect());
  return card.bottom <= bar.top + 1 && clip.every((box) => box.top >= 0 && box.bottom <= bar.top)
    && document.documentElement.scrollWidth <= innerWidth;
}"""


LATER = [pytest.param(text, marks=pytest.mark.soak) for text in ("acr-11", "dcr-5", "pairs-7")]


@pytest.mark.parametrize("text", ["acr-5", "best-worst-3", *LATER])
def test_question_and_clips_are_on_one_screen(
    site: Site, visit: Callable[..., Visitor], shaped: Any, text: str
) -> None:
    for shape in SHAPES:
        study = begun(site, shaped(shape), text, name=f"l-{shape}")
        visitor = at_work(visit, study)
        for width, height in ((390, 844), (1440, 900), (2560, 1300)):
            visitor.page.set_viewport_size({"width": width, "height": height})
            visitor.until(f"({FITS})()")
        page = visitor.page.content()
        assert not [name for name in SYSTEMS if name in page]
        if shape == "wide":
            check_page(visitor.page, text)


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
    study = begun(site, shaped("wide"), "best-worst")
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
