"""The spread of a clip over repeated runs, and the limit made from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rushes.stats.equivalence import noise_floor


def test_by_hand() -> None:
    # variances within clips: (1, 3): 2; (4, 4): 0; their mean 1
    found = noise_floor([[1.0, 3.0], [4.0, 4.0]])
    assert (found.sd, found.clips, found.runs) == (1.0, 2, 2)
    # run means 2.5 and 3.5: MS_run = 2 · 0.5 = 1; within 2, so MS_rest = (2 − 1) / 1 = 1; F = 1 at (1, 1): p = 0.5
    assert found.shift_p == pytest.approx(0.5)
    # both terms are 1/2 with 1 degree of freedom each: ν = 1² / (0.25 + 0.25) = 2
    assert found.freedom == pytest.approx(2.0)
    assert found.repeatability_limit() == pytest.approx(stats.t.ppf(0.975, 2) * math.sqrt(2))


def test_one_clip_has_the_freedom_of_its_runs() -> None:
    found = noise_floor([[1.0, 2.0, 3.0]])
    assert (found.sd, found.freedom, found.shift_p) == (1.0, 2.0, None)


def test_nothing_moves() -> None:
    found = noise_floor([[0.1, 0.1, 0.1], [5.0, 5.0, 5.0]])
    assert (found.sd, found.repeatability_limit()) == (0.0, 0.0)


def test_runs_that_move_as_a_whole_are_noticed_and_leave_few_degrees_of_freedom() -> None:
    rng = np.random.default_rng(2)
    clips, shift = rng.normal(30, 4, (20, 1)), np.array([0.0, 2.0, -1.0])
    found = noise_floor((clips + shift + rng.normal(0, 0.1, (20, 3))).tolist())
    assert found.shift_p is not None and found.shift_p < 1e-6
    assert found.freedom == pytest.approx(2.0, abs=0.1)
    alone = noise_floor((clips + rng.normal(0, 1.0, (20, 3))).tolist())
    assert alone.freedom > 25


def test_the_limit_holds_for_95_of_100_pairs_of_runs() -> None:
    """Of a fourth run of the same system, 95 % of clips lie within the limit of the first."""
    rng = np.random.default_rng(8)
    inside = total = 0
    for _ in range(400):
        runs = rng.normal(30, 4, (8, 1)) + rng.normal(0, 0.5, (8, 4))
        limit = noise_floor(runs[:, :3].tolist()).repeatability_limit()
        inside += int((np.abs(runs[:, 3] - runs[:, 0]) < limit).sum())
        total += 8
    assert 0.935 < inside / total < 0.985
