"""Cutting regions out of frames."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushes.face.crop import Region, letterbox, sample, sample_maps


def test_a_region_of_the_output_size_is_copied_unchanged() -> None:
    frame = np.random.default_rng(1).integers(0, 256, (128, 128, 3), dtype=np.uint8)
    maps = sample_maps(letterbox(128, 128), 128)
    assert np.array_equal(sample(frame, maps, replicate=True), frame)


def test_corners_map_to_corners_with_no_half_pixel_shift() -> None:
    # 128 output pixels over 256 frame pixels: output pixel i reads frame position 2i, not 2i + 0.5.
    whole, fraction = sample_maps(letterbox(256, 256), 128)
    assert np.array_equal(whole[0, :, 0], np.arange(128) * 2)
    assert np.array_equal(whole[:, 0, 1], np.arange(128) * 2)
    assert not fraction.any()


def test_positions_are_rounded_to_a_thirty_second_with_ties_to_even() -> None:
    # 128 over 64 · 65/64: step 65/128 px = 16.25 thirty-seconds: 0, 16.25→16, 32.5→32 (tie, even), 48.75→49, 65.
    whole, fraction = sample_maps(Region(32.5, 32.5, 65.0, 65.0, 0.0), 128)
    steps = whole[0, :5, 0].astype(int) * 32 + (fraction[0, :5] % 32)
    assert steps.tolist() == [0, 16, 32, 49, 65]


def test_a_quarter_turn_reads_columns_as_rows() -> None:
    frame = np.random.default_rng(2).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    turned = sample(frame, sample_maps(Region(32, 32, 64, 64, math.pi / 2), 64), replicate=True)
    # Turned clockwise by 90° about (32, 32): output (x, y) reads frame (64 − y, x).
    assert np.array_equal(turned[1:, :], np.stack([frame[:, 64 - y] for y in range(1, 64)]))


@pytest.mark.parametrize(("replicate", "expected"), [(True, 200), (False, 0)])
def test_outside_the_frame_is_black_or_its_edge(replicate: bool, expected: int) -> None:
    frame = np.full((10, 10, 3), 200, np.uint8)
    crop = sample(frame, sample_maps(Region(5, 5, 64, 64, 0.0), 64), replicate=replicate)
    assert crop[0, 0].tolist() == [expected] * 3
    assert crop[32, 32].tolist() == [200] * 3


def test_a_portrait_is_letterboxed_by_its_height() -> None:
    assert letterbox(100, 300) == Region(50.0, 150.0, 300.0, 300.0, 0.0)
