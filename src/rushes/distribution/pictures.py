"""One clip to its RGB frames, upright, in order: a video file, or the pictures of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rushes.distribution.constant_rate import Timed, constant_rate
from rushes.distribution.protocols import Timing
from rushes.errors import MediaError
from rushes.media.sequences import Pixels, local_files, picture_frames
from rushes.media.sets import Clip

if TYPE_CHECKING:
    from rushes.media import ClipReader, Frame


def count_frames(clip: Clip, *, timing: Timing = "stored") -> int:
    """How many frames a clip has, by decoding it."""
    return sum(1 for _ in rgb_frames(clip, wanted=lambda index: False, timing=timing))


@dataclass(slots=True)
class Seen:
    """What showed while frames were read, beside the frames."""

    fps: float | None = None
    """The average frame rate that the file states; None for pictures."""
    frames: int = 0
    """Frames that windows are cut from."""
    times_ms: list[float] = field(default_factory=list)
    """When each frame is shown; of stored frames only."""


def rgb_frames(
    clip: Clip,
    *,
    wanted: Callable[[int], bool] = lambda index: True,
    timing: Timing = "stored",
    seen: Seen | None = None,
) -> Iterator[Pixels | None]:
    """RGB frames (H, W, 3) in order; None for one that is not wanted. A frame that does not decode fails the clip.

    With the timing "constant" a video's frames are repeated and left out as ffmpeg's command line does it; pictures and
    GIFs have the frames they have. `seen` is told the rate and the times.
    """
    if clip.is_sequence:
        yield from picture_frames(clip, wanted)
        return
    from rushes.media import ClipReader

    with ClipReader(local_files(clip)[0]) as reader:
        frames = iter(reader) if timing == "stored" else _at_constant_rate(reader)
        is_gif = reader.path.suffix.lower() == ".gif"
        noted = Seen() if seen is None else seen
        noted.fps = _rate(reader)
        for index, frame in enumerate(frames):
            if timing == "stored":
                noted.times_ms.append(frame.time_ms)
            yield (_gif_rgb(frame) if is_gif else frame.rgb()) if wanted(index) else None
        broken = reader.decode_failures + reader.corrupt_frames
        if broken:
            raise MediaError(f"{clip.name}: {broken} frames are damaged or could not be decoded; re-export it")


def _rate(reader: ClipReader) -> float | None:
    video = reader.facts.video
    return float(video.fps) if video is not None and video.fps else None


def _gif_rgb(frame: Frame) -> Pixels:
    """A GIF's frame with black where it is transparent, as PIL gives it to published code; libav has white there."""
    with_alpha = frame.video.to_ndarray(format="rgba")
    return np.ascontiguousarray(np.where(with_alpha[..., 3:] > 0, with_alpha[..., :3], np.uint8(0)))


def _at_constant_rate(reader: ClipReader) -> Iterator[Frame]:
    """The reader's frames, one for each tick of the rate that the file's clock was made for."""
    from rushes.media.opening import need_video, open_media

    with open_media(reader.path) as container:
        stream = need_video(container, reader.path)
        rate, alone, is_gif = stream.guessed_rate, len(container.streams) == 1, container.format.name == "gif"
        # Of frames that are stored in another order than shown ffmpeg 4 and 5 know no length: one tick each.
        has_lengths = not stream.codec_context.has_b_frames
    if not rate or is_gif:
        return iter(reader)

    def timed() -> Iterator[Timed[Frame]]:
        for frame in reader:
            video = frame.video
            length = float(video.duration * (video.time_base or 0) * rate) if has_lengths else 1.0
            yield Timed(frame, frame.time_ms / 1000 * float(rate), length)

    return constant_rate(timed(), late_start=alone)
