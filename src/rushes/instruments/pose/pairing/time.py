"""Pairing frames other than in order: by time, by the best constant lag, or by dynamic time warping.

Each is another question, and so has a label of its own in the signature. By time asks about the same moment of clips of
two rates; the best lag forgives a constant delay and reports it; DTW forgives every difference in timing, so it speaks
of shape alone: a walk at half the speed can be perfect under it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import PoseBatch, PoseSet
from rushes.instruments.pose.pairing.files import Pairing
from rushes.instruments.pose.scores.geometry import Floats, joint_distances

DTW_CELLS = 4_000_000
"""The most frame pairs that DTW weighs: 2000 × 2000."""

POSE_LAG = Definition(
    name="pose_lag",
    unit="frames",
    lowest=None,
    highest=None,
    better="neither",
    summary="By how many frames the prediction comes late (below 0: early) where the two fit best.",
    formula="the L in −search … search with the least mean ‖pred_{t+L} − gt_t‖ over joints that are visible in the "
    "truth and predicted; of equals the smallest |L|, then the earlier",
    edge_cases="only lags that leave half of the shorter side's frames; nothing comparable at any: null",
    reference="cross-alignment by least mean error; the other numbers of the run are those at this lag",
    open_params=("search",),
)


def pair_by_time(pred: PoseSet, gt: PoseSet) -> Pairing:
    """Each true frame with the prediction nearest in time, within half a frame of the truth's own rate."""
    for side in (pred, gt):
        if side.time_ms is None:
            raise InputError(
                f"{side.path}: has no times (time_ms); {option('--pair time')} needs them, {option('--pair order')} "
                "does not"
            )
        if not np.isfinite(side.time_ms).all() or (np.diff(side.time_ms) <= 0).any():
            raise InputError(f"{side.path}: {option('--pair time')} needs times that rise from frame to frame")
    ours, theirs = np.asarray(pred.time_ms), np.asarray(gt.time_ms)
    after = np.clip(np.searchsorted(ours, theirs), 1, len(ours) - 1) if len(ours) > 1 else np.zeros(len(theirs), int)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(ours[after] - theirs) < np.abs(ours[before] - theirs), after, before).astype(np.int64)
    # The last frame of a clip has no successor: its length is that of the others.
    slack = float(np.median(np.diff(theirs))) / 2 if len(theirs) > 1 else math.inf
    close = np.abs(ours[nearest] - theirs) <= slack * (1 + 1e-9)
    if not close.any():
        raise InputError(f"{pred.path} and {gt.path}: no two frames lie within half a frame of each other")
    used = set(nearest[close].tolist())
    return Pairing(
        by="time",
        pred=nearest[close],
        gt=np.flatnonzero(close).astype(np.int64),
        frames=int(close.sum()),
        pred_only=tuple(pred.frame_name(n) for n in range(len(pred)) if n not in used),
        gt_only=tuple(gt.frame_name(n) for n in np.flatnonzero(~close).tolist()),
    )


