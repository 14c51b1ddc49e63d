"""A study whose raters are a program, and the ranking that comes out of it.

Three systems of known strength make clips for the same prompts. Six simulated raters go the whole way a person goes:
invitation, consent, training, two full watches of both clips, vote. Everything that comes of it is labelled as
simulated. The ranking must put the systems in the order of their strengths.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from rushes.core.instrument import DemoPart
from rushes.instruments.preference.pairs import seeded_order
from rushes.instruments.preference.rubric import FAMILIES
from rushes.instruments.preference.show.tables import agreement_line, ranking
from rushes.media import write_clip
from rushes.media.scenes import Frame, scene_of
from rushes.storage.runs import Run
from rushes.study import (
    Accepted,
    ClipView,
    Invitation,
    PlayEvent,
    ScreenSide,
    StudyError,
    StudyPlan,
    StudyService,
    Task,
    VoteForm,
    VoteRefusal,
    open_service,
)
from rushes.study.evaluate import evaluate_study
from rushes.study.material.places import read_sources
from rushes.study.records import Choice

STUDY = "demo"
STRENGTHS = {"amber": 1.1, "birch": 0.0, "cedar": -1.1}
"""Log worths of the planted systems: amber is preferred to birch with odds e^1.1, about three to one."""
PROMPTS = 8
RATERS = 6
TIE_SHARE = 0.1
SEED = 7
_WIDTH, _HEIGHT, _FPS, _FRAMES = 160, 96, 25, 15


class SimulatedClock:
    """Time that passes when a simulated rater does something."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def run(folder: Path) -> DemoPart:
    """Make the clips, let the simulated raters vote, rank."""
    home = folder / "preference"
    shutil.rmtree(home, ignore_errors=True)
    plan = StudyPlan(name=STUDY, title="Demo study", seed=SEED, simulated=True, repeat_every=12)
    clock = SimulatedClock()
    with open_service(home / "studies.db", clock=clock) as service:
        service.create_study(plan, clips=read_sources([_make_clips(home)], clips=home / "clips"))
        raters = [SimulatedRater(service, clock, one) for one in service.invite(STUDY, count=RATERS)]
        while any([rater.work() for rater in raters]):  # a list, so that everybody takes a turn
            continue
        done = evaluate_study(service, STUDY, run=home / "run")
    return _part(done)


def _make_clips(home: Path) -> Path:
    """Clips named SYSTEM_T2_p03.mp4 and the prompt manifest, whose path is returned."""
    (home / "clips").mkdir(parents=True)
    families = list(FAMILIES)[:4]
    lines = ["task_id,prompt_id,prompt_text"]
    for prompt in range(PROMPTS):
        family = families[prompt % len(families)]
        scene, look = scene_of(prompt)
        lines.append(f"{family},{prompt},{scene.prompt(look)}")
        for system in STRENGTHS:
            name = f"{system}_{family}_p{prompt:02d}.mp4"
            write_clip(home / "clips" / name, _frames(system, prompt), fps=_FPS)
    manifest = home / "prompts.csv"
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return manifest


def _frames(system: str, prompt: int) -> Iterator[Frame]:
    """The prompt's scene; the weaker the system, the more its brightness wavers."""
    scene, look = scene_of(prompt)
    waver = 20.0 * (max(STRENGTHS.values()) - STRENGTHS[system])
    for step, frame in enumerate(scene.frames(_FRAMES, look=look, width=_WIDTH, height=_HEIGHT)):
        picture = frame - (waver if step % 2 else 0.0)
        yield np.clip(np.rint(picture), 0, 255).astype(np.uint8)


class SimulatedRater:
    """A program that goes a rater's way and prefers the stronger system as Bradley and Terry's model says."""

    def __init__(self, service: StudyService, clock: SimulatedClock, invitation: Invitation) -> None:
        self._service, self._clock, self._code = service, clock, invitation.rater
        self._session = service.accept_invite(invitation.token).token
        service.give_consent(self._session)
        self._judge(service.training_task(self._session), teach=True)

    def work(self) -> bool:
        """Judge the next pair; False when there is none."""
        task = self._service.next_task(self._session)
        if task is not None:
            self._judge(task)
        return task is not None

    def _judge(self, task: Task, *, teach: bool = False) -> None:
        self._service.load_clips(self._session, task)
        for count in (1, 2):
            self._clock.now += max(task.a.duration_ms, task.b.duration_ms)
            whole: tuple[tuple[ScreenSide, ClipView], ...] = (("A", task.a), ("B", task.b))
            self._service.record_play(
                self._session,
                task.assignment,
                [PlayEvent(side=side, start_ms=0, end_ms=clip.duration_ms, sequence=count) for side, clip in whole],
            )
        form = self._form(task)
        answer = self._service.submit_vote(self._session, task.assignment, form, key="only")
        if teach and isinstance(answer, Accepted) and answer.feedback is not None:  # a program learns at once
            tag = answer.feedback.expected_tag or form.primary_tag
            form = replace(form, winner=cast("Choice", answer.feedback.expected), primary_tag=tag, secondary_tags=())
            answer = self._service.submit_vote(self._session, task.assignment, form, key="again")
        if isinstance(answer, VoteRefusal):
            raise StudyError(f"a simulated vote was refused: {answer.missing[0].message}")

    def _form(self, task: Task) -> VoteForm:
        a, b = self._system(task.a), self._system(task.b)
        fair = self._number("tie", *sorted((a, b)), task.prompt) < TIE_SHARE
        odds = math.exp(STRENGTHS.get(a, 0.0) - STRENGTHS.get(b, 0.0))
        prefers_a = self._number("choice", *sorted((a, b)), task.prompt) < odds / (1 + odds)
        return VoteForm(
            winner="Tie" if fair else ("A" if prefers_a else "B"),
            primary_tag="Flicker / temporal jitter",
            ratings_a={name: self._rating(a) for name in task.dimensions},
            ratings_b={name: self._rating(b) for name in task.dimensions},
        )

    def _system(self, clip: ClipView) -> str:
        """What only a simulation may know: which system made the clip."""
        return Path(self._service.media(clip.token).source).name.split("_")[0]

    def _number(self, *key: str) -> float:
        """A number from 0 to 1 that depends on rater and pair alone."""
        return seeded_order(SEED, self._code, *key) / 2**64

    def _rating(self, system: str) -> int:
        return {"amber": 5, "birch": 4, "cedar": 2}.get(system, 3)


def _part(done: Run) -> DemoPart:
    measurements, facts = done.measurements[STUDY], done.subjects[0].facts
    table = ranking(measurements)
    wanted = sorted(STRENGTHS, key=lambda system: -STRENGTHS[system])
    as_expected = [row[1].text for row in table.rows] == wanted
    sentence = (
        f"{facts['raters']} simulated raters gave {facts['votes']} votes; "
        f"{'the planted order comes out' if as_expected else f'NOT the planted order {wanted}'}. "
        f"{agreement_line(measurements)}."
    )
    return DemoPart(
        title="Preference: which clip do people prefer? (simulated raters)",
        run=done.path,
        found=sentence,
        header=table.header,
        rows=table.texts(),
        as_expected=as_expected,
    )
