"""PSNR and SSIM of common_metrics_on_video_quality, held against its own scripts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.pixel_pictures import pictures

from rushes.instruments.fidelity.arrays import compare_arrays

GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "pixel_peers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", GOLDEN)
def test_its_own_scripts(name: str):
    found = compare_arrays(*pictures()[name], metrics=["common_psnr", "common_ssim"])
    assert found["common_psnr"].value == pytest.approx(GOLDEN[name]["common_psnr"], abs=1e-10)
    assert found["common_ssim"].value == pytest.approx(GOLDEN[name]["common_ssim"], abs=5e-7)


def test_zeros_against_ones_as_its_readme_prints_them():
    zeros = np.zeros((2, 64, 64, 3), np.uint8)
    found = compare_arrays(zeros, zeros + np.uint8(255), metrics=["common_psnr", "common_ssim"])
    assert found["common_psnr"].value == 0.0
    assert found["common_ssim"].value == pytest.approx(9.999000099990664e-05, abs=1e-10)


def test_nearly_equal_pictures_have_100():
    # one sample of 256 × 256 × 3 off by 1: 1/(196608 · 65025) = 7.8e-11, below 1e-10; two of them are above
    gt = np.zeros((256, 256, 3), np.uint8)
    gen = gt.copy()
    gen[0, 0, 0] = 1
    assert compare_arrays(gen, gt, metrics=["common_psnr"])["common_psnr"].value == 100.0
    gen[0, 0, 1] = 1
    found = compare_arrays(gen, gt, metrics=["common_psnr"])["common_psnr"].value
    assert found == pytest.approx(98.056, abs=1e-3)


def test_identical():
    gt = pictures()["odd"][1]
    found = compare_arrays(gt, gt, metrics=["common_psnr", "common_ssim"])
    assert [found[name].value for name in found] == [100.0, 1.0]


def test_a_picture_smaller_than_the_window_has_no_value():
    small = np.zeros((10, 40, 3), np.uint8)
    found = compare_arrays(small, small, metrics=["common_psnr", "common_ssim"])
    assert found["common_ssim"].note == "pictures of 40×10 are smaller than the window (11×11)"
