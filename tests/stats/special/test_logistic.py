"""The logistic function and softmax against SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.stats.special.logistic import expit, log_expit, softmax

GRID = np.concatenate([np.linspace(-760, 760, 3001), np.geomspace(1e-12, 40, 200), -np.geomspace(1e-12, 40, 200)])


def test_they_are_scipys() -> None:
    sp = pytest.importorskip("scipy.special")
    np.testing.assert_allclose(expit(GRID), sp.expit(GRID), rtol=1e-14)
    np.testing.assert_allclose(log_expit(GRID), sp.log_expit(GRID), rtol=1e-14)
    table = np.random.default_rng(1).normal(0, 300, (7, 5))
    for axis in (0, 1):
        np.testing.assert_allclose(softmax(table, axis=axis), sp.softmax(table, axis=axis), rtol=1e-13)


def test_the_shares_of_both_sides_add_up_to_one() -> None:
    np.testing.assert_allclose(expit(GRID) + expit(-GRID), 1.0, rtol=1e-15)
    np.testing.assert_allclose(np.exp(log_expit(GRID)), expit(GRID), rtol=1e-13, atol=1e-300)
