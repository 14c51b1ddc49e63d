"""Human Evaluation Rubric v0.1, its last section: *Quality control*. One test a requirement, in its order and words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.quick_studies import quick_tables  # noqa: F401
from tests.study.conftest import HandClock, Person, manifest, quick_clips, takes, two_systems  # noqa: F401
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.instruments.preference.rubric import RUBRIC
from rushes.instruments.preference.votes import Vote
from rushes.study import StudyError, StudyPlan, StudyService, open_service

MISSED, FLICKER = "Missed constraint", "Flicker / temporal jitter"
Raters = Callable[[int], list[Person]]


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def service(tmp_path: Path, clock: HandClock) -> Iterator[StudyService]:
    with open_service(tmp_path / "studies.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def raters(service: StudyService, clock: HandClock, manifest: Path, two_systems: Path) -> Raters:  # noqa: F811
    """Raters of a study of alpha against beta: six samples of the families T1, T1, T2, T2, T4 and T7."""
    service.create_study(StudyPlan(name="takes", gold_every=0, repeat_every=0), training=False)
    service.import_csv("takes", manifest, clips=two_systems)
    return lambda count: [Person(service, clock, "takes", one) for one in service.invite("takes", count=count)]


def rushes(tmp_path: Path, *words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--db", str(tmp_path / "studies.db")], env={"COLUMNS": "250"})


def vote_on_all(service: StudyService, person: Person, prefer: Callable[[str], str]) -> list[str]:
    """The rater votes until there is nothing left; `prefer` gives a system by task family. Returns the prompts."""
    seen = []
    while (task := service.next_task(person.session)) is not None:
        seen.append(task.prompt)
        person.vote_for(task, prefer(task.family))
    return seen


def divided(service: StudyService, raters: Raters) -> str:
    """Two raters chose different winners of one sample: its name."""
    for person, system in zip(raters(2), ("alpha", "beta"), strict=True):
        person.vote_for(person.task(), system)
    (sample,) = {vote.sample for vote in service.votes("takes")}
    return sample


def test_the_rubric_holds_the_sections_words() -> None:
    assert RUBRIC.quality_control == (
        "Minimum 2 raters per sample",
        "If raters disagree on winner, add a third rater or adjudicate using reason tags",
        "Track basic agreement: % agreement per task family + review top disagreements",
    )


def test_minimum_2_raters_per_sample(service: StudyService, raters: Raters, tmp_path: Path) -> None:
    """“Minimum **2 raters per sample**”: one vote finishes nothing, two that agree do, and a plan of one is refused."""
    one, other, third = raters(3)
    vote_on_all(service, one, lambda family: "alpha")
    assert sum(family.finished for family in service.study_status("takes").families) == 0
    vote_on_all(service, other, lambda family: "alpha")
    assert all(family.finished == family.samples for family in service.study_status("takes").families)
    assert service.next_task(third.session) is None, "two who agree are enough"
    with pytest.raises(StudyError, match="at least 2 raters per sample"):
        service.create_study(StudyPlan(name="one", min_raters=1), training=False)
    refused = rushes(tmp_path, "study", "create", "one", "--min-raters", "1")
    assert refused.exit_code == 2


@pytest.mark.parametrize("second", ["beta", "Tie"])
def test_if_raters_disagree_on_winner_add_a_third_rater(service: StudyService, raters: Raters, second: str) -> None:
    """“If raters disagree on winner, add a **third rater**”: A against B, and A against Tie."""
    one, other, third, fourth = raters(4)
    one.vote_for(one.task(), "alpha")
    task = other.task()  # what is begun comes first: the same sample
    other.vote(task, "Tie" if second == "Tie" else other.side_of(task, second))
    (sample,) = {vote.sample for vote in service.votes("takes")}
    assert sum(family.third for family in service.study_status("takes").families) == 1
    third.vote_for(third.task(), "alpha")  # a third opinion comes before anything new
    assert [vote.winner for vote in service.votes("takes") if vote.sample == sample].count("a") == 2
    (item,) = service.study_status("takes").disagreements
    assert (item.sample, item.state) == (sample, "majority")
    fourth.vote_for(fourth.task(), "alpha")
    assert sum(vote.sample == sample for vote in service.votes("takes")) == 3, "and no fourth"


def test_or_adjudicate_ends_the_sample(service: StudyService, raters: Raters) -> None:
    """“… **or** adjudicate …”: decided at 1–1, the sample waits for no third rater, and nobody is given it any more."""
    sample = divided(service, raters)
    service.adjudicate("takes", sample, winner="alpha", tags=[MISSED])
    (third,) = raters(1)
    assert len(vote_on_all(service, third, lambda family: "beta")) == 5
    votes = [vote for vote in service.votes("takes", adjudicated=True) if vote.sample == sample]
    assert [(vote.adjudicated, vote.winner) for vote in votes] == [(False, "a"), (False, "b"), (True, "a")]
    families = service.study_status("takes").families
    assert sum(f.third + f.to_adjudicate for f in families) == 0 and sum(f.finished for f in families) == 1


def test_adjudicate_using_reason_tags(service: StudyService, raters: Raters, tmp_path: Path) -> None:
    """“adjudicate using reason tags”: the raters' tags are shown with what they suggest by the rubric's priorities, and
    the decision names tags of its own."""
    for person, system, tag in zip(raters(2), ("alpha", "beta"), (FLICKER, MISSED), strict=True):
        task = person.task()
        person.vote(task, person.side_of(task, system), primary_tag=tag)
    (item,) = service.adjudication_queue("takes")
    assert [opinion.primary_tag for opinion in item.opinions] == [FLICKER, MISSED]
    # Adherence comes before temporal stability: "Missed constraint" is the stronger reason, and it is for beta.
    assert item.suggestion == "beta" and MISSED in item.suggestion_why
    refused = rushes(tmp_path, "study", "adjudicate", "takes", item.sample, "--winner", "beta")
    assert refused.exit_code == 1 and "“adjudicate using reason tags”" in " ".join(refused.stderr.split())
    words = ("study", "adjudicate", "takes", item.sample, "--winner", "beta", "--tag", "missed constraint", "--json")
    assert json.loads(rushes(tmp_path, *words).stdout)["tags"] == [MISSED]


def test_a_later_vote_does_not_silently_contradict_the_decision(
    service: StudyService, raters: Raters, clock: HandClock
) -> None:
    """The decision settles the disagreement: what is voted after it is kept, and remarked on."""
    sample = divided(service, raters)
    service.adjudicate("takes", sample, winner="alpha", tags=[MISSED])
    clock.forward(1)
    late = Vote(sample=sample, system_a="alpha", system_b="beta", winner="b", rater="zoe")
    service.import_ratings("takes", [late])
    (item,) = service.study_status("takes").disagreements
    assert (item.state, item.adjudicated) == ("adjudicated", "alpha")
    assert item.remark == "zoe chose beta after the decision; 2 of 3 votes say beta"


def test_track_basic_agreement_percent_agreement_per_task_family(
    service: StudyService, raters: Raters, tmp_path: Path
) -> None:
    """“Track basic agreement: **% agreement** per task family”: the raters agree on both samples of T1, on none of T2,
    and on those of T4 and T7; 4 of 6 over all."""
    one, other = raters(2)
    vote_on_all(service, one, lambda family: "alpha")
    vote_on_all(service, other, lambda family: "beta" if family == "T2" else "alpha")
    status = service.study_status("takes")
    agreement = {family.family: family.agreement.value for family in status.families}
    assert agreement == {"T1": 1.0, "T2": 0.0, "T4": 1.0, "T7": 1.0}
    assert status.agreement.value == pytest.approx(4 / 6, rel=1e-15)
    rows = rushes(tmp_path, "study", "status", "takes").stdout.splitlines()
    (line,) = [row for row in rows if row.startswith("T2 ")]
    assert line.split()[-1] == "0%"


def test_review_top_disagreements(service: StudyService, tmp_path: Path) -> None:
    """“review top disagreements”: the most divided first, 1–1–1 before 1–1 before 2–1, and the decided ones last."""
    service.create_study(StudyPlan(name="s"), training=False)
    winners = {"p": ("a", "b", "a"), "q": ("a", "b"), "r": ("a", "b", "tie"), "o": ("a", "b")}
    votes = [
        Vote(sample=sample, system_a="alpha", system_b="beta", winner=winner, rater=f"r{n}")  # type: ignore[arg-type]
        for sample, chosen in winners.items()
        for n, winner in enumerate(chosen)
    ]
    service.import_ratings("s", votes)
    service.adjudicate("s", "o", winner="Tie", tags=[MISSED], by="ann")
    found = json.loads(rushes(tmp_path, "study", "status", "s", "--json").stdout)["disagreements"]
    assert [(item["sample"], item["state"]) for item in found] == [
        ("r", "adjudicate"),
        ("q", "third"),
        ("p", "majority"),
        ("o", "adjudicated"),
    ]
    waiting = json.loads(rushes(tmp_path, "study", "adjudicate", "s", "--json").stdout)
    assert [item["sample"] for item in waiting] == ["r", "q", "o"]
    for command in ("status", "adjudicate"):
        text = rushes(tmp_path, "study", command, "s").stdout
        assert "decided by ann: Tie" in text
        first = [row.split()[0] for row in text.splitlines() if row.split()[:1] and row.split()[0] in winners]
        assert first == [sample for sample in ("r", "q", "p", "o") if command == "status" or sample != "p"]