def pair_by_lag(pred: PoseSet, gt: PoseSet, search: int) -> tuple[Pairing, Measurement]:
    """Frames in order, the prediction moved by the lag that fits best; and that lag."""
    least = max(1, min(len(pred), len(gt)) // 2)
    definition = POSE_LAG.add_params(search=search)
    found: list[tuple[float, int, int]] = []
    for lag in range(-search, search + 1):
        ours, theirs = _shifted(pred, gt, lag)
        if ours.stop - ours.start >= least:
            mean = _mean_error(pred, gt, ours, theirs)
            if math.isfinite(mean):
                found.append((mean, abs(lag), lag))
    lag = min(found)[2] if found else 0
    ours, theirs = _shifted(pred, gt, lag)
    pairing = Pairing(
        by="order",
        pred=ours,
        gt=theirs,
        frames=ours.stop - ours.start,
        pred_only=_beyond(pred, ours),
        gt_only=_beyond(gt, theirs),
    )
    if not found:
        return pairing, Measurement.missing(definition, "no joint is visible and predicted at any lag")
    edge = "the best lag is at the end of the search: look further" if search and abs(lag) == search else ""
    return pairing, Measurement(definition=definition, value=lag, count=pairing.frames, note=edge)


def _shifted(pred: PoseSet, gt: PoseSet, lag: int) -> tuple[slice, slice]:
    """Frames of both sides that overlap when the prediction is `lag` frames late."""
    start = max(0, -lag)
    stop = max(start, min(len(gt), len(pred) - lag))
    return slice(start + lag, stop + lag), slice(start, stop)


def _beyond(side: PoseSet, used: slice) -> tuple[str, ...]:
    return tuple(side.frame_name(n) for n in (*range(used.start), *range(used.stop, len(side))))


def _mean_error(pred: PoseSet, gt: PoseSet, ours: slice, theirs: slice) -> float:
    visibility = None if gt.visibility is None else gt.visibility[theirs]
    confidence = None if pred.visibility is None else pred.visibility[ours]
    total, number = 0.0, 0
    for chunk in PoseBatch(pred.points[ours], gt.points[theirs], visibility, confidence).chunks():
        errors = joint_distances(chunk.pred, chunk.gt, columns=chunk.columns)[chunk.visible]
        kept = errors[np.isfinite(errors)]
        total, number = total + float(kept.sum()), number + len(kept)
    return total / number if number else math.nan


def pair_by_warping(pred: PoseSet, gt: PoseSet) -> Pairing:
    """Frames along the cheapest path that goes forward in both (DTW, Sakoe and Chiba 1978, steps 1-1, 1-0, 0-1).

    What a pair of frames costs is the mean error of joints visible in the truth and predicted; where there is none, the
    mean of all costs.
    """
    if len(pred) * len(gt) > DTW_CELLS:
        raise InputError(
            f"{pred.path} and {gt.path}: {len(pred)} × {len(gt)} frames are too many for {option('--pair dtw')} (at "
            "most "
            f"{DTW_CELLS} pairs); {option('--lag N')} searches a constant delay in files of any length"
        )
    costs = _costs(pred, gt)
    path = _cheapest_path(costs)
    return Pairing(by="dtw", pred=path[:, 1], gt=path[:, 0], frames=len(path), pred_only=(), gt_only=())


def _costs(pred: PoseSet, gt: PoseSet) -> Floats:
    """True frames × predicted frames."""
    whole = PoseBatch(gt.points, gt.points, gt.visibility)
    own = PoseBatch(pred.points, pred.points, None, pred.visibility)
    points = np.concatenate([chunk.pred for chunk in own.chunks()])
    costs = np.empty((len(gt), len(pred)))
    row = 0
    for chunk in whole.chunks():
        for pose, seen in zip(chunk.gt, chunk.visible, strict=True):
            errors = joint_distances(
                points[:, seen], pose[np.newaxis, seen], columns=min(points.shape[2], pose.shape[1])
            )
            finite = np.isfinite(errors)
            number = finite.sum(axis=1)
            with np.errstate(invalid="ignore"):
                costs[row] = np.where(number > 0, np.where(finite, errors, 0.0).sum(axis=1) / number, np.nan)
            row += 1
    known = np.isfinite(costs)
    if not known.any():
        raise InputError(
            f"{pred.path} and {gt.path}: no joint is both visible and predicted, so nothing can be aligned"
        )
    return np.where(known, costs, costs[known].mean())


def _cheapest_path(costs: Floats) -> NDArray[np.int64]:
    """Pairs (row, column) from corner to corner; of equally cheap steps the diagonal, then down."""
    rows, columns = costs.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    for diagonal in range(rows + columns - 1):  # cells of one diagonal do not depend on each other
        i = np.arange(max(0, diagonal - columns + 1), min(rows, diagonal + 1))
        j = diagonal - i
        best = np.minimum(np.minimum(total[i, j], total[i, j + 1]), total[i + 1, j])
        total[i + 1, j + 1] = costs[i, j] + best
    path = []
    i, j = rows, columns
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        steps = ((total[i - 1, j - 1], 0), (total[i - 1, j], 1), (total[i, j - 1], 2))
        step = min(steps)[1]
        i, j = (i - 1, j - 1) if step == 0 else (i - 1, j) if step == 1 else (i, j - 1)
    return np.array(path[::-1], dtype=np.int64)
