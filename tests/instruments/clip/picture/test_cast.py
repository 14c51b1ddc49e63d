"""A cast that comes at some moment and stays, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.picture_grids import COLUMNS, ROWS, column, grid, scene, times

from rushes.instruments.clip import evaluate_clip
from rushes.instruments.clip.metrics.picture.cast import cast_step
from rushes.media.encode import write_clip


def still(frames: int = 40) -> np.ndarray:
    return np.repeat(scene()[None], frames, axis=0)


def test_a_cast_at_once_by_hand() -> None:
    # Cb − 3 and Cr + 4 from frame 20 on, for all blocks: a shift of 5, and the path stands still on both sides
    later = column(np.arange(40) >= 20)
    found = cast_step(grid(still(), blue=-3 * later, red=4 * later), times(40))
    assert found.value == pytest.approx(5.0) and found.note == "1.9–2.0 s"


@pytest.mark.parametrize("frames", [2, 4, 8, 12])
def test_a_cast_that_comes_in_within_so_many_frames(frames: int) -> None:
    share = column(np.clip((np.arange(60) - 25) / frames, 0, 1))
    assert cast_step(grid(still(60), red=10 * share), times(60)).value == pytest.approx(10.0, rel=0.02)


def test_a_path_that_wanders_beside_it_counts_less() -> None:
    # 0 1 0 1 … before frame 20 and 10 from there on: frames 14 to 18 have the mean 0.4 and a range of 1
    wander = np.where(np.arange(40) < 20, np.arange(40) % 2, 10)
    assert cast_step(grid(still(), blue=column(wander)), times(40)).value == pytest.approx(10 - 0.4 - 2 * 1, abs=1e-6)


def test_colour_that_drifts_all_the_time_is_none() -> None:
    assert cast_step(grid(still(60), blue=column(1.0 * np.arange(60))), times(60)).value == 0.0


def test_a_flash_of_colour_comes_back() -> None:
    flash = column(20.0 * (np.arange(40) == 20))
    assert cast_step(grid(still(), red=flash), times(40)).value == 0.0


def test_a_thing_that_comes_is_no_cast() -> None:
    # a third of the blocks turn red: the median of all does not change
    red = np.zeros((40, ROWS, COLUMNS), np.float32)
    red[20:, :3] = 60
    assert cast_step(grid(still(), red=red), times(40)).value == 0.0


def test_blocks_that_go_different_ways_share_nothing() -> None:
    # Cr goes up by 10 in all, and Cb by −30 to 30: the median shift is 10, and blocks lie some 15 from it
    later = column(np.arange(40) >= 20)
    blue = later * np.linspace(-30, 30, ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    assert cast_step(grid(still(), blue=blue, red=10 * later), times(40)).value == 0.0


def test_a_cut_has_other_colours() -> None:
    luma = np.concatenate([still(20), np.repeat(scene(7)[None], 20, axis=0)])
    assert cast_step(grid(luma, blue=column(30.0 * (np.arange(40) >= 20))), times(40)).value == 0.0


def test_too_short_and_grey() -> None:
    for frames in (1, 9):
        assert cast_step(grid(still(frames)), times(frames)).value is None
    assert cast_step(grid(still(30)), times(30, fps=50.0)).value is None, "0.6 s"
    assert cast_step(grid(still()), times(40)).value == 0.0


def test_a_bright_picture_end_to_end(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    picture = np.clip(225 + rng.normal(0, 8, (12, 16, 3)), 0, 240).repeat(10, axis=0).repeat(10, axis=1)
    for late, least, most in (((0, -5, -10), 3.5, 5.0), ((0, 0, 0), 0.0, 0.5)):
        frames = [np.clip(picture + (late if n >= 25 else 0), 0, 255).astype(np.uint8) for n in range(50)]
        path = write_clip(tmp_path / f"{most}.mp4", frames, fps=25)
        # B − 10 and G − 5: Cb − 0.331·5·(−1) …: −3.3 and Cr + 2.9, a shift of 4.5 levels
        value = evaluate_clip(path, metrics=["cast_step"])["cast_step"].value
        assert value is not None and least <= value <= most
