"""Frames paired by time, by the best lag and by warping, and predictions in pictures of another size."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.instruments.pose.figures import walk

from rushes import score_pose
from rushes.core.errors import InputError
from rushes.instruments.pose import PoseEvaluation
from rushes.instruments.pose.pairing.time import _cheapest_path


def scored(folder: Path, pred: dict[str, Any], gt: dict[str, Any], **asked: Any) -> PoseEvaluation:
    np.savez(folder / "p.npz", **pred)
    np.savez(folder / "g.npz", **gt)
    asked = {"norms": "bbox-diagonal", "ks": 5, "run": folder / "run", "overwrite": True} | asked
    return score_pose(folder / "p.npz", folder / "g.npz", **asked)


def labels(done: PoseEvaluation) -> dict[str, str]:
    return {key: value for key, value in done["mpjpe"].definition.params if key in ("pair", "lag", "fit")}


def test_clips_of_two_rates_pair_by_time(tmp_path: Path) -> None:
    gt = walk(20)
    slow = {"keypoints": gt[::2], "time_ms": np.arange(10) * 80.0}
    fast = {"keypoints": gt, "time_ms": np.arange(20) * 40.0}
    # Half the rate: every second true frame has its own prediction; those between lie 40 ms away, over half a frame.
    done = scored(tmp_path, slow, fast, pair="time")
    assert (done["mpjpe"].value, done.pairing.frames, len(done.pairing.gt_only)) == (0.0, 10, 10)
    assert labels(done) == {"pair": "time"}
    assert not any("frames a second" in line for line in done.warnings)
    twice = scored(tmp_path, fast, slow, pair="time")
    assert (twice["mpjpe"].value, twice.pairing.frames, len(twice.pairing.pred_only)) == (0.0, 10, 10)
    with pytest.raises(InputError, match="p.npz: has no times"):
        scored(tmp_path, {"keypoints": gt}, fast, pair="time")
    with pytest.raises(InputError, match="needs times that rise"):
        scored(tmp_path, fast | {"time_ms": np.zeros(20)}, fast, pair="time")


@pytest.mark.parametrize("late", [3, 0, -4])
def test_the_best_lag_is_found_and_reported(tmp_path: Path, rng: np.random.Generator, late: int) -> None:
    whole = walk(60)
    gt, pred = whole[10:50], whole[10 - late : 50 - late] + rng.normal(0, 0.5, (40, 17, 2))
    done = scored(tmp_path, {"keypoints": pred}, {"keypoints": gt}, lag=6)
    assert done["pose_lag"].value == late and done["pose_lag"].count == 40 - abs(late) == done.pairing.frames
    assert labels(done) == {"lag": "best-of-6"} and done["mpjpe"].value < 1.0  # type: ignore[operator]
    assert done["pose_lag"].signature == "pose_lag|search:6|v:1"
    assert any(m.name == "velocity_error" for m in done.measurements)  # still neighbours
    short = scored(tmp_path, {"keypoints": pred}, {"keypoints": gt}, lag=2)
    assert ("look further" in short["pose_lag"].note) == (abs(late) > 1)


def test_a_frame_is_named_as_the_truth_counts_it(tmp_path: Path) -> None:
    whole = walk(40)
    gt, pred = whole[10:30].copy(), whole[14:34].copy()  # four frames early
    pred[10, 3] = np.nan  # seen at true frame 14
    done = scored(tmp_path, {"keypoints": pred}, {"keypoints": gt}, lag=5)
    assert done["pose_lag"].value == -4
    assert any("1 joints without a finite prediction" in w and "(first frame 14, left_ear)" in w for w in done.warnings)


def test_warping_forgives_another_speed(tmp_path: Path) -> None:
    gt = walk(30)
    stretched = np.repeat(gt, 2, axis=0)
    done = scored(tmp_path, {"keypoints": stretched}, {"keypoints": gt}, pair="dtw")
    assert (done["mpjpe"].value, done.pairing.frames, labels(done)) == (0.0, 60, {"pair": "dtw"})
    plain = scored(tmp_path, {"keypoints": stretched}, {"keypoints": gt})
    assert plain["mpjpe"].value > 20  # type: ignore[operator]
    empty = scored(tmp_path, {"keypoints": stretched}, {"keypoints": gt, "visibility": np.zeros((30, 17))}, lag=1)
    assert empty["pose_lag"].value is None
    with pytest.raises(InputError, match="nothing can be aligned"):
        scored(tmp_path, {"keypoints": stretched}, {"keypoints": gt, "visibility": np.zeros((30, 17))}, pair="dtw")


def test_the_path_is_the_cheapest_of_all(rng: np.random.Generator) -> None:
    """Against every path of a small table, written out."""

    def paths(i: int, j: int, rows: int, columns: int) -> Any:
        if (i, j) == (rows - 1, columns - 1):
            yield [(i, j)]
            return
        for di, dj in itertools.product((0, 1), repeat=2):
            if (di or dj) and i + di < rows and j + dj < columns:
                for rest in paths(i + di, j + dj, rows, columns):
                    yield [(i, j), *rest]

    for shape in ((4, 5), (1, 3), (5, 2)):
        costs = rng.random(shape)
        best = min(sum(costs[cell] for cell in path) for path in paths(0, 0, *shape))
        found = _cheapest_path(costs)
        assert sum(costs[i, j] for i, j in found) == pytest.approx(best)
        assert found[0].tolist() == [0, 0] and found[-1].tolist() == [shape[0] - 1, shape[1] - 1]


def test_pictures_of_another_size_are_refused_or_scaled(tmp_path: Path) -> None:
    gt = {"keypoints": walk(5), "size": np.array([800, 600])}
    half = {"keypoints": walk(5) / 2, "size": np.array([400, 300])}
    with pytest.raises(InputError, match="400×300 and .*800×600.*fit='scale'"):
        scored(tmp_path, half, gt)
    done = scored(tmp_path, half, gt, fit="scale")
    assert done["mpjpe"].value == 0.0 and labels(done) == {"fit": "scale"}
    assert any("scaled from 400×300 to 800×600" in line for line in done.warnings)
    wide = {"keypoints": walk(5) * [0.5, 1.0], "size": np.array([400, 600])}
    stretched = scored(tmp_path, wide, gt, fit="scale")
    assert stretched["mpjpe"].value == 0.0 and any("bodies are stretched" in line for line in stretched.warnings)
    with pytest.raises(InputError, match="p.npz: does not give the size of its pictures"):
        scored(tmp_path, {"keypoints": walk(5)}, gt, fit="scale")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lag": -1}, "lag is how many frames"),
        ({"lag": 3, "pair": "dtw"}, "give one of the two"),
        ({"pair": "luck"}, "pair is auto, order, time or dtw"),
        ({"fit": "crop"}, "fit is refuse or scale"),
        ({"lag": 3, "duplicates": "match"}, "paired by image id"),
        ({"lag": 3, "unmatched": "wrong"}, "unmatched='wrong' counts frames"),
    ],
)
def test_questions_that_contradict_themselves(tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        scored(tmp_path, {"keypoints": walk(3)}, {"keypoints": walk(3)}, **asked)
