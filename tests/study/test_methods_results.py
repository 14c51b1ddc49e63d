"""What comes of a study of single clips: report, results page, exports, board and preregistration."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from tests.study.test_command import done, rushes
from tests.study.test_methods import judges, made

from rushes.compare.agreement.human_scores import read_human_scores
from rushes.core.errors import InputError
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.show.charts import charts
from rushes.instruments.preference.show.section import headline, section, summary
from rushes.instruments.preference.show.tables import study_tables
from rushes.instruments.preference.votes import Fault
from rushes.present.pages.section import ReportOptions
from rushes.study import Accepted, VoteForm
from rushes.study.evaluate import evaluate_study
from rushes.study.exchange.formats import export_study
from rushes.study.material.sources import from_csv
from rushes.study.preregistration import USUAL, register, state


@pytest.fixture
def clips(manifest, takes):
    return from_csv(manifest, clips=takes)


@pytest.fixture
def rated(service, clock, clips):
    """Alpha is liked best by everybody; four raters, one of them stern."""
    made(service, clips, "acr-5", min_raters=4)
    draw = np.random.default_rng(3)
    for k, person in enumerate(judges(service, clock, 4)):
        while (task := service.next_task(person.session)) is not None:
            score = {"alpha": 5, "beta": 3, "gamma": 3}[person.system(task)] - (k == 0) - int(draw.integers(0, 2))
            marks = (Fault("A", 120, "Flicker"),) if k == 1 else ()
            form = VoteForm(ratings_a={"overall": max(1, score)}, faults=marks)
            assert isinstance(person.send(task, form), Accepted)
    return service


def test_the_report_begins_with_a_sentence(rated, tmp_path):
    run = evaluate_study(rated, "s", run=tmp_path / "run")
    told = summary(run)
    assert told.startswith("Raters ranked alpha first (mean opinion score 4") and "alpha's lead is significant" in told
    (entry,) = run.entries
    tables = study_tables(entry.measurements)
    assert list(tables) == ["scores", "differences", "faults", "clip_scores", "rater_bias"]
    assert [row[1].text for row in tables["scores"].rows][0] == "alpha"
    assert len(tables["clip_scores"].rows) == 6 and len(tables["rater_bias"].rows) == 4
    assert [figure.title for figure in charts(run)] == ["s: mean opinion scores"]
    page = section(run, "a", ReportOptions())
    assert ("Method", "acr-5") in page.facts
    assert all("method:acr-5" in m.signature for m in entry.measurements)


def test_exports_carry_ratings_and_faults(rated, tmp_path):
    assert export_study(rated, "s", tmp_path / "all.csv", form="csv").votes == 72
    with open(tmp_path / "all.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["rating_overall"] in "12345" and json.loads(rows[1]["faults"]) == [
        {"ms": 120, "system": rows[1]["systems"], "tag": "Flicker"}
    ]
    export_study(rated, "s", tmp_path / "all.jsonl", form="jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert len(lines) == 72 and lines[0]["ratings"]["overall"] == int(rows[0]["rating_overall"])
    export_study(rated, "s", tmp_path / "opinions.csv", form="opinions")
    people = read_human_scores(tmp_path / "opinions.csv")  # what rushes believe reads
    assert people.dimensions == ("overall",) and people.systems == ("alpha", "beta", "gamma")
    assert len(people.raters) == 4 and people.kind == "mean-rating"
    with pytest.raises(InputError, match="arena cannot hold answers on single clips or sets; use csv or jsonl"):
        export_study(rated, "s", tmp_path / "x", form="arena")


def test_a_preregistered_study_is_as_declared(service, clock, clips):
    made(service, clips, "acr-hr-5", reference="gamma")
    made_of = register(service, "s", USUAL)
    names = {signature.partition("|")[0] for signature in made_of.content["analysis"]["signatures"]}
    assert {"mos", "dmos", "mos_rank", "mos_difference", "mos_bias_removed"} <= names
    assert made_of.content["plan"]["method"] == "acr-hr-5"
    (person,) = judges(service, clock, 1)
    assert isinstance(person.send(person.task(), VoteForm(ratings_a={"overall": 3})), Accepted)
    assert state(service, "s", USUAL).differs == ()


def test_a_best_worst_study_ranks_as_choix_does():
    import choix

    draw, systems = np.random.default_rng(5), ("a", "b", "c", "d")
    strength = {"a": 0.9, "b": 0.2, "c": -0.2, "d": -0.9}
    answers = []
    for prompt in range(12):
        for rater in range(5):
            noise = {name: strength[name] + draw.gumbel() for name in systems}
            order = sorted(systems, key=noise.__getitem__)
            answers.append(
                Judgement(
                    sample=f"p{prompt}",
                    systems=systems,
                    rater=f"r{rater}",
                    best=order[-1],
                    worst=order[0],
                    prompt=f"p{prompt}",
                )
            )
    found = study_measurements(answers, rubric_version="best-worst-1", method=method("best-worst"))
    elo = {m.place["system"]: float(m.value) for m in found if m.name == "bt_elo"}
    pairs = [
        (systems.index(vote.winning_system), systems.index(({*vote.systems} - {vote.winning_system}).pop()))
        for one in answers
        for vote in one.implied_votes()
    ]
    theirs = choix.opt_pairwise(4, pairs, alpha=0.0)
    ours = [(elo[name] - 1000) * np.log(10) / 400 for name in systems]
    assert ours == pytest.approx(list(theirs - theirs.mean()), abs=1e-4)
    scores = {m.place["system"]: m for m in found if m.name == "best_worst_score"}
    times = [(one.best == "a") - (one.worst == "a") for one in answers]
    assert scores["a"].value == pytest.approx(sum(times) / 60) and scores["a"].interval.high <= 1
    assert headline(found).startswith("a first, then b")


def test_create_by_method(manifest, takes, tmp_path):
    database = tmp_path / "studies.db"
    common = (manifest, "--clips", takes, "--db", database)
    told = done("study", "create", "one", *common, "--method", "acr", "--min-raters", "8").stdout
    assert "18 clips" in told and "Each clip gets 8 raters." in told
    told = done("study", "create", "two", *common, "--method", "best-worst", "--scale", "3", "--json").stdout
    assert json.loads(told)["method"] == "best-worst-3" and json.loads(told)["pairs"] == 6
    done("study", "create", "three", *common, "--method", "dcr", "--reference", "gamma")
    done("study", "create", "four", *common, "--scale", "7", "--no-tie", "--simple")
    done("study", "create", "five", *common, "--method", "acr", "--question", "overall", "--question", "adherence")
    for options, words in (
        (("--method", "mushra"), "a method is one of pairs, acr, acr-hr, dcr, best-worst"),
        (("--method", "acr", "--scale", "6"), "--scale of acr is one of 5, 9, 11; got 6"),
        (("--method", "acr-hr"), "shows the reference; name its system with --reference"),
        (("--method", "acr", "--question", "beauty"), "--question is one of overall,"),
        (("--method", "best-worst", "--question", "overall"), "--question is for acr"),
    ):
        refused = rushes("study", "create", "bad", *common, *options)
        assert refused.exit_code == 1 and words in " ".join(refused.stderr.split()), refused.stderr
