"""Pairing frames: by image id, by order, and every miss counted."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.errors import InputError
from rushes.pose.matching import pair_frames
from rushes.pose.poses import PoseSet


def poses(frames: int, ids: tuple[object, ...] | None = None, path: str = "a.npz") -> PoseSet:
    points = np.arange(frames * 4.0).reshape(frames, 2, 2)
    return PoseSet(path=path, points=points, ids=ids)  # type: ignore[arg-type]


def test_by_order_counts_the_longer_side() -> None:
    pred, gt = poses(5, path="p.npy"), poses(3, path="g.npy")
    pairing = pair_frames(pred, gt)
    assert (pairing.by, pairing.frames, pairing.pred_only, pairing.gt_only) == ("order", 3, ("frame 3", "frame 4"), ())
    assert pairing.remarks(pred, gt, "skip") == [
        "p.npy: 2 poses without a match in g.npy (frame 3, frame 4): not scored"
    ]
    assert pairing.facts() == {"matched_by": "order", "frames": 3, "pred_unmatched": 2, "gt_unmatched": 0}


def test_by_order_keeps_a_mapped_file_mapped() -> None:
    pairing = pair_frames(poses(4), poses(4))
    points = np.zeros((4, 2, 2))
    assert pairing.take(points, "gt").base is points


def test_by_id_in_any_order() -> None:
    pred, gt = poses(3, ids=(30, 10, 99)), poses(3, ids=(10, 20, 30))
    pairing = pair_frames(pred, gt)
    assert pairing.by == "image id" and pairing.frames == 2
    assert pairing.take(pred.points, "pred")[:, 0, 0].tolist() == [4.0, 0.0]
    assert pairing.take(gt.points, "gt")[:, 0, 0].tolist() == [0.0, 8.0]
    assert (pairing.pred_only, pairing.gt_only) == (("image 99",), ("image 20",))
    assert len(pairing.remarks(pred, gt, "skip")) == 2


def test_unmatched_truths_can_count_as_wrong() -> None:
    pred, gt = poses(1, ids=(30,)), poses(2, ids=(10, 30))
    pairing = pair_frames(pred, gt, unmatched="wrong")
    taken = pairing.take(pred.points, "pred")
    assert pairing.frames == 2 and np.isnan(taken[0]).all() and taken[1].tolist() == pred.points[0].tolist()
    assert "counted as wrong" in pairing.remarks(pred, gt, "wrong")[0]
    by_order = pair_frames(poses(1), poses(3), unmatched="wrong")
    assert by_order.frames == 3 and np.isnan(by_order.take(poses(1).points, "pred")[1:]).all()
    assert by_order.take(poses(3).points, "gt").shape == (3, 2, 2)


def test_one_side_without_ids_goes_by_order() -> None:
    assert pair_frames(poses(2, ids=(5, 6)), poses(2)).by == "order"


def test_nothing_in_common() -> None:
    with pytest.raises(InputError, match=r"no image id is in both \(the first are '7' and 7\)"):
        pair_frames(poses(1, ids=("7",)), poses(1, ids=(7,)))
