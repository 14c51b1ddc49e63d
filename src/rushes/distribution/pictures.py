"""One clip to its RGB frames, upright, in order: a video file, or the pictures of a sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.constant_rate import Timed, constant_rate
from rushes.distribution.protocols import Timing
from rushes.distribution.sets import Clip
from rushes.errors import MediaError

if TYPE_CHECKING:
    from rushes.media import ClipReader, Frame

Pixels: TypeAlias = NDArray[np.uint8]


def local_files(clip: Clip) -> tuple[Path, ...]:
    """The clip's files on this machine."""
    return tuple(place for place in clip.files if isinstance(place, Path))


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
        yield from _from_images(clip, wanted)
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


def gaps_of(clip: Clip) -> tuple[int, ...]:
    """Pictures of a sequence before which a number is missing, by their place; none where no number counts upwards.

    The number is the first one in the names that differs: 12 in `take3_0012_512x512.png`.
    """
    names = [[int(number) for number in re.findall(r"\d+", place.stem)] for place in clip.files]
    if not clip.is_sequence or len({len(numbers) for numbers in names}) != 1:
        return ()
    counting = next((column for column in zip(*names, strict=True) if len(set(column)) == len(column) > 1), ())
    return tuple(place for place, (one, other) in enumerate(pairwise(counting), 1) if other != one + 1)


def _from_images(clip: Clip, wanted: Callable[[int], bool]) -> Iterator[Pixels | None]:
    size: tuple[int, ...] | None = None
    for index, path in enumerate(local_files(clip)):
        if not wanted(index):
            yield None
            continue
        frame = _picture(path)
        if size is not None and frame.shape != size:
            raise MediaError(
                f"{clip.name}: the size changes from {size[1]}×{size[0]} to {frame.shape[1]}×{frame.shape[0]} "
                f"at {path.name}; a sequence has one size"
            )
        size = frame.shape
        yield frame


def _picture(path: Path) -> Pixels:
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.mode.startswith("I"):  # 16-bit grey: PIL's own conversion would clip it
                return np.repeat((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8)[..., None], 3, axis=2)
            return np.array(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise MediaError(f"{path}: cannot be read as a picture ({error})") from None
