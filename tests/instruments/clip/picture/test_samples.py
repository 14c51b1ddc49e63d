"""A few frames in detail: noise, banding, blocks, seams, combs, colour, by hand and end to end."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    clipped_colour,
    combing,
    middle_of,
    noise_level,
    peak,
    seam_length,
    second_channel,
    static_part,
)
from rushes.instruments.clip.frames.quantiles import linear_quantile
from rushes.instruments.clip.frames.sample_kernels import (
    ColourCounts,
    Middle,
    colour_counts,
    middle,
    seam_counts,
    yuv_colour_counts,
)
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.picture.stills import COMBING, upper_quartile
from rushes.media import ClipReader
from rushes.media.array_reader import ArrayReader
from rushes.media.encode import write_clip
from rushes.media.luma import LumaPlane

NAMES = "noise_level static_part banding blocking seam_length combing clipped_colour peak_luma second_channel".split()


def slope(height: int = 128, width: int = 160) -> np.ndarray:
    """A picture without noise: light that grows to the right and down."""
    y, x = np.mgrid[0:height, 0:width]
    return (60 + 0.5 * x + 0.3 * y).astype(np.float32)


def coded(grey: np.ndarray) -> LumaPlane:
    """A picture of levels as a plane of 16 bits, to 1/256 of a level."""
    return LumaPlane(np.rint(grey * 256).clip(0, 65535).astype(np.uint16), 1 / 256, 0.0, False)


def seen(grey: np.ndarray, before: np.ndarray | None = None) -> Middle:
    """What is found of the middle of a picture of levels."""
    return middle_of(coded(grey), None if before is None else coded(before))


def test_noise_of_known_strength() -> None:
    rng = np.random.default_rng(1)
    for sigma in (2.0, 10.0):
        noisy = slope() + rng.normal(0, sigma, (128, 160)).astype(np.float32)
        # the quietest quarter of blocks, of 64 values that are not independent, lies some 12 % below the mean
        assert noise_level(seen(noisy)) == pytest.approx(0.88 * sigma, rel=0.05)
    assert noise_level(seen(slope())) == pytest.approx(0, abs=1e-3)
    assert noise_level(seen(np.zeros((64, 64), np.float32))) == 0


def test_static() -> None:
    rng = np.random.default_rng(6)
    half = slope(129, 161)
    half[:, 80:] = rng.uniform(0, 255, (129, 81))
    # 8 × 10 blocks of 16 × 16, of which the right five columns are noise
    assert static_part(seen(half)) == 0.5
    faint = slope(129, 161) + rng.normal(0, 8, (129, 161)).astype(np.float32)
    assert static_part(seen(faint)) == 0.0
    stripes = np.tile(200.0 * (np.arange(161) % 2), (129, 1)).astype(np.float32)
    assert static_part(seen(stripes)) == 0.0, "the one below is alike"


def test_few_levels() -> None:
    rng = np.random.default_rng(2)
    full = rng.integers(20, 230, (120, 160, 3)).astype(np.uint8)
    # all levels equally often: sums of whole waves are near 0; levels 4, 12, 20 …: e^(2πi v/8) is the same for all
    assert banding(colour_counts(full).half) < 0.05
    assert banding(colour_counts((full // 8 * 8 + 4).astype(np.uint8)).half) > 0.7
    assert banding(colour_counts((full // 32 * 32 + 16).astype(np.uint8)).half) > 0.3


def test_blocks() -> None:
    # steps of 5 every 8 pixels along both axes and nothing between: e = 5, mean d = 5 · 19 / 159 and 5 · 15 / 127
    y, x = np.mgrid[0:128, 0:160]
    blocky = (5.0 * (x // 8) + 5.0 * (y // 8)).astype(np.float32)
    expected = np.mean([5 / (5 * 19 / 159 + 0.3), 5 / (5 * 15 / 127 + 0.3)])
    assert blocking(seen(blocky)) == pytest.approx(expected, rel=1e-3)
    assert blocking(seen(slope())) == pytest.approx(0, abs=1e-3)


def test_seams() -> None:
    tiled = slope()
    for place in (40, 80, 120):
        tiled[:, place:] += 9
    for place in (32, 64, 96):
        tiled[place:] -= 9
    assert seam_length(coded(tiled)) == 1.0, "three of each, from edge to edge"
    assert seam_length(coded(slope())) == 0.0
    two = slope()
    two[:, 40:] += 9
    two[:, 80:] += 9
    assert seam_length(coded(two)) == 0.0


def test_combs() -> None:
    # stripes of 12 pixels that move by 6: odd rows of the later picture between even rows of the earlier one
    x = np.arange(160)
    before, after = (np.tile(100.0 + 80 * ((x + shift) // 12 % 2), (128, 1)).astype(np.float32) for shift in (0, 6))
    woven = before.copy()
    woven[1::2] = after[1::2]
    # where the rows differ, by 80, those two apart agree: 80 / (0 + 1), of up to 10 of the 16 columns of a block
    assert combing(seen(woven, after)) == pytest.approx(80 * 10 / 16)
    assert combing(seen(before, after)) == 0.0
    assert combing(seen(before, before)) == 0.0, "nothing moves"


def test_noise_is_no_comb() -> None:
    rng = np.random.default_rng(3)
    one, other = (rng.normal(120, 20, (128, 160)).astype(np.float32) for _ in range(2))
    # √1.5 σ over √2 σ, less the level added below
    assert combing(seen(one, other)) == pytest.approx(math.sqrt(0.75), abs=0.06)


def test_colours() -> None:
    picture = np.full((40, 40, 3), 100, np.uint8)
    picture[:10] = (255, 0, 0)
    assert clipped_colour(colour_counts(picture)) == 0.25
    assert second_channel(colour_counts(picture).quarter) == pytest.approx(100 / 255)
    green = np.zeros((40, 40, 3), np.uint8)
    green[..., 1] = 180
    assert second_channel(colour_counts(green).quarter) == 0.0
    assert second_channel(colour_counts(np.zeros((40, 40, 3), np.uint8)).quarter) == 1.0


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
    picture = rng.normal(120, rng.uniform(1, 60), (3, *shape)).clip(0, 255).astype(np.uint8)
    picture[1:, : shape[0] // 2] //= 16  # quiet blocks beside noisy ones
    grey, before = ((one.astype(np.float32) - np.float32(16)) * np.float32(255 / 219) for one in picture[:2])
    plane, then = (LumaPlane(one, 255 / 219, 16.0, False) for one in picture[:2])
    found = middle(plane, then, spread=225.0, share=0.3, moves=2.0)
    for steps, values in ((found.right, grey), (found.below, grey.T)):
        assert steps.tobytes() == np.abs(np.diff(values, axis=1)).mean(axis=0).tobytes()
    mask = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    response = np.abs(cv2.filter2D(grey, cv2.CV_32F, mask))
    for blocks, values in ((found.response, response), (found.light, grey)):
        assert blocks.tobytes() == means(values[1:-1, 1:-1], 8).tobytes()

    here, mean = grey[:-1, :-1], means(grey[:-1, :-1], 16)
    spread = means(here**2, 16) - mean**2
    shared = [means(here * one, 16) - mean * means(one, 16) for one in (grey[:-1, 1:], grey[1:, :-1])]
    static = (spread >= 225) & (np.maximum(*shared) <= np.float32(0.3) * spread)
    assert (found.static, found.blocks) == (static.sum(), len(static))

    down, across = seam_counts(plane, 1.5)
    assert down.tolist() == (steps_beside(grey[::3]) > 1.5).sum(axis=0).tolist()
    assert across.tolist() == (steps_beside(grey.T[::3]) > 1.5).sum(axis=0).tolist()

    line, field = np.abs(grey[1:-1] - (grey[:-2] + grey[2:]) / 2), np.abs(grey[2:] - grey[:-2])
    moved, lines, fields = (means(values, 16) for values in (np.abs(grey - before)[1:-1], line, field))
    expected = lines[moved >= 2] / (fields[moved >= 2] + 1)
    assert found.combs.tobytes() == expected.tobytes()


@pytest.mark.parametrize("turn", [np.asarray, np.rot90, np.flipud, lambda values: values[::2, ::3]])
def test_a_plane_may_lie_in_any_way_and_have_any_depth(turn: Callable[[np.ndarray], np.ndarray]) -> None:
    rng = np.random.default_rng(7)
    now, then = (turn(rng.integers(0, 256, (400, 600), np.uint8)) for _ in range(2))
    narrow, wide = (LumaPlane(now.astype(kind), 1.1, 16.0, False) for kind in (np.uint8, np.uint16))
    limits = {"spread": 225.0, "share": 0.3, "moves": 2.0}
    expected = middle(LumaPlane(now.copy(), 1.1, 16.0, False), LumaPlane(then.copy(), 0.9, 0.0, False), **limits)
    assert len(expected.combs)
    for plane in (LumaPlane(now, 1.1, 16.0, False), narrow, wide):
        found = middle(plane, LumaPlane(then, 0.9, 0.0, False), **limits)
        assert [np.asarray(one).tobytes() for one in found] == [np.asarray(one).tobytes() for one in expected]
        assert len(middle(plane, None, **limits).combs) == 0
        for one, other in zip(seam_counts(plane, 1.5), seam_counts(narrow, 1.5), strict=True):
            assert one.tolist() == other.tolist()


def as_counted(rgb: np.ndarray) -> list[object]:
    """What `colour_counts` is of a picture, by NumPy."""
    half, quarter = (rgb[::every, ::every].reshape(-1, 3) for every in (2, 4))
    burnt = ((half.max(axis=1) >= 250) & (half.min(axis=1) <= 8)).sum()
    return [*([np.bincount(channel, minlength=256).tolist() for channel in part.T] for part in (half, quarter)), burnt]


def counts(found: ColourCounts) -> list[object]:
    return [found.half.tolist(), found.quarter.tolist(), found.burnt]


def test_levels_are_counted_whichever_way_a_picture_lies() -> None:
    rng = np.random.default_rng(4)
    picture = rng.choice([0, 8, 9, 249, 250, 255], (37, 41, 3)).astype(np.uint8)
    for rgb in (picture, np.rot90(picture), picture[::-1, ::-1], np.moveaxis(picture.copy(), -1, 0).T):
        assert counts(colour_counts(rgb)) == as_counted(rgb)


@pytest.mark.parametrize("width", [96, 98, 130])
def test_levels_are_counted_without_the_picture(tmp_path: Path, width: int) -> None:
    """Planes that libswscale makes this very picture of, its brightest and darkest colours included."""
    rng = np.random.default_rng(width)
    colour = rng.integers(0, 256, (13, width // 8 + 1, 3)).repeat(8, 0).repeat(8, 1)[:98, :width]
    path = write_clip(tmp_path / "colours.mp4", [colour.astype(np.uint8)] * 2, fps=10, crf=1)
    with ClipReader(path) as reader:
        for frame in reader:
            stored = frame.planes()
            assert stored is not None
            assert counts(yuv_colour_counts(stored)) == as_counted(frame.rgb())


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
