"""Flicker and blur on series that can be computed by hand."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.instruments.clip.metrics.image import blur_p10, blur_score, flicker_delta, flicker_score

means = st.lists(st.floats(0, 255), min_size=2, max_size=50)


def test_flicker_is_the_population_standard_deviation() -> None:
    # mean 105, deviations ±5
    assert flicker_score([100.0, 110.0] * 5).value == 5.0
    assert flicker_delta([100.0, 110.0] * 5).value == 10.0


def test_a_slow_fade_is_high_in_one_reading_and_low_in_the_other() -> None:
    fade = [float(level) for level in range(101)]
    # population std of 0..100 = √((101² − 1)/12) = 29.1548; every step is 1
    assert flicker_score(fade).value == pytest.approx(29.154759474226502)
    assert flicker_delta(fade).value == 1.0
    assert flicker_score(fade).signature != flicker_delta(fade).signature


def test_flicker_of_little() -> None:
    assert flicker_score([]).value is None
    assert flicker_score([7.0]).value == 0.0
    assert flicker_delta([7.0]).value is None


def test_blur_mean_and_p10() -> None:
    # ranks 0..10: the 10th percentile lies on rank 1
    values = [float(v) for v in range(0, 110, 10)]
    assert blur_score(values).value == 50.0
    assert blur_p10(values).value == 10.0
    assert blur_score([]).value is None and blur_p10([]).value is None


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=40))
def test_p10_is_numpys_percentile(values: list[float]) -> None:
    assert blur_p10(values).value == pytest.approx(float(np.percentile(values, 10)), abs=1e-9)


@given(means)
def test_flicker_against_numpy(values: list[float]) -> None:
    assert flicker_score(values).value == pytest.approx(float(np.std(values)), abs=1e-9)
    assert flicker_delta(values).value == pytest.approx(float(np.mean(np.abs(np.diff(values)))), abs=1e-9)


def test_the_laplacian_is_opencvs() -> None:
    from rushes.instruments.clip.frames.luma_sums import luma_sums

    picture = np.random.default_rng(3).integers(0, 256, (37, 53), dtype=np.uint8)
    sums = luma_sums(picture, None)
    variance = sums.laplacian_squared / picture.size - (sums.laplacian / picture.size) ** 2
    assert variance == pytest.approx(float(cv2.Laplacian(picture, cv2.CV_64F).var()), rel=1e-12)
