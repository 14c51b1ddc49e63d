"""Intervals and extrapolation."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.intervals import (
    extrapolated,
    jackknife_interval,
    sample_of,
    subsampling_interval,
)
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.stats.frechet import frechet_distance


def gap(x: np.ndarray, y: np.ndarray) -> float:
    return float(x.mean() - y.mean())


def test_jackknife_by_hand() -> None:
    # d = mean x − mean y with x = {0, 3, 6}, y = {0, 0, 0}: leaving one out gives 4.5, 3, 1.5; se² = 2/3·(1.5² + 1.5²)
    # = 3 (the classical s²/n = 9/3); y adds 0. d = 3 ± 1.96·√3.
    x, y = np.array([[0.0], [3.0], [6.0]]), np.zeros((3, 1))
    interval = jackknife_interval(x, y, gap)
    assert interval.low == pytest.approx(3 - 1.959964 * np.sqrt(3), rel=1e-6)
    assert interval.high == pytest.approx(3 + 1.959964 * np.sqrt(3), rel=1e-6)
    assert (interval.level, interval.method) == (0.95, "jackknife-20")


def test_subsampling_has_about_the_spread_of_the_mean() -> None:
    draw = np.random.RandomState(2)
    x, y = draw.normal(size=(400, 1)), np.zeros((400, 1))
    interval = subsampling_interval(x, y, gap)
    assert interval.high - interval.low == pytest.approx(2 * 1.96 / np.sqrt(400), rel=0.2)
    assert interval.low < gap(x, y) < interval.high
    assert subsampling_interval(x, y, gap) == interval  # the seed alone decides
    assert subsampling_interval(x, y, gap, seed=1) != interval
    assert (interval.level, interval.method) == (0.95, "subsampling-halves-200-seed0")


def test_intervals_of_too_few_clips_are_refused() -> None:
    few = np.zeros((3, 1))
    with pytest.raises(InputError, match="needs four clips in each set; got 3 and 3"):
        subsampling_interval(few, few, gap)
    with pytest.raises(InputError, match="needs three clips in each set; got 2 and 3"):
        jackknife_interval(few[:2], few, gap)


def test_extrapolation_recovers_a_line_in_1_over_n() -> None:
    rows = np.zeros((100, 4))
    assert extrapolated(rows, rows, lambda x, y: 5.0 + 70.0 / len(x)) == pytest.approx(5.0, rel=1e-9)


def test_extrapolation_takes_the_bias_off() -> None:
    # true distance 0: at N = 120, D = 10 the bias is far from 0, and the intercept is nearer to it
    draw = np.random.RandomState(3)
    x, y = draw.normal(size=(240, 10)), draw.normal(size=(240, 10))
    assert abs(extrapolated(x, y)) < frechet_distance(x, y) / 3


def test_extrapolation_is_refused_without_more_clips_than_features() -> None:
    with pytest.raises(InputError, match="more than 10 in each set; got 10 and 30"):
        extrapolated(np.zeros((10, 10)), np.zeros((30, 10)))


def windows(values: list[float], each: int) -> FeatureSet:
    """So many equal rows of each video."""
    names = tuple(f"v{n}" for n in range(len(values)) for _ in range(each))
    return FeatureSet(names, names, np.repeat(np.array(values, np.float32), each)[:, None])


def test_rows_of_one_video_are_one_observation() -> None:
    # five equal rows of a video say no more than one: both intervals stay as wide
    values = list(np.random.RandomState(5).normal(size=40))
    still = sample_of(windows([0.0] * 40, 1))
    for interval in (jackknife_interval, subsampling_interval):
        once, often = (interval(sample_of(windows(values, each)), still, gap) for each in (1, 5))
        assert (often.low, often.high) == (pytest.approx(once.low), pytest.approx(once.high))
    by_row = jackknife_interval(windows(values, 5).features, still, gap)  # what it would be row by row
    assert by_row.high - by_row.low < 0.6 * (often.high - often.low)


def test_extrapolation_counts_videos() -> None:
    few = sample_of(windows([0.0, 1.0], 40))
    with pytest.raises(InputError, match="more than 1 in each set; got 1 and 2"):
        extrapolated(sample_of(windows([0.0], 40)), few)
