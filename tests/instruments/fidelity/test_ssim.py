"""SSIM as Wang et al. published it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat, write_luma
from tests.instruments.fidelity.plain_kernels import block_total, gaussian_totals, half
from tests.instruments.fidelity.scoring import score, tid2013
from tests.instruments.fidelity.test_psnr import libvmaf_clip
from tests.oracle.pixel_pictures import pictures

from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.kernels.blocks import block_ssim
from rushes.instruments.fidelity.kernels.gaussian import Scaled, constants, gaussian_ssim, halved, weights

GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "pixel_peers.json").read_text(encoding="utf-8"))


def test_the_windows_weights_sum_to_one():
    middle, *others = map(float, weights())
    assert middle + 2 * sum(others) == pytest.approx(1, abs=1e-9)
    assert others[-1] / middle == pytest.approx(math.exp(-25 / 4.5), abs=1e-7)


@pytest.mark.parametrize("values", [(0, 8), (246, 256), (100, 140)])
def test_a_mean_is_as_that_of_doubles(values: tuple[int, int]):
    # grain on plain paper: what is left of two squares' difference is small, and so exactness matters most
    rng = np.random.default_rng(8)
    gt = rng.integers(*values, (200, 300)).astype(np.uint8)
    gen = np.clip(gt + rng.integers(-2, 3, gt.shape), 0, 255).astype(np.uint8)
    assert gaussian_ssim(Scaled(gen, gt)).ssim == pytest.approx(in_doubles(gen, gt), abs=1e-7)


def in_doubles(gen: np.ndarray, gt: np.ndarray) -> float:
    side = np.exp(-(np.arange(-5, 6) ** 2) / 4.5)
    x, y = gen.astype(float), gt.astype(float)
    mx, my, xx, yy, xy = (
        np.apply_along_axis(
            np.convolve,
            0,
            np.apply_along_axis(np.convolve, 1, p, side / side.sum(), "valid"),
            side / side.sum(),
            "valid",
        )
        for p in (x, y, x * x, y * y, x * y)
    )
    light = (2 * mx * my + 2.55**2) / (mx**2 + my**2 + 2.55**2)
    return float(np.mean(light * (2 * (xy - mx * my) + 7.65**2) / (xx - mx**2 + yy - my**2 + 7.65**2)))


def test_two_plain_pictures_differ_in_light_alone():
    # no variance: (2 · 50 · 100 + C1) / (50² + 100² + C1), C1 = 2.55²
    one, other = np.full((12, 15, 3), 50, np.uint8), np.full((12, 15, 3), 100, np.uint8)
    expected = (2 * 50 * 100 + 6.5025) / (50**2 + 100**2 + 6.5025)
    assert compare_arrays(one, other, metrics=["ssim"])["ssim"].value == pytest.approx(expected, abs=1e-6)


def test_one_window():
    # 11 × 11 pixels have one window: the formula, in double precision
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 256, (11, 11)).astype(np.uint8) for _ in range(2))
    side = np.exp(-(np.arange(-5, 6) ** 2) / 4.5)
    weights = np.outer(side, side) / side.sum() ** 2
    x, y = a.astype(float), b.astype(float)
    ma, mb = (weights * x).sum(), (weights * y).sum()
    va, vb, ab = (weights * x * x).sum() - ma**2, (weights * y * y).sum() - mb**2, (weights * x * y).sum() - ma * mb
    c1, c2 = 2.55**2, 7.65**2
    contrast = (2 * ab + c2) / (va + vb + c2)
    assert gaussian_ssim(Scaled(a, b)).contrast == pytest.approx(contrast, abs=1e-6)
    light = (2 * ma * mb + c1) / (ma**2 + mb**2 + c1)
    assert gaussian_ssim(Scaled(a, b)).ssim == pytest.approx(light * contrast, abs=1e-6)


@pytest.mark.parametrize("name", GOLDEN)
def test_scikit_image(name: str):
    found = compare_arrays(*pictures()[name], metrics=["ssim"])["ssim"].value
    assert found == pytest.approx(GOLDEN[name]["ssim"], abs=5e-7)


@pytest.mark.parametrize("size", [(11, 11), (18, 26), (19, 27), (27, 43), (12, 523), (54, 12)])
def test_every_window_is_counted_once(size: tuple[int, int]):
    # bands of 8 rows, strips of 512 columns in 16 parts: sizes about their edges against a plain sum over windows
    rng = np.random.default_rng(4)
    a = rng.integers(0, 256, size).astype(np.uint8)
    b = np.clip(a.astype(int) + rng.integers(-60, 60, size), 0, 255).astype(np.uint8)
    windows = [
        gaussian_ssim(Scaled(a[i : i + 11, j : j + 11], b[i : i + 11, j : j + 11])).ssim
        for i in range(size[0] - 10)
        for j in range(size[1] - 10)
    ]
    assert gaussian_ssim(Scaled(a, b)).ssim == pytest.approx(np.mean(windows), abs=1e-7)


def test_laws():
    gen, gt = pictures()["noise"]
    one = compare_arrays(gt, gt, metrics=["ssim"])["ssim"].value
    assert one == 1.0
    rng = np.random.default_rng(5)
    grain = rng.normal(0, 1, gt.shape)
    values = [
        compare_arrays(np.clip(gt + strength * grain, 0, 255).astype(np.uint8), gt, metrics=["ssim"])["ssim"].value
        for strength in (2, 8, 32)
    ]
    assert values == sorted(values, reverse=True)
    there, back = (compare_arrays(*pair, metrics=["ssim"])["ssim"].value for pair in ((gen, gt), (gt, gen)))
    assert there == back


def test_depth_makes_no_difference_to_the_same_picture(tmp_path: Path):
    rng = np.random.default_rng(6)
    gt = rng.integers(30, 200, (24, 32)).astype(np.uint8)
    gen = np.clip(gt + rng.integers(-20, 21, gt.shape), 16, 235).astype(np.uint8)
    values = []
    for bits, form in ((8, "yuv420p"), (10, "yuv420p10le")):
        pair = [
            write_luma(tmp_path / f"{side}{bits}.mkv", [plane.astype(np.uint16) << (bits - 8)], form)
            for side, plane in (("gen", gen), ("gt", gt))
        ]
        values.append(score(*pair, "ssim").measurements["ssim"].value)
    mixed = score(tmp_path / "gen8.mkv", tmp_path / "gt10.mkv", "ssim").measurements["ssim"].value
    assert values[1] == pytest.approx(values[0], abs=1e-7)
    assert mixed == pytest.approx(values[0], abs=1e-6)


def test_a_picture_smaller_than_the_window_has_no_value(tmp_path: Path):
    pair = [write_luma(tmp_path / f"{i}.mkv", [flat(i, size=(32, 10))], "yuv420p") for i in (40, 50)]
    found = score(*pair, "ssim").measurements["ssim"]
    assert found.value is None
    assert found.note == "pictures of 32×10 are smaller than the window (11×11)"


PUBLISHED = {
    "I03": (21.11, 0.6993, 28.99),
    "I04": (20.99, 0.9978, 28.39),
    "I06": (27.01, 0.9989, 30.89),
    "I08": (23.30, 0.9669, 42.98),
    "I19": (21.62, 0.6519, 28.95),
}
"""PSNR and SSIM of the authors' own code on five pairs of TID2013; then DisCo's PSNR with its overflow."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_tid2013(name: str):
    gen, gt = tid2013(name)
    found = compare_arrays(gen, gt, metrics=["psnr", "ssim", "disco_psnr", "disco_2023_psnr"])
    psnr, ssim, wrapped = PUBLISHED[name]
    assert found["psnr"].value == pytest.approx(psnr, abs=0.005)
    assert found["disco_psnr"].value == pytest.approx(psnr, abs=0.005)
    assert found["ssim"].value == pytest.approx(ssim, abs=5e-5)
    assert found["disco_2023_psnr"].value == pytest.approx(wrapped, abs=0.006)


