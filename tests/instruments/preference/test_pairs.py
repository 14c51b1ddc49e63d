"""Pairs from takes, and counter-balanced sides."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.instruments.preference.pairs import Pair, Take, first_sides, next_side, pairs_of, seeded_order


def takes(systems: str, samples: int, family: str = "T1") -> list[Take]:
    return [Take(system=s, sample=f"s{n}", family=family, prompt=str(n)) for n in range(samples) for s in systems]


def test_two_systems_give_one_pair_a_sample_under_its_own_name():
    pairs = pairs_of(takes("ba", 3))
    assert [(p.sample, p.system_a, p.system_b, p.source) for p in pairs] == [
        ("s0", "a", "b", "s0"),
        ("s1", "a", "b", "s1"),
        ("s2", "a", "b", "s2"),
    ]


def test_three_systems_meet_each_other_under_names_that_tell_them_apart():
    # 3 systems: C(3, 2) = 3 pairs for the one sample.
    assert [p.sample for p in pairs_of(takes("cab", 1))] == ["s0.a~b", "s0.a~c", "s0.b~c"]


def test_a_sample_with_one_system_only_gives_no_pair():
    pairs = pairs_of([*takes("ab", 1), Take(system="a", sample="alone")])
    assert [p.sample for p in pairs] == ["s0"]


@pytest.mark.parametrize(
    ("given_takes", "words"),
    [
        ([], "two or more systems; got 0"),
        (takes("a", 3), "got 1 (a)"),
        (takes("ab", 1) * 2, "system a appears twice"),
        ([Take(system="a", sample="x"), Take(system="b", sample="y")], "no sample has clips of two systems"),
        ([Take(system="a", sample="x", family="T1"), Take(system="b", sample="x", family="T2")], "T1, T2"),
    ],
)
def test_what_cannot_be_compared_is_said(given_takes, words):
    with pytest.raises(InputError) as error:
        pairs_of(given_takes)
    assert words in str(error.value)


def make_pairs(layout: list[tuple[int, int]]) -> list[Pair]:
    """Pairs from (match-up, family) numbers."""
    match_ups = [("a", "b"), ("a", "c"), ("b", "c")]
    return [
        Pair(
            sample=f"s{n}",
            family=f"T{family}",
            prompt="",
            system_a=match_ups[which][0],
            system_b=match_ups[which][1],
            source=f"s{n}",
        )
        for n, (which, family) in enumerate(layout)
    ]


layouts = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=60)


@given(layout=layouts, seed=st.integers(0, 2**40))
def test_first_sides_balance_within_one_in_every_match_up_and_family(layout, seed):
    pairs = make_pairs(layout)
    sides = first_sides(pairs, seed=seed)
    assert sides.keys() == {pair.sample for pair in pairs}
    ahead = Counter()
    for pair in pairs:
        step = 1 if sides[pair.sample] == "a" else -1
        ahead[pair.match_up] += step
        ahead[pair.match_up, pair.family] += step
    assert all(abs(count) <= 1 for count in ahead.values())


@given(first=layouts, later=layouts, seed=st.integers(0, 1000))
def test_pairs_added_later_keep_the_balance(first, later, seed):
    old, new = make_pairs(first), make_pairs(later)
    before = Counter()
    for pair in old:
        before[pair.match_up] += 1 if first_sides(old, seed=seed)[pair.sample] == "a" else -1
    sides = first_sides(new, seed=seed, before=before)
    total = Counter(before)
    for pair in new:
        total[pair.match_up] += 1 if sides[pair.sample] == "a" else -1
    assert all(abs(count) <= 1 for count in total.values())


def test_sides_depend_on_the_seed_and_on_nothing_else():
    pairs = make_pairs([(0, 1)] * 40)
    assert first_sides(pairs, seed=1) == first_sides(list(reversed(pairs)), seed=1)
    assert first_sides(pairs, seed=1) != first_sides(pairs, seed=2)


@given(first=st.sampled_from("ab"), count=st.integers(0, 20))
def test_later_raters_of_a_pair_see_the_rarer_side(first, count):
    shown = Counter()
    for _ in range(count):
        shown[next_side(first, shown_a=shown["a"], shown_b=shown["b"])] += 1
        assert abs(shown["a"] - shown["b"]) <= 1


def test_seeded_order_is_the_same_on_every_machine():
    # First 8 bytes of sha256("1\x1fpair\x1fs1"), big-endian.
    import hashlib

    expected = int.from_bytes(hashlib.sha256(b"1\x1fpair\x1fs1").digest()[:8], "big")
    assert seeded_order(1, "pair", "s1") == expected
