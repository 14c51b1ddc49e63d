"""Velocity and acceleration errors by hand."""

from __future__ import annotations

import numpy as np

from rushes.instruments.pose.scores.joint_errors import difference_errors


def track(*xs: float) -> np.ndarray:
    return np.array([[[x, 0.0]] for x in xs])


def everything(points: np.ndarray) -> np.ndarray:
    return np.ones(points.shape[:2], dtype=bool)


def test_a_constant_offset_has_no_velocity_error() -> None:
    gt = track(0, 1, 3, 6)
    errors, counted = difference_errors(gt + 5, gt, everything(gt), order=1, columns=2, lead=0)
    assert errors.tolist() == [[0.0], [0.0], [0.0]] and counted.all()


def test_jitter_by_hand() -> None:
    # gt still, pred 0 1 0 1: velocities ±1 → error 1 each. Accelerations 0−2+0 = −2 and 1−0+1 = 2 → error 2 each.
    gt, pred = track(0, 0, 0, 0), track(0, 1, 0, 1)
    assert difference_errors(pred, gt, everything(gt), order=1, columns=2, lead=0)[0].ravel().tolist() == [1, 1, 1]
    assert difference_errors(pred, gt, everything(gt), order=2, columns=2, lead=0)[0].ravel().tolist() == [2, 2]


def test_a_joint_must_be_seen_in_every_frame_of_the_step() -> None:
    gt = track(0, 0, 0, 0)
    seen = everything(gt)
    seen[1] = False
    assert difference_errors(gt, gt, seen, order=1, columns=2, lead=0)[1].ravel().tolist() == [False, False, True]
    assert difference_errors(gt, gt, seen, order=2, columns=2, lead=0)[1].ravel().tolist() == [False, False]


def test_lead_frames_are_not_counted_twice() -> None:
    gt, pred = track(0, 0, 0, 0, 0), track(0, 1, 3, 6, 10)
    for order in (1, 2):
        whole = difference_errors(pred, gt, everything(gt), order=order, columns=2, lead=0)[0]
        # The second piece starts at frame 3 and is led by frames 1 and 2.
        first = difference_errors(pred[:3], gt[:3], everything(gt[:3]), order=order, columns=2, lead=0)[0]
        second = difference_errors(pred[1:], gt[1:], everything(gt[1:]), order=order, columns=2, lead=2)[0]
        assert np.concatenate([first, second]).tolist() == whole.tolist()


def test_a_single_frame_has_no_motion() -> None:
    gt = track(1)
    assert len(difference_errors(gt, gt, everything(gt), order=1, columns=2, lead=0)[0]) == 0
    assert len(difference_errors(gt, gt, everything(gt), order=2, columns=2, lead=0)[0]) == 0
