"""The canonical picture: yuv420p, limited range, upright, even size. See `rushes.media.canon.clip`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from av.container.output import OutputContainer
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from rushes.media.encode import X264_STEADY, add_video
from rushes.media.frames import ClipReader, Frame, upright
from rushes.media.luma import color_range_of
from rushes.media.planes import plane_view

_ENCODER = {"crf": "18", "preset": "medium", **X264_STEADY}
_SMPTE170M = 6
"""libav's number for the matrix of BT.601 with 525 lines."""


class CanonPicture:
    """Turns decoded frames of one clip into canonical pictures."""

    def __init__(self, reader: ClipReader) -> None:
        video = reader.facts.video
        assert video is not None
        self._turn = (video.rotation, video.mirrored)
        self._aspect = reader.pixel_aspect
        self._reformatter = VideoReformatter()
        self._last: tuple[Frame, VideoFrame] | None = None

    def stream(self, container: OutputContainer, target: Path, rate: Fraction, first: Frame) -> VideoStream:
        """The output's video stream, with the source's matrix and pixel aspect."""
        picture, source = self.of(first), first.video
        size = (picture.width, picture.height)
        stream = add_video(container, target, "libx264", rate, "yuv420p", size, _ENCODER, "limited")
        context = stream.codec_context
        if _has_no_matrix(source):
            context.colorspace = _SMPTE170M
        else:
            context.colorspace = source.colorspace
            context.color_primaries = source.color_primaries
            context.color_trc = source.color_trc
        if self._aspect:
            context.sample_aspect_ratio = 1 / self._aspect if self._turn[0] % 180 else self._aspect
        return stream

    def of(self, frame: Frame) -> VideoFrame:
        """The canonical picture of a frame; made once for a frame that is repeated."""
        if self._last is None or self._last[0] is not frame:
            self._last = (frame, self._made(frame.video))
        return self._last[1]

    def _made(self, source: VideoFrame) -> VideoFrame:
        full = color_range_of(source.format.name, source.color_range) == "full"
        flat = self._reformatter.reformat(
            source,
            format="yuv420p",
            src_color_range=ColorRange.JPEG if full else ColorRange.MPEG,
            dst_color_range=ColorRange.MPEG,
            dst_colorspace=Colorspace.ITU601 if _has_no_matrix(source) else None,
            threads=1,
        )
        if self._turn != (0, False) or flat.width % 2 or flat.height % 2:
            flat = _even([upright(plane, *self._turn) for plane in _planes(flat)])
        flat.pict_type = 0  # the source's I, P and B are not orders to this encoder
        flat.color_range = ColorRange.MPEG
        return flat


def _has_no_matrix(source: VideoFrame) -> bool:
    return source.format.is_rgb or source.format.has_palette


def _planes(frame: VideoFrame) -> list[NDArray[np.uint8]]:
    return [plane_view(frame, index, index) for index in range(3)]


def _even(planes: list[NDArray[np.uint8]]) -> VideoFrame:
    """A yuv420p frame of these planes; an odd luma plane is padded by repeating its last row or column.

    The chroma planes of an odd size are rounded up already, so they fit as they are.
    """
    height, width = planes[0].shape
    luma = np.pad(planes[0], ((0, height % 2), (0, width % 2)), mode="edge")
    frame = VideoFrame(luma.shape[1], luma.shape[0], "yuv420p")
    for target, values in zip(_planes(frame), [luma, *planes[1:]], strict=True):
        target[:] = values
    return frame
