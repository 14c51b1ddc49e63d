"""Which prediction belongs to which truth: by image id where both sides have ids, else by order. Every miss counts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.errors import InputError
from rushes.pose.batch import Numbers
from rushes.pose.poses import PoseSet

Unmatched: TypeAlias = Literal["skip", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Pairs of frames. `pred` and `gt` are indices (or a leading slice, which keeps a memory-mapped file mapped).

    A prediction of −1 is a truth nobody predicted, kept because unmatched truths were to count as wrong.
    """

    by: Literal["image id", "order"]
    pred: NDArray[np.int64] | slice
    gt: NDArray[np.int64] | slice
    frames: int
    pred_only: tuple[str, ...]
    """Frames of the prediction that no truth was found for."""
    gt_only: tuple[str, ...]

    def facts(self) -> dict[str, object]:
        return {
            "matched_by": self.by,
            "frames": self.frames,
            "pred_unmatched": len(self.pred_only),
            "gt_unmatched": len(self.gt_only),
        }

    def remarks(self, pred: PoseSet, gt: PoseSet, unmatched: Unmatched) -> list[str]:
        found = []
        for path, names, other in ((pred.path, self.pred_only, gt.path), (gt.path, self.gt_only, pred.path)):
            if names:
                fate = "counted as wrong" if path == gt.path and unmatched == "wrong" else "not scored"
                found.append(f"{path}: {len(names)} poses without a match in {other} ({_first(names)}): {fate}")
        return found

    def take(self, points: Numbers, side: Literal["pred", "gt"]) -> Numbers:
        """The rows of one side in pair order; NaN for a truth nobody predicted."""
        chosen = self.pred if side == "pred" else self.gt
        rows = points[chosen]
        if not isinstance(chosen, slice) and (chosen < 0).any():
            rows = np.where((chosen < 0).reshape(-1, *[1] * (points.ndim - 1)), np.nan, rows)
        return rows


def pair_frames(pred: PoseSet, gt: PoseSet, *, unmatched: Unmatched = "skip") -> Pairing:
    """Pair two files. `InputError` when nothing pairs."""
    if pred.ids is None or gt.ids is None:
        return _by_order(pred, gt, unmatched)
    return _by_id(pred, gt, pred.ids, gt.ids, unmatched)


def _by_order(pred: PoseSet, gt: PoseSet, unmatched: Unmatched) -> Pairing:
    both = min(len(pred), len(gt))
    pred_only = tuple(pred.frame_name(n) for n in range(both, len(pred)))
    gt_only = tuple(gt.frame_name(n) for n in range(both, len(gt)))
    chosen: NDArray[np.int64] | slice = slice(0, both)
    truths = slice(0, both)
    if unmatched == "wrong" and gt_only:
        chosen = np.concatenate([np.arange(both), np.full(len(gt_only), -1)]).astype(np.int64)
        truths = slice(0, len(gt))
    frames = len(gt) if unmatched == "wrong" else both
    return Pairing(by="order", pred=chosen, gt=truths, frames=frames, pred_only=pred_only, gt_only=gt_only)


def _by_id(
    pred: PoseSet, gt: PoseSet, pred_ids: Sequence[Hashable], gt_ids: Sequence[Hashable], unmatched: Unmatched
) -> Pairing:
    if tuple(pred_ids) == tuple(gt_ids):
        every = slice(0, len(gt))
        return Pairing(by="image id", pred=every, gt=every, frames=len(gt), pred_only=(), gt_only=())
    place = {key: number for number, key in enumerate(pred_ids)}
    known = set(gt_ids)
    pairs = [(place.get(key, -1), number) for number, key in enumerate(gt_ids)]
    if not any(p >= 0 for p, _ in pairs):
        raise InputError(
            f"{pred.path} and {gt.path}: no image id is in both (the first are {pred_ids[0]!r} and {gt_ids[0]!r})"
        )
    kept = [pair for pair in pairs if pair[0] >= 0 or unmatched == "wrong"]
    return Pairing(
        by="image id",
        pred=np.array([p for p, _ in kept], dtype=np.int64),
        gt=np.array([g for _, g in kept], dtype=np.int64),
        frames=len(kept),
        pred_only=tuple(pred.frame_name(n) for n, key in enumerate(pred_ids) if key not in known),
        gt_only=tuple(gt.frame_name(g) for p, g in pairs if p < 0),
    )


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
