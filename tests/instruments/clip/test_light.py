"""What a strobe does and a pan, a fade and a cut do not; black gaps between pictures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_luma

import rushes
from rushes.instruments.clip.metrics.light import alternation, longest_flat_ms, luma_alternation


def test_a_strobe_reads_its_own_height() -> None:
    """±7 on every frame: each step is 14, and the next takes it back."""
    light = [100.0 + 7 * (-1) ** t for t in range(50)]
    assert luma_alternation(light, fps=25.0).value == 14.0


def test_unequal_steps_by_hand() -> None:
    """Steps +4, −9, +4: √36 both times."""
    assert luma_alternation([0.0, 4.0, -5.0, -1.0], fps=None).value == 6.0


@pytest.mark.parametrize(
    "light",
    [
        [float(t) for t in range(50)],  # a fade
        [50.0] * 25 + [180.0] * 25,  # a cut
        [120 + 40 * math.sin(t / 12) for t in range(100)],  # a pan over light and dark, 0.3 Hz
        [100.0] * 24 + [240.0] + [100.0] * 25,  # a flash
    ],
)
def test_what_is_no_strobe(light: list[float]) -> None:
    assert luma_alternation(light, fps=25.0).value == 0.0


def test_light_that_changes_every_second_frame_shows_at_twice_the_stride() -> None:
    light = np.array([100.0, 100.0, 80.0, 80.0] * 10)
    assert alternation(light, 1) == 0.0 and alternation(light, 2) == 20.0
    assert luma_alternation(light.tolist(), fps=25.0).value == 20.0
    # At 10 frames a second two frames are 200 ms: slower than what counts as flicker.
    assert luma_alternation(light.tolist(), fps=10.0).value == 0.0


def test_too_short_to_alternate() -> None:
    assert luma_alternation([1.0, 2.0], fps=25.0).value is None


def test_a_black_beginning_and_end_are_no_gap() -> None:
    found = longest_flat_ms([1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 40.0, 80.0, 120.0, 160.0])
    assert (found.value, found.note) == (0.0, "")


def test_flat_throughout_is_its_whole_length() -> None:
    found = longest_flat_ms([1.0, 1.0, 1.0], [0.0, 500.0, 1000.0])
    assert (found.value, found.note) == (1000.0, "from beginning to end")
    assert longest_flat_ms([], []).value is None


@pytest.mark.parametrize(("level", "gap"), [(16, 120.0), (120, 120.0)])
def test_a_gap_of_one_tone_in_a_clip(tmp_path, level: int, gap: float) -> None:
    """Three flat frames of ten at 25 a second; a flat frame with one bright line is a picture."""
    rng = np.random.default_rng(0)
    scene = rng.integers(60, 180, (64, 64))
    frames = [(scene + rng.integers(0, 9, (64, 64))).astype(np.uint8) for _ in range(10)]
    for t in (4, 5, 6):
        frames[t] = np.full((64, 64), level, np.uint8)
    result = rushes.evaluate_clip(write_luma(tmp_path / "gap.mkv", frames, "gray"))
    assert result["longest_flat_ms"].value == gap and result["longest_flat_ms"].note == "0.2–0.3 s"
    assert any(reason.startswith("black or empty 0.2–0.3 s") for reason in result.reasons) is (gap > 150)


def test_black_between_two_shots_is_an_edit(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    shots = [rng.integers(low, low + 120, (64, 64)).astype(np.uint8) for low in (60, 30)]
    frames = [shots[0]] * 8 + [np.zeros((64, 64), np.uint8)] * 10 + [shots[1]] * 8
    cut = rushes.evaluate_clip(write_luma(tmp_path / "cut.mkv", frames, "gray"))["longest_flat_ms"]
    gap = rushes.evaluate_clip(write_luma(tmp_path / "gap.mkv", [*frames[:18], *frames[:8]], "gray"))["longest_flat_ms"]
    assert (cut.value, gap.value) == (0.0, 400.0)


def test_black_in_a_shot_of_one_thing_that_moves_is_a_gap(tmp_path):
    """A dark square on a plain ground, elsewhere after the gap: blocks do not correlate, but are the same ones."""

    def picture(left: int, ground: int = 180) -> np.ndarray:
        plane = np.full((96, 128), ground, np.uint8)
        plane[32:64, left : left + 32] = 40
        return plane

    black = [np.zeros((96, 128), np.uint8)] * 8
    shot = [picture(8)] * 8 + black + [picture(80)] * 8
    cut = [picture(8)] * 8 + black + [picture(80, ground=120)] * 8
    gap, edit = (
        rushes.evaluate_clip(write_luma(tmp_path / f"{name}.mkv", frames, "gray"))["longest_flat_ms"]
        for name, frames in (("shot", shot), ("cut", cut))
    )
    assert (gap.value, edit.value) == (320.0, 0.0)
