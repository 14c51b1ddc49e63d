"""SSIM over five scales."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.fidelity.scoring import tid2013
from tests.oracle.pixel_pictures import pictures

from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.kernels.gaussian import Scaled, gaussian_ssim, halved
from rushes.instruments.fidelity.metrics.ms_ssim import SMALLEST, WEIGHTS, multi_scale, scales
from rushes.instruments.fidelity.pairs.luma import rgb2gray

GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "pixel_peers.json").read_text(encoding="utf-8"))
# pytorch-msssim takes each window's negative contrast for 0, the authors' code does not: pairs where none is
ALIKE = ("noise", "dark", "tinted")


def test_the_smallest_picture_holds_the_window_at_the_fifth_scale():
    assert SMALLEST == 176 and sum(WEIGHTS) == pytest.approx(1.0001)


@pytest.mark.parametrize("name", ALIKE)
def test_pytorch_msssim(name: str):
    found = compare_arrays(*pictures()[name], metrics=["ms_ssim"])["ms_ssim"].value
    assert found == pytest.approx(GOLDEN[name]["ms_ssim"], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "published"), [("I03", 0.6733), ("I04", 0.9996), ("I06", 0.9998), ("I08", 0.9566), ("I19", 0.8462)]
)
def test_tid2013(name: str, published: float):
    """The authors' code, by its method `wtd_sum`: the weighted mean of the five scales, not their product."""
    gen, gt = map(rgb2gray, tid2013(name))
    pair = Scaled(gen, gt)
    values = scales(pair, gaussian_ssim(pair))
    assert np.average(values, weights=WEIGHTS) == pytest.approx(published, abs=6e-5)
    assert multi_scale(pair, gaussian_ssim(pair)) == pytest.approx(
        math.prod(v**w for v, w in zip(values, WEIGHTS, strict=True))
    )


def test_two_plain_pictures_differ_in_light_at_the_coarsest_scale():
    # contrast is 1 at every scale, and light counts once, to the power of the last weight
    one, other = np.full((176, 180), 50, np.uint8), np.full((176, 180), 100, np.uint8)
    light = (2 * 50 * 100 + 6.5025) / (50**2 + 100**2 + 6.5025)
    pair = Scaled(one, other)
    assert multi_scale(pair, gaussian_ssim(pair)) == pytest.approx(light**0.1333, abs=1e-6)


def test_halves_are_means_of_four_and_a_lone_column_counts_twice():
    plane = np.array([[0, 4, 8], [4, 8, 16]], np.uint8)
    pair = halved(Scaled(plane, plane, (1, 1), (2, 2), 2))
    # (0 + 4 + 4 + 8) / 4 − 2 and (8 + 8 + 16 + 16) / 4 − 2
    assert pair.gen.tolist() == [[2.0, 10.0]]
    assert pair.shifts == (0.0, 0.0) and pair.middle == 2


def test_laws():
    gen, gt = pictures()["shifted"]
    assert compare_arrays(gt, gt, metrics=["ms_ssim"])["ms_ssim"].value == 1.0
    assert compare_arrays(gen, gt, metrics=["ms_ssim"])["ms_ssim"].value < 0.9
    # the negative of a picture has negative contrast: counted as 0
    assert compare_arrays(255 - gt, gt, metrics=["ms_ssim"])["ms_ssim"].value == 0.0


def test_together_as_apart():
    """SSIM and the finest scale are one computation where both are asked for."""
    pair = pictures()["noise"]
    together = compare_arrays(*pair, protocol="wang2004")
    assert len(together) == 5
    for name in together:
        assert compare_arrays(*pair, metrics=[name])[name].value == together[name].value


def test_a_picture_smaller_than_the_pyramid_has_no_value():
    small = np.zeros((175, 300, 3), np.uint8)
    found = compare_arrays(small, small, metrics=["ms_ssim"])["ms_ssim"]
    assert found.value is None
    assert found.note == "pictures of 300×175 are smaller than its pyramid of five scales (176×176)"
