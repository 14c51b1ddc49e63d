"""Planes to RGB: bit for bit what libswscale gives, for noise of every size and tag, and for clips as stored."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.media import ClipReader, write_clip, yuv
from rushes.media.luma import rgb_of
from rushes.media.yuv import YuvPlanes, rgb_of_planes, yuv_factors, yuv_planes


def noise(width: int, height: int, *, colorspace: int, full: bool, form: str = "yuv420p") -> VideoFrame:
    draw = np.random.RandomState(width + height)
    frame = VideoFrame(width, height, form)
    frame.colorspace, frame.color_range = colorspace, 2 if full else 1
    for plane in frame.planes:
        plane.update(draw.randint(0, 256, plane.height * plane.line_size).astype(np.uint8).tobytes())
    return frame


def as_rgb(found: YuvPlanes) -> NDArray[np.uint8]:
    y, u, v = (plane.astype(np.int32) for plane in found.planes)
    wide = [plane.repeat(2, 0).repeat(2, 1) for plane in (u, v)]
    return np.stack(rgb_of_planes(y, *wide, found.factors), -1).astype(np.uint8)


@pytest.mark.parametrize("size", [(64, 48), (342, 258), (130, 66), (2, 2), (854, 34)])
@pytest.mark.parametrize("colorspace", [1, 2, 5, 6])
@pytest.mark.parametrize("full", [False, True])
def test_planes_give_libswscales_rgb(size: tuple[int, int], colorspace: int, full: bool) -> None:
    frame = noise(*size, colorspace=colorspace, full=full)
    found = yuv_planes(frame)
    assert found is not None and found.size == size[::-1] and found.nbytes == size[0] * size[1] * 3 // 2
    assert (as_rgb(found) == rgb_of(frame, VideoReformatter())).all()


def test_grey_black_and_white_by_hand() -> None:
    """Limited range: 16 is black and 235 white; (8·126 − 128)·9539 >> 16 = 128.01 for Y = 126."""
    factors = yuv_factors(5, full=False)
    y, grey = np.array([16, 126, 235], np.int32), np.full(3, 128, np.int32)
    for channel in rgb_of_planes(y, grey, grey, factors):
        assert channel.tolist() == [0, 128, 255]


@pytest.mark.parametrize(
    "frame",
    [
        noise(64, 48, colorspace=9, full=False),  # BT.2020
        noise(63, 48, colorspace=1, full=False),
        noise(64, 48, colorspace=1, full=False, form="yuv444p"),
        noise(64, 48, colorspace=1, full=False, form="nv12"),
    ],
    ids=["another matrix", "an odd width", "4:4:4", "two planes"],
)
def test_other_frames_are_handed_over_as_rgb(frame: VideoFrame) -> None:
    assert yuv_planes(frame) is None


def test_a_libswscale_that_rounds_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(frame: VideoFrame, reformatter: VideoReformatter) -> NDArray[np.uint8]:
        picture = rgb_of(frame, reformatter).copy()
        picture[0, 0, 0] ^= 1
        return picture

    yuv._agrees.cache_clear()
    monkeypatch.setattr(yuv, "rgb_of", other)
    assert yuv_planes(noise(64, 48, colorspace=1, full=False)) is None
    yuv._agrees.cache_clear()


def test_frames_of_a_clip(tmp_path: Path) -> None:
    pictures = np.random.RandomState(0).randint(0, 256, (3, 40, 56, 3)).astype(np.uint8)
    path = write_clip(tmp_path / "noise.mp4", list(pictures), fps=Fraction(25))
    with ClipReader(path) as reader:
        for frame in reader:
            found = frame.planes()
            assert found is not None and (as_rgb(found) == frame.rgb()).all()
