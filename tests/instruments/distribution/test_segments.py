"""Which frames go through together: 10-, 16-, 17- and 40-frame videos under each rule."""

from __future__ import annotations

import pytest

from rushes.instruments.distribution.clips.segments import Cut, Windows, cut_frames, random_start

RUN = list(range(16))


@pytest.mark.parametrize(
    ("total", "cut", "wanted"),
    [
        (10, "segments-repeat-last", [[*range(10), *[9] * 6]]),
        (16, "segments-repeat-last", [RUN]),
        (17, "segments-repeat-last", [RUN, [16] * 16]),
        (40, "segments-repeat-last", [RUN, list(range(16, 32)), [*range(32, 40), *[39] * 8]]),
        (10, "whole", [list(range(10))]),
        (17, "whole", [list(range(17))]),
        (40, "whole", [list(range(40))]),
        (10, "first", []),
        (16, "first", [RUN]),
        (17, "first", [RUN]),
        (40, "first", [RUN]),
        (10, "random", []),
        (16, "random", [RUN]),
        (15, "sliding", []),
        (18, "sliding", [RUN, list(range(1, 17)), list(range(2, 18))]),
        (0, "whole", []),
        (0, "segments-repeat-last", []),
    ],
)
def test_rules(total: int, cut: Cut, wanted: list[list[int]]) -> None:
    assert list(cut_frames(range(total), Windows(cut=cut, length=16))) == wanted


def test_steps_and_strides() -> None:
    subsampled = Windows(cut="first", length=16, step=8)
    assert subsampled.span == 121
    assert list(cut_frames(range(128), subsampled)) == [list(range(0, 121, 8))]
    assert list(cut_frames(range(120), subsampled)) == []
    assert subsampled.enough == 128  # StyleGAN-V discards shorter videos, though 121 frames would do
    sliding = Windows(cut="sliding", length=3, step=2, stride=4)
    assert list(cut_frames(range(14), sliding)) == [[0, 2, 4], [4, 6, 8], [8, 10, 12]]


def test_sliding_windows_do_not_reach_over_a_gap() -> None:
    # pictures 1 to 18, then 20 to 36: three windows before the missing one, two after it
    sliding = Windows(cut="sliding", length=16, gaps=(18,))
    assert [window[0] for window in cut_frames(range(35), sliding)] == [0, 1, 2, 18, 19]
    assert list(cut_frames("abcdefg", Windows(cut="sliding", length=2, stride=2, gaps=(3,)))) == [
        ["a", "b"], ["d", "e"], ["f", "g"],
    ]  # fmt: skip


def test_a_window_from_the_start_reads_no_further() -> None:
    frames = iter(range(40))
    assert list(cut_frames(frames, Windows(cut="first", length=16))) == [RUN]
    assert next(frames) == 16


def test_a_random_start_depends_on_seed_and_content_only() -> None:
    starts = {content: random_start(25, seed=42, content=content) for content in "abcde"}
    assert len(set(starts.values())) > 1 and starts["a"] == random_start(25, seed=42, content="a")
    assert {random_start(25, seed=seed, content="a") for seed in range(300)} == set(range(25))
