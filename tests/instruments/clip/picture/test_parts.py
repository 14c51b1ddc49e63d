"""Frozen, popping and smeared parts, and black bars that come and go."""

from __future__ import annotations

import numpy as np
import pytest
from tests.picture_grids import column, grid, scene, times

from rushes.instruments.clip.metrics.picture.parts import bars_step, frozen_part, popping_part, smeared_part

FRAMES, FPS = 40, 20.0
AT = times(FRAMES, FPS)


def still(frames: int = FRAMES) -> np.ndarray:
    return np.repeat(scene()[None], frames, axis=0)


def moving(size: float = 4.0) -> np.ndarray:
    """Steps of a picture that moves everywhere."""
    steps = np.full((FRAMES, 8, 10), size)
    steps[0] = 0
    return steps


def test_the_right_half_stops() -> None:
    # 5 of 10 columns have no step from frame 20 on, at 1.0 s; 400 ms are 8 steps
    steps = moving()
    steps[21:, :, 5:] = 0.05
    found = frozen_part(grid(still(), step=steps), AT)
    assert found.value == 0.5 and found.note == "1.0–1.4 s"


def test_the_right_half_starts() -> None:
    steps = moving()
    steps[:21, :, 5:] = 0.0
    found = frozen_part(grid(still(), step=steps), AT)
    assert found.value == 0.5 and found.note == "0.6–1.0 s"


def test_one_step_of_refinement_does_not_hide_a_freeze() -> None:
    steps = moving()
    steps[21:, :, 5:] = 0.0
    steps[25, :, 5:] = 1.5
    assert frozen_part(grid(still(), step=steps), AT).value == 0.5


def test_what_slows_down_or_stops_as_a_whole_is_not_frozen() -> None:
    slowing = moving()
    slowing[15:, :, 5:] = (4.0 * 0.6 ** np.arange(25))[:, None, None]
    assert frozen_part(grid(still(), step=slowing), AT).value == 0
    whole = moving()
    whole[21:] = 0.0
    assert frozen_part(grid(still(), step=whole), AT).value == 0
    quiet = moving(0.5)
    quiet[21:, :, 5:] = 0.0
    assert frozen_part(grid(still(), step=quiet), AT).value == 0
    assert frozen_part(grid(still(), step=moving()), AT).value == 0


def test_light_that_stops_changing_is_not_a_frozen_part() -> None:
    # the light rises by 4 a frame for half of the clip, in all blocks but a few that also move
    luma = still() * 0.2 + column(4.0 * np.minimum(np.arange(FRAMES), 20))
    steps = np.abs(np.diff(luma, axis=0, prepend=luma[:1]))
    steps[1:, :2] += 3
    assert frozen_part(grid(luma, step=steps), AT).value == 0


def test_a_thing_that_pops_in_and_out() -> None:
    # 2 × 3 of 80 blocks are 50 lighter in frames 10 to 19: 0.5 to 1.0 s
    luma = still()
    luma[10:20, 2:4, 3:6] += 50
    found = popping_part(grid(luma), AT)
    assert found.value == 6 / 80 and found.note == "0.5–1.0 s"


def test_a_thing_of_another_colour_and_the_same_light_pops() -> None:
    # 2 × 3 of 80 blocks turn green, Cb and Cr each 30 less, from 0.5 to 1.0 s; with 2 less they do not
    blue, red = np.zeros_like(still()), np.zeros_like(still())
    for plane in (blue, red):
        plane[10:20, 2:4, 3:6] -= 30
    found = popping_part(grid(still(), blue=blue, red=red), AT)
    assert found.value == 6 / 80 and found.note == "0.5–1.0 s"
    assert popping_part(grid(still(), blue=blue / 15, red=red / 15), AT).value == 0


def test_what_stays_or_changes_everything_does_not_pop() -> None:
    stays = still()
    stays[10:, 2:4, 3:6] += 50
    assert popping_part(grid(stays), AT).value == 0
    flash = still()
    flash[10:20] += 50
    assert popping_part(grid(flash), AT).value == 0
    small = still()
    small[10:20, 2, 3:5] += 50  # two blocks
    assert popping_part(grid(small), AT).value == 0
    long = np.repeat(scene()[None], 80, axis=0)
    long[10:50, 2:4, 3:6] += 50  # 2 s
    assert popping_part(grid(long), times(80, FPS)).value == 0


def test_a_smeared_third() -> None:
    # 24 of 80 blocks lose four fifths of their texture in samples 6 to 11 of 20
    texture = np.full((20, 8, 10), 8.0)
    texture[6:12, 5:] = 1.2
    taken = np.arange(20) * 2
    made = grid(still(), texture=texture, textured=taken)
    found = smeared_part(made, AT)
    assert found.value == pytest.approx(30 / 80) and found.note == "0.6–1.2 s"
    stays = np.full((20, 8, 10), 8.0)
    stays[6:, 5:] = 1.2
    assert smeared_part(grid(still(), texture=stays, textured=taken), AT).value == 0
    assert smeared_part(grid(still(), textured=taken), AT).value == 0


def test_bars_that_appear() -> None:
    # one of 8 rows above and one below from frame 20 on: 2 / 8; then one of 10 columns on either side
    luma = still()
    luma[20:, [0, -1]] = 2
    found = bars_step(grid(luma), AT)
    assert found.value == 0.25 and found.note == "1.0 s"
    sides = still()
    sides[:20, :, [0, -1]] = 2
    assert bars_step(grid(sides), AT).value == 0.2


def test_no_bars() -> None:
    always = still()
    always[:, [0, -1]] = 2
    assert bars_step(grid(always), AT).value == 0
    above = still()
    above[20:, 0] = 2
    assert bars_step(grid(above), AT).value == 0, "a bar on one side is no letterbox"
    dark = still() * 0.1
    dark[20:, [0, -1]] = 2
    assert bars_step(grid(dark), AT).value == 0, "nothing was lit there before"
    other = still()
    other[20:] = scene(3)
    other[20:, [0, -1]] = 2
    assert bars_step(grid(other), AT).value == 0, "a cut to a letterboxed shot"
    black = still() * column(np.arange(FRAMES) < 20)
    assert bars_step(grid(black), AT).value == 0


def test_too_short() -> None:
    short = grid(np.repeat(scene()[None], 3, axis=0))
    for function in (frozen_part, popping_part, smeared_part, bars_step):
        assert function(short, times(3)).value is None


def test_a_bar_that_ends_within_a_block() -> None:
    """Two blocks and nine tenths of the next: that one is no part of the bar, and shows nothing of the picture."""
    luma = np.repeat(np.tile(np.linspace(60, 200, 20), (18, 1))[None], 30, axis=0).astype(np.float32)
    luma[15:, :2] = luma[15:, -2:] = 5
    luma[15:, 2] = luma[15:, -3] = 18 + 0.1 * luma[0, 2]
    assert bars_step(grid(luma), times(30)).value == pytest.approx(2 * 2 / 18)
