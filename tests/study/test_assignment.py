"""How many raters a sample needs, and who gets what."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.instruments.preference.assignment import Candidate, choose, purpose_at, standing


@pytest.mark.parametrize(
    ("winners", "minimum", "state", "needed", "winner"),
    [
        ("", 2, "open", 2, None),
        ("a", 2, "open", 2, None),
        ("aa", 2, "agreed", 2, "a"),
        ("ab", 2, "third", 3, None),
        ("at", 2, "third", 3, None),
        ("aba", 2, "majority", 3, "a"),
        ("abt", 2, "adjudicate", 3, None),
        ("tt", 2, "agreed", 2, "tie"),
        ("tat", 2, "majority", 3, "tie"),
        # A correction can make three agree after they did not: nothing is taken away from them.
        ("aaa", 2, "agreed", 3, "a"),
        ("aab", 3, "third", 4, None),
        ("aabb", 3, "adjudicate", 4, None),
        ("aaab", 3, "majority", 4, "a"),
    ],
)
def test_standing(winners, minimum, state, needed, winner):
    found = standing(["tie" if w == "t" else w for w in winners], minimum=minimum)
    assert (found.state, found.needed, found.winner) == (state, needed, winner)


def test_fewer_than_two_raters_is_against_the_rubric():
    with pytest.raises(InputError, match="at least 2 raters"):
        standing([], minimum=1)


@given(st.lists(st.sampled_from(["a", "b", "tie"]), max_size=3))
def test_never_a_third_before_two_disagree(winners):
    if standing(winners).needed > 2 and len(winners) <= 2:
        assert len(winners) == 2 and winners[0] != winners[1]


def candidate(pair: int, taken: int = 0, needed: int = 2, left: str = "a") -> Candidate:
    return Candidate(pair=pair, taken=taken, needed=needed, left=left)


def pick(candidates, lefts_a=0, lefts_b=0, rater="r1"):
    found = choose(candidates, lefts_a=lefts_a, lefts_b=lefts_b, seed=1, rater=rater)
    return None if found is None else found.pair


def test_third_opinions_come_first_then_pairs_begun():
    assert pick([candidate(1), candidate(2, taken=1), candidate(3, taken=2, needed=3)]) == 3
    assert pick([candidate(1), candidate(2, taken=1)]) == 2


def test_never_a_full_pair():
    assert pick([candidate(1, taken=2)]) is None


def test_a_rater_who_saw_a_on_the_left_more_often_gets_b_there():
    assert pick([candidate(1, left="a"), candidate(2, left="b")], lefts_a=3, lefts_b=2) == 2
    assert pick([candidate(1, left="a"), candidate(2, left="b")], lefts_a=2, lefts_b=3) == 1


def test_raters_walk_different_ways():
    first = {pick([candidate(n) for n in range(50)], rater=f"r{k}") for k in range(20)}
    assert len(first) > 5


@given(st.lists(st.builds(candidate, st.integers(0, 20), st.integers(0, 3), st.integers(2, 3), st.sampled_from("ab"))))
def test_whatever_is_chosen_is_free(candidates):
    found = pick(candidates)
    allowed = {c.pair for c in candidates if c.taken < c.needed}
    assert (found is None) == (not allowed) and (found is None or found in allowed)


@given(seed=st.integers(0, 1000), rater=st.text(min_size=1, max_size=8), every=st.integers(2, 12))
def test_every_block_holds_exactly_one_gold(seed, rater, every):
    kinds = [purpose_at(n, gold_every=every, repeat_every=0, seed=seed, rater=rater) for n in range(1, 4 * every + 1)]
    for block in range(4):
        assert Counter(kinds[block * every : (block + 1) * every])["gold"] == 1
    assert "repeat" not in kinds


def test_gold_and_repeats_can_be_turned_off():
    kinds = {purpose_at(n, gold_every=0, repeat_every=0, seed=1, rater="r") for n in range(1, 100)}
    assert kinds == {"sample"}
