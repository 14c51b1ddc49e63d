"""Studies of simulated people through the service itself, with a clock moved by hand: what its statements are worth.

    python benchmarks/study_path.py --studies 300 --only power

Every study is one in a database: people join by invitation, are given tasks, load and watch clips, and answer; the
results are those of `measure_study`. Nothing of the service's rules is copied here. Three questions:

power   Does the report rank the better system above the worse as often as `rushes study plan` says?
peek    Two or more equal systems, a look at the results every 20 answers, stopping at the first significant
        difference: how often is there one? `naive` is the same with intervals at 95 % at every look.
active  Active pairing: does any number about a system have an interval, or any strength a value?

Counts have Wilson's 95 % interval. `--only NAME` runs one question, `--match TEXT` the scenarios whose name has it,
`--part K/N` every N-th study from the K-th on. With `--part` counts go to `--keep FOLDER`, and a last run without it
adds up what is there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from recording import record
from rushes.instruments.preference.methods.method import Method, method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.numbers.opinion_plan import OpinionDesign, Ratings, found_pairs, opinion_power
from rushes.instruments.preference.rubric import RUBRIC, SIMPLE
from rushes.instruments.preference.tallies import tally
from rushes.media import write_clip
from rushes.stats.means import share
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.plan import Design, _outcomes, simulated_power
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.set_plan import SetDesign, set_power
from rushes.stats.votes.uncertainty import Uncertainty, significant_pairs, uncertainty
from rushes.study import Accepted, PlayEvent, StudyPlan, StudyService, Task, VoteForm, open_service
from rushes.study.evaluate import measure_study
from rushes.study.material.sources import SourceClip

AnyDesign = Design | OpinionDesign | SetDesign
TEMPLATES = 8
"""Seeds of the service: studies take turns with them."""
LOOK_EVERY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A design, and how the study of it asks."""

    design: AnyDesign
    asked: Method = Method()
    simple: bool = True
    equal: bool = False
    pairing: str = "round-robin"
    most: int = 0
    """Answers after which the study is closed; 0 for none."""


POWER = {
    "pairs, 2 systems, 20 prompts, 8 raters × 20, 2 a pair, preference 0.75": Scenario(
        design=Design(preference=0.75, prompts=20, raters=8, votes_per_rater=20, min_raters=2), simple=False
    ),
    "pairs --simple, 2 systems, 24 prompts, 12 raters × 12, 5 a pair, preference 0.7": Scenario(
        design=Design(preference=0.7, prompts=24, raters=12, votes_per_rater=12, min_raters=5)
    ),
    "pairs --simple, 4 systems, 8 prompts, 12 raters × 14, 2 a pair, preference 0.8": Scenario(
        design=Design(preference=0.8, systems=4, prompts=8, raters=12, votes_per_rater=14, min_raters=2)
    ),
    "pairs --scale 7, 2 systems, 30 prompts, 10 raters × 10, 2 a pair, preference 0.7": Scenario(
        design=Design(preference=0.7, prompts=30, raters=10, votes_per_rater=10, min_raters=2), asked=method("pairs-7")
    ),
    "acr, 2 systems, 12 prompts, 12 raters × 12, 0.6 points": Scenario(
        design=OpinionDesign(difference=0.6, prompts=12, raters=12, ratings_per_rater=12), asked=method("acr")
    ),
    "acr, 3 systems, 10 prompts, 10 raters × 15, 0.6 points": Scenario(
        design=OpinionDesign(difference=0.6, systems=3, prompts=10, raters=10, ratings_per_rater=15),
        asked=method("acr"),
    ),
    "acr-hr, 2 systems and the reference, 10 prompts, 10 raters × 15, 0.7 points": Scenario(
        design=OpinionDesign(difference=0.7, prompts=10, raters=10, ratings_per_rater=15, hidden_reference=True),
        asked=method("acr-hr"),
    ),
    "dcr, 2 systems, 12 prompts, 10 raters × 12, 0.6 points": Scenario(
        design=OpinionDesign(difference=0.6, prompts=12, raters=10, ratings_per_rater=12), asked=method("dcr")
    ),
    "best-worst, 4 systems, 16 prompts, 8 raters × 8, preference 0.75": Scenario(
        design=SetDesign(preference=0.75, systems=4, prompts=16, raters=8, sets_per_rater=8), asked=method("best-worst")
    ),
}
PEEK = {
    "2 systems, 40 prompts, 16 raters, 4 a pair": Scenario(
        design=Design(prompts=40, raters=16, votes_per_rater=12, min_raters=4), equal=True
    ),
    "4 systems, 10 prompts, 14 raters, 2 a pair": Scenario(
        design=Design(systems=4, prompts=10, raters=14, votes_per_rater=14, min_raters=2), equal=True
    ),
    "acr, 3 systems, 12 prompts, 12 raters": Scenario(
        design=OpinionDesign(difference=0.0, systems=3, prompts=12, raters=12, ratings_per_rater=15),
        asked=method("acr"),
        equal=True,
    ),
}
ACTIVE = {
    "5 equal systems, 17 prompts, closed at 240 votes": Scenario(
        design=Design(systems=5, prompts=17, raters=20, votes_per_rater=20, min_raters=2),
        equal=True,
        pairing="active",
        most=240,
    ),
    "5 systems, one better, 17 prompts, closed at 240 votes": Scenario(
        design=Design(preference=0.75, systems=5, prompts=17, raters=20, votes_per_rater=20, min_raters=2),
        pairing="active",
        most=240,
    ),
}


