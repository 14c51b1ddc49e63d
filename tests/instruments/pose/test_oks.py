"""OKS against pycocotools, and its edges."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.instruments.pose.scores.oks import COCO_SIGMAS, bbox_areas, oks_per_frame


def reference_oks(pred: np.ndarray, gt: np.ndarray, vis: np.ndarray, areas: np.ndarray) -> list[float]:
    """pycocotools' own number for each pair."""
    from pycocotools.cocoeval import COCOeval

    evaluator = COCOeval(iouType="keypoints")
    scores = []
    for number in range(len(gt)):
        truth = {"keypoints": np.c_[gt[number], vis[number]].ravel().tolist(), "area": float(areas[number])}
        guess = {"keypoints": np.c_[pred[number], np.ones(17)].ravel().tolist(), "score": 1.0}
        evaluator._gts[number, 1] = [truth | {"bbox": [0, 0, 1, 1]}]
        evaluator._dts[number, 1] = [guess]
        scores.append(float(evaluator.computeOks(number, 1)[0, 0]))
    return scores


def test_equals_pycocotools_on_random_poses(rng: np.random.Generator) -> None:
    gt = rng.uniform(0, 400, (200, 17, 2))
    pred = gt + rng.normal(0, 1, gt.shape) * rng.uniform(0.1, 60, (200, 1, 1))
    vis = rng.integers(0, 3, (200, 17)).astype(float)
    vis[:, 0] = 2
    areas = rng.uniform(50, 60_000, 200)
    ours = oks_per_frame(pred, gt, vis >= 0.5, areas)
    np.testing.assert_allclose(ours, reference_oks(pred, gt, vis, areas), rtol=1e-13, atol=1e-300)


def test_one_joint_by_hand() -> None:
    # Nose alone: σ .026, (2σ)² = .002704. Off by 5.2 at area 10 000: 27.04 / .002704 / 10 000 / 2 = 0.5 → e^−0.5.
    gt, vis = np.zeros((1, 17, 2)), np.zeros((1, 17), dtype=bool)
    vis[0, 0] = True
    pred = gt.copy()
    pred[0, 0, 0] = 5.2
    assert oks_per_frame(pred, gt, vis, np.array([1e4]))[0] == pytest.approx(np.exp(-0.5), abs=1e-12)


def test_edges() -> None:
    pose = np.arange(34.0).reshape(1, 17, 2).repeat(5, axis=0)
    vis = np.ones((5, 17), dtype=bool)
    vis[0] = False  # nothing visible: no score
    areas = np.array([9.0, 0.0, np.nan, 9.0, 9.0])  # no area: no score
    pred = pose.copy()
    pred[3, :] = np.nan  # nothing predicted: 0, not NaN
    scores = oks_per_frame(pred, pose, vis, areas)
    assert np.isnan(scores[:3]).all() and scores[3] == 0.0 and scores[4] == 1.0


def test_box_area_and_sigmas() -> None:
    gt = np.zeros((1, 17, 2))
    gt[0, 1] = (3, 4)
    assert bbox_areas(gt, np.ones((1, 17), dtype=bool))[0] == 12.0
    assert len(COCO_SIGMAS) == 17
