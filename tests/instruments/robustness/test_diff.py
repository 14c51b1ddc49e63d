"""Word-level differences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rushes.instruments.robustness.show.diff import DiffPart, word_diff

words = st.lists(st.sampled_from(["the", "clip", "is", "soft", "é"]), max_size=12).map(" ".join)


def test_a_changed_word():
    assert word_diff("flicker is 3.1 here", "flicker is 9.9 here") == (
        DiffPart("same", "flicker is"),
        DiffPart("removed", "3.1"),
        DiffPart("added", "9.9"),
        DiffPart("same", "here"),
    )


def test_from_and_to_nothing():
    assert word_diff("", "new words") == (DiffPart("added", "new words"),)
    assert word_diff("old", " \n ") == (DiffPart("removed", "old"),)
    assert word_diff("", "") == ()


@given(words, words)
def test_either_text_can_be_read_from_it(before, after):
    parts = word_diff(before, after)
    assert " ".join(part.text for part in parts if part.change != "added") == before
    assert " ".join(part.text for part in parts if part.change != "removed") == after


def test_very_long_texts_are_cut():
    text = " ".join(f"word{n}" for n in range(5000))
    (part,) = word_diff(text, text)
    assert part.text.endswith("word1999 …")
