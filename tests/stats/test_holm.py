"""Holm's adjustment by hand, and against the definition it is a shortcut of."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rushes.stats.families import holm


def test_by_hand() -> None:
    # sorted .01, .02, .03, .04 of m = 4: 4·.01 = .04, 3·.02 = .06, 2·.03 = .06, 1·.04 → .06, never below the one before
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def closed_testing(p: list[float]) -> list[float]:
    """Bonferroni on every set of hypotheses that holds one: what Holm is equal to."""
    sets = [s for size in range(1, len(p) + 1) for s in combinations(range(len(p)), size)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(len(p))]


def test_equals_closed_testing() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        p = np.round(rng.random(rng.integers(1, 8)) ** 3, 2).tolist()
        assert holm(p) == pytest.approx(closed_testing(p), abs=1e-12)
