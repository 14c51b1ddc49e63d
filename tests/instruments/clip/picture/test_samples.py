"""A few frames in detail: noise, banding, blocks, seams, combs, colour, by hand and end to end."""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from rushes.core import Measurement
from rushes.instruments.clip import evaluate_clip
from rushes.instruments.clip.frames.picture_samples import (
    SampleWatch,
    banding,
    blocking,
    centre,
    colours,
    combing,
    noise_level,
    peak,
    seams,
    second_channel,
    static_part,
)
from rushes.instruments.clip.frames.quantiles import linear_quantile
from rushes.instruments.clip.frames.sample_kernels import (
    colour_counts,
    comb_ratios,
    noise_blocks,
    seam_columns,
    seam_rows,
    static_blocks,
)
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.picture.stills import COMBING, upper_quartile
from rushes.media.array_reader import ArrayReader
from rushes.media.encode import write_clip

NAMES = "noise_level static_part banding blocking seam_length combing clipped_colour peak_luma second_channel".split()


def slope(height: int = 128, width: int = 160) -> np.ndarray:
    """A picture without noise: light that grows to the right and down."""
    y, x = np.mgrid[0:height, 0:width]
    return (60 + 0.5 * x + 0.3 * y).astype(np.float32)


def test_noise_of_known_strength() -> None:
    rng = np.random.default_rng(1)
    for sigma in (2.0, 10.0):
        noisy = slope() + rng.normal(0, sigma, (128, 160)).astype(np.float32)
        # the quietest quarter of blocks, of 64 values that are not independent, lies some 12 % below the mean
        assert noise_level(noisy) == pytest.approx(0.88 * sigma, rel=0.05)
    assert noise_level(slope()) == pytest.approx(0, abs=1e-3)
    assert noise_level(np.zeros((64, 64), np.float32)) == 0


def test_static() -> None:
    rng = np.random.default_rng(6)
    half = slope(129, 161)
    half[:, 80:] = rng.uniform(0, 255, (129, 81))
    # 8 × 10 blocks of 16 × 16, of which the right five columns are noise
    assert static_part(half) == 0.5
    faint = slope(129, 161) + rng.normal(0, 8, (129, 161)).astype(np.float32)
    assert static_part(faint) == 0.0
    stripes = np.tile(200.0 * (np.arange(161) % 2), (129, 1)).astype(np.float32)
    assert static_part(stripes) == 0.0, "the one below is alike"


