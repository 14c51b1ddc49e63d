"""Cutting regions out of frames."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.vision.landmarks.crop import Cropper, Region, letterbox, reference_crop


def _noise(width: int, height: int, seed: int = 1) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def _crop(frame: NDArray[np.uint8], region: Region, size: int, *, replicate: bool = True) -> NDArray[np.uint8]:
    return Cropper(size).crop(frame, region, replicate=replicate)


def test_a_region_of_the_output_size_is_copied_unchanged() -> None:
    frame = _noise(128, 128)
    assert np.array_equal(_crop(frame, letterbox(128, 128), 128), frame)


def test_corners_map_to_corners_with_no_half_pixel_shift() -> None:
    # 128 output pixels over 256 frame pixels: output pixel i reads frame position 2i, not 2i + 0.5.
    frame = _noise(256, 256)
    assert np.array_equal(_crop(frame, letterbox(256, 256), 128), frame[::2, ::2])


def test_positions_are_rounded_to_a_thirty_second_with_ties_to_even() -> None:
    # 64 output pixels over 65 / 2 px: step 65/128 px = 16.25 thirty-seconds: 0, 16.25→16, 32.5→32 (a tie), 48.75→49.
    frame = np.repeat(np.arange(0, 128, 2, dtype=np.uint8)[None, :, None], 64, axis=0).repeat(3, axis=2)  # 2 a pixel
    row = _crop(frame, Region(16.25, 16.25, 32.5, 32.5, 0.0), 64)[0, :5, 0]
    # levels = position · 2, rounded half up by the fixed-point blend: 0, 1, 2, 49/16 → 3, 65/16 → 4
    assert row.tolist() == [0, 1, 2, 3, 4]


def test_a_quarter_turn_reads_columns_as_rows() -> None:
    frame = _noise(64, 64, seed=2)
    turned = _crop(frame, Region(32, 32, 64, 64, math.pi / 2), 64)
    # Turned clockwise by 90° about (32, 32): output (x, y) reads frame (64 − y, x).
    assert np.array_equal(turned[1:, :], np.stack([frame[:, 64 - y] for y in range(1, 64)]))


@pytest.mark.parametrize(("replicate", "expected"), [(True, 200), (False, 0)])
def test_outside_the_frame_is_black_or_its_edge(replicate: bool, expected: int) -> None:
    crop = _crop(np.full((10, 10, 3), 200, np.uint8), Region(5, 5, 64, 64, 0.0), 64, replicate=replicate)
    assert crop[0, 0].tolist() == [expected] * 3
    assert crop[32, 32].tolist() == [200] * 3


def test_a_portrait_is_letterboxed_by_its_height() -> None:
    assert letterbox(100, 300) == Region(50.0, 150.0, 300.0, 300.0, 0.0)


@pytest.mark.parametrize("replicate", [True, False])
@pytest.mark.parametrize("size", [128, 192, 256])
def test_the_kernel_is_the_reference(size: int, replicate: bool) -> None:
    rng, cropper = np.random.default_rng(size + replicate), Cropper(size)
    for width, height in ((97, 131), (350, 347), (1, 1), (2, 300), (640, 360)):
        frame = _noise(width, height, seed=width)
        whole = letterbox(width, height)
        regions = [whole] + [
            Region(*rng.uniform(-0.2, 1.2, 2) * (width, height), *rng.uniform(2, 500, 2), rng.uniform(-4, 4))
            for _ in range(6)
        ]
        for region in regions:
            wanted = reference_crop(frame, region, size, replicate=replicate)
            found = cropper.crop(frame, region, replicate=replicate)
            assert np.array_equal(found, wanted), (width, height, region)
