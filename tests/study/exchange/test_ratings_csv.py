"""The ratings CSV in and out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.rubric import RUBRIC, rubric
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange import read_ratings, write_ratings
from rushes.study.exchange.ratings_csv import COLUMNS, MOST_PROBLEMS

HEADER = ",".join(COLUMNS)
UNFILLED = "\n".join(
    f"s{k:03d},T{(k + 1) // 2},{k},TBD,TBD,TBD,TBD,TBD,TBD,TBD,TBD,TBD,,Dry run row created; awaiting outputs,rater_01"
    for k in range(1, 13)
)


def table(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def filled(**changes: str) -> str:
    row = {
        "sample_id": "s001",
        "task_id": "T1",
        "prompt_id": "1",
        "model_a": "zeta",
        "model_b": "alpha",
        "winner": "A",
        "adherence_1to5": "4",
        "primary_tag": "missed constraint",
        "secondary_tags": "Identity swap; Flicker / temporal jitter",
        "notes": "close",
        "rater_id": "rater_01",
    } | changes
    return ",".join(row.get(name, "") for name in COLUMNS)


def test_the_columns_are_the_specification() -> None:
    assert HEADER == (
        "sample_id,task_id,prompt_id,model_a,model_b,winner,adherence_1to5,temporal_1to5,identity_1to5,realism_1to5,"
        "edit_precision_1to5,primary_tag,secondary_tags,notes,rater_id"
    )


def test_the_published_example_is_all_unfilled(shared: Path) -> None:
    found = read_ratings(shared / "golden" / "ratings_example.csv")
    assert (len(found.votes), len(found.unfilled)) == (0, 12)


def test_unfilled_rows_are_counted(tmp_path: Path) -> None:
    found = read_ratings(table(tmp_path, UNFILLED, filled()))
    assert (len(found.votes), len(found.unfilled)) == (1, 12)


def test_a_filled_row(tmp_path: Path) -> None:
    (vote,) = read_ratings(table(tmp_path, filled())).votes
    assert (vote.system_a, vote.system_b, vote.winner, vote.shown_left) == ("alpha", "zeta", "b", None)
    assert vote.pair_ratings == {"adherence": 4} and vote.ratings == {}
    assert vote.primary_tag == "Missed constraint"
    assert vote.secondary_tags == ("Identity swap", "Flicker / temporal jitter")
    assert (vote.family, vote.prompt, vote.note, vote.rater) == ("T1", "1", "close", "rater_01")


@pytest.mark.parametrize(
    ("written", "winner"),
    [("A", "b"), ("b", "a"), ("Tie", "tie"), ("model_a", "b"), ("model_b", "a"), ("tie", "tie"), (" TIE ", "tie")],
)
def test_both_spellings_of_the_winner(tmp_path: Path, written: str, winner: str) -> None:
    assert read_ratings(table(tmp_path, filled(winner=written))).votes[0].winner == winner


@pytest.mark.parametrize(
    ("whose", "expected"), [("winner", {"adherence": (None, 4)}), ("model_b", {"adherence": (4, None)})]
)
def test_whose_rating_it_is_can_be_said(tmp_path: Path, whose: str, expected: dict[str, object]) -> None:
    # model_a = zeta is system b here, and the winner.
    (vote,) = read_ratings(table(tmp_path, filled()), ratings_of=whose).votes  # type: ignore[arg-type]
    assert vote.ratings == expected and vote.pair_ratings == {}


def test_a_tag_of_no_rubric_is_kept_and_named(tmp_path: Path) -> None:
    found = read_ratings(table(tmp_path, filled(primary_tag="Too red")), lenient=True)
    assert found.votes[0].bent == ("unknown-tag",)
    assert found.unknown_tags == ("Too red",) and found.votes[0].primary_tag == "Too red"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([filled(winner="both bad")], "line 2: winner is A, B or Tie"),
        ([filled(adherence_1to5="6")], "line 2: adherence_1to5 is a whole number 1 to 5"),
        ([filled(adherence_1to5="3.5")], "line 2: adherence_1to5"),
        ([filled(model_b="zeta")], "line 2: sample s001: a vote names two systems"),
        ([filled(rater_id="")], "line 2: a vote needs a sample and a rater"),
        ([filled(), filled()], "line 3: sample s001 by rater_01 is on line 2 already"),
        (["s001,T1"], "line 2: expected 15 cells"),
        ([filled() + ",more"], "line 2: expected 15 cells"),
        (['"never closed'], "cannot be read as a CSV"),
    ],
)
def test_wrong_rows_are_refused_with_file_and_line(tmp_path: Path, rows: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_ratings(table(tmp_path, *rows))
    assert "ratings.csv" in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_no_ratings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_ratings(tmp_path / "missing.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="sample_id and 14 more are missing"):
        read_ratings(tmp_path / "other.csv")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(InputError, match="expected the columns sample_id"):
        read_ratings(tmp_path / "empty.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="UTF-8"):
        read_ratings(tmp_path / "binary.csv")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path: Path, data: bytes, with_header: bool) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(f"{HEADER}\n".encode() + data if with_header else data)
    try:
        read_ratings(path)
    except InputError as error:
        assert "any.csv" in str(error) and "\n" not in str(error)


def test_out_and_in_again(tmp_path: Path) -> None:
    votes = read_ratings(table(tmp_path, filled(), filled(sample_id="s002", winner="Tie", notes="=1+1"))).votes
    again = read_ratings(write_ratings(tmp_path / "out.csv", votes))
    assert again.votes == votes
    assert ",'=1+1," in (tmp_path / "out.csv").read_text()
    assert read_ratings(write_ratings(tmp_path / "models.csv", votes, winner_style="models")).votes == votes


def test_the_preferred_clips_rating_is_written(tmp_path: Path) -> None:
    kept = {"sample": "s", "system_a": "x", "system_b": "y", "ratings": {"temporal": (2, 5)}}
    kept |= {"primary_tag": "Missed constraint"}
    votes = [
        Vote(**kept, winner="b", rater="r1"),  # type: ignore[arg-type]
        Vote(**kept, winner="tie", rater="r2"),  # type: ignore[arg-type]
        Vote(**kept, winner="a", rater="admin", adjudicated=True),  # type: ignore[arg-type]
    ]
    again = read_ratings(write_ratings(tmp_path / "out.csv", votes)).votes
    assert [vote.pair_ratings for vote in again] == [{"temporal": 5}, {}]


def test_a_byte_order_mark_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEADER}\r\n{filled()}\r\n".encode())
    assert len(read_ratings(path).votes) == 1


NO_TAG, FOUR = filled(primary_tag=""), "Identity swap;Scene reset / teleporting;Flicker / temporal jitter;Over-refusal"
BENT = [
    (NO_TAG, "Choose 1 primary reason tag", "primary-tag"),
    (filled(winner="Tie", primary_tag="TBD"), "Choose 1 primary reason tag", "primary-tag"),
    (filled(task_id="T7", secondary_tags=FOUR), "Choose 0–3 secondary tags; there are 4", "secondary-tags"),
    (filled(primary_tag="Too red"), "“Too red” is not offered for this task", "unknown-tag"),
    (filled(secondary_tags="Over-refusal"), "“Over-refusal” is not offered for this task", "tag-of-other-task"),
    (filled(secondary_tags="missed constraint"), "Choose each tag once", "tag-twice"),
    (filled(edit_precision_1to5="3"), "“edit_precision” is not rated for this task", "scale-of-other-task"),
    (filled(adherence_1to5="6"), "adherence_1to5 is a whole number 1 to 5, blank or TBD; got '6'", "rating-range"),
]


@pytest.mark.parametrize(("row", "says", "rule"), BENT, ids=[one[2] for one in BENT])
def test_a_row_against_the_rubric_is_refused_or_marked(tmp_path: Path, row: str, says: str, rule: str) -> None:
    path = table(tmp_path, filled(sample_id="s000"), row)
    with pytest.raises(InputError, match="ratings.csv, line 3: ") as caught:
        read_ratings(path)
    assert says in str(caught.value) and "1 row does not keep rubric 0.1" in str(caught.value)
    assert "takes it under rubric:0.1-lenient" in str(caught.value) and "\n" not in str(caught.value)
    assert ("--family" in str(caught.value)) == rule.endswith("other-task")
    votes = read_ratings(path, lenient=True).votes
    assert [vote.bent for vote in votes] == [(), (rule,)]
    assert "adherence" not in votes[1].pair_ratings or rule != "rating-range"


def test_every_problem_is_told_at_once_up_to_a_number(tmp_path: Path) -> None:
    rows = [filled(sample_id=f"s{k}", primary_tag="") for k in range(MOST_PROBLEMS + 5)]
    with pytest.raises(InputError) as caught:
        read_ratings(table(tmp_path, filled(winner="both"), *rows, filled(rater_id="")))
    told = str(caught.value)
    assert [f"line {n}: " in told for n in (2, 3, 21, 22)] == [True, True, True, False]
    # 25 rows without a tag, two that are no votes: 27, of which 20 are named.
    assert "And 7 more. 25 rows do not keep rubric 0.1" in told


def test_what_is_no_vote_is_refused_leniently_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: a vote needs a sample and a rater") as caught:
        read_ratings(table(tmp_path, NO_TAG, filled(rater_id="")), lenient=True)
    assert "line 2" not in str(caught.value) and "lenient" not in str(caught.value)


def test_the_families_of_a_study_count(tmp_path: Path) -> None:
    path = table(tmp_path, filled(task_id="retouch", edit_precision_1to5="3", primary_tag="failed to apply edit"))
    with pytest.raises(InputError, match="--family NAME=edit"):
        read_ratings(path)
    (vote,) = read_ratings(path, rubric=rubric("0.1", {"retouch": "edit"})).votes
    assert vote.bent == () and vote.primary_tag == "Failed to apply edit"


def test_a_tie_needs_no_tag_where_the_rubric_does_not_ask(tmp_path: Path) -> None:
    path = table(tmp_path, filled(winner="Tie", primary_tag="", secondary_tags=""))
    assert read_ratings(path, rubric=replace(RUBRIC, tag_on_tie=False)).votes[0].bent == ()


def test_the_numbers_of_bent_votes_have_another_signature(tmp_path: Path) -> None:
    path = table(tmp_path, filled(), filled(rater_id="r2"), filled(sample_id="s2", primary_tag=""))
    votes = read_ratings(path, lenient=True).votes
    assert {dict(m.definition.params)["rubric"] for m in study_measurements(votes, rubric_version="0.1")} == {
        "0.1-lenient"
    }
    kept = study_measurements([vote for vote in votes if not vote.bent], rubric_version="0.1")
    assert {dict(m.definition.params)["rubric"] for m in kept} == {"0.1"}