@pytest.mark.shared
def test_libvmaf_files(shared: Path, tmp_path: Path):
    """Published: 0.897863, on codes over 4 (white at 1020) and with the window's weights rounded to six decimals.

    With the codes over 4 and exact weights it is 0.897876, and that is what our kernel makes of them.
    """
    paths = [libvmaf_clip(shared, tmp_path, side) for side in ("dis", "ref")]
    values = [gaussian_ssim(Scaled(gen, gt, (1, 1), (512, 512), 512, 1020)).ssim for gen, gt in _lumas(*paths)]
    assert np.mean(values) == pytest.approx(0.8978759282533555, abs=1e-7)
    assert np.mean(values) == pytest.approx(0.897863, abs=2e-5)


def _lumas(*paths: Path):
    from rushes.media import ClipReader

    sides = []
    for path in paths:
        with ClipReader(path) as reader:
            sides.append([frame.luma.values.copy() for frame in reader])
    return zip(*sides, strict=True)


@pytest.mark.parametrize("shape", [(11, 11), (12, 139), (64, 66), (27, 540), (37, 12)])
def test_the_loops_have_numpys_bytes(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    gt = rng.integers(0, 256, shape)
    gen = np.clip(gt + rng.integers(-60, 60, shape), 0, 255)
    deep = Scaled(gen.astype(np.uint16) * 4, gt.astype(np.float32), (1.0, 255 / 219), (500.0, 146.1), 500.0, 1000.0)
    narrow, single = Scaled(gen.astype(np.uint8), gt.astype(np.uint8)), np.float32
    upwards = Scaled(narrow.gen[::-1], np.repeat(narrow.gt, 2, axis=1)[:, ::2])
    windows = (shape[0] - 10) * (shape[1] - 10)
    for pair in (narrow, deep, upwards):
        gains, shifts = (tuple(map(single, values)) for values in (pair.gains, pair.shifts))
        totals = gaussian_totals(pair.gen, pair.gt, gains, shifts, constants(pair.middle, pair.peak, 0.01, 0.03))
        expected = tuple(total / windows for total in totals)
        for vectors in range(3):  # without the instruction, and each width that this processor has
            assert gaussian_ssim(pair, vectors=vectors) == expected
        assert gaussian_ssim(pair, contrast=False).ssim == expected[0]
        sides = zip(halved(pair)[:2], pair[:2], gains, shifts, strict=True)
        for found, values, gain, shift in sides:
            assert found.tobytes() == half(values.astype(single) * gain - shift).tobytes()


def test_blocks_have_numpys_bytes() -> None:
    shape = (64, 266)
    rng = np.random.default_rng(7)
    gt = rng.integers(0, 256, shape)
    gen = np.clip(gt + rng.integers(-60, 60, shape), 0, 255)
    blocks = (shape[0] // 4 - 1) * (shape[1] // 4 - 1)
    for kind, lane in ((np.uint8, np.int32), (np.uint16, np.int64)):
        sides = gen.astype(kind), gt.astype(kind)
        c1, c2 = (lane(share * share * 255 * 255 * count + 0.5) for share, count in ((0.01, 64), (0.03, 64 * 63)))
        assert block_ssim(*sides, 255) == block_total(*sides, c1, c2) / blocks
        assert (
            block_ssim(sides[0][::-1], sides[1][::-1], 255)
            == block_total(sides[0][::-1], sides[1][::-1], c1, c2) / blocks
        )
