"""Every frame as a grid of blocks: sums are the reference's, and colours are what they were."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from tests.plane_sums import chroma_reference, reference_sums

from rushes.instruments.clip.frames import picture_grid
from rushes.instruments.clip.frames.chroma_sums import chroma_edges, chroma_sums
from rushes.instruments.clip.frames.frame_kernel import FrameKernel, Planes
from rushes.instruments.clip.frames.luma_sums import BlockEdges
from rushes.instruments.clip.frames.observe import observe, observed
from rushes.instruments.clip.frames.picture_grid import TEXTURE_MS
from rushes.media.array_reader import ArrayReader
from rushes.media.encode import write_clip


def grid_of(frames: np.ndarray, fps: float = 25.0):
    return observed(lambda: ArrayReader(frames, fps=fps), "memory").grid


@pytest.mark.parametrize(("shape", "dtype"), [((20, 30), np.uint8), ((700, 40), np.uint8), ((64, 50), np.uint16)])
def test_chroma_sums_equal_the_reference(shape: tuple[int, int], dtype: type) -> None:
    rng = np.random.default_rng(3)
    blue, red = (rng.integers(0, 256, (shape[0], shape[1] + 9)).astype(dtype)[:, : shape[1]] for _ in range(2))
    for grid in ((1, 1), (4, 7)):
        cut = chroma_edges(shape, grid)
        assert cut is not None
        for one, other in ((blue, red), (blue[::-1], np.repeat(red, 2, axis=1)[:, ::2])):
            found = chroma_sums(one, other, cut.edges, cut.every)
            assert found.tolist() == chroma_reference(one, other, cut.edges, cut.every).tolist()
        rows = len(range(0, shape[0], cut.every))
        assert cut.sizes.sum() == rows * shape[1]


@pytest.mark.parametrize(("rows", "every"), [(120, 1), (128, 2), (255, 2), (256, 4), (540, 4), (12, None)])
def test_which_rows_are_read(rows: int, every: int | None) -> None:
    cut = chroma_edges((rows, 300), (16, 16))
    assert (None if cut is None else cut.every) == every


def test_a_red_half() -> None:
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


def test_a_turned_clip_is_upright() -> None:
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


@pytest.mark.parametrize(("shape", "part"), [((34, 64), (2, 2)), ((131, 90), (1, 1)), ((700, 40), (1, 2))])
def test_one_call_has_all_sums(shape: tuple[int, int], part: tuple[int, int]) -> None:
    """Against the references in numpy, of planes whose lines are longer than the picture; 255 fills the lanes."""
    rng = np.random.default_rng(5)
    chroma = tuple(-(-side // step) for side, step in zip(shape, part, strict=True))
    now, before = (rng.choice([0, 7, 255], (shape[0], shape[1] + 5)).astype(np.uint8) for _ in range(2))
    blue, red = (rng.integers(0, 256, (chroma[0], chroma[1] + 3)).astype(np.uint8) for _ in range(2))
    grid = (16, 16)
    edges, cut = BlockEdges.of(shape, grid), chroma_edges(chroma, grid)
    assert cut is not None
    places = [
        Planes(one.ctypes.data, one.shape[1], blue.ctypes.data, red.ctypes.data, blue.shape[1]) for one in (now, before)
    ]
    means, texture, sums = np.empty((4, *grid), np.float32), np.empty(grid, np.float32), np.empty(4, np.int64)
    FrameKernel(shape, edges, cut, chroma[1])(*places, means.ctypes.data, sums.ctypes.data, texture.ctypes.data)
    expected = reference_sums(now[:, : shape[1]], before[:, : shape[1]], edges, True)
    colours = chroma_reference(blue[:, : chroma[1]], red[:, : chroma[1]], cut.edges, cut.every)
    sizes = np.outer(np.diff(edges.rows), np.diff(edges.columns))
    assert sums.tolist() == list(expected.whole)
    assert np.array_equal(means[:2], (expected.blocks[:2] / sizes).astype(np.float32))
    assert np.array_equal(means[2:], (colours / cut.sizes).astype(np.float32))
    assert np.array_equal(texture, (expected.blocks[2] / sizes).astype(np.float32))


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv444p"])
def test_the_one_call_and_the_steps_have_the_same_bytes(
    pix_fmt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    noise = [rng.integers(0, 256, (98, 131, 3), dtype=np.uint8) for _ in range(70)]
    with av.open(str(tmp_path / "noise.mkv"), "w") as out:
        stream = out.add_stream("ffv1", rate=25, width=131, height=98, pix_fmt=pix_fmt)
        for one in (*noise, noise[-1]):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(one, format="rgb24").reformat(format=pix_fmt)))
        out.mux(stream.encode(None))
    once = observe(tmp_path / "noise.mkv")
    monkeypatch.setattr(picture_grid, "planes_of", lambda video: None)
    stepped = observe(tmp_path / "noise.mkv")
    assert once.grid is not None and stepped.grid is not None and len(once.grid) == 71
    for name in ("luma", "step", "blue", "red", "texture", "textured"):
        assert getattr(once.grid, name).tobytes() == getattr(stepped.grid, name).tobytes(), name
    assert {name: series.tobytes() for name, series in once.series().items()} == {
        name: series.tobytes() for name, series in stepped.series().items()
    }