def test_few_levels() -> None:
    rng = np.random.default_rng(2)
    full = rng.integers(20, 230, (120, 160, 3)).astype(np.uint8)
    # all levels equally often: sums of whole waves are near 0; levels 4, 12, 20 …: e^(2πi v/8) is the same for all
    assert banding(colours(full, every=2)[0]) < 0.05
    assert banding(colours((full // 8 * 8 + 4).astype(np.uint8), every=2)[0]) > 0.7
    assert banding(colours((full // 32 * 32 + 16).astype(np.uint8), every=2)[0]) > 0.3


def test_blocks() -> None:
    # steps of 10 every 8 pixels along both axes and nothing between: e = 10, mean d = 10 · 19 / 159 and 10 · 15 / 127
    y, x = np.mgrid[0:128, 0:160]
    blocky = (10.0 * (x // 8) + 10.0 * (y // 8)).astype(np.float32)
    expected = np.mean([10 / (10 * 19 / 159 + 0.3), 10 / (10 * 15 / 127 + 0.3)])
    assert blocking(blocky) == pytest.approx(expected, rel=1e-3)
    assert blocking(slope()) == pytest.approx(0, abs=1e-3)


def test_seams() -> None:
    tiled = slope()
    for place in (40, 80, 120):
        tiled[:, place:] += 9
    for place in (32, 64, 96):
        tiled[place:] -= 9
    assert seams(tiled) == 1.0, "three of each, from edge to edge"
    assert seams(slope()) == 0.0
    two = slope()
    two[:, 40:] += 9
    two[:, 80:] += 9
    assert seams(two) == 0.0


def test_combs() -> None:
    # stripes of 12 pixels that move by 6: odd rows of the later picture between even rows of the earlier one
    x = np.arange(160)
    before, after = (np.tile(100.0 + 80 * ((x + shift) // 12 % 2), (128, 1)).astype(np.float32) for shift in (0, 6))
    woven = before.copy()
    woven[1::2] = after[1::2]
    # where the rows differ, by 80, those two apart agree: 80 / (0 + 1), of up to 10 of the 16 columns of a block
    assert combing(woven, after) == pytest.approx(80 * 10 / 16)
    assert combing(before, after) == 0.0
    assert combing(before, before) == 0.0, "nothing moves"


def test_noise_is_no_comb() -> None:
    rng = np.random.default_rng(3)
    one, other = (rng.normal(120, 20, (128, 160)).astype(np.float32) for _ in range(2))
    # √1.5 σ over √2 σ, less the level added below
    assert combing(one, other) == pytest.approx(math.sqrt(0.75), abs=0.06)


def test_colours() -> None:
    picture = np.full((40, 40, 3), 100, np.uint8)
    picture[:10] = (255, 0, 0)
    assert colours(picture, every=2)[1] == 0.25
    assert second_channel(colours(picture, every=4)[0]) == pytest.approx(100 / 255)
    green = np.zeros((40, 40, 3), np.uint8)
    green[..., 1] = 180
    assert second_channel(colours(green, every=4)[0]) == 0.0
    assert second_channel(colours(np.zeros((40, 40, 3), np.uint8), every=4)[0]) == 1.0


def test_the_centre_keeps_coded_blocks_in_place() -> None:
    y, x = np.mgrid[0:720, 0:1280]
    part = centre((1000.0 * y + x).astype(np.float32))
    assert part.shape == (384, 384)
    assert part[0, 0] % 16 == 0 and (part[0, 0] // 1000) % 16 == 0
    assert centre(slope()).shape == (128, 160)


def test_which_frames_are_looked_at() -> None:
    frames = np.full((110, 96, 96, 3), 90, np.uint8)
    watch = SampleWatch()
    for frame in ArrayReader(frames, fps=10):
        watch.add(frame)
    found = watch.finish()
    assert not isinstance(found, str)
    assert found.time_ms == (100.0, 1000.0, 2000.0, 4000.0, 8000.0)


@pytest.mark.parametrize(("shape", "why"), [((1, 40, 40, 3), "too short"), ((9, 90, 90, 3), "96 pixels")])
def test_nothing_to_look_at(shape: tuple[int, ...], why: str) -> None:
    watch = SampleWatch()
    for frame in ArrayReader(np.zeros(shape, np.uint8), fps=10):
        watch.add(frame)
    assert why in str(watch.finish())


def test_upper_quartile() -> None:
    assert upper_quartile(COMBING, [1.0]).value == 1.0
    assert upper_quartile(COMBING, [0.0, 0.0, 3.0]).value == 1.5


def test_end_to_end(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    noise = (rng.integers(0, 256, (96, 128), dtype=np.uint8) for _ in range(20))
    path = write_clip(tmp_path / "noise.mp4", noise, fps=10, crf=18)
    result = evaluate_clip(path, metrics=NAMES)
    assert result["noise_level"].value > 20 and result["noise_level"].count == 2
    assert result["sharpness"].value > 0.9
    assert evaluate_clip(path, profile="metricbundle-v1", tier=0)["noise_level"].value is None, "on request"
    for name in NAMES:
        assert METRICS[name].on_request
        assert result[name].value is not None and result[name].value == evaluate_clip(path, metrics=NAMES)[name].value


def means(values: np.ndarray, side: int) -> np.ndarray:
    """Means of blocks of so many pixels a side, as one row."""
    rows, columns = values.shape[0] // side, values.shape[1] // side
    part = values[: rows * side, : columns * side].reshape(rows, side, columns, side)
    return part.mean(axis=(1, 3)).ravel()


def steps_beside(values: np.ndarray) -> np.ndarray:
    """Along rows: how far each step stands out from the two on either side."""
    steps = np.abs(np.diff(values, axis=1))
    beside = np.maximum(np.maximum(steps[:, :-4], steps[:, 1:-3]), np.maximum(steps[:, 3:-1], steps[:, 4:]))
    return steps[:, 2:-2] - beside


@pytest.mark.parametrize("shape", [(96, 96), (97, 161), (300, 131), (500, 420)])
def test_the_loops_have_numpys_bytes(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    coded = rng.normal(120, rng.uniform(1, 60), (3, *shape)).clip(0, 255).astype(np.uint8)
    coded[1:, : shape[0] // 2] //= 16  # quiet blocks beside noisy ones
    grey, before = ((one.astype(np.float32) - np.float32(16)) * np.float32(255 / 219) for one in coded[:2])
    mask = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    response = np.abs(cv2.filter2D(grey, cv2.CV_32F, mask))
    for found, values in zip(noise_blocks(grey), (response, grey), strict=True):
        assert found.tobytes() == means(values[1:-1, 1:-1], 8).tobytes()

    here, mean = grey[:-1, :-1], means(grey[:-1, :-1], 16)
    spread = means(here**2, 16) - mean**2
    shared = [means(here * one, 16) - mean * means(one, 16) for one in (grey[:-1, 1:], grey[1:, :-1])]
    static = (spread >= 225) & (np.maximum(*shared) <= np.float32(0.3) * spread)
    assert static_blocks(grey, 225.0, 0.3) == (static.sum(), len(static))

    assert seam_rows(grey, 3, 1.5).tolist() == (steps_beside(grey[::3]) > 1.5).sum(axis=0).tolist()
    assert seam_columns(grey, 3, 1.5).tolist() == (steps_beside(grey.T[::3]) > 1.5).sum(axis=0).tolist()

    line, field = np.abs(grey[1:-1] - (grey[:-2] + grey[2:]) / 2), np.abs(grey[2:] - grey[:-2])
    moved, lines, fields = (means(values, 16) for values in (np.abs(grey - before)[1:-1], line, field))
    expected = lines[moved >= 2] / (fields[moved >= 2] + 1)
    assert comb_ratios(grey, before, 2.0).tobytes() == expected.tobytes()
    turned = np.rot90(grey), np.rot90(before)
    assert comb_ratios(*turned, 2.0).tobytes() == comb_ratios(*map(np.ascontiguousarray, turned), 2.0).tobytes()


@pytest.mark.parametrize("every", [1, 2, 4])
def test_levels_are_counted_whichever_way_a_picture_lies(every: int) -> None:
    rng = np.random.default_rng(every)
    picture = rng.choice([0, 8, 9, 249, 250, 255], (37, 41, 3)).astype(np.uint8)
    for rgb in (picture, np.rot90(picture), picture[::-1, ::-1], np.moveaxis(picture.copy(), -1, 0).T):
        part = rgb[::every, ::every].reshape(-1, 3)
        levels, burnt = colour_counts(rgb, every)
        assert levels.tolist() == [np.bincount(channel, minlength=256).tolist() for channel in part.T]
        assert burnt == ((part.max(axis=1) >= 250) & (part.min(axis=1) <= 8)).sum()


def test_quantiles_are_numpys() -> None:
    rng = np.random.default_rng(9)
    for size in (1, 2, 7, 1000):
        values = np.sort(rng.normal(100, 40, size).astype(np.float32))
        for q in (0.25, 0.75, 0.9, 0.995):
            assert linear_quantile(values.__getitem__, size, q) == float(np.quantile(values, q))
        plane = rng.integers(0, 256, (4 * size, 12)).astype(np.uint8)
        for coded in (plane, plane.astype(np.uint16) * 4):
            levels = (coded.astype(np.float32) - np.float32(16)) * np.float32(1.1)
            assert peak(coded, 1.1, 16) == float(np.quantile(levels[::4, ::4], 0.995))


def test_the_quantiser_that_a_stream_says(tmp_path: Path) -> None:
    """MPEG-4 at 8 throughout: 12 + 6 · log₂ 8 = 30. H.264 at a higher crf is coded more coarsely; FFV1 is lossless."""
    rng = np.random.default_rng(5)
    frames = [rng.integers(40, 200, (96, 128, 3), dtype=np.uint8) for _ in range(12)]

    def read(name: str, **settings: object) -> Measurement:
        return evaluate_clip(write_clip(tmp_path / name, frames, fps=10, **settings), metrics=("coding_quantiser",))[
            "coding_quantiser"
        ]

    fixed = read("fixed.mp4", codec="mpeg4", options={"qmin": "8", "qmax": "8"})
    assert (fixed.value, fixed.count) == (pytest.approx(30.0, abs=1e-6), 2)
    fine, coarse = (read(f"{crf}.mp4", crf=crf).value for crf in (18, 40))
    assert fine is not None and coarse is not None and fine + 15 < coarse <= 51
    lossless = read("lossless.mkv", codec="ffv1")
    assert lossless.value is None and "does not say" in lossless.note