class Clock:
    """Moves when told."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


def clips_of(folder: Path, scenario: Scenario) -> list[SourceClip]:
    """A short clip of every system and prompt; "ref" is the reference."""
    names = [f"s{k}" for k in range(scenario.design.systems)] + ["ref"] * scenario.asked.needs_reference
    made = []
    for number, system in enumerate(names):
        for prompt in range(scenario.design.prompts):
            path = folder / f"{system}_{prompt:02d}.mp4"
            pictures = [np.full((32, 48, 3), (40 * number + 2 * prompt + step) % 256, np.uint8) for step in range(3)]
            write_clip(path, pictures, fps=25)
            made.append(
                SourceClip(system=system, sample=f"p{prompt:02d}", path=path, name=path.stem, prompt=str(prompt))
            )
    return made


def plan_of(scenario: Scenario, seed: int) -> StudyPlan:
    design, asked = scenario.design, scenario.asked
    words = rubric_of_method(asked) if not asked.is_pairs else SIMPLE if scenario.simple else RUBRIC
    return StudyPlan(
        name="s",
        rubric=words,
        method=asked,
        reference="ref" if asked.needs_reference else "",
        min_raters=_size(design)[0],
        quota=_size(design)[1],
        repeat_every=0,
        gold_every=0,
        pairing=scenario.pairing,
        seed=seed,
    )


def _size(design: AnyDesign) -> tuple[int, int]:
    """Raters of a trial, and the most answers of a rater."""
    if isinstance(design, OpinionDesign):
        return design.raters_per_clip, design.ratings_per_rater
    if isinstance(design, SetDesign):
        return design.raters_per_set, design.sets_per_rater
    return design.raters_per_pair, design.votes_per_rater


@dataclass(slots=True)
class Person:
    """A rater who is signed in."""

    service: StudyService
    clock: Clock
    session: str
    number: int
    sequence: Iterator[int]

    def answer(self, task: Task, form: VoteForm, *, passes: int) -> None:
        self.service.load_clips(self.session, task)
        for _ in range(passes):
            self.clock.now += sum(view.duration_ms for view in task.clips.values())
            events = [
                PlayEvent(side=side, start_ms=0, end_ms=view.duration_ms, sequence=next(self.sequence))
                for side, view in task.clips.items()
            ]
            self.service.record_play(self.session, task.assignment, events)
        self.clock.now += 3000
        given = self.service.submit_vote(self.session, task.assignment, form, key="v")
        assert isinstance(given, Accepted), given


def shown(service: StudyService, task: Task) -> dict[str, tuple[int, int]]:
    """By side, the system and the prompt, which only a simulation may know; −1 is the reference."""
    found = {}
    for side, view in task.clips.items():
        system, prompt = Path(service.media(view.token).source).stem.split("_")
        found[side] = (-1 if system == "ref" else int(system[1:]), int(prompt))
    return found


def forms(scenario: Scenario, draw: np.random.Generator) -> Callable[[int, Task, dict[str, tuple[int, int]]], VoteForm]:
    """What a rater answers to a task, by the model of the design."""
    if isinstance(scenario.design, OpinionDesign):
        return _rating_forms(scenario.design, scenario.asked, draw)
    design = scenario.design
    strength = np.zeros(design.systems)
    if not scenario.equal:
        strength[0], strength[1] = design.gap / 2, -design.gap / 2
    liking = strength + draw.normal(0, design.taste, (design.raters, design.systems))
    leaning = draw.normal(0, design.leaning, (design.prompts, design.systems))

    def form(rater: int, task: Task, sides: dict[str, tuple[int, int]]) -> VoteForm:
        worth = {side: liking[rater, system] + leaning[prompt, system] for side, (system, prompt) in sides.items()}
        if isinstance(design, SetDesign):
            noisy = {side: value + draw.gumbel() for side, value in worth.items()}
            return VoteForm(best=max(noisy, key=noisy.__getitem__), worst=min(noisy, key=noisy.__getitem__))
        outcome = int(_outcomes(np.array([worth["A"] - worth["B"]]), design.tie_share, draw)[0])
        winner = ("A", "B", "Tie")[outcome]
        if scenario.asked.degree:
            return VoteForm(winner=winner, degree=None if winner == "Tie" else int(draw.integers(1, 4)))
        if scenario.simple:
            return VoteForm(winner=winner)
        middle = {name: 3 for name in task.dimensions}
        return VoteForm(winner=winner, primary_tag=task.tags[0], ratings_a=middle, ratings_b=middle)

    return form


def _rating_forms(
    design: OpinionDesign, asked: Method, draw: np.random.Generator
) -> Callable[[int, Task, dict[str, tuple[int, int]]], VoteForm]:
    bias, taste = draw.normal(0, design.bias, design.raters), draw.normal(0, design.taste, (design.raters, 9))
    ease, leaning = draw.normal(0, design.prompt, design.prompts), draw.normal(0, design.leaning, (design.prompts, 9))

    def form(rater: int, task: Task, sides: dict[str, tuple[int, int]]) -> VoteForm:
        side = asked.rated_side
        system, prompt = sides[side]
        mean = design.means[system]  # the reference's is the last
        latent = mean + bias[rater] + taste[rater, system] + ease[prompt] + leaning[prompt, system]
        score = int(np.clip(np.rint(latent + draw.normal(0, design.noise)), asked.lowest, asked.highest))
        return VoteForm(**{f"ratings_{side.lower()}": {"overall": score}})

    return form


def run(
    scenario: Scenario, template: Path, number: int, look: Callable[[StudyService, int], bool] | None = None
) -> tuple[StudyService, int]:
    """One whole study: people take turns until nobody has a task, or `look` says stop; then its owner closes it."""
    place = template.with_name(f"run-{number}.db")
    shutil.copy(template, place)
    draw, clock = np.random.default_rng([11, number]), Clock()
    service = open_service(place, media=template.parent / "media", clock=clock)
    people = []
    for k, invitation in enumerate(service.invite("s", count=scenario.design.raters)):
        session = service.accept_invite(invitation.token).token
        service.give_consent(session)
        people.append(Person(service, clock, session, k, count(1)))
    form, answers, busy = forms(scenario, draw), 0, True
    passes = 1 if scenario.simple or not scenario.asked.is_pairs else 2
    while busy:
        busy = False
        for person in people:
            if (task := service.next_task(person.session)) is None:
                continue
            busy, answers = True, answers + 1
            person.answer(task, form(person.number, task, shown(service, task)), passes=passes)
            if look is not None and answers % LOOK_EVERY == 0 and look(service, answers):
                return service, answers
            if answers == scenario.most:
                busy = False
                break
    service.running.set_state("s", "closed")
    return service, answers


def significant(service: StudyService, scenario: Scenario, level: float) -> set[tuple[int, int]]:
    """Which systems are ranked above which for sure, by what `bt_rank` and `mos_rank` rest on; the better first."""
    if isinstance(scenario.design, OpinionDesign):
        given = [one for one in service.judgements("s") if one.system != "ref"]
        columns = [[one.system[1:], one.prompt, one.rater] for one in given]
        system, prompt = (np.array([int(row[k]) for row in columns]) for k in (0, 1))
        rater = np.array([int(row[2].partition("_")[2]) for row in columns])
        ratings = Ratings(np.array([float(one.ratings["overall"]) for one in given]), system, prompt, rater)
        return {*found_pairs(replace(scenario.design, confidence=level), ratings)}
    votes = service.votes("s") or [vote for one in service.judgements("s") for vote in one.implied_votes()]
    counted = tally(votes)
    try:
        ranking = rank(counted)
    except RankingError:
        return set()
    spread = uncertainty(ranking, counted, confidence=level)
    if not isinstance(spread, Uncertainty):
        return set()
    return {(int(a[1:]), int(b[1:])) for a, b in significant_pairs(ranking, spread, level)}


def reported(service: StudyService, scenario: Scenario) -> bool:
    """Whether the report's possible ranks exclude any order: of two systems, that is the winner."""
    name = "mos_rank" if isinstance(scenario.design, OpinionDesign) else "bt_rank"
    found = [m for m in measure_study(service, "s").measurements if m.name == name and "family" not in m.place]
    return any(m.interval is not None and (m.interval.low > 1 or m.interval.high < len(found)) for m in found)


