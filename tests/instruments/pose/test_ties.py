"""The edge of the tolerance: whole pixels are exact, and nothing infinite is ever correct."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.instruments.pose import AbsolutePixels, BoundingBoxDiagonal, HeadSize, PoseBatch, TorsoDiameter, pck_at
from rushes.instruments.pose.seed.accuracy import tally_batch


def test_a_tie_on_slanted_hips_is_correct() -> None:
    # Hips (0, 0) and (5, 15): e² = 250. Error (1, 3): d² = 10. 10 · 10⁴ = 20² · 250: exactly 20 %.
    gt = np.zeros((17, 2))
    gt[12] = (5, 15)
    pred, vis = gt.copy(), np.zeros(17)
    pred[0], vis[[0, 11, 12]] = (1, 3), 2
    assert pck_at(pred, gt, vis, 20, TorsoDiameter()) == (3, 3, 1.0)
    assert pck_at(pred, gt, vis, 19, TorsoDiameter()) == (2, 3, 2 / 3)


@pytest.mark.parametrize("norm", [TorsoDiameter(0, 1), HeadSize(0, 1), BoundingBoxDiagonal()])
def test_every_whole_pixel_is_counted_as_whole_numbers_count_it(norm: object, rng: np.random.Generator) -> None:
    """Random whole-pixel poses, ties made common by small numbers; the oracle is Python's own integers."""
    frames = 3000
    gt = rng.integers(0, 40, (frames, 3, 2)) + 1000
    pred = gt + rng.integers(-6, 7, gt.shape)
    ks = [5, 10, 20, 25, 50]
    tally = tally_batch(PoseBatch(pred, gt, None), ks=ks, norms=[norm], curve=True).pck[0]  # type: ignore[list-item]
    correct, ties, curve = dict.fromkeys(ks, 0), 0, [0] * 51
    for p, g in zip(pred.tolist(), gt.tolist(), strict=True):
        if isinstance(norm, BoundingBoxDiagonal):
            xs, ys = zip(*g, strict=True)
            e2 = (max(xs) - min(xs)) ** 2 + (max(ys) - min(ys)) ** 2
        else:
            e2 = (g[0][0] - g[1][0]) ** 2 + (g[0][1] - g[1][1]) ** 2
        if not e2:
            continue
        for (px, py), (gx, gy) in zip(p, g, strict=True):
            d2 = (px - gx) ** 2 + (py - gy) ** 2
            for k in ks:
                correct[k] += d2 * 10**4 <= k * k * e2
                ties += d2 * 10**4 == k * k * e2 and d2 > 0
            first = next((k for k in range(51) if d2 * 10**4 <= k * k * e2), None)
            if first is not None:
                curve[first] += 1
    assert [int(row.sum()) for row in tally.correct] == list(correct.values())
    assert tally.curve.tolist() == curve
    assert ties > 5


@pytest.mark.parametrize(("apart", "k"), [(1e307, 20), (3.7e306, 50), (1e200, 20), (1e160, 1000)])
def test_what_is_infinite_is_never_correct(apart: float, k: int) -> None:
    gt = np.zeros((17, 2))
    gt[12, 0] = apart
    pred, vis = gt.copy(), np.zeros(17)
    pred[0], vis[[0, 11, 12]] = (np.inf, 0.0), 2
    assert pck_at(pred, gt, vis, k, TorsoDiameter()) == (2, 3, 2 / 3)
    pred[0] = (apart / 200 * k, 0.0)  # well inside, finite
    assert pck_at(pred, gt, vis, k, TorsoDiameter())[0] == 3
    assert pck_at(pred + np.inf, gt, vis, k, AbsolutePixels(1e308))[0] == 0
