"""3-D errors: hand-computed, and invariant where they must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rushes.instruments.pose.scores.errors3d import procrustes_errors, root_relative, scaled_errors, within_counts


def everything(points: np.ndarray) -> np.ndarray:
    return np.ones(points.shape[:2], dtype=bool)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-1e4, 1e4))
def test_pa_mpjpe_is_zero_under_any_similarity_transform(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    gt = rng.normal(0, 300, (4, 17, 3))
    turns = Rotation.random(4, rng=rng).as_matrix()
    pred = scale * gt @ turns + shift
    assert procrustes_errors(pred, gt, everything(gt)).max() < 1e-6  # millimetres, on a body of 300


def test_a_reflection_is_not_a_rotation(rng: np.random.Generator) -> None:
    gt = rng.normal(0, 300, (3, 17, 3))
    assert procrustes_errors(gt * [-1, 1, 1], gt, everything(gt)).min(axis=1).max() > 1


def test_procrustes_agrees_with_a_plain_alignment(rng: np.random.Generator) -> None:
    # Independent check: the rotation by scipy's Kabsch, then the least-squares scale.
    gt, pred = rng.normal(0, 1, (2, 17, 3)), rng.normal(0, 1, (2, 17, 3))
    for g, p, got in zip(gt, pred, procrustes_errors(pred, gt, everything(gt)), strict=True):
        g0, p0 = g - g.mean(axis=0), p - p.mean(axis=0)
        turned = Rotation.align_vectors(g0, p0)[0].apply(p0)
        scale = (turned * g0).sum() / (turned**2).sum()
        np.testing.assert_allclose(got, np.linalg.norm(scale * turned - g0, axis=1), atol=1e-9)


def test_n_mpjpe_by_hand() -> None:
    # pred = gt / 2: the best scale is 2, nothing is left. One joint (1,0,0) for (0,2,0): ⟨gt, pred⟩ = 0 → scale 0,
    # the error is ‖gt‖ = 2.
    gt = np.array([[[2.0, 0, 0], [0, 4, 0]], [[0, 2, 0], [0, 0, 0]]])
    pred = np.array([[[1.0, 0, 0], [0, 2, 0]], [[1, 0, 0], [0, 0, 0]]])
    assert scaled_errors(pred, gt, everything(gt)).tolist() == [[0.0, 0.0], [2.0, 0.0]]


def test_invisible_joints_do_not_pull_the_alignment(rng: np.random.Generator) -> None:
    gt = rng.normal(0, 1, (1, 17, 3))
    pred = 3 * gt + 1
    pred[0, 5] = 1e6
    seen = everything(gt)
    seen[0, 5] = False
    errors = procrustes_errors(pred, gt, seen)
    assert errors[seen].max() < 1e-12
    assert scaled_errors(pred - 1, gt, seen)[seen].max() < 1e-12


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_cannot_be_aligned_is_nan_and_touches_no_other_frame(rng: np.random.Generator, bad: float) -> None:
    gt = rng.normal(0, 1, (3, 17, 3))
    pred = gt.copy()
    pred[1, 2, 0] = bad
    for errors in (procrustes_errors(pred, gt, everything(gt)), scaled_errors(pred, gt, everything(gt))):
        assert np.isnan(errors[1]).all() and errors[[0, 2]].max() < 1e-12


def test_all_predictions_in_one_spot() -> None:
    gt = np.array([[[0.0, 0, 0], [2, 0, 0]]])
    pred = np.full((1, 2, 3), 7.0)
    # No shape to turn or scale: every joint lands on the centroid (1, 0, 0), 1 away from both.
    assert procrustes_errors(pred, gt, everything(gt)).tolist() == [[1.0, 1.0]]


def test_root_and_thresholds() -> None:
    points = np.array([[[0.0, 0, 0], [2, 4, 6], [5, 5, 5]]])
    assert root_relative(points, (0, 1))[0, 2].tolist() == [4.0, 3.0, 2.0]
    errors = np.array([[0.0, 150.0, 150.1, np.nan]])
    assert within_counts(errors, np.array([[True] * 4]), (0.0, 150.0)) == [1, 2]
