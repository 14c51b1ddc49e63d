"""Loops over blocks, planes and a few numbers: the bytes of NumPy's own sums, which every number of a clip rests on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushes.instruments.clip.frames.grid_kernels import (
    correlation_sums,
    dot_products,
    largest_ahead,
    region_moves,
    square_sums,
)
from rushes.instruments.clip.frames.quantiles import median, quantile

LENGTHS = [1, 5, 7, 8, 9, 63, 128, 129, 255, 256, 448, 495, 496, 497, 512, 513, 1000]
"""NumPy adds up fewer than 8 values, up to 128, and more than that in three ways."""


@pytest.mark.parametrize("count", LENGTHS)
def test_sums_over_rows_are_numpys(count: int) -> None:
    rng = np.random.default_rng(count)
    one, other = rng.integers(-300000, 300000, (2, 9, count)).astype(np.float64)
    assert square_sums(one, other).tobytes() == np.square(one - other).sum(axis=-1).tobytes()
    assert square_sums(one[2:], one[1]).tobytes() == np.square(one[2:] - one[1]).sum(axis=-1).tobytes()
    ahead = np.stack([np.square(one[lag : 6 + lag] - one[:6]).sum(axis=-1) for lag in (1, 2, 3)]).max(axis=0)
    assert largest_ahead(one, 3).tobytes() == ahead.tobytes()
    one, other = rng.normal(100, 40, (2, 9, count))
    a, b = (rows - rows.mean(1, keepdims=True) for rows in (one, other))
    both, each = correlation_sums(one, other)
    assert both.tobytes() == (a * b).sum(1).tobytes()
    assert each.tobytes() == ((a * a).sum(1) * (b * b).sum(1)).tobytes()


@pytest.mark.parametrize("count", LENGTHS)
def test_products_of_whole_numbers_are_exact(count: int) -> None:
    rows = np.random.default_rng(count).integers(-16320, 16320, (7, count))
    assert dot_products(rows.astype(np.float64)).tolist() == (rows @ rows.T).tolist()


@pytest.mark.parametrize("regions", [(1, 1), (4, 4), (8, 3), (4, 7)])
@pytest.mark.parametrize("shape", [(16, 16), (16, 28), (3, 9), (1, 5)])
def test_moves_of_regions_are_numpys(shape: tuple[int, int], regions: tuple[int, int]) -> None:
    pictures = np.random.default_rng(5).normal(100, 40, (7, *shape)).astype(np.float32)
    after, before = (part.astype(np.float64) for part in (pictures[1:], pictures[:-1]))
    gradients = np.gradient((after + before) / 2, axis=(1, 2)) if min(shape) > 1 else (after, after)
    rows, columns = (min(count, max(1, side // 2)) for count, side in zip(regions, shape, strict=True))
    tall, wide = shape[0] // rows, shape[1] // columns

    def deviations(plane: np.ndarray) -> np.ndarray:
        part = plane[:, : tall * rows, : wide * columns].reshape(6, rows, tall, columns, wide)
        blocks = part.transpose(0, 1, 3, 2, 4).reshape(6, rows, columns, tall * wide)
        return blocks - blocks.mean(axis=-1, keepdims=True)

    g, h, e = map(deviations, (*gradients, after - before))
    gg, hh, gh = (g * g).sum(-1) + tall * wide * 0.5, (h * h).sum(-1) + tall * wide * 0.5, (g * h).sum(-1)
    ge, he = (g * e).sum(-1), (h * e).sum(-1)
    scale = gg * hh - gh * gh
    expected = np.stack([(gh * he - hh * ge) / scale, (gh * ge - gg * he) / scale], axis=-1)
    assert region_moves(pictures, regions, 0.5).tobytes() == expected.tobytes()


def test_medians_and_quantiles_are_numpys() -> None:
    rng = np.random.default_rng(6)
    for count in (1, 2, 3, 99, 100):
        for values in (rng.normal(0, 9, count), rng.integers(0, 9, count), rng.normal(0, 9, count).astype(np.float32)):
            assert median(values) == float(np.median(values))
            assert quantile(values, 0.75) == float(np.quantile(values, 0.75))
    assert math.isnan(median([1.0, math.nan, 3.0])) and math.isnan(median([]))
