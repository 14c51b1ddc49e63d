"""Studies of every method in four states, as their owner finds them: nothing yet, a few votes, enough, closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.rubric import RUBRIC, SIMPLE
from rushes.instruments.preference.votes import Fault
from rushes.media import write_clip
from rushes.study import Accepted, PlayEvent, StudyPlan, Task, VoteForm
from rushes.study.material.sources import SourceClip

from .livesite import Site, Study
from .trials import SYSTEMS, session_at_work

STATES = ("nothing", "few", "enough", "closed")
RATERS = {"nothing": 0, "few": 1, "enough": 6, "closed": 6}
PROMPTS = 4


def owned_clips(folder: Path, systems: int) -> list[SourceClip]:
    """Four prompts by so many systems; a clip's name has its system's and its prompt's number."""
    made = []
    for number, system in enumerate(SYSTEMS[:systems]):
        for prompt in range(PROMPTS):
            path = folder / f"s{number}p{prompt}.mp4"
            if not path.exists():
                frames = [np.full((36, 64, 3), (40 + 40 * number, 50 * prompt, 20 * k), np.uint8) for k in range(5)]
                write_clip(path, frames, fps=25)
            asked = {"sample": f"p{prompt}", "prompt": f"p{prompt}", "prompt_text": f"A lantern swings, take {prompt}."}
            made.append(SourceClip(system=system, path=path, name=path.stem, **asked))
    return made


def voted_study(site: Site, folder: Path, text: str, state: str) -> Study:
    """A study that asks in this way, with as many raters' answers as the state has; raters differ, by a fixed rule."""
    words = {"rubric": RUBRIC, "simple": SIMPLE}.get(text)
    asked = method("pairs" if words else text)
    words = words or (SIMPLE if asked.is_pairs else rubric_of_method(asked))
    plan = StudyPlan(
        name=f"{text}-{state}",
        title="Lanterns in the wind",
        method=asked,
        rubric=words,
        reference=SYSTEMS[2] if asked.needs_reference else "",
        gold_every=0,
        repeat_every=0,
        min_raters=3,
    )
    clips = owned_clips(folder, max(3, asked.points if asked.name == "best-worst" else 3))
    site.service.create_study(plan, training=False, clips=clips)
    study = Study(site=site, name=plan.name)
    for number in range(RATERS[state]):
        session = session_at_work(study)
        for done in range(3 if state == "few" else 1000):
            if (task := site.service.next_task(session)) is None:
                break
            answer(study, session, task, number, done)
    if state == "closed":
        site.service.running.set_state(study.name, "closed", why="enough")
    return study


def number_of(study: Study, token: str) -> int:
    """The number of the system that made a clip; lower is better."""
    return int(Path(study.service.media(token).source).stem[1])


def answer(study: Study, session: str, task: Task, rater: int, done: int) -> None:
    """Watch all, and answer: the lower number is better, and every third answer is the other way round."""
    study.service.load_clips(session, task)
    study.site.app.state.pass_time(20_000)
    plays = [
        PlayEvent(side=side, start_ms=0, end_ms=clip.duration_ms, sequence=turn)  # type: ignore[arg-type]
        for turn in range(task.watch.required)
        for side, clip in task.clips.items()
    ]
    study.service.record_play(session, task.assignment, plays)
    result = study.service.submit_vote(session, task.assignment, form_for(study, task, rater, done), key=f"v{done}")
    assert isinstance(result, Accepted), result


def form_for(study: Study, task: Task, rater: int, done: int) -> VoteForm:
    order = sorted(task.clips, key=lambda side: number_of(study, task.clips[side].token))
    if (rater + done) % 3 == 2:
        order.reverse()
    asked = task.method
    rated = asked.rated_side if asked.rates else order[-1]
    faults = (Fault(rated, 80, task.fault_tags[rater % 3]),) if done % 2 else ()
    note = "the lantern jumps" if done % 3 == 0 else ""
    if asked.is_pairs:
        ratings: dict[str, Any] = {}
        if task.dimensions:
            better, worse = dict.fromkeys(task.dimensions, 4), dict.fromkeys(task.dimensions, 2)
            ratings = {"ratings_a": better, "ratings_b": worse}
            if order[0] == "B":
                ratings = {"ratings_a": worse, "ratings_b": better}
        tag = task.tags[rater % len(task.tags)] if task.tags else None
        degree = 1 + done % 3 if asked.degree else None
        return VoteForm(winner=order[0], degree=degree, primary_tag=tag, faults=faults, note=note, **ratings)
    if asked.name == "best-worst":
        return VoteForm(best=order[0], worst=order[-1], faults=faults, note=note)
    number = number_of(study, task.clips[rated].token)
    score = max(asked.lowest, min(asked.highest, asked.highest - 1 - number + (rater + done) % 3 - (rater == 2)))
    key = "ratings_b" if rated == "B" else "ratings_a"
    return VoteForm(**{key: dict.fromkeys(task.dimensions, score)}, faults=faults, note=note)  # type: ignore[arg-type]
