"""Everything a pair of pose files is scored on, in one pass over fixed pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Literal, TypeAlias

import numpy as np

from rushes.pose.accuracy import Tally, empty_tally, tally_chunk
from rushes.pose.batch import Chunk, PoseBatch
from rushes.pose.errors3d import (
    THRESHOLDS_MM,
    procrustes_errors,
    root_relative,
    scaled_errors,
    usable_joints,
    within_counts,
)
from rushes.pose.geometry import Floats, joint_distances
from rushes.pose.joint_errors import ErrorSum, error_sum
from rushes.pose.keypoint_distance import animation_errors
from rushes.pose.motion import difference_errors
from rushes.pose.normalization import PckNormalization
from rushes.pose.oks import COCO_SIGMAS, bbox_areas, oks_per_frame
from rushes.pose.pairing import Unmatched
from rushes.pose.skeletons import COCO_17, Skeleton
from rushes.pose.warnings import Checks, check_chunk

Root: TypeAlias = Literal["as-given", "hips"]

MILLIMETRES = {"mm": 1.0, "cm": 10.0, "m": 1000.0}
SERIES_FRAMES = 200_000
"""Beyond this many frames the per-frame series is not kept: nobody scrolls through it, and memory stays small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """What to score, and how."""

    norms: tuple[PckNormalization, ...]
    ks: tuple[int, ...]
    skeleton: Skeleton
    unit: str = "as-given"
    root: Root = "as-given"
    """3-D errors with coordinates as given, or with the middle of the hips as origin."""
    sequence: bool = True
    estimator: str = ""
    """Digest of the models that found the predicted joints, where a clip was read."""
    truth: str = ""
    """The same for the true joints: a guess of an estimator, and not what a person marked."""
    unmatched: Unmatched = "skip"
    labels: tuple[tuple[str, str], ...] = ()
    """What else departs from the usual and belongs in every signature: how frames and people were paired …"""

    @property
    def similarity(self) -> bool:
        """Whether OKS applies: its sigmas are COCO's seventeen."""
        return self.skeleton.name == COCO_17.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseScores:
    """Counts and sums of some frames; `a + b` continues a with b. What does not apply stays empty."""

    tally: Tally
    checks: Checks = Checks()
    oks: ErrorSum = ErrorSum()
    procrustes: ErrorSum = ErrorSum()
    scaled: ErrorSum = ErrorSum()
    procrustes_found: ErrorSum = ErrorSum()
    scaled_found: ErrorSum = ErrorSum()
    akd: ErrorSum = ErrorSum()
    mkr: ErrorSum = ErrorSum()
    within: tuple[int, ...] = (0,) * len(THRESHOLDS_MM)
    velocity: ErrorSum = ErrorSum()
    acceleration: ErrorSum = ErrorSum()
    frame_errors: tuple[Floats, ...] = ()
    """Mean error of each frame's visible joints, NaN where a frame has none; pieces in order."""

    def __add__(self, other: PoseScores) -> PoseScores:
        return PoseScores(
            tally=self.tally + other.tally,
            checks=self.checks + other.checks,
            oks=self.oks + other.oks,
            procrustes=self.procrustes + other.procrustes,
            scaled=self.scaled + other.scaled,
            procrustes_found=self.procrustes_found + other.procrustes_found,
            scaled_found=self.scaled_found + other.scaled_found,
            akd=self.akd + other.akd,
            mkr=self.mkr + other.mkr,
            within=tuple(map(add, self.within, other.within)),
            velocity=self.velocity + other.velocity,
            acceleration=self.acceleration + other.acceleration,
            frame_errors=(*self.frame_errors, *other.frame_errors),
        )


def score_batch(batch: PoseBatch, settings: ScoreSettings, *, areas: Floats | None = None) -> PoseScores:
    """Score paired poses. `areas` are the objects' areas for OKS, where the ground truth has them."""
    start = PoseScores(tally=empty_tally(batch.joints, len(settings.ks), len(settings.norms), curve=True))
    return reduce(add, _pieces(batch, settings, areas), start)


