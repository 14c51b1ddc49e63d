"""Whole studies of single clips through the service, with simulated people and a clock moved by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.conftest import HandClock
from tests.study.test_methods import Judge

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.media import write_clip
from rushes.study import StudyPlan, VoteForm, open_service
from rushes.study.evaluate import measure_study
from rushes.study.material.sources import SourceClip

SYSTEMS, PROMPTS, RATERS = ("one", "three", "two"), 8, 8
TRUE = {"one": 3.5, "two": 3.0, "three": 3.0}
"""Before rounding; two and three are equal."""


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> list[SourceClip]:
    folder, made = tmp_path_factory.mktemp("rated"), []
    for number, system in enumerate(SYSTEMS):
        for prompt in range(PROMPTS):
            path = folder / f"{system}_{prompt:02d}.mp4"
            write_clip(path, [np.full((32, 48, 3), 60 * number + 5 * prompt + k, np.uint8) for k in range(3)], fps=25)
            made.append(SourceClip(system=system, sample=f"p{prompt}", path=path, name=path.stem, prompt=str(prompt)))
    return made


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("studies", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_differences_are_covered_and_equals_stay_equal(clips, tmp_path, studies) -> None:
    covered = false = 0
    for number in range(studies):
        with open_service(tmp_path / f"{number}.db", media=tmp_path / "media", clock=(clock := HandClock())) as service:
            asked = method("acr")
            plan = StudyPlan(
                name="s",
                method=asked,
                rubric=rubric_of_method(asked),
                min_raters=4,
                quota=14,  # a little more than needed: who comes last may have seen the clip that is left
                repeat_every=0,
                seed=number,
            )
            service.create_study(plan, training=False, clips=clips)
            _run(service, clock, np.random.default_rng([17, number]))
            found = {(m.name, *m.place.values()): m for m in measure_study(service, "s").measurements}
            gap = found["mos_difference", "two", "overall", "three"]
            assert found["mos", "overall", "one"].count == PROMPTS * 4  # every clip equally often
            covered += gap.interval.low <= 0 <= gap.interval.high
            ranks = {name: found["mos_rank", "overall", name].interval for name in ("two", "three")}
            false += ranks["two"].high < ranks["three"].low or ranks["three"].high < ranks["two"].low
    if studies >= 100:
        assert covered / studies >= 0.93 and false / studies <= 0.05, (covered, false)
    print(f"{studies} studies: {covered} covered, {false} false")


def _run(service, clock, draw) -> None:
    people = [Judge(service, clock, "s", one) for one in service.invite("s", count=RATERS)]
    bias, taste = draw.normal(0, 0.6, RATERS), draw.normal(0, 0.2, (RATERS, 3))
    prompt, leaning = draw.normal(0, 0.4, PROMPTS), draw.normal(0, 0.3, (PROMPTS, 3))
    busy = True
    while busy:
        busy = False
        for k, person in enumerate(people):
            if (task := service.next_task(person.session)) is None:
                continue
            busy = True
            name = service.media(task.a.token).source.rsplit("/", 1)[1]
            system, at = name.split("_")[0], int(name[-6:-4])
            column = SYSTEMS.index(system)
            latent = TRUE[system] + bias[k] + taste[k, column] + prompt[at] + leaning[at, column] + draw.normal(0, 0.7)
            score = int(np.clip(np.rint(latent), 1, 5))
            person.send(task, VoteForm(ratings_a={"overall": score}))
