"""Percent agreement and the review list."""

from __future__ import annotations

import pytest

from rushes.preference.statistics.agreement import (
    percent_agreement,
    rating_table,
    unit_table,
    votes_by_sample,
    winner_table,
)
from rushes.preference.statistics.intervals import wilson

from .conftest import MakeVote


def test_perfect_and_worst() -> None:
    assert percent_agreement(unit_table([["a", "a"], ["b", "b", "b"]])).value == 1.0
    assert percent_agreement(unit_table([["a", "b"], ["b", "tie"]])).value == 0.0


def test_three_raters_by_hand() -> None:
    # a, a, b: one of three pairs agrees; a, a: all. Mean of 1/3 and 1.
    found = percent_agreement(unit_table([["a", "a", "b"], ["a", "a"]]))
    assert found.value == pytest.approx(2 / 3)
    assert found.count == 2
    assert found.interval == wilson(4 / 3, 2)


def test_units_with_one_rating_are_left_out() -> None:
    assert percent_agreement(unit_table([["a"], ["a", "a"]])).count == 1


@pytest.mark.parametrize("units", [[], [["a"]], [[None, None]]])
def test_nothing_shared_is_none_with_a_reason(units: list[list[str | None]]) -> None:
    found = percent_agreement(unit_table(units))
    assert (found.value, found.count, found.reason) == (None, 0, "no sample has votes of two raters")


def test_only_raw_votes_count(make: MakeVote) -> None:
    votes = [
        make("a", rater="r1"),
        make("a", rater="r2"),
        make("b", rater="admin", adjudicated=True),
        make("b", rater="r3", is_gold=True),
        make("b", rater="r1", is_repeat=True),
    ]
    assert percent_agreement(winner_table(votes)).value == 1.0
    assert len(votes_by_sample(votes)["s1"]) == 2


def test_a_rater_who_voted_twice_counts_once_with_the_last(make: MakeVote) -> None:
    votes = [make("a", rater="r1"), make("b", rater="r2"), make("b", rater="r1")]
    assert percent_agreement(winner_table(votes)).value == 1.0


def test_ratings_are_compared_clip_by_clip(make: MakeVote) -> None:
    votes = [
        make("a", rater="r1", ratings={"temporal": (5, 1)}),
        make("a", rater="r2", ratings={"temporal": (4, None)}),
        make("a", rater="r3"),
    ]
    assert rating_table(votes, "temporal").counts.tolist() == [[0, 0, 0, 1, 1], [1, 0, 0, 0, 0]]
