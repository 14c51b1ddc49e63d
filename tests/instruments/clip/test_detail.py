"""Sharpness at one height: by hand, against scipy's filters, and at several sizes of one picture."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from scipy import ndimage

from rushes.instruments.clip.frames.detail import HEIGHT, detail, reduced
from rushes.instruments.clip.metrics.image import sharpness


def texture(height: int, width: int, *, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(height, width))
    smooth = ndimage.gaussian_filter(noise, height / 300)
    return np.clip(120 + 50 * smooth / smooth.std(), 0, 255).astype(np.uint8)


def reference(plane: np.ndarray) -> float:
    """The formula in scipy, in floating point."""
    kernel = np.array([1, 4, 6, 4, 1]) / 16
    sharp = plane.astype(np.float64)
    soft = ndimage.convolve1d(ndimage.convolve1d(sharp, kernel, axis=0), kernel, axis=1)

    def energy(g: np.ndarray) -> float:
        inner = g[2:-2, 2:-2]
        across, down = inner[:-1, 1:] - inner[:-1, :-1], inner[1:, :-1] - inner[:-1, :-1]
        return float((across**2).sum() + (down**2).sum())

    return 1 - energy(soft) / energy(sharp)


@pytest.mark.parametrize("shape", [(8, 8), (40, 61), (192, 300)])
def test_against_scipy(shape: tuple[int, int]) -> None:
    plane = texture(*shape)
    assert detail(plane) == pytest.approx(reference(plane), abs=1e-12)
    assert detail(plane.astype(np.uint16) * 4, scale=0.25) == pytest.approx(detail(plane), abs=1e-12)


def test_an_edge_by_hand() -> None:
    """A step of 16 between two columns: E = 16² a row; blurred, its differences are 1 4 6 4 1: 70. 1 − 70/256."""
    plane = np.zeros((12, 20), np.uint8)
    plane[:, 10:] = 16
    assert detail(plane) == 1 - 70 / 256


def test_the_same_picture_at_three_sizes() -> None:
    """blur_score falls ninefold from 360 to 1080 rows; this reading stays."""
    large = texture(1080, 1440)
    sizes = [large, *(cv2.resize(large, (w, h), interpolation=cv2.INTER_AREA) for w, h in ((960, 720), (480, 360)))]
    values = [detail(plane) for plane in sizes]
    assert max(values) - min(values) < 0.03
    soft = detail(cv2.GaussianBlur(large, (0, 0), 12))
    assert soft < 0.35 < 0.5 < min(values)


def test_nothing_to_be_sharp() -> None:
    assert math.isnan(detail(np.full((64, 64), 90, np.uint8)))
    assert math.isnan(detail(np.zeros((7, 64), np.uint8)))
    assert sharpness([math.nan]).value is None and sharpness([]).value is None


def test_reduced() -> None:
    assert reduced(np.zeros((1080, 1920), np.uint8)).shape == (HEIGHT, 341)
    assert reduced(np.zeros((2160, 3840), np.uint8)).shape == (HEIGHT, 341)
    small = texture(100, 80)
    assert np.array_equal(reduced(small), small)


def test_the_median_over_frames() -> None:
    assert sharpness([0.2, math.nan, 0.4]).value == pytest.approx(0.3)
    assert sharpness([0.2, 0.9, 0.4]).count == 3
