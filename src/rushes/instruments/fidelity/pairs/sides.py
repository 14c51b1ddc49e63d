"""One clip of a pair, opened: its facts, and its frames once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain

from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.reformatter import Interpolation, VideoReformatter

from rushes.core.errors import MediaError
from rushes.instruments.fidelity.pairs.picture import Picture, Turn
from rushes.media import ClipReader, MediaFacts
from rushes.media.find.sequences import local_files, picture_frames, picture_kind
from rushes.media.find.sets import Clip

RESIZER = "swscale-bicubic"
"""How pictures are brought to the other side's size, as signatures have it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A decoded frame, and when it is shown, from the clip's first frame on."""

    video: VideoFrame
    time_ms: float


class Side:
    """Reads one clip, once. `MediaError` where it cannot be opened, and at its end where frames were damaged:

    a frame that is missing would move every later one against the other side.
    """

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.facts: MediaFacts | None = None
        """None for a sequence of pictures."""
        self._stack = ExitStack()
        self._reformatter = VideoReformatter()
        if clip.is_sequence:
            pictures = _pictures(clip)
            first = next(pictures)
            self._frames: Iterator[Shown] = chain([first], pictures)
            self.turn = Turn()
            self.is_grey, self.has_alpha = picture_kind(local_files(clip)[0])
            self.fps: float | None = None
            """Average frame rate; None where the clip has no times."""
            width, height = first.video.width, first.video.height
        else:
            reader = self._stack.enter_context(ClipReader(local_files(clip)[0]))
            self.facts = reader.facts
            video = reader.facts.video
            assert video is not None
            self.turn = Turn(video.rotation, video.mirrored)
            form = VideoFormat(video.pix_fmt)
            self.is_grey = video.pix_fmt.startswith(("gray", "ya", "mono"))
            """Whether the format has no colour; a colour clip of a grey scene is not grey."""
            self.has_alpha = any(component.is_alpha for component in form.components)
            self.fps = float(video.fps) if video.fps else None
            self._frames = _decoded(clip, reader)
            width, height = video.width, video.height
        self.size = (height, width) if self.turn.degrees % 180 else (width, height)
        """Width and height of the upright picture."""

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[Shown]:
        return self._frames

    def picture(self, frame: Shown, size: tuple[int, int]) -> Picture:
        """The frame at this size (upright width × height); resized by swscale, bicubic, where it has another."""
        video = frame.video
        if size != self.size:
            width, height = size[::-1] if self.turn.degrees % 180 else size
            video = self._reformatter.reformat(
                video, width=width, height=height, interpolation=Interpolation.BICUBIC, threads=1
            )
        return Picture(video, reformatter=self._reformatter, time_ms=frame.time_ms, turn=self.turn)


def _decoded(clip: Clip, reader: ClipReader) -> Iterator[Shown]:
    start: float | None = None
    for frame in reader:
        start = frame.time_ms if start is None else start
        yield Shown(frame.video, frame.time_ms - start)
    broken = reader.decode_failures + reader.corrupt_frames
    if broken:
        raise MediaError(f"{clip.name}: {broken} frames are damaged or could not be decoded; re-export it")


def _pictures(clip: Clip) -> Iterator[Shown]:
    for index, pixels in enumerate(picture_frames(clip)):
        assert pixels is not None
        yield Shown(VideoFrame.from_ndarray(pixels, format="rgb24"), float(index))