def power_of(scenario: Scenario, template: Path, number: int) -> Counter[str]:
    service, answers = run(scenario, template, number)
    with service:
        last = scenario.design.systems - 1 if isinstance(scenario.design, OpinionDesign) else 1
        found = (0, last) in significant(service, scenario, scenario.design.confidence)
        told = reported(service, scenario)
        assert told or not found, "the report does not state what its differences show"
    return Counter(found=int(found), answers=answers)


def peek_of(scenario: Scenario, template: Path, number: int) -> Counter[str]:
    naive = 0

    def look(service: StudyService, answers: int) -> bool:
        nonlocal naive
        naive = naive or int(bool(significant(service, scenario, 0.95)))
        return reported(service, scenario)

    service, answers = run(scenario, template, number, look)
    with service:
        found = reported(service, scenario)
        return Counter(found=int(found), naive=naive or int(found), answers=answers)


def active_of(scenario: Scenario, template: Path, number: int) -> Counter[str]:
    service, answers = run(scenario, template, number)
    with service:
        about = [m for m in measure_study(service, "s").measurements if "system" in m.place]
        wrong = [m for m in about if m.interval is not None or (m.name in ("bt_elo", "jod") and m.value is not None)]
    return Counter(found=int(bool(wrong)), answers=answers)


