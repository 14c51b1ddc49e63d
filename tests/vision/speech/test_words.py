"""Words as they are compared, counted by hand; pieces of long sounds; Whisper's tokens as text."""

from __future__ import annotations

import pytest

from rushes.vision.speech.whisper import pieces
from rushes.vision.speech.words import normalised, word_errors


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Set white in Z3, now!", ["set", "white", "in", "z", "3", "now"]),
        ("thirty-two  It's", ["32", "its"]),
        ("seven twenty", ["7", "20"]),  # two numbers: only tens take a unit
        ("twenty ten", ["20", "10"]),
        ("去看看", ["去", "看", "看"]),
        ("Été ＡＢ", ["été", "ab"]),
        ("… — !", []),
        ("", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert normalised(text) == words


@pytest.mark.parametrize(
    ("script", "heard", "wrong", "count"),
    [
        ("a b c d", "a b c d", 0, 4),
        ("a b c d", "", 4, 4),  # all deleted
        ("a b c d", "x y z w", 4, 4),  # all substituted
        ("a b", "a x b y", 2, 2),  # two inserted
        ("a b c d", "b c d", 1, 4),  # one deleted: the rest is not shifted
        ("", "a", 1, 0),
    ],
)
def test_word_errors_by_hand(script: str, heard: str, wrong: int, count: int) -> None:
    assert word_errors(script, heard) == (wrong, count)


def test_pieces_of_a_sound() -> None:
    second = 16000
    assert pieces([], 10 * second) == []
    assert pieces([(second, 2 * second)], 30 * second) == [(0, 30 * second)]
    # 70 s of one part: cut every 30 s. Two parts that fit into 30 s together are one piece, with the pause in it.
    assert pieces([(0, 70 * second)], 80 * second) == [(0, 30 * second), (30 * second, 60 * second)] + [
        (60 * second, 70 * second)
    ]
    assert pieces([(0, 9 * second), (11 * second, 29 * second), (31 * second, 40 * second)], 40 * second) == [
        (0, 29 * second),
        (31 * second, 40 * second),
    ]
