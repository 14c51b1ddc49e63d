"""Everything a pair of pose files is scored on, in one pass over fixed pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.pose.diagnostics import Checks, check_chunk
from rushes.instruments.pose.files.batch import Chunk, PoseBatch
from rushes.instruments.pose.files.skeletons import COCO_17, Skeleton
from rushes.instruments.pose.pairing.files import Unmatched
from rushes.instruments.pose.scores import errors3d
from rushes.instruments.pose.scores.geometry import Floats, joint_distances
from rushes.instruments.pose.scores.joint_errors import ErrorSum, Summed, animation_errors, difference_errors, error_sum
from rushes.instruments.pose.scores.normalization import PckNormalization
from rushes.instruments.pose.scores.oks import COCO_SIGMAS, bbox_areas, oks_per_frame
from rushes.instruments.pose.seed.accuracy import Tally, empty_tally, tally_chunk

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
class PoseScores(Summed):
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
    within: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(errors3d.THRESHOLDS_MM), dtype=np.int64))
    """Visible joints within each of the thresholds of 3-D PCK."""
    velocity: ErrorSum = ErrorSum()
    acceleration: ErrorSum = ErrorSum()
    frame_errors: tuple[Floats, ...] = ()
    """Mean error of each frame's visible joints, NaN where a frame has none; pieces in order."""


def score_batch(batch: PoseBatch, settings: ScoreSettings, *, areas: Floats | None = None) -> PoseScores:
    """Score paired poses. `areas` are the objects' areas for OKS, where the ground truth has them."""
    start = PoseScores(tally=empty_tally(batch.joints, len(settings.ks), len(settings.norms), curve=True))
    return reduce(add, _pieces(batch, settings, areas), start)


def _pieces(batch: PoseBatch, settings: ScoreSettings, areas: Floats | None) -> Iterator[PoseScores]:
    keep_series = len(batch) <= SERIES_FRAMES
    for led in batch.chunks(overlap=2 if settings.sequence else 0):
        chunk = _without_lead(led)
        errors = joint_distances(*_rooted(chunk, settings), columns=chunk.columns)
        own_areas = None if areas is None else areas[chunk.start : chunk.start + len(chunk.gt)]
        scores = PoseScores(
            tally=tally_chunk(chunk, ks=settings.ks, norms=settings.norms, curve=True, errors=errors),
            checks=check_chunk(chunk, settings.skeleton, sequence=settings.sequence),
            oks=_similarity(chunk, own_areas) if settings.similarity else ErrorSum(),
            velocity=_motion(led, 1) if settings.sequence else ErrorSum(),
            acceleration=_motion(led, 2) if settings.sequence else ErrorSum(),
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


def _rooted(chunk: Chunk, settings: ScoreSettings) -> list[Floats]:
    """Prediction and truth, in space with the origin that was asked for."""
    if chunk.columns == 3 and settings.root == "hips":
        return [errors3d.root_relative(points, settings.skeleton.hips) for points in (chunk.pred, chunk.gt)]
    return [chunk.pred, chunk.gt]


def _motion(led: Chunk, order: int) -> ErrorSum:
    """Of velocities (the first difference over time) or accelerations (the second)."""
    places = led.pred, led.gt, led.visible
    return error_sum(*difference_errors(*places, order=order, columns=led.columns, lead=led.lead))


def _similarity(chunk: Chunk, areas: Floats | None) -> ErrorSum:
    used = bbox_areas(chunk.gt, chunk.visible) if areas is None else areas
    scores = oks_per_frame(chunk.pred[:, : len(COCO_SIGMAS)], chunk.gt, chunk.visible, used)
    return error_sum(scores, np.ones(len(scores), dtype=bool))


def _in_space(scores: PoseScores, chunk: Chunk, errors: Floats, settings: ScoreSettings) -> PoseScores:
    """The same scores with the 3-D ones filled in."""
    pred, gt = _rooted(chunk, settings)
    thresholds = tuple(t / MILLIMETRES.get(settings.unit, 1.0) for t in errors3d.THRESHOLDS_MM)
    whole = [error_sum(errors_of(pred, gt, chunk.visible), chunk.visible) for errors_of in _ALIGNED]
    found = whole
    usable = errors3d.usable_joints(pred, gt, chunk.visible)
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
        within=np.array(errors3d.within_counts(errors, chunk.visible, thresholds)),
    )


_ALIGNED = (errors3d.procrustes_errors, errors3d.scaled_errors)


def _frame_means(errors: Floats, chunk: Chunk) -> Floats:
    number = np.count_nonzero(chunk.visible, axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.where(chunk.visible, errors, 0.0).sum(axis=1)
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)
