"""Votes: the canonical order, and what is refused."""

from __future__ import annotations

import dataclasses

import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Vote


def a_vote(**changes: object) -> Vote:
    fields: dict[str, object] = {
        "sample": "s1",
        "system_a": "aaa",
        "system_b": "bbb",
        "winner": "a",
        "rater": "r1",
    }
    return Vote(**(fields | changes))  # type: ignore[arg-type]


def test_seen_keeps_order_when_the_left_system_comes_first() -> None:
    vote = Vote.seen(
        sample="s", left="A", right="B", choice="right", rater="r", left_clip="x", right_clip="y", ratings={"t": (1, 5)}
    )
    assert (vote.winner, vote.shown_left, vote.clip_a, vote.clip_b) == ("b", "a", "x", "y")
    assert vote.ratings == {"t": (1, 5)}
    assert vote.winning_system == "B"


def test_seen_turns_everything_round_when_the_left_system_comes_second() -> None:
    vote = Vote.seen(
        sample="s", left="B", right="A", choice="right", rater="r", left_clip="x", right_clip="y", ratings={"t": (1, 5)}
    )
    assert (vote.winner, vote.shown_left, vote.clip_a, vote.clip_b) == ("a", "b", "y", "x")
    assert vote.ratings == {"t": (5, 1)}
    assert vote.winning_system == "A"


def test_seen_without_a_known_side_records_none() -> None:
    vote = Vote.seen(sample="s", left="B", right="A", choice="tie", rater="r", side_known=False)
    assert (vote.winner, vote.shown_left, vote.winning_system) == ("tie", None, None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"system_b": "aaa"}, "two systems"),
        ({"system_a": "ccc"}, "text order"),
        ({"system_a": ""}, "two systems"),
        ({"winner": "A"}, "winner"),
        ({"shown_left": "left"}, "left side"),
        ({"sample": ""}, "sample and a rater"),
        ({"rater": ""}, "sample and a rater"),
        ({"ratings": {"temporal": (0, 3)}}, "1 to 5"),
        ({"ratings": {"temporal": (None, 6)}}, "1 to 5"),
        ({"ratings": {"temporal": (True, None)}}, "1 to 5"),
        ({"pair_ratings": {"temporal": 2.5}}, "1 to 5"),
    ],
)
def test_a_malformed_vote_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        a_vote(**changes)


@pytest.mark.parametrize("flag", ["adjudicated", "is_gold", "is_repeat"])
def test_what_is_no_raw_vote_does_not_count(flag: str) -> None:
    assert a_vote().counts_in_results
    assert not dataclasses.replace(a_vote(), **{flag: True}).counts_in_results