def _pieces(batch: PoseBatch, settings: ScoreSettings, areas: Floats | None) -> Iterator[PoseScores]:
    keep_series = len(batch) <= SERIES_FRAMES
    for led in batch.chunks(overlap=2 if settings.sequence else 0):
        chunk = _without_lead(led)
        errors = _errors(chunk, settings)
        velocity, acceleration = _motion(led) if settings.sequence else (ErrorSum(), ErrorSum())
        own_areas = None if areas is None else areas[chunk.start : chunk.start + len(chunk.gt)]
        scores = PoseScores(
            tally=tally_chunk(chunk, ks=settings.ks, norms=settings.norms, curve=True, errors=errors),
            checks=check_chunk(chunk, settings.skeleton, sequence=settings.sequence),
            oks=_similarity(chunk, own_areas) if settings.similarity else ErrorSum(),
            velocity=velocity,
            acceleration=acceleration,
            frame_errors=(_frame_means(errors, chunk),) if keep_series else (),
        )
        if chunk.columns == 3:
            yield _in_space(scores, chunk, errors, settings)
        else:
            akd, mkr = animation_errors(chunk)
            yield replace(scores, akd=akd, mkr=mkr)


def _without_lead(chunk: Chunk) -> Chunk:
    if not chunk.lead:
        return chunk
    cut = slice(chunk.lead, None)
    blank = None if chunk.blank is None else chunk.blank[cut]
    return Chunk(chunk.pred[cut], chunk.gt[cut], chunk.visible[cut], chunk.start, 0, blank)


def _errors(chunk: Chunk, settings: ScoreSettings) -> Floats:
    if chunk.columns == 3 and settings.root == "hips":
        pred, gt = (root_relative(points, settings.skeleton.hips) for points in (chunk.pred, chunk.gt))
        return joint_distances(pred, gt, columns=3)
    return joint_distances(chunk.pred, chunk.gt, columns=chunk.columns)


def _motion(led: Chunk) -> tuple[ErrorSum, ErrorSum]:
    sums = []
    for order in (1, 2):
        errors, counted = difference_errors(
            led.pred, led.gt, led.visible, order=order, columns=led.columns, lead=led.lead
        )
        sums.append(error_sum(errors, counted))
    return sums[0], sums[1]


def _similarity(chunk: Chunk, areas: Floats | None) -> ErrorSum:
    used = bbox_areas(chunk.gt, chunk.visible) if areas is None else areas
    scores = oks_per_frame(chunk.pred[:, : len(COCO_SIGMAS)], chunk.gt, chunk.visible, used)
    return error_sum(scores, np.ones(len(scores), dtype=bool))


def _in_space(scores: PoseScores, chunk: Chunk, errors: Floats, settings: ScoreSettings) -> PoseScores:
    """The same scores with the 3-D ones filled in."""
    pred, gt = chunk.pred, chunk.gt
    if settings.root == "hips":
        pred, gt = (root_relative(points, settings.skeleton.hips) for points in (pred, gt))
    thresholds = tuple(t / MILLIMETRES.get(settings.unit, 1.0) for t in THRESHOLDS_MM)
    whole = [error_sum(errors_of(pred, gt, chunk.visible), chunk.visible) for errors_of in _ALIGNED]
    found = whole
    usable = usable_joints(pred, gt, chunk.visible)
    if not np.array_equal(usable, chunk.visible):
        left_out = int(np.count_nonzero(chunk.visible & ~usable))
        sums = [error_sum(errors_of(pred, gt, usable), usable) for errors_of in _ALIGNED]
        found = [replace(each, missing=each.missing + left_out) for each in sums]
    return replace(
        scores,
        procrustes=whole[0],
        scaled=whole[1],
        procrustes_found=found[0],
        scaled_found=found[1],
        within=tuple(within_counts(errors, chunk.visible, thresholds)),
    )


_ALIGNED = (procrustes_errors, scaled_errors)


def _frame_means(errors: Floats, chunk: Chunk) -> Floats:
    number = np.count_nonzero(chunk.visible, axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.where(chunk.visible, errors, 0.0).sum(axis=1)
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)
