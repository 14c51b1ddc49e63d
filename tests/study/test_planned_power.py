"""What `rushes study plan` promises, against studies that the service runs with simulated people."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.conftest import HandClock, Person

from rushes.instruments.preference.rubric import SIMPLE
from rushes.media import write_clip
from rushes.stats.votes.plan import Design, _outcomes, simulated_power
from rushes.study import StudyPlan, VoteForm, open_service
from rushes.study.evaluate import measure_study
from rushes.study.material.sources import SourceClip

DESIGN = Design(preference=0.75, prompts=20, raters=8, votes_per_rater=20, min_raters=2)
STUDIES = 120


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> list[SourceClip]:
    folder = tmp_path_factory.mktemp("planned")
    made = []
    for number, system in enumerate(("best", "rest")):
        for prompt in range(DESIGN.prompts):
            path = folder / f"{system}_{prompt:02d}.mp4"
            write_clip(path, [np.full((32, 48, 3), 90 * number + prompt + k, np.uint8) for k in range(3)], fps=25)
            made.append(
                SourceClip(system=system, sample=f"p{prompt:02d}", path=path, name=path.stem, prompt=str(prompt))
            )
    return made


@pytest.mark.soak
def test_planned_power_comes_true(clips, tmp_path) -> None:
    found = votes = 0
    for number in range(STUDIES):
        with open_service(tmp_path / f"{number}.db", media=tmp_path / "media", clock=(clock := HandClock())) as service:
            plan = StudyPlan(name="s", rubric=SIMPLE, min_raters=2, quota=20, repeat_every=0, gold_every=0, seed=number)
            service.create_study(plan, training=False, clips=clips)
            votes += _run(service, clock, np.random.default_rng([9, number]))
            ranks = [m for m in measure_study(service, "s").measurements if m.name == "bt_rank" and len(m.at) == 1]
            found += any(m.place["system"] == "best" and m.interval is not None and m.interval.high == 1 for m in ranks)
    planned = simulated_power(DESIGN, runs=400)
    assert votes / STUDIES == pytest.approx(planned.votes, rel=0.03)
    assert found / STUDIES == pytest.approx(planned.power, abs=0.05 + 0.045)


def _run(service, clock, draw) -> int:
    """Eight people take turns until no pair is left."""
    people = [Person(service, clock, "s", one) for one in service.invite("s", count=DESIGN.raters)]
    taste = draw.normal(0, DESIGN.taste, (DESIGN.raters, 2))
    leaning = draw.normal(0, DESIGN.leaning, (DESIGN.prompts, 2))
    given, busy = 0, True
    while busy:
        busy = False
        for k, person in enumerate(people):
            if (task := service.next_task(person.session)) is None:
                continue
            busy, given = True, given + 1
            person.watch(task, passes=1)
            side = person.side_of(task, "best")
            at = int(service.media(task.a.token).source[-6:-4])
            gap = DESIGN.gap + taste[k, 0] - taste[k, 1] + leaning[at, 0] - leaning[at, 1]
            outcome = int(_outcomes(np.array([gap]), DESIGN.tie_share, draw)[0])
            winner = ("A" if side == "A" else "B", "B" if side == "A" else "A", "Tie")[outcome]
            service.submit_vote(person.session, task.assignment, VoteForm(winner=winner), key="v")
    return given
