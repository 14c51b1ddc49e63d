"""Perturbations: formulas by hand, and noise that is the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.instruments.robustness.sweep import perturb

GRAY = np.full((32, 48, 3), 100, np.uint8)


def generator(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize(
    ("factor", "levels"),
    [
        (1.0, [0, 51, 100, 255]),
        (0.5, [0, 26, 50, 128]),  # 25.5 and 127.5 round to even
        (2.0, [0, 102, 200, 255]),
        (0.0, [0, 0, 0, 0]),
    ],
)
def test_brightness(factor, levels):
    assert perturb.brightness(np.array([0, 51, 100, 255], np.uint8), factor).tolist() == levels


@pytest.mark.parametrize(
    ("factor", "levels"),
    [
        (1.0, [0, 100, 127, 255]),
        (2.0, [0, 72, 126, 255]),  # (100 − 127.5) · 2 + 127.5 = 72.5, to even 72; (127 − 127.5) · 2 + 127.5 = 126.5
        (0.0, [128, 128, 128, 128]),  # 127.5, to even
    ],
)
def test_contrast(factor, levels):
    assert perturb.contrast(np.array([0, 100, 127, 255], np.uint8), factor).tolist() == levels


def test_blur_spreads_a_point_and_keeps_the_mean():
    picture = np.zeros((33, 33, 3), np.uint8)
    picture[16, 16] = 255
    blurred = perturb.gaussian_blur(picture, 1.0)
    # A Gaussian of standard deviation 1 has 0.1592 of its mass in the middle pixel: 255 · 0.1592 ≈ 40.6.
    assert 38 <= blurred[16, 16, 0] <= 43
    assert abs(int(blurred[..., 0].sum()) - 255) <= 20
    assert perturb.gaussian_blur(picture, 0) is picture


def test_noise_has_the_deviation_asked_for_and_repeats():
    picture = np.full((200, 200, 3), 128, np.uint8)
    noisy = perturb.gaussian_noise(picture, 8.0, generator())
    assert abs(noisy.astype(float).std() - 8) < 0.1  # 120,000 draws: standard error 0.016
    assert abs(noisy.astype(float).mean() - 128) < 0.1
    assert np.array_equal(noisy, perturb.gaussian_noise(picture, 8.0, generator()))
    assert not np.array_equal(noisy, perturb.gaussian_noise(picture, 8.0, generator(2)))


@pytest.mark.parametrize(("factor", "shape"), [(0.5, (16, 24, 3)), (1.5, (48, 72, 3)), (0.05, (16, 16, 3))])
def test_resize_gives_even_sizes(factor, shape):
    resized = perturb.resize(GRAY, factor)
    assert resized.shape == shape
    assert (resized == 100).all()


def test_resize_by_one_changes_nothing():
    assert perturb.resize(GRAY, 1) is GRAY


def timed(count, fps=25.0, start=0.0):
    return [(start + 1000 * i / fps, i) for i in range(count)]


@pytest.mark.parametrize(
    ("source", "fps", "chosen"),
    [
        (timed(4), 25, [0, 1, 2, 3]),
        (timed(4), 50, [0, 0, 1, 1, 2, 2, 3, 3]),  # a time half-way goes to the earlier picture
        (timed(4), 12.5, [0, 2]),
        (timed(6, 30.0), 20, [0, 1, 3, 4]),  # 0, 50, 100, 150 ms; pictures at 0, 33, 67, 100, 133, 167: 150 is half-way
        (timed(4, start=500.0), 25, [0, 1, 2, 3]),
        ([(0.0, 0), (10.0, 1), (200.0, 2)], 10, [0, 1, 2, 2]),  # 100 ms: nearer to 10 than to 200 (midpoint 105)
        (timed(1), 25, [0]),
        ([], 25, []),
    ],
)
def test_resampling_takes_the_nearest_picture(source, fps, chosen):
    assert list(perturb.resample(source, fps)) == chosen


@given(st.integers(1, 60), st.sampled_from([10.0, 23.976, 25.0, 30.0, 59.94]), st.sampled_from([5.0, 24.0, 25.0, 60.0]))
def test_resampling_keeps_order_and_length(count, source_fps, fps):
    chosen = list(perturb.resample(timed(count, source_fps), fps))
    assert chosen == sorted(chosen)
    assert count == 1 or abs(len(chosen) / fps - count / source_fps) <= 1 / fps


@pytest.mark.parametrize(
    ("shift", "expected"),
    [(0, [1, 2, 3, 4]), (1, [0, 1, 2, 3]), (-1, [2, 3, 4, 0]), (9, [0, 0, 0, 0]), (-9, [0, 0, 0, 0])],
)
def test_audio_shift(shift, expected):
    samples = np.array([1, 2, 3, 4], np.float32)
    assert perturb.audio_shift(samples, shift, 1000).tolist() == expected


def test_audio_noise_stays_in_range_and_repeats():
    silence = np.zeros(100_000, np.float32)
    noisy = perturb.audio_noise(silence, 0.1, generator())
    assert noisy.dtype == np.float32
    assert abs(float(noisy.std()) - 0.1) < 0.001
    assert np.array_equal(noisy, perturb.audio_noise(silence, 0.1, generator()))
    assert float(np.abs(perturb.audio_noise(silence, 5.0, generator())).max()) == 1.0


def test_noise_seeds_differ_by_everything_that_matters():
    seeds = {
        perturb.noise_seed("picture", {"brightness": 1.0}, 1, "aa"),
        perturb.noise_seed("sound", {"brightness": 1.0}, 1, "aa"),
        perturb.noise_seed("picture", {"brightness": 0.8}, 1, "aa"),
        perturb.noise_seed("picture", {"brightness": 1.0}, 2, "aa"),
        perturb.noise_seed("picture", {"brightness": 1.0}, 1, "bb"),
    }
    assert len(seeds) == 5
