"""Every export of a study with decisions, refusals, ties and votes that came without clips; and the way back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Vote
from rushes.study import StudyPlan, StudyService
from rushes.study.exchange import export_study, read_ratings, read_table, write_ratings
from rushes.study.exchange.dpo import NO_CLIPS, NO_MAJORITY, REFUSED
from rushes.study.exchange.formats import FORMATS
from rushes.study.exchange.ratings_csv import NOT_PREFERRED, OTHER_DIMENSIONS, TIED, ratings_left_out

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
TAG = "Missed constraint"


def vote(sample: str, rater: str, winner: str, **more: object) -> Vote:
    ratings = {"temporal": (2, 5), "adherence": (4, 4)}
    facts = {"family": "T1", "primary_tag": TAG, "ratings": ratings} | more
    return Vote(sample=sample, system_a="alpha", system_b="beta", winner=winner, rater=rater, **facts)  # type: ignore


@pytest.fixture
def decided(service: StudyService, takes: Path, tmp_path: Path) -> str:
    """s1: 1–1, decided for alpha · s2: 2–1 for beta, decided for alpha · s3: agreed on alpha · s4: beta refused, agreed
    on beta · s5: votes without clips, 1–1, decided for beta · s6: 1–1, decided as a tie."""
    rows = ["sample_id,task_id,prompt_id,system,path,refused,prompt_text"]
    for n, family in ((1, "T1"), (2, "T1"), (3, "T1"), (4, "T7"), (6, "T1")):
        first, second = (str(takes / f"{system}_T1_p00.mp4") for system in ("alpha", "beta"))
        beta = ("", "I cannot help with that.") if n == 4 else (second, "")
        rows.append(f"s{n},{family},p{n},alpha,{first},,Prompt {n}")
        rows.append(f"s{n},{family},p{n},beta,{beta[0]},{beta[1]},Prompt {n}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    service.create_study(StudyPlan(name="s"), training=False)
    service.import_csv("s", tmp_path / "pairs.csv")
    winners = {"s1": "ab", "s2": "abb", "s3": "aa", "s4": "bb", "s5": "ab", "s6": "at"}
    letters = {"a": "a", "b": "b", "t": "tie"}
    family = {"s4": {"family": "T7", "ratings": {}}}
    given = [
        vote(sample, f"r{n}", letters[one], **family.get(sample, {}))
        for sample, chosen in winners.items()
        for n, one in enumerate(chosen)
    ]
    service.import_ratings("s", given)
    for sample, winner in (("s1", "alpha"), ("s2", "alpha"), ("s5", "beta"), ("s6", "Tie")):
        service.adjudicate("s", sample, winner=winner, tags=[TAG])
    return "s"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_dpo_follows_decisions_and_names_files_that_exist(service: StudyService, decided: str, tmp_path: Path) -> None:
    made = export_study(service, decided, tmp_path / "dpo.jsonl", form="dpo", adjudicated=True)
    found = lines(tmp_path / "dpo.jsonl")
    assert [(row["sample"], row["label"], row["votes"], row["votes_for_chosen"]) for row in found] == [
        ("s1", "adjudicated", 2, 1),
        ("s2", "adjudicated", 3, 1),
        ("s3", "majority", 2, 2),
    ]
    for row in found:
        chosen, rejected = Path(made.root, str(row["chosen"])), Path(made.root, str(row["rejected"]))
        assert chosen.is_file() and rejected.is_file()
        assert (chosen.name[:5], rejected.name[:4]) == ("alpha", "beta")
    # s4: a refusal · s5: no clips · s6: a tie.
    assert made.reasons == {REFUSED: 1, NO_CLIPS: 1, NO_MAJORITY: 1}
    assert (made.votes, made.left_out, made.decided, tuple(made)) == (13, 3, 4, (13, 3))


def test_dpo_by_majority_leaves_out_what_has_none(service: StudyService, decided: str, tmp_path: Path) -> None:
    made = export_study(service, decided, tmp_path / "dpo.jsonl", form="dpo")
    assert [(row["sample"], row["label"]) for row in lines(tmp_path / "dpo.jsonl")] == [
        ("s2", "majority"),
        ("s3", "majority"),
    ]
    assert made.reasons == {NO_MAJORITY: 3, REFUSED: 1}  # s1, s5, s6 and s4


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_full_tables_read_back_to_the_same_votes(
    service: StudyService, decided: str, tmp_path: Path, form: str
) -> None:
    made = export_study(service, decided, tmp_path / f"votes.{form}", form=form)
    again = read_table(tmp_path / f"votes.{form}")
    assert list(again) == service.votes(decided, adjudicated=True) and made.left_out == 0
    labels = {one.sample: one for one in again if one.adjudicated}
    assert {sample: one.winner for sample, one in labels.items()} == {"s1": "a", "s2": "a", "s5": "b", "s6": "tie"}
    assert (labels["s1"].clip_a, labels["s1"].clip_b) == (again[0].clip_a, again[0].clip_b) != ("", "")
    assert labels["s5"].clip_a == "", "a sample from a ratings file has none"


def test_the_ratings_sheet_counts_the_ratings_it_has_no_column_for(
    service: StudyService, decided: str, tmp_path: Path
) -> None:
    made = export_study(service, decided, tmp_path / "ratings.csv", form="ratings")
    # Ten decided votes and one tie with two ratings on two dimensions; the sheet has those of the preferred clip:
    # 10 × 2 ratings of the other clip, 1 × 4 of the tie. Votes on the refusal (s4) have none.
    assert made.reasons == {NOT_PREFERRED: 20, TIED: 4}
    assert made.text == f"24 left out: 20 ({NOT_PREFERRED}), 4 ({TIED})"


def test_the_ratings_sheet_comes_back_the_same(service: StudyService, decided: str, tmp_path: Path) -> None:
    """What the sheet can say is kept: it is imported into an empty study, and written again to the same bytes."""
    export_study(service, decided, tmp_path / "ratings.csv", form="ratings")
    service.create_study(StudyPlan(name="again"), training=False)
    service.import_ratings("again", read_ratings(tmp_path / "ratings.csv").votes)
    made = export_study(service, "again", tmp_path / "again.csv", form="ratings")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "ratings.csv").read_bytes()
    assert made.left_out == 0, "nothing is lost a second time"


def test_ratings_on_an_own_rubrics_dimensions_are_counted(database: object) -> None:
    own = vote("s", "r", "a", ratings={"care": (3, None), "temporal": (None, 2)})
    # temporal: a was preferred and not rated; b's rating is not written.
    assert ratings_left_out([own]) == {OTHER_DIMENSIONS: 1, NOT_PREFERRED: 1}
    assert ratings_left_out([vote("s", "r", "a", is_gold=True)]) == {}


def test_arena_and_pwcmp_hold_the_raters_votes(service: StudyService, decided: str, tmp_path: Path) -> None:
    assert export_study(service, decided, tmp_path / "a.csv", form="arena").left_out == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + 13
    assert export_study(service, decided, tmp_path / "p.csv", form="pwcmp").reasons == {
        "pwcmp does not support ties": 1
    }
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + 12


def test_decisions_are_asked_for_only_where_they_can_stand(service: StudyService, decided: str, tmp_path: Path) -> None:
    for form in (key for key in FORMATS if key != "dpo"):
        with pytest.raises(InputError, match=f"{form} lists single votes"):
            export_study(service, decided, tmp_path / "x", form=form, adjudicated=True)
    assert not (tmp_path / "x").exists()


def test_the_command_says_what_was_left_out_and_that_there_are_decisions(
    service: StudyService, decided: str, tmp_path: Path
) -> None:
    def export(*words: str) -> tuple[dict[str, object], str]:
        files = ["-o", str(tmp_path / "out"), "--db", str(tmp_path / "studies.db"), "--json"]
        result = CliRunner().invoke(app, ["study", "export", decided, *words, *files], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout), " ".join(result.stderr.split())

    data, said = export("--format", "dpo")
    assert data["left_out_reasons"] == {NO_MAJORITY: 3, REFUSED: 1} and data["decided"] == 4
    assert f"4 left out: 3 ({NO_MAJORITY}), 1 ({REFUSED})" in said
    assert "4 samples have an adjudicator's decision" in said and "--adjudicated uses it" in said
    data, said = export("--format", "dpo", "--adjudicated")
    assert data["left_out"] == 3 and "--adjudicated" not in said


def test_every_rating_is_written_or_counted(tmp_path: Path, database: object) -> None:
    """Over all winners and missing ratings: cells of the sheet and ratings left out add up to the ratings given."""
    values = (None, 1, 5)
    given = [
        vote(f"s{n}", "r", winner, ratings={"temporal": (a, b)})
        for n, (winner, a, b) in enumerate((w, a, b) for w in ("a", "b", "tie") for a in values for b in values)
    ]
    write_ratings(tmp_path / "r.csv", given)
    written = sum(len(one.pair_ratings) for one in read_ratings(tmp_path / "r.csv").votes)
    ratings = sum(value is not None for one in given for both in one.ratings.values() for value in both)
    assert written + Counter(ratings_left_out(given)).total() == ratings == 36
