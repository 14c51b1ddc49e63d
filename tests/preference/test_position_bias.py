"""Position bias: who stood left, who won."""

from __future__ import annotations

import pytest

from rushes.preference.statistics.intervals import wilson
from rushes.preference.statistics.position_bias import position_bias

from .conftest import MakeVote


def test_by_hand(make: MakeVote) -> None:
    # Left wins: 1 and 3 of 4 decided; the tie and the vote without a side stand apart.
    votes = [
        make("a", sample="1", shown_left="a", rater="r1"),
        make("a", sample="2", shown_left="b", rater="r1"),
        make("b", sample="3", shown_left="b", rater="r2"),
        make("b", sample="4", shown_left="a", rater="r2"),
        make("tie", sample="5", shown_left="a", rater="r2"),
        make("a", sample="6", shown_left=None, rater="r2"),
    ]
    found = position_bias(votes)
    assert (found.left_share.value, found.left_share.count, found.side_unknown) == (0.5, 4, 1)
    assert found.p_value == pytest.approx(1.0)
    assert found.wilson == wilson(2, 4)
    assert {rater: one.value for rater, one in found.by_rater.items()} == {"r1": 0.5, "r2": 0.5}
    assert found.shown_left == {"x": (3, 5), "y": (2, 5)}


def test_a_rater_who_always_votes_left(make: MakeVote) -> None:
    votes = [make("a" if k % 2 else "b", sample=str(k), shown_left="a" if k % 2 else "b") for k in range(10)]
    found = position_bias(votes)
    assert found.left_share.value == 1.0
    assert found.p_value == pytest.approx(2 / 2**10)  # ten of ten, two-sided
    assert found.left_share.interval is not None
    assert found.left_share.interval.reason == "clustered intervals need two raters"


def test_nothing_decided_is_none(make: MakeVote) -> None:
    found = position_bias([make("tie", shown_left="a"), make("a", sample="2")])
    assert (found.left_share.value, found.p_value) == (None, None)
    assert found.left_share.reason == "no decided vote has a known side"
