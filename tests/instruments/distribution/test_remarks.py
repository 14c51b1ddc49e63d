"""Sentences about the clips behind a distance, and notes that keep them whole."""

from __future__ import annotations

from typing import Any

import pytest

from rushes.instruments.distribution.clips.segments import Windows, cut_frames
from rushes.instruments.distribution.show.remarks import (
    ReadFacts,
    as_note,
    is_variable,
    read_facts,
    remarks_on,
    sentences_of,
)


def facts(*lengths: int, **more: Any) -> list[ReadFacts]:
    return [ReadFacts(frames=length, **more) for length in lengths]


def test_like_sets_need_no_remark() -> None:
    assert remarks_on(facts(16, 16, fps=25.0), facts(16, fps=25.0)) == []
    assert remarks_on(facts(16, fps=29.97), facts(16, fps=30.0)) == []
    assert remarks_on(facts(40, 16, 20), facts(41, 17, 20)) == []  # means 25.33 and 26, 2.6 % apart


def test_lengths() -> None:
    assert remarks_on(facts(9, 9), facts(16, 16, 16)) == [
        "lengths differ: generated clips have 9 frames, real ones 16 frames"
    ]
    assert remarks_on(facts(9, 16, 40), facts(16)) == [
        "lengths differ: generated clips have 9 to 40 frames (21.7 on average), real ones 16 frames"
    ]


def test_rates() -> None:
    (said,) = remarks_on(facts(16, 16, fps=25.0), [*facts(16, fps=25.0), *facts(16, fps=30.0)])
    assert said == "frame rates differ: generated clips have 25 frames a second, real ones 25 to 30"
    assert remarks_on(facts(16), facts(16, fps=30.0)) == []  # pictures have no rate


def test_what_is_odd_within_a_set() -> None:
    padded = [*facts(9, padded=7), *facts(16), *facts(12, padded=4)]
    assert remarks_on(padded, facts(12, 13)) == [
        "2 of 3 clips of the generated set padded by repeating the last frame (4 to 7 each)"
    ]
    assert remarks_on(facts(1, 1), facts(1))[:2] == [
        "2 of 2 clips of the generated set of one frame only",
        "1 of 1 clips of the real set of one frame only",
    ]
    (said,) = remarks_on(facts(16), facts(16, variable=True))
    assert said.startswith("1 of 1 clips of the real set of a variable frame rate")


def test_a_side_without_facts_is_not_spoken_of() -> None:
    assert remarks_on([], facts(16)) == remarks_on([], []) == []
    assert len(remarks_on([], facts(1))) == 1


@pytest.mark.parametrize(
    ("frames", "cut", "padded"),
    [
        (16, "segments-repeat-last", 0),
        (17, "segments-repeat-last", 15),
        (9, "segments-repeat-last", 7),
        (9, "whole", 0),
    ],
)
def test_padding_is_as_the_cutting_fills_up(frames: int, cut: Any, padded: int) -> None:
    windows = Windows(cut=cut, length=16)
    assert read_facts(frames, windows).padded == padded
    assert sum(map(len, cut_frames(range(frames), windows))) == frames + padded


def test_a_dropped_frame_is_a_variable_rate_and_a_rounded_clock_is_none() -> None:
    even = [n * 1000 / 30 for n in range(30)]
    assert not is_variable(even) and not is_variable([round(time) for time in even])
    assert is_variable(even[:10] + even[11:])


def test_no_sentence_is_cut() -> None:
    given = ["too few; use kvd", "random weights: this value is comparable only with values of the same weights"]
    assert sentences_of(as_note([*given, given[0], ""])) == given
    assert sentences_of(as_note(["a · b"])) == ["a, b"]
