"""Laws that hold for any poses, found by hypothesis rather than chosen."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rushes.instruments.pose import (
    AbsolutePixels,
    BoundingBoxDiagonal,
    HeadSize,
    PoseBatch,
    TorsoDiameter,
    TorsoOrBoundingBox,
    accuracy_report,
    pck_at,
)
from rushes.instruments.pose.seed.accuracy import tally_batch

ANYTHING = st.floats(allow_nan=True, allow_infinity=True, width=64)
RELATIVE = [TorsoDiameter(), BoundingBoxDiagonal(), TorsoOrBoundingBox(), HeadSize()]
EVERY = [*RELATIVE, AbsolutePixels(7.5)]


law = settings(deadline=None, max_examples=40)  # how long an example takes is no part of a law


def poses(frames: int = 3) -> st.SearchStrategy[PoseBatch]:
    """Coordinates in quarters, so that sums and differences are exact in fp64."""
    points = arrays(np.int64, (frames, 17, 2), elements=st.integers(-4096, 4096)).map(lambda whole: whole / 4)
    return st.builds(PoseBatch, points, points, _seen(frames))


def wild_poses(frames: int = 2) -> st.SearchStrategy[PoseBatch]:
    points = arrays(np.float64, (frames, 17, 2), elements=ANYTHING)
    return st.builds(PoseBatch, points, points, _seen(frames))


def _seen(frames: int) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, (frames, 17), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, math.nan]))


def counts(batch: PoseBatch, ks: tuple[int, ...] = (5, 20, 50)) -> list[tuple[list[int], int]]:
    tally = tally_batch(batch, ks=ks, norms=EVERY)
    return [([int(row.sum()) for row in found.correct], int(found.total.sum())) for found in tally.pck]


@law
@given(poses(frames=1), st.integers(1, 100))
def test_bbox_is_at_least_torso_when_the_box_is_larger(batch: PoseBatch, k: int) -> None:
    pred, gt, vis = batch.pred[0], batch.gt[0].copy(), np.array(batch.visibility[0])
    vis[[11, 12]] = 2.0  # hips that can be measured: seen, and not in one place
    gt[12, 0] += (gt[11] == gt[12]).all()
    torso = TorsoDiameter().tolerance(gt, vis, k)
    box = BoundingBoxDiagonal().tolerance(gt, vis, k)
    assert box is not None and torso is not None and box >= torso  # the box holds both hips
    assert pck_at(pred, gt, vis, k, BoundingBoxDiagonal())[2] >= pck_at(pred, gt, vis, k, TorsoDiameter())[2]


@law
@given(poses(), st.integers(0, 200), st.integers(0, 200))
def test_pck_grows_with_k(batch: PoseBatch, one: int, other: int) -> None:
    for norm in EVERY:
        report = accuracy_report(batch, [one, other], norm)
        assert report.pck_at[min(one, other)] <= report.pck_at[max(one, other)]


@law
@given(poses(), st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_translation_changes_nothing(batch: PoseBatch, dx: int, dy: int) -> None:
    shift = np.array([dx, dy])
    assert counts(PoseBatch(batch.pred + shift, batch.gt + shift, batch.visibility)) == counts(batch)


@law
@given(poses(), st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_scale_changes_nothing_for_the_relative_norms(batch: PoseBatch, scale: float) -> None:
    # Powers of two scale fp64 exactly; quarters times 0.25 stay far above the 1e-6 that an extent needs.
    scaled = PoseBatch(batch.pred * scale, batch.gt * scale, batch.visibility)
    assert counts(scaled)[: len(RELATIVE)] == counts(batch)[: len(RELATIVE)]


def test_scale_does_change_absolute_pixels() -> None:
    gt = np.zeros((1, 17, 2))
    batch = PoseBatch(gt + [[5.0, 0.0]], gt, np.ones((1, 17)))
    doubled = PoseBatch(batch.pred * 2, batch.gt * 2, batch.visibility)
    # Off by 5 ≤ 7.5, then by 10 > 7.5.
    assert accuracy_report(batch, [20], AbsolutePixels(7.5)).pck_at[20] == 1.0
    assert accuracy_report(doubled, [20], AbsolutePixels(7.5)).pck_at[20] == 0.0


@law
@given(poses(frames=5), st.permutations(range(5)))
def test_the_order_of_frames_changes_nothing(batch: PoseBatch, order: list[int]) -> None:
    turned = PoseBatch(batch.pred[order], batch.gt[order], batch.visibility[order])
    assert counts(turned) == counts(batch)
    one, other = (accuracy_report(b, [20], AbsolutePixels(1)).mpjpe for b in (batch, turned))
    assert math.isclose(one, other, rel_tol=1e-12)


@law
@given(wild_poses())
def test_nothing_raises_and_nothing_without_a_place_is_correct(batch: PoseBatch) -> None:
    seen = batch.visibility >= 0.5
    placed = np.isfinite(batch.pred).all(axis=2) & np.isfinite(batch.gt).all(axis=2)
    for correct, total in counts(batch):
        assert total <= np.count_nonzero(seen)
        assert all(number <= min(total, np.count_nonzero(seen & placed)) for number in correct)


@law
@given(poses(frames=1))
def test_a_nan_prediction_only_ever_loses(batch: PoseBatch) -> None:
    broken = batch.pred.copy()
    broken[0, 5] = np.nan
    before, after = counts(batch), counts(PoseBatch(broken, batch.gt, batch.visibility))
    for (correct, total), (less, still) in zip(before, after, strict=True):
        assert still == total and all(b <= a for a, b in zip(correct, less, strict=True))
