"""The columns of DisCo, held against its own script."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.pixel_pictures import pictures

from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.kernels.boxes import box_ssim

GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "pixel_peers.json").read_text(encoding="utf-8"))
NAMES = ("disco_psnr", "disco_2023_psnr", "disco_ssim", "disco_l1")


@pytest.mark.parametrize("name", GOLDEN)
def test_its_own_script(name: str):
    found = compare_arrays(*pictures()[name], metrics=NAMES)
    assert {key: found[key].value for key in NAMES} == pytest.approx({k: GOLDEN[name][k] for k in NAMES}, abs=1e-10)


def test_the_overflow():
    # 10 against 0: 100 is 100 of 256. 20 against 0: 400 wraps to 144. 16 against 0: 256 wraps to 0, "identical".
    black = np.zeros((8, 8, 3), np.uint8)
    for level, wrapped in ((10, 100), (20, 144)):
        found = compare_arrays(black + np.uint8(level), black, metrics=["disco_2023_psnr"])
        assert found["disco_2023_psnr"].value == pytest.approx(10 * math.log10(65025 / wrapped), abs=1e-12)
    assert compare_arrays(black + np.uint8(16), black, metrics=["disco_2023_psnr"])["disco_2023_psnr"].value == 100.0
    assert compare_arrays(black + np.uint8(16), black, metrics=["disco_psnr"])["disco_psnr"].value < 24.1


def test_the_overflow_is_in_the_signature():
    black = np.zeros((8, 8, 3), np.uint8)
    found = compare_arrays(black, black, metrics=["disco_2023_psnr"])
    assert "|difference:uint8-wraps|" in found["disco_2023_psnr"].definition.signature
    assert "disco_psnr" not in found


def test_l1_is_divided_by_the_pixels():
    # 6 levels in every sample, over 4 × 8 pixels
    black = np.zeros((4, 8, 3), np.uint8)
    assert compare_arrays(black + np.uint8(6), black, metrics=["disco_l1"])["disco_l1"].value == 6 / 32


def test_one_window_of_seven():
    # 49 pixels, a 0 but for one 49, b 0 but for one 98 at the same place: μ 1 and 2; Σ(a−μ)² = 48² + 48 = 2352 → 49,
    # b four times, covariance twice that
    a, b = np.zeros((2, 7, 7), np.uint8)
    a[2, 3], b[2, 3] = 49, 98
    c1, c2 = 2.55**2, 7.65**2
    expected = (2 * 1 * 2 + c1) * (2 * 98 + c2) / ((1 + 4 + c1) * (49 + 196 + c2))
    assert box_ssim(a, b) == pytest.approx(expected, abs=1e-12)


def test_a_picture_smaller_than_the_window_has_no_value():
    small = np.zeros((6, 9, 3), np.uint8)
    found = compare_arrays(small, small, metrics=NAMES)
    assert found["disco_ssim"].note == "pictures of 9×6 are smaller than the window (7×7)"
    assert found["disco_psnr"].value == 100.0
    assert box_ssim(small[..., 0], small[..., 0]) is None
