"""Which frames of a clip are those of its common form, and what they look like there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from rushes.core.alike_form import SLACK_MS, AlikeForm
from rushes.core.media_facts import MediaFacts
from rushes.media.alike.area import AreaGrid
from rushes.media.frames import Frame, upright
from rushes.media.luma import LumaPlane


class AlikePicture:
    """One frame's picture in the common form, made once however often the form shows it."""

    def __init__(self, frame: Frame, grid: AreaGrid, turn: tuple[int, bool]) -> None:
        self._frame, self._grid = frame, grid
        plane = frame.luma
        values = grid.luma(plane, upright(plane.values, *turn))  # type: ignore[arg-type]  # turns any array
        self.luma = LumaPlane(values, 1.0, 0.0, plane.converted)

    @cached_property
    def rgb(self) -> NDArray[np.uint8]:
        return self._grid.rgb(self._frame.rgb())


class AlikeFrame:
    """A frame of the common form; it offers what `rushes.media.Frame` does."""

    __slots__ = ("_picture", "index", "time_ms")

    def __init__(self, index: int, time_ms: float, picture: AlikePicture) -> None:
        self.index, self.time_ms, self._picture = index, time_ms, picture

    @property
    def luma(self) -> LumaPlane:
        return self._picture.luma

    @property
    def luma_scale(self) -> tuple[float, float]:
        return self._picture.luma.scale, self._picture.luma.offset

    def rgb(self) -> NDArray[np.uint8]:
        return self._picture.rgb

    def bgr(self) -> NDArray[np.uint8]:
        return np.ascontiguousarray(self._picture.rgb[..., ::-1])

    @property
    def video(self) -> VideoFrame:
        """As a frame of PyAV, RGB."""
        return VideoFrame.from_ndarray(self._picture.rgb, format="rgb24")


class AlikeFrames:
    """Takes the frames of one clip as they are decoded, and gives those of its common form.

    A frame is given once the next one has started: until then nobody knows how long it is shown.
    """

    def __init__(self, form: AlikeForm, facts: MediaFacts) -> None:
        video = facts.video
        assert video is not None and video.upright is not None
        self.form = form
        self._grid = AreaGrid(video.upright, (form.width, form.height), form.scale(video.upright))
        self._turn = video.rotation, video.mirrored
        self._next = 0
        self._start = 0.0
        self._last: Frame | None = None
        self._picture: AlikePicture | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every frame of the form has been given."""
        return self._next == self.form.frames

    def add(self, frame: Frame) -> Iterator[AlikeFrame]:
        if self._last is None:
            self._start = frame.time_ms
        else:
            yield from self._until(frame.time_ms - self._start - SLACK_MS)
        if self._last is not frame:
            self._last, self._picture = (None if self.is_whole else frame), None

    def finish(self) -> Iterator[AlikeFrame]:
        """The rest, which shows the clip's last frame; for a clip that is long enough."""
        yield from self._until(float("inf"))

    def _until(self, time_ms: float) -> Iterator[AlikeFrame]:
        """The frames of the form that the last frame is shown at, before this time."""
        while self._last is not None and not self.is_whole and (now := self.form.time_ms(self._next)) < time_ms:
            if self._picture is None:
                self._picture = AlikePicture(self._last, self._grid, self._turn)
            yield AlikeFrame(self._next, now, self._picture)
            self._next += 1
