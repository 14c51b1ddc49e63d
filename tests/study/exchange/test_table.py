"""The full table: nothing lost, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Vote, WatchedSpan
from rushes.study.exchange import read_table, write_csv, write_parquet
from rushes.study.exchange.files import read_cell, safe_cell

text = st.text(st.characters(codec="utf-8"), max_size=12)
rating = st.one_of(st.none(), st.integers(1, 5))
spans = st.builds(
    WatchedSpan, st.sampled_from(["a", "b"]), st.integers(1, 2), st.integers(0, 99), st.integers(100, 999)
)


@st.composite
def some_vote(draw: st.DrawFn) -> Vote:
    low, high = sorted(draw(st.lists(text.filter(bool), min_size=2, max_size=2, unique=True)))
    both = draw(st.tuples(rating, rating))
    return Vote(
        sample=draw(text.filter(bool)),
        system_a=low,
        system_b=high,
        winner=draw(st.sampled_from(["a", "b", "tie"])),
        rater=draw(text.filter(bool)),
        family=draw(text),
        prompt=draw(text),
        shown_left=draw(st.sampled_from(["a", "b", None])),
        primary_tag=draw(text),
        secondary_tags=tuple(draw(st.lists(text, max_size=3))),
        ratings={} if both == (None, None) else {"temporal": both},
        pair_ratings=draw(st.dictionaries(st.just("realism"), st.integers(1, 5))),
        note=draw(text),
        adjudicated=draw(st.booleans()),
        is_gold=draw(st.booleans()),
        is_repeat=draw(st.booleans()),
        clip_a=draw(text),
        clip_b=draw(text),
        watched=tuple(draw(st.lists(spans, max_size=2))),
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(some_vote(), max_size=4))
def test_csv_and_parquet_read_back_the_same_votes_and_no_cell_is_a_formula(tmp_path: Path, votes: list[Vote]) -> None:
    assert read_table(write_csv(tmp_path / "votes.csv", votes)) == tuple(votes)
    assert read_table(write_parquet(tmp_path / "votes.parquet", votes)) == tuple(votes)
    with open(tmp_path / "votes.csv", encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))] == []


@given(text)
def test_an_escaped_cell_reads_back(cell: str) -> None:
    assert read_cell(safe_cell(cell)) == cell


def a_vote() -> Vote:
    return Vote(
        sample="s",
        system_a="x",
        system_b="y",
        winner="a",
        rater="r",
        shown_left="b",
        watched=(WatchedSpan("a", 1, 0, 1000), WatchedSpan("a", 2, 0, 900), WatchedSpan("b", 1, 0, 1000)),
    )


def test_the_ledger_and_the_side_are_columns(tmp_path: Path) -> None:
    with open(write_csv(tmp_path / "v.csv", [a_vote()]), encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["shown_left"], row["passes_a"], row["passes_b"]) == ("b", "2", "1")
    assert (row["watched_ms_a"], row["watched_ms_b"]) == ("1900", "1000")
    assert row["watch_ledger"] == '[["a",1,0,1000],["a",2,0,900],["b",1,0,1000]]'


def test_the_same_votes_give_the_same_bytes(tmp_path: Path) -> None:
    for write, name in ((write_csv, "v.csv"), (write_parquet, "v.parquet")):
        first = write(tmp_path / name, [a_vote()]).read_bytes()
        assert write(tmp_path / name, [a_vote()]).read_bytes() == first


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [("s,", ",", "sample and a rater"), ("false", "maybe", "not a vote"), ('""a"",1', '""a""', "not a vote")],
)
def test_a_damaged_row_is_refused_with_its_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = write_csv(tmp_path / "v.csv", [a_vote()])
    header, row = path.read_text().split("\n", 1)
    path.write_text(header + "\n" + row.replace(old, new, 1))
    with pytest.raises(InputError, match=says) as caught:
        read_table(path)
    assert "line 2" in str(caught.value)


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match="Parquet"):
        read_table(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="Parquet"):
        read_table(tmp_path / "missing.parquet")
    with pytest.raises(InputError, match="cannot be written"):
        write_csv(tmp_path / "x.parquet" / "v.csv", [])


def test_a_parquet_file_of_something_else(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="expected a table of votes"):
        read_table(tmp_path / "x.parquet")
