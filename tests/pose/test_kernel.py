"""The compiled loop says what numpy says."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.pose import AbsolutePixels, BoundingBoxDiagonal, PoseBatch, TorsoDiameter
from rushes.pose import tally as tally_module
from rushes.pose.kernel import WORTH_COMPILING
from rushes.pose.tally import Tally, tally_batch

NORMS = [TorsoDiameter(), BoundingBoxDiagonal(), AbsolutePixels(9.0)]


def both(batch: PoseBatch, monkeypatch: pytest.MonkeyPatch) -> tuple[Tally, Tally]:
    compiled = tally_batch(batch, ks=[5, 20], norms=NORMS)
    monkeypatch.setattr(tally_module, "WORTH_COMPILING", 10**9)
    return compiled, tally_batch(batch, ks=[5, 20], norms=NORMS)


def assert_equal(one: Tally, other: Tally) -> None:
    assert one.frames == other.frames
    for a, b in zip(one.pck, other.pck, strict=True):
        assert (a.correct == b.correct).all() and (a.total == b.total).all() and a.scored_frames == b.scored_frames
    for x, y in zip(one.errors, other.errors, strict=True):
        assert (x.found, x.missing) == (y.found, y.missing)
        assert x.found_mean() == pytest.approx(y.found_mean(), rel=1e-12)


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_equal_on_whole_pixels(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, columns: int, dtype: type
) -> None:
    # Whole numbers, so that many errors fall exactly on a tolerance.
    gt = rng.integers(0, 90, (WORTH_COMPILING + 5, 17, columns)).astype(dtype)
    pred = (gt + rng.integers(-12, 13, gt.shape)).astype(dtype)
    assert_equal(*both(PoseBatch(pred, gt, rng.integers(0, 3, gt.shape[:2])), monkeypatch))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_is_not_finite_takes_the_other_way(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    gt = rng.uniform(0, 90, (WORTH_COMPILING, 17, 2))
    pred = gt + rng.normal(0, 5, gt.shape)
    pred[7, 3, 0] = bad
    gt[9, 4, 1] = bad
    assert_equal(*both(PoseBatch(pred, gt, None), monkeypatch))


def test_an_invisible_nan_does_no_harm(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    gt = rng.uniform(0, 90, (WORTH_COMPILING, 17, 2))
    vis = np.ones(gt.shape[:2])
    pred = gt + 1.0
    pred[5, 6], vis[5, 6] = np.nan, 0.0
    compiled, plain = both(PoseBatch(pred, gt, vis), monkeypatch)
    assert compiled.error.missing == 0
    assert_equal(compiled, plain)
