"""What was declared before the votes, and whether results were made under it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.show.section import facts
from rushes.instruments.preference.votes import Vote
from rushes.study import ExclusionRule, StudyPlan, StudyService, open_service
from rushes.study.evaluate import evaluate_study
from rushes.study.preregistration import (
    Analysis,
    content_digest,
    read_registration,
    register,
    state,
    write_registration,
)

from .test_command import done


def ballots() -> list[Vote]:
    about = {"system_a": "x", "system_b": "y", "primary_tag": "Missed constraint"}
    return [
        Vote(sample=f"s{k}", winner="ab"[(k + r) % 3 == 0], rater=f"r{r}", prompt=f"p{k}", **about)  # type: ignore[arg-type]
        for k in range(8)
        for r in range(3)
    ]


@pytest.fixture
def service(tmp_path: Path):  # type: ignore[no-untyped-def]
    with open_service(tmp_path / "studies.db") as found:
        found.create_study(StudyPlan(name="takes", exclusion=ExclusionRule(max_gold_errors=2)))
        yield found


def test_a_plan_has_one_digest_and_results_made_under_it_match(service: StudyService, tmp_path: Path) -> None:
    made = register(service, "takes", Analysis())
    assert register(service, "takes", Analysis()).digest == made.digest == content_digest(made.content)
    assert made.votes_before == 0
    content = made.content
    assert content["exclusion_rule"] == "gold_errors>2" and content["plan"]["min_raters"] == 2
    assert any(s.startswith("percent_agreement|") and "votes:first-2" in s for s in content["analysis"]["signatures"])
    assert any("labels:adjudicated" in s for s in content["analysis"]["signatures"])
    write_registration(tmp_path / "plan.json", made)
    assert read_registration(tmp_path / "plan.json").digest == made.digest
    assert state(service, "takes", Analysis()).matches
    declared = read_registration(tmp_path / "plan.json")
    changed = state(service, "takes", Analysis(tie_policy="half-tie"), declared=declared)
    assert not changed.matches and changed.differs == ("analysis.signatures", "analysis.tie_policy")
    assert "NOT as declared: analysis.signatures, analysis.tie_policy differ" in changed.text


def test_the_declared_signatures_are_those_of_the_results(service: StudyService, tmp_path: Path) -> None:
    made = register(service, "takes", Analysis())
    service.import_ratings("takes", ballots())
    run = evaluate_study(service, "takes", run=tmp_path / "run")
    found = [m for m in run.measurements["takes"] if m.name != "samples_below_minimum"]  # no choice of analysis
    assert {m.signature for m in found} <= set(made.content["analysis"]["signatures"])


def test_votes_that_do_not_keep_the_rubric_are_not_as_declared(service: StudyService) -> None:
    register(service, "takes", Analysis())
    service.import_ratings("takes", [replace(vote, primary_tag="") for vote in ballots()])
    assert "analysis.signatures" in state(service, "takes", Analysis()).differs


def test_pairs_that_came_later_are_named_and_so_is_a_late_registration(service: StudyService, tmp_path: Path) -> None:
    register(service, "takes", Analysis())
    service.import_ratings("takes", ballots())
    run = evaluate_study(service, "takes", run=tmp_path / "run")
    known = run.subjects[0].facts["preregistration"]
    assert known["matches"] is False and known["differs"] == ["pairs.count", "pairs.sha256"]  # type: ignore[index]
    assert dict(facts(run))["Preregistration"].endswith(
        "these results are NOT as declared: pairs.count, pairs.sha256 differ"
    )
    late = register(service, "takes", Analysis())
    assert late.votes_before == 24
    write_registration(tmp_path / "late.json", late)
    again = evaluate_study(service, "takes", run=tmp_path / "again", preregistration=tmp_path / "late.json")
    assert dict(facts(again))["Preregistration"] == (
        f"sha256 {late.digest}, registered after 24 votes; these results are as declared"
    )


def test_a_changed_file_is_refused(service: StudyService, tmp_path: Path) -> None:
    write_registration(tmp_path / "plan.json", register(service, "takes", Analysis()))
    data = json.loads((tmp_path / "plan.json").read_text())
    data["content"]["exclusion_rule"] = "none"
    (tmp_path / "plan.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match="does not match its digest"):
        read_registration(tmp_path / "plan.json")
    for text in ("", "[]", '{"content": 1}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError, match="cannot be read as a preregistration"):
            read_registration(tmp_path / "bad.json")


def test_the_command_writes_it_and_the_report_states_it(
    service: StudyService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no line is broken, however long the folder's name is
    db = tmp_path / "studies.db"
    service.import_ratings("takes", ballots())
    plain = done("study", "report", "takes", "-o", tmp_path / "plain", "--db", db)
    assert "Preregistration: not preregistered" in plain.output
    told = done("study", "preregister", "takes", "-o", tmp_path / "plan.json", "--db", db)
    assert "registered with 24 votes already in: sha256 " in " ".join(told.output.split())
    shown = done("study", "report", "takes", "-o", tmp_path / "run", "--db", db)
    assert "registered after 24 votes; these results are as declared" in " ".join(shown.output.split())
    other = done("study", "report", "takes", "-o", tmp_path / "other", "--ties", "drop-tie", "--db", db)
    assert "NOT as declared: analysis.signatures, analysis.tie_policy differ" in other.output
