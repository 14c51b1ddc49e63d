"""PSNR over RGB and luma."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat, noise, write_luma
from tests.instruments.fidelity.plain_kernels import rgb_totals
from tests.instruments.fidelity.scoring import score

from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.kernels.sums import rgb_sums, squared_difference
from rushes.instruments.fidelity.pairs.rgb import psnr_of


def picture(*rgb: int, size: tuple[int, int] = (16, 12)) -> np.ndarray:
    return np.full((size[1], size[0], 3), rgb, np.uint8)


@pytest.mark.parametrize(
    ("gen", "gt", "expected"),
    [
        ((0, 0, 0), (255, 255, 255), 0.0),  # MSE 255²
        ((10, 20, 30), (11, 20, 30), 10 * math.log10(65025 * 3)),  # one channel of three is off by 1: MSE 1/3
        ((100, 100, 100), (105, 95, 100), 10 * math.log10(65025 * 3 / 50)),  # MSE (25 + 25 + 0) / 3
        ((7, 7, 7), (7, 7, 7), 100.0),  # identical: the cap
    ],
)
def test_hand_computed(gen, gt, expected):
    assert compare_arrays(picture(*gen), picture(*gt), metrics=["psnr"])["psnr"].value == pytest.approx(
        expected, abs=1e-12
    )


def test_a_nearly_identical_picture_has_no_more_than_an_identical_one():
    # one sample of 400 × 400 × 3 is off by 1: MSE 1/480000, 104.9 dB before the cap
    gt = picture(9, 9, 9, size=(400, 400))
    gen = gt.copy()
    gen[3, 4, 1] = 10
    assert psnr_of(1 / 480000) > 104.9
    assert compare_arrays(gen, gt, metrics=["psnr"])["psnr"].value == 100.0


def test_the_clip_is_the_mean_of_its_frames():
    # frames of MSE 1 and 100: (48.13 + 28.13) / 2, not the PSNR of MSE 50.5
    gen = np.stack([picture(1, 1, 1), picture(10, 10, 10)])
    value = compare_arrays(gen, np.zeros_like(gen), metrics=["psnr"])["psnr"]
    assert value.value == pytest.approx(10 * math.log10(65025) - 10, abs=1e-12)
    assert value.count == 2


def test_symmetric_and_falls_with_noise():
    rng = np.random.default_rng(1)
    gt = rng.integers(60, 190, (20, 24, 3)).astype(np.uint8)
    grain = rng.normal(0, 1, gt.shape)
    values = []
    for strength in (1, 4, 16):
        gen = np.clip(gt + strength * grain, 0, 255).astype(np.uint8)
        there, back = (compare_arrays(a, b, metrics=["psnr", "psnr_y"]) for a, b in ((gen, gt), (gt, gen)))
        assert {name: found.value for name, found in there.items()} == {n: found.value for n, found in back.items()}
        values.append([there["psnr"].value, there["psnr_y"].value])
    assert (np.diff(values, axis=0) < 0).all()


def test_sums_are_exact_in_any_memory_layout():
    rng = np.random.default_rng(2)
    one, other = (rng.integers(0, 256, (9, 30, 3)).astype(np.uint8) for _ in range(2))
    assert rgb_sums(one, other) == rgb_totals(one, other)
    assert rgb_sums(one[::-1], other[:, ::-1]) == rgb_totals(one[::-1], other[:, ::-1])
    black, white = np.zeros((130, 300, 3), np.uint8), np.full((130, 300, 3), 255, np.uint8)
    assert rgb_sums(black, white) == rgb_totals(black, white), "more than lanes of 32 bits hold"
    for kind in (np.uint8, np.uint16):
        a, b = (rng.integers(0, np.iinfo(kind).max + 1, (10, 40)).astype(kind) for _ in range(2))
        for view in (np.s_[:], np.s_[:, :33], np.s_[:, ::2], np.s_[::-1]):
            expected = int(((a[view].astype(np.int64) - b[view]) ** 2).sum())
            assert squared_difference(a[view], b[view]) == expected


def test_luma_of_limited_range_is_stretched(tmp_path: Path):
    # codes 100 and 110 of 16–235: 10 · 255/219 levels apart
    gen, gt = (write_luma(tmp_path / f"{code}.mkv", [flat(code)] * 2, "yuv420p") for code in (110, 100))
    value = score(gen, gt, "psnr_y").measurements["psnr_y"].value
    assert value == pytest.approx(-20 * math.log10(10 / 219), abs=1e-12)


def test_luma_of_unlike_depth_and_range_meets_on_one_scale(tmp_path: Path):
    # 8 bits limited, code 125: (125 − 16) · 255/219; 10 bits full, code 511: 511 · 255/1023
    gen = write_luma(tmp_path / "8.mkv", [flat(125)], "yuv420p")
    gt = write_luma(tmp_path / "10.mkv", [flat(0).astype(np.uint16) + 511], "yuv420p10le", color_range=2)
    apart = 109 * 255 / 219 - 511 * 255 / 1023
    value = score(gen, gt, "psnr_y").measurements["psnr_y"].value
    assert value == pytest.approx(20 * math.log10(255 / abs(apart)), abs=1e-9)


def test_luma_that_is_shown_is_no_matter_of_how_it_is_turned(tmp_path: Path):
    planes = noise(4, size=(32, 24))
    gen, gt = (write_luma(tmp_path / f"{i}.mkv", planes[i::2], "yuv420p") for i in range(2))
    turned = [write_luma(tmp_path / f"t{i}.mp4", planes[i::2], "yuv420p", codec="ffv1", rotation=90) for i in range(2)]
    names = ("psnr", "psnr_y", "ssim", "ffmpeg_psnr")
    plain = {name: found.value for name, found in score(gen, gt, *names).measurements.items()}
    assert {n: found.value for n, found in score(*turned, *names).measurements.items()} == pytest.approx(
        plain, abs=1e-7
    )


def test_rgb_pictures_have_the_luma_of_rgb2gray():
    # 0.298936 · 200 = 59.79 → 60, against black: 20 log10(255 / 60)
    value = compare_arrays(picture(200, 0, 0), picture(0, 0, 0), metrics=["psnr_y"])["psnr_y"].value
    assert value == pytest.approx(20 * math.log10(255 / 60), abs=1e-12)


@pytest.mark.shared
def test_libvmaf_files(shared: Path, tmp_path: Path):
    """Published by Netflix/vmaf: PSNR-Y 32.57145231892744, the mean over three frames, peak 1023."""
    paths = {side: libvmaf_clip(shared, tmp_path, side) for side in ("dis", "ref")}
    scored = score(paths["dis"], paths["ref"], "psnr_y", "ffmpeg_psnr_y", "ffmpeg_psnr_u", "ffmpeg_psnr_v")
    assert scored.measurements["psnr_y"].value == pytest.approx(32.57145231892744, abs=1e-6)
    published = {
        "ffmpeg_psnr_y": 32.57145231892744,
        "ffmpeg_psnr_u": 39.03859552689696,
        "ffmpeg_psnr_v": 41.28060001337217,
    }
    assert {name: scored.series[name].mean() for name in published} == pytest.approx(published, abs=1e-6)


def libvmaf_clip(shared: Path, folder: Path, side: str) -> Path:
    """One of libvmaf's raw test files as a clip of full range, so that codes are compared as they are."""
    from tests.clips import write_frames
    from tests.instruments.fidelity.scoring import planar

    source = shared / "golden" / "published" / f"vmaf_src01_{side}_576x324.yuv420p10le.yuv"
    if not source.is_file():
        pytest.skip("libvmaf's files are not among the reference material")
    frames = np.fromfile(source, "<u2").reshape(3, -1)
    luma, chroma = 576 * 324, 288 * 162
    planes = [
        [row[:luma].reshape(324, 576), *(row[luma + i * chroma :][:chroma].reshape(162, 288) for i in range(2))]
        for row in frames
    ]
    ready = (planar("yuv420p10le", found) for found in planes)
    return write_frames(folder / f"{side}.mkv", ready, color_range=2)
