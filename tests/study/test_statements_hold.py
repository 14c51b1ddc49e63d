"""What a study states, through the service with a clock moved by hand; the long runs are `benchmarks/study_path.py`."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.study.conftest import HandClock, Person
from tests.study.test_command import done

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.rubric import SIMPLE
from rushes.instruments.preference.votes import Vote
from rushes.stats.votes.plan import simulated_power
from rushes.study import StudyPlan, VoteForm, open_service
from rushes.study.evaluate import measure_study
from rushes.study.material.sources import from_csv

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", ["pairs", "pairs-7"])
def test_active_pairing_states_no_strength_and_no_interval(service, clock, manifest, takes, text) -> None:
    asked = method(text)
    plan = StudyPlan(name="s", method=asked, pairing="active", gold_every=0, repeat_every=0)
    service.create_study(plan, training=False, clips=from_csv(manifest, clips=takes))
    draw = np.random.default_rng(2)
    people = [Person(service, clock, "s", one) for one in service.invite("s", count=3)]
    while any([_answers(person, draw, asked.degree) for person in people]):
        continue
    found = [m for m in measure_study(service, "s").measurements if "system" in m.place]
    assert {m.name for m in found} >= {"bt_elo", "bt_rank", "win_share", "head_to_head", "dimension_mean"}
    assert not [m.name for m in found if m.interval is not None]
    assert not [m.name for m in found if m.name in ("bt_elo", "jod") and m.value is not None]


def _answers(person: Person, draw: np.random.Generator, degree: int) -> bool:
    task = person.service.next_task(person.session)
    if task is not None:
        strength = {"degree": int(draw.integers(1, degree + 1))} if degree else {}
        person.vote(task, "AB"[int(draw.integers(2))], **strength)
    return task is not None


def test_looking_every_few_votes_and_stopping(service, clock, manifest, two_systems) -> None:
    """Twelve votes for the same system, a look after every four: no look finds a winner that the whole would not."""
    plan = StudyPlan(name="s", rubric=SIMPLE, min_raters=2, gold_every=0, repeat_every=0)
    service.create_study(plan, training=False, clips=from_csv(manifest, clips=two_systems))
    people = [Person(service, clock, "s", one) for one in service.invite("s", count=2)]
    levels = []
    for _ in range(3):
        for person in people * 2:
            task = person.task()
            person.watch(task, passes=1)
            service.submit_vote(
                person.session, task.assignment, VoteForm(winner=person.side_of(task, "alpha")), key="k"
            )
        shares = [m for m in measure_study(service, "s").measurements if m.name == "head_to_head"]
        levels.append(shares[0].interval.level)
        assert all(m.interval.low < m.interval.high for m in shares)
    # α / 4, α / 12, and what is left for the end: together α at most.
    assert levels == pytest.approx([1 - 0.05 / 4, 1 - 0.05 / 12, 1 - 0.05 / 2])
    assert sum(1 - level for level in levels) <= 0.05


@pytest.fixture(scope="module")
def study_path():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import study_path
    finally:
        sys.path.pop(0)
    return study_path


@pytest.mark.parametrize("asked", ["pairs --scale 7", "acr, 2", "dcr", "best-worst"])
def test_a_study_has_the_answers_that_its_plan_promises(study_path, asked) -> None:
    name = next(name for name in study_path.POWER if name.startswith(asked))
    found = study_path.counts("power", name, range(1), seeds=1)
    design = study_path.POWER[name].design
    planned = getattr(design, "ratings", None) or getattr(design, "answers", None)
    planned = planned or simulated_power(design, runs=50).votes
    assert found["answers"] == pytest.approx(planned, rel=0.1)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("question", ["power", "peek", "active"])
def test_whole_studies_of_simulated_people(study_path, question) -> None:
    for name in study_path.QUESTIONS[question][0]:
        found = study_path.counts(question, name, range(10 if question == "active" else 100))
        share = found["found"] / found["studies"]
        if question == "power":
            planned, answers = study_path.planned(study_path.POWER[name].design)
            assert share == pytest.approx(planned, abs=0.05 + 0.1), name  # 100 studies know it to within 0.1
            assert found["answers"] / found["studies"] == pytest.approx(answers, rel=0.05), name
        else:
            assert share <= (0.05 if question == "peek" else 0.0), name


def test_a_family_that_cannot_be_ranked_has_its_own_votes() -> None:
    def vote(number: int, a: str, b: str, winner: str, family: str) -> Vote:
        return Vote(
            sample=f"{family}{number}.{a}~{b}",
            system_a=a,
            system_b=b,
            winner=winner,
            rater=f"r{number % 3}",
            family=family,
            prompt=f"p{number}",
        )

    ranked = [vote(k, *pair, "ab"[k % 2], "T1") for k in range(6) for pair in (("x", "y"), ("y", "z"), ("x", "z"))]
    unranked = [vote(k, "x", "y", "a", "T2") for k in range(5)] + [vote(k, "y", "z", "a", "T2") for k in range(4)]
    found = study_measurements([*ranked, *unranked], rubric_version="0.1")
    counts = {m.place["system"]: m.count for m in found if m.name == "bt_elo" and m.place.get("family") == "T2"}
    assert counts == {"x": 5, "y": 9, "z": 4}


def test_what_is_deleted_is_overwritten_however_sqlite_was_built(tmp_path) -> None:
    path = tmp_path / "studies.db"
    with open_service(path, clock=HandClock()) as service:
        with service.database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA secure_delete").scalar_one() == 1
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("SELECT count(*) FROM study").fetchone() == (0,)


def test_payments_to_the_terminal_write_no_file_called_minus(manifest, two_systems, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done("study", "create", "s", manifest, "--clips", two_systems, "--db", "s.db")
    done("study", "invite", "s", "1", "--db", "s.db")
    told = done("study", "payments", "s", "-o", "-", "--db", "s.db").stdout
    assert told.startswith("rater,") and not (tmp_path / "-").exists()


def test_the_keys_in_the_documentation_are_those_of_the_page() -> None:
    script = (ROOT / "src/rushes/web/static/rate.js").read_text(encoding="utf-8")
    table = (ROOT / "docs/web.md").read_text(encoding="utf-8")
    keys = set(re.findall(r'^  "?([a-z+ .,?]+)"?: ', script, re.MULTILINE))
    assert {" ", ",", ".", "shift+a", "shift+b", "l", "s", "?"} <= keys
    assert "| Shift with A or B | play one clip alone |" in table and "| A, B, T | A is better" in table
    listed = set(re.findall(r"\b[A-Z]\b|\+", " ".join(re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE))))
    single = {key.upper() for key in keys if re.fullmatch(r"[a-z+]", key)}
    assert single >= {"L", "S", "F", "O", "V", "N", "+"} and single <= listed


def test_a_preregistration_has_hypothesis_size_and_stopping_rule(manifest, two_systems, tmp_path) -> None:
    db, file = tmp_path / "s.db", tmp_path / "plan.json"
    done("study", "create", "s", manifest, "--clips", two_systems, "--min-raters", "3", "--db", db)
    done("study", "preregister", "s", "-o", file, "--hypothesis", "alpha is better", "--db", db)
    intent = json.loads(file.read_text(encoding="utf-8"))["content"]["intent"]
    assert (intent["hypothesis"], intent["votes"]) == ("alpha is better", 18)
    assert "each look before spends" in intent["stopping"]