QUESTIONS = {"power": (POWER, power_of), "peek": (PEEK, peek_of), "active": (ACTIVE, active_of)}


def counts(question: str, name: str, studies: range, *, seeds: int = TEMPLATES) -> dict[str, int]:
    """How many of these studies of one scenario found something, and with how many answers."""
    scenarios, one = QUESTIONS[question]
    scenario = scenarios[name]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as home:
        folder = Path(home)
        clips, templates = clips_of(folder, scenario), []
        for seed in range(seeds):
            templates.append(folder / f"template-{seed}.db")
            with open_service(templates[-1], media=folder / "media", clock=Clock()) as service:
                service.create_study(plan_of(scenario, seed), training=False, clips=clips)
        for number in studies:
            total.update(one(scenario, templates[number % seeds], number), studies=1)
            for old in folder.glob("run-*"):
                old.unlink()
    print(question, name, dict(total), flush=True)
    return dict(total)


def planned(design: AnyDesign) -> tuple[float, float]:
    """The plan's power, and the answers it expects."""
    if isinstance(design, OpinionDesign):
        return float(opinion_power(design, runs=2000).value or 0), design.ratings
    if isinstance(design, SetDesign):
        return set_power(design, runs=1000).power, design.answers
    found = simulated_power(design, runs=4000 if design.systems == 2 else 1000)
    return found.power, found.votes


def row_of(question: str, name: str, found: Counter[str]) -> tuple[str, str, str]:
    hits, studies = found["found"], found["studies"]
    estimate = share(hits, studies)
    span = "" if estimate.interval is None else f" ({estimate.interval.low:.3f} to {estimate.interval.high:.3f})"
    text = f"{hits} of {studies}, {hits / studies:.3f}{span}"
    answers = f"{found['answers'] / studies:.0f} answers"
    if question == "power":
        power, wanted = planned(POWER[name].design)
        return name, "within 0.05 of the plan", f"{text}; planned {power:.3f}; {answers}, planned {wanted:.0f}"
    if question == "peek":
        return f"{name}, a look every {LOOK_EVERY} answers", "≤ 0.05", f"{text}; {found['naive']} at 95 % every time"
    return name, "no interval, no strength", f"{text} with one; {answers}"


TITLES = {
    "power": "Planned power, through the service",
    "peek": "False winners when looking and stopping, through the service",
    "active": "What active pairing states, through the service",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--only", choices=sorted(QUESTIONS), action="append")
    parser.add_argument("--part", default="", help="2/3: the second of three processes")
    parser.add_argument("--keep", type=Path, help="folder of counts, added up by a run without --part")
    parser.add_argument("--match", default="")
    asked = parser.parse_args()
    for question in asked.only or QUESTIONS:
        names = [name for name in QUESTIONS[question][0] if asked.match in name]
        if asked.part:
            part, parts = map(int, asked.part.split("/"))
            for name in names:
                found = counts(question, name, range(part - 1, asked.studies, parts))
                kept = asked.keep / f"{question}-{names.index(name)}-{asked.match}-{part}-{parts}.json"
                kept.write_text(json.dumps({name: found}))
            continue
        total: dict[str, Counter[str]] = {}
        for path in sorted(asked.keep.glob(f"{question}-*.json")) if asked.keep else ():
            for name, found in json.loads(path.read_text()).items():
                total.setdefault(name, Counter()).update(found)
        if not asked.keep:
            total = {name: Counter(counts(question, name, range(asked.studies))) for name in names}
        rows = [row_of(question, name, total[name]) for name in QUESTIONS[question][0] if name in total]
        how = f"`python benchmarks/study_path.py --only {question}`; fixed seeds, Wilson's 95 % intervals."
        record("planned-power" if question == "power" else f"study-path-{question}", TITLES[question], rows, how=how)


if __name__ == "__main__":
    main()
