"""Levenshtein: known pairs, Unicode, laws of a distance, and equality with the textbook table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.instruments.robustness.seed.levenshtein import EditDistance, levenshtein, normalized_levenshtein
from rushes.instruments.robustness.seed.metrics import levenshtein as from_metrics


def textbook(one: str, other: str) -> int:
    """The table, cell by cell, as every textbook has it."""
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b)))
        above = row
    return above[-1]


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("kitten", "sitting", 3),
        ("flaw", "lawn", 2),
        ("café", "cafe", 1),
        ("😀", "😃", 1),
        ("hello😀", "hello😃", 1),
        ("日本語", "日本", 1),
        ("你好", "您好", 1),
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("abc", "abc", 0),
        ("cat", "cats", 1),
        ("cats", "cat", 1),
        ("cat", "car", 1),
        ("abc", "xyz", 3),
        ("ab", "ba", 2),  # a swap is two edits: one deletion and one insertion
        ("aXb", "ab", 1),  # the shared ends overlap nothing
        ("aaaa", "aa", 2),
        ("e\u0301", "é", 2),  # one accented letter, typed as two code points: by character, nothing is folded
    ],
)
def test_known_pairs(one, other, distance):
    assert levenshtein(one, other) == distance
    assert levenshtein(other, one) == distance


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("hello", "hallo", 1 / 5),
        ("abc", "abd", 1 / 3),
        ("café", "cafe", 1 / 4),
        ("", "Because", 1.0),
        ("", "", 0.0),
        ("ab", "cd", 1.0),
        ("kitten", "sitting", 3 / 7),
    ],
)
def test_normalised_by_the_longer_text(one, other, share):
    assert normalized_levenshtein(one, other) == share


def test_metrics_gives_the_same_function():
    assert from_metrics is levenshtein


few_letters = st.text(alphabet="abé😀 ", max_size=40)


@given(few_letters, few_letters)
def test_equals_the_textbook_table_on_repetitive_texts(one, other):
    assert levenshtein(one, other) == textbook(one, other)


@given(st.text(max_size=120), st.text(max_size=120))
def test_equals_the_textbook_table_on_any_text(one, other):
    assert levenshtein(one, other) == textbook(one, other)


@settings(max_examples=40)
@given(st.text(alphabet="ab", min_size=61, max_size=200), st.text(alphabet="ab", min_size=61, max_size=200))
def test_equals_the_textbook_table_past_the_trims(one, other):
    assert levenshtein(one, other) == textbook(one, other)


@given(few_letters, few_letters, few_letters)
def test_is_a_distance(one, other, third):
    assert (levenshtein(one, other) == 0) == (one == other)
    assert levenshtein(one, other) == levenshtein(other, one)
    assert levenshtein(one, third) <= levenshtein(one, other) + levenshtein(other, third)


@given(few_letters, few_letters, few_letters, few_letters)
def test_shared_ends_change_nothing(start, one, other, end):
    assert levenshtein(start + one + end, start + other + end) == levenshtein(one, other)


@given(few_letters, st.lists(few_letters, max_size=5))
def test_one_text_against_many(text, others):
    prepared = EditDistance(text)
    assert [prepared.to(other) for other in others] == [textbook(text, other) for other in others]


def test_half_surrogates_are_characters_like_any_other():
    assert levenshtein("a\ud800", "a\udbff") == 1
