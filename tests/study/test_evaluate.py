"""A study's run directory: what it says when there is nothing to rank, and with a declared exclusion rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.show.tables import exclusion_rules, ranking, ranking_note
from rushes.instruments.preference.votes import Vote
from rushes.study import ExclusionRule, StudyPlan, StudyService, open_service
from rushes.study.evaluate import evaluate_study, evaluate_validity, votes_digest


def vote(sample: str, rater: str, systems: str = "ab", winner: str = "a") -> Vote:
    return Vote(sample=sample, system_a=systems[0], system_b=systems[1], winner=winner, rater=rater, family="T1")


@pytest.fixture
def service(tmp_path: Path) -> StudyService:
    with open_service(tmp_path / "studies.db") as opened:
        opened.create_study(StudyPlan(name="s", exclusion=ExclusionRule(max_gold_errors=0)), training=False)
        yield opened


def measured(service: StudyService, tmp_path: Path):
    run = evaluate_study(service, "s", run=tmp_path / "run")
    assert run.status == "complete"
    return run.measurements["s"]


def test_only_ties_rank_nobody_and_say_so(service, tmp_path):
    service.import_ratings("s", [vote(f"s{n}", rater, winner="tie") for n in range(4) for rater in ("x", "y")])
    found = measured(service, tmp_path)
    assert "every vote is a tie" in ranking_note(found)
    assert [row[2] for row in ranking(found).texts()] == ["–", "–"]


def test_a_comparison_graph_in_pieces_is_refused_with_its_pieces(service, tmp_path):
    votes = [vote("1", "x", "ab"), vote("2", "y", "ab", "b"), vote("3", "x", "cd"), vote("4", "y", "cd", "b")]
    service.import_ratings("s", votes)
    note = ranking_note(measured(service, tmp_path))
    assert "{a, b}" in note and "{c, d}" in note


def test_every_number_comes_with_and_without_the_declared_rule(service, tmp_path):
    service.import_ratings(
        "s", [vote(f"s{n}", rater, winner=w) for n in range(3) for rater, w in (("x", "a"), ("y", "b"))]
    )
    found = measured(service, tmp_path)
    assert exclusion_rules(found) == ["none", "gold_errors>0"]
    assert ranking(found, exclusion="gold_errors>0").texts() == ranking(found).texts()  # nobody met the rule


def test_more_votes_replace_the_numbers_of_an_earlier_report(service, tmp_path):
    service.import_ratings("s", [vote("1", "x"), vote("1", "y", winner="b")])
    before = evaluate_study(service, "s", run=tmp_path / "run").subjects[0]
    service.import_ratings("s", [vote("2", "x")])
    after = evaluate_study(service, "s", run=tmp_path / "run").subjects[0]
    assert (before.facts["votes"], after.facts["votes"]) == (2, 3) and before.sha256 != after.sha256


def test_the_digest_is_of_the_votes_alone():
    assert votes_digest([vote("1", "x")]) == votes_digest([vote("1", "x")]) != votes_digest([vote("1", "y")])


def test_validity_without_runs_or_with_strangers_is_refused(service, tmp_path):
    service.import_ratings("s", [vote("1", "x")])
    with pytest.raises(InputError, match="validity needs the runs"):
        evaluate_validity(service, "s", [], run=tmp_path / "v")
    run = evaluate_study(service, "s", run=tmp_path / "run")
    with pytest.raises(InputError, match="none of the 0 clips"):
        evaluate_validity(service, "s", [run.path], run=tmp_path / "v")
