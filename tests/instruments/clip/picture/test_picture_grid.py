"""Every frame as a grid of blocks: sums by numba and OpenCV are the reference's, and colours are what they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushes.instruments.clip.frames import luma_sums as luma_module
from rushes.instruments.clip.frames.chroma_sums import chroma_edges, chroma_sums, reference_sums
from rushes.instruments.clip.frames.observe import observe, observed
from rushes.instruments.clip.frames.picture_grid import TEXTURE_MS
from rushes.media.array_reader import ArrayReader
from rushes.media.encode import write_clip


@pytest.fixture(params=["opencv", "numba"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(luma_module, "_seen", 0 if request.param == "opencv" else luma_module._PAYS_FROM + 1)
    return str(request.param)


def grid_of(frames: np.ndarray, fps: float = 25.0):
    return observed(lambda: ArrayReader(frames, fps=fps), "memory").grid


@pytest.mark.parametrize(("shape", "dtype"), [((20, 30), np.uint8), ((700, 40), np.uint8), ((64, 50), np.uint16)])
def test_chroma_sums_equal_the_reference(shape: tuple[int, int], dtype: type, way: str) -> None:
    rng = np.random.default_rng(3)
    blue, red = (rng.integers(0, 256, (shape[0], shape[1] + 9)).astype(dtype)[:, : shape[1]] for _ in range(2))
    for grid in ((1, 1), (4, 7)):
        cut = chroma_edges(shape, grid)
        assert cut is not None
        found = chroma_sums(blue, red, cut.edges, cut.every)
        assert found.tolist() == reference_sums(blue, red, cut.edges, cut.every).tolist()
        rows = len(range(0, shape[0], cut.every))
        assert cut.sizes.sum() == rows * shape[1]


@pytest.mark.parametrize(("rows", "every"), [(120, 1), (128, 2), (255, 2), (256, 4), (540, 4), (12, None)])
def test_which_rows_are_read(rows: int, every: int | None) -> None:
    cut = chroma_edges((rows, 300), (16, 16))
    assert (None if cut is None else cut.every) == every


def test_a_red_half(way: str) -> None:
    # BT.601, full range, of (255, 0, 0): Y 76.2, Cb −43, Cr 127.5 (rounded to 8 bits)
    frames = np.zeros((3, 64, 96, 3), np.uint8)
    frames[:, :, :48, 0] = 255
    grid = grid_of(frames)
    assert grid.luma.shape == (3, 16, 24) and len(grid) == 3
    assert grid.luma[0, :, :12].tolist() == [[76.0] * 12] * 16
    assert np.allclose(grid.blue[1, :, :12], -43, atol=1) and np.allclose(grid.red[1, :, :12], 127, atol=1)
    assert not grid.luma[:, :, 12:].any() and np.allclose(grid.blue[:, :, 12:], 0, atol=0.5)
    assert not grid.step.any()
    # blocks of 4 × 4; the edge lies in the last column of block 11: one of four steps is 76
    assert grid.texture[0, 0].tolist() == [0.0] * 11 + [19.0] + [0.0] * 12


def test_steps_and_times_of_texture() -> None:
    frames = np.stack([np.full((32, 32, 3), 10 * t, np.uint8) for t in range(10)])
    grid = grid_of(frames, fps=25.0)
    assert grid.step[:, 0, 0].tolist() == [0.0] + [10.0] * 9
    assert TEXTURE_MS == 120 and grid.textured.tolist() == [0, 3, 6, 9]
    assert grid.texture.shape == (4, 16, 16)


def test_grey_and_small_clips(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "grey.mkv", (np.full((6, 10), 90, np.uint8) for _ in range(3)), fps=25)
    grid = observe(path).grid
    assert grid is not None and grid.luma.shape == (3, 3, 5)
    assert np.abs(grid.luma - 90).max() <= 2 and np.abs(grid.red).max() <= 1


def test_no_frame_no_grid(tmp_path: Path) -> None:
    assert observe(tmp_path / "none.mp4").grid is None


def test_a_turned_clip_is_upright(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    frames = np.zeros((2, 32, 64, 3), np.uint8)
    frames[:, :, 60:] = 255  # the right end, which a quarter turn clockwise puts at the bottom
    reader = ArrayReader(frames, fps=25)
    assert reader.facts.video is not None
    reader.facts = replace(reader.facts, video=replace(reader.facts.video, rotation=90))
    grid = observed(lambda: reader, "memory").grid
    assert grid.luma.shape == (2, 32, 16)
    assert grid.luma[0, 30:].tolist() == [[255.0] * 16] * 2 and not grid.luma[0, :30].any()


def test_many_frames_are_folded_in_order() -> None:
    frames = np.stack([np.full((16, 16, 3), t % 251, np.uint8) for t in range(130)])
    assert grid_of(frames).luma[:, 0, 0].tolist() == [float(t) for t in range(130)]
