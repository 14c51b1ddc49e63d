"""Frames in memory, read as a clip is: the same `Frame` objects, at a declared rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.core.errors import InputError
from rushes.core.media_facts import MediaFacts, VideoFacts
from rushes.media.frames import ClipReader, Frame


class ArrayReader(ClipReader):
    """Reads (T, H, W, 3) 8-bit RGB as a lossless RGB file of a constant rate would be read. It has no sound.

    Frame n is shown at n / fps seconds. `InputError` for a rate that is no positive number.
    """

    def __init__(self, values: NDArray[np.uint8], *, fps: Fraction | float, name: str = "memory") -> None:
        rate = frame_rate(fps)
        self.path = Path(name)
        self.promised_frames = len(values)
        length = float(len(values) * 1000 / rate)
        self.measured_duration_ms = self.promised_duration_ms = length
        self._values, self._rate = values, rate
        self._reformatter = VideoReformatter()
        video = VideoFacts(
            codec="memory",
            width=values.shape[2],
            height=values.shape[1],
            rotation=0,
            pix_fmt="rgb24",
            bits=8,
            color_range="full",
            range_tagged=True,
            fps=rate,
            duration_ms=length,
            frames_declared=len(values),
        )
        self.facts = MediaFacts(container="memory", duration_ms=length, video=video, audio=None, video_streams=1)

    def __iter__(self) -> Iterator[Frame]:
        for index, pixels in enumerate(self._values):
            frame = VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
            yield Frame(index, float(index * 1000 / self._rate), frame, self)

    def close(self) -> None:
        """Nothing is open."""


def frame_rate(fps: Any) -> Fraction:
    """The rate as a fraction of small numbers; 29.97 is 2997/100.

    >>> frame_rate(25), frame_rate(Fraction(30000, 1001)), frame_rate(12.5)
    (Fraction(25, 1), Fraction(30000, 1001), Fraction(25, 2))
    """
    try:
        rate = Fraction(fps).limit_denominator(1_000_000)
    except (TypeError, ValueError, OverflowError):
        rate = Fraction(0)
    if isinstance(fps, bool) or rate <= 0:
        raise InputError(f"expected fps=, frames a second above 0, such as 25 or Fraction(30000, 1001); got {fps!r}")
    return rate
