"""Percent agreement and the review list."""

from __future__ import annotations

import pytest

from rushes.core import Why
from rushes.instruments.preference.numbers.agreement import agreement_numbers
from rushes.instruments.preference.numbers.conditions import Conditions
from rushes.instruments.preference.tallies import rating_table, votes_by_sample, winner_table
from rushes.stats.agreement import percent_agreement, unit_table
from rushes.stats.intervals import wilson

from .conftest import MakeVote


def test_perfect_and_worst() -> None:
    assert percent_agreement(unit_table([["a", "a"], ["b", "b", "b"]])).value == 1.0
    assert percent_agreement(unit_table([["a", "b"], ["b", "tie"]])).value == 0.0


def test_three_raters_by_hand() -> None:
    # a, a, b: one of three pairs agrees; a, a: all. Mean of 1/3 and 1.
    found = percent_agreement(unit_table([["a", "a", "b"], ["a", "a"]]))
    assert found.value == pytest.approx(2 / 3)
    assert found.count == 2
    assert found.interval == wilson(4 / 3, 2, method="wilson samples")


def test_units_with_one_rating_are_left_out() -> None:
    assert percent_agreement(unit_table([["a"], ["a", "a"]])).count == 1


@pytest.mark.parametrize("units", [[], [["a"]], [[None, None]]])
def test_nothing_shared_is_none_with_a_reason(units: list[list[str | None]]) -> None:
    found = percent_agreement(unit_table(units))
    assert (found.value, found.count, found.why) == (None, 0, Why.NO_SHARED_UNIT)


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


def test_the_note_names_rater_pairs_without_a_kappa(make: MakeVote) -> None:
    # r1 and r2 agree on two samples with two outcomes (κ = 1); r1 and r3 share one sample, same outcome (undefined).
    votes = [
        make("a", sample="1", rater="r1"),
        make("a", sample="1", rater="r2"),
        make("b", sample="2", rater="r1"),
        make("b", sample="2", rater="r2"),
        make("a", sample="3", rater="r1"),
        make("a", sample="3", rater="r3"),
    ]

    def kappa(number: int) -> tuple[object, int, str]:
        conditions = Conditions(rubric_version="0.1", exclusion_rule="none")
        found = [m for m in agreement_numbers(votes[number:], "all", 2, conditions) if m.name == "cohen_kappa"][0]
        return found.value, found.count, found.note

    left_out = "1 of 2 rater pairs left out: all their votes in one category"
    no_interval = "without one of the samples there is no value, so no interval"
    assert kappa(0) == (1.0, 1, f"{left_out}; {no_interval}")
    assert kappa(4) == (None, 0, "in all 1 rater pairs, all votes are in one category")
    assert kappa(6) == (None, 0, "no sample has votes of two raters")
