"""Mean absolute difference."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.instruments.fidelity.arrays import compare_arrays


def test_hand_computed():
    # the first frame is off by 3 in one channel of three, the second by 255 everywhere: (1 + 255) / 2
    gt = np.zeros((2, 5, 7, 3), np.uint8)
    gen = gt.copy()
    gen[0, ..., 2] = 3
    gen[1] = 255
    found = compare_arrays(gen, gt, metrics=["l1"])["l1"]
    assert found.value == 128.0 and found.count == 2
    assert compare_arrays(gt, gen, metrics=["l1"])["l1"].value == 128.0
    assert compare_arrays(gt, gt, metrics=["l1"])["l1"].value == 0.0


def test_rises_with_noise():
    rng = np.random.default_rng(7)
    gt = rng.integers(60, 190, (16, 16, 3)).astype(np.uint8)
    grain = rng.normal(0, 1, gt.shape)
    values = [
        compare_arrays(np.clip(gt + s * grain, 0, 255).astype(np.uint8), gt, metrics=["l1"])["l1"].value
        for s in (1, 5, 20)
    ]
    assert values == sorted(values)
    # E|N(0, 20)| = 20 √(2/π) = 15.96, rounded towards zero about half a level less
    assert values[2] == pytest.approx(15.7, abs=0.8)
