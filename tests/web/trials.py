"""One trial of every method, in every shape of clip: the material of the tests of a rater's page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.rubric import RUBRIC, SIMPLE
from rushes.media import write_clip
from rushes.study import StudyPlan
from rushes.study.material.sources import SourceClip

from .livesite import Site, Study

SYSTEMS = ("Northwind", "Southgate", "Eastlake", "Westerly", "Midmoor")
SHAPES = {"wide": (54, 96), "square": (64, 64), "tall": (96, 54)}
"""Height and width: 16:9, 1:1 and 9:16."""
WINDOWS = ((390, 844), (1440, 900), (2560, 1300))
METHODS = (
    *("rubric", "simple", "pairs-2-no-tie", "pairs-7", "acr-5", "acr-11", "acr-hr-9", "dcr-5", "dcr-11"),
    *("best-worst-3", "best-worst-4", "best-worst-5"),
)
"""Pairs with the whole rubric, pairs plainly, and every other way of asking by its text."""
PROMPT = "A lantern swings in the wind above a quiet harbour, and its light falls on the wet stones."

ONE_SCREEN = """() => {
  const found = [];
  const whole = (name, element) => {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) found.push(`${name} is not drawn`);
    if (box.top < -0.5 || box.left < -0.5 || box.right > innerWidth + 0.5) found.push(`${name} is outside`);
    if (box.bottom > floor + 0.5) found.push(`${name} ends at ${Math.round(box.bottom)} of ${Math.round(floor)} px`);
    return box;
  };
  const bar = document.querySelector('.submit');
  const sticks = getComputedStyle(bar).position === 'sticky';
  const floor = sticks ? bar.getBoundingClientRect().top : innerHeight;
  const question = document.querySelector('.answers .card');
  const videos = [...document.querySelectorAll('figure video')].filter((video) => video.closest('figure').clientHeight);
  const boxes = videos.map((video, at) => whole(`clip ${at + 1}`, video));
  for (const legend of question.querySelectorAll('legend')) whole('the question', legend);
  for (const label of question.querySelectorAll('label')) {
    const name = `the answer ${label.textContent.trim()}`;
    const box = whole(name, label);
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (hit?.closest('label') !== label) found.push(`${name} is covered`);
    for (const part of label.children) if (part.scrollWidth > label.clientWidth + 1) found.push(`${name} is cut`);
  }
  whole('the play button', document.querySelector('[data-both]'));
  const stage = document.querySelector('[data-stage]').getBoundingClientRect();
  if (question.getBoundingClientRect().top < stage.bottom - 0.5) found.push('the question lies under the clips');
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than the window');
  const areas = boxes.map((box) => Math.round(box.width) * Math.round(box.height));
  if (Math.max(...areas) > 1.02 * Math.min(...areas)) found.push(`clips of different sizes: ${areas.join(', ')}`);
  if (boxes.some((box) => Math.max(box.width, box.height) < 100)) found.push('a clip is smaller than 100 px');
  return JSON.stringify(found);
}"""
"""What is not on the screen of an unscrolled page and should be: clips, question, every answer, the play button."""


def shaped_clips(folder: Path) -> Callable[[str], list[SourceClip]]:
    """Five systems' clips of one prompt, in a shape."""

    def clips(shape: str) -> list[SourceClip]:
        made = []
        for number, system in enumerate(SYSTEMS):
            path = folder / f"{shape}{number}.mp4"
            if not path.exists():
                frames = [np.full((*SHAPES[shape], 3), (30 + 45 * number, 90, 4 * k), np.uint8) for k in range(10)]
                write_clip(path, frames, fps=25)
            made.append(
                SourceClip(system=system, sample="p1", path=path, name=f"c{number}", prompt="p1", prompt_text=PROMPT)
            )
        return made

    return clips


def trial_study(site: Site, clips: list[SourceClip], text: str, name: str, *, systems: int = 0) -> Study:
    """A study that asks in this way, of as many systems as it needs."""
    words = {"rubric": RUBRIC, "simple": SIMPLE}.get(text)
    asked = method("pairs" if words else text)
    if words is None:
        words = SIMPLE if asked.is_pairs else rubric_of_method(asked)
    count = systems or (asked.points if asked.name == "best-worst" else 2 if asked.is_pairs else 3)
    reference = SYSTEMS[count - 1] if asked.needs_reference else ""
    plan = StudyPlan(name=name, method=asked, rubric=words, reference=reference, gold_every=0, repeat_every=0)
    site.service.create_study(plan, training=False, clips=[clip for clip in clips if clip.system in SYSTEMS[:count]])
    return Study(site=site, name=name)


def session_at_work(study: Study) -> str:
    """The session of a rater who has agreed and may begin."""
    service = study.service
    token = service.accept_invite(service.invite(study.name)[0].token).token
    service.give_consent(token)
    with service.database.write() as connection:
        connection.exec_driver_sql("UPDATE rater SET trained_ms = 1 WHERE trained_ms IS NULL")
    return token
