"""The canonical form of a clip: `output_canon.mp4`.

H.264 (CRF 18, preset medium), yuv420p, limited range, constant frame rate, upright, AAC at 48 kHz, index before data
(faststart); the same bytes for the same input.

Size    never scaled. An odd width or height is padded by repeating the last column or row, as H.264 4:2:0 needs even.
Colour  YUV keeps its matrix and its tags; RGB and palette sources become BT.601, tagged so. Full range is scaled to
        limited, more than 8 bits are reduced to 8.
Rate    output frame n shows the last source frame whose time, rounded to the nearest 1/fps (halves up), is not later
        than n/fps: frames are repeated or dropped, never blended. This is the rule of ffmpeg's `fps` filter. The first
        frame also fills the time before it, where the sound starts earlier.
Length  round(end of the last frame · fps) frames, at least one. Where a sound file is given, picture and sound end with
        it: frames that would start at or after its end are dropped. A picture shorter than the sound stays shorter.
Sound   the given file's, else the clip's own track; mono stays mono, anything more becomes stereo. No sound: no track.
        The clip's own track keeps its offset from the picture; a given file starts with the picture.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from pathlib import Path

from av.container.output import OutputContainer
from av.video.stream import VideoStream

from rushes.core.errors import InputError, MediaError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.media_facts import MediaFacts
from rushes.media.canon.picture import CanonPicture
from rushes.media.canon.sound import CanonSound, sound_of
from rushes.media.encode import replacing, writing
from rushes.media.frames import ClipReader, Frame, ReadAccount, account

FPS = 30
"""Frames a second where nothing else is asked for."""
_TIE = 1e-6
"""Times are floats: a tie between two output frames is one to within this share of a frame."""


def canonicalize(
    path: Path | str,
    out: Path | str,
    *,
    audio: Path | str | None = None,
    fps: Fraction | float = 30,
    progress: Progress = no_progress,
) -> Path:
    """Write the canonical form of a clip to `out`: H.264 yuv420p at a constant rate, upright, AAC; the same bytes.

    Inputs      fps: the constant rate, above 0 and up to 1000. audio: sound to use instead of the clip's own; the
                result ends with it.
    Edge cases  no decodable frame, a sound file without sound, `out` is one of the inputs: an error, and nothing is
                written. Damaged packets are skipped; the frame before them is held.
    """
    canonical_form(path, out, audio=audio, fps=fps, progress=progress)
    return Path(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonSource(ReadAccount):
    """What was read of a clip while its canonical form was made: damage does not show in the form itself.

    Reading stops at the end of a given sound: nothing is then promised, and no length measured.
    """

    facts: MediaFacts
    times_ms: tuple[float, ...]
    """Presentation times of the frames that decoded; with a sound file, up to its end."""


def canonical_form(
    path: Path | str,
    out: Path | str,
    *,
    audio: Path | str | None = None,
    fps: Fraction | float = FPS,
    progress: Progress = no_progress,
) -> CanonSource:
    """As `canonicalize`, and what was read on the way."""
    source, target = Path(path), Path(out)
    _check_target(target, *(Path(p) for p in (path, audio) if p is not None))
    if not 0 < fps <= 1000:
        raise InputError(f"{target}: expected a frame rate above 0 and up to 1000, got {fps}")
    rate = Fraction(fps).limit_denominator(1_000_000)
    with ClipReader(source) as reader, ExitStack() as stack:
        sound = sound_of(stack, source, None if audio is None else Path(audio))
        frames = SteadyFrames(reader, rate, seconds=sound.seconds if sound else None)
        part = stack.enter_context(replacing(target))
        container = stack.enter_context(writing(part, target, {"movflags": "+faststart"}))
        _write(container, target, frames, sound, progress)
    return CanonSource(**account(reader), times_ms=tuple(frames.times_ms))


def _check_target(target: Path, *inputs: Path) -> None:
    if target.suffix.lower() != ".mp4":
        raise InputError(f"{target}: the canonical form is MP4; choose an output that ends in .mp4")
    for path in inputs:
        if target.exists() and path.exists() and os.path.samefile(target, path):
            raise InputError(f"{target}: is one of the inputs and would be overwritten; choose another output with -o")


def _write(
    container: OutputContainer,
    target: Path,
    frames: SteadyFrames,
    sound: CanonSound | None,
    progress: Progress,
) -> None:
    """Encode the frames, and the sound beside them, so that the file is interleaved and nothing piles up."""
    pictures = CanonPicture(frames.reader)
    stream: VideoStream | None = None
    expected = frames.expected()
    progress(0, expected, "frames")
    for number, frame in enumerate(frames):
        if stream is None:
            stream = pictures.stream(container, target, frames.rate, frame)
            if sound:
                sound.begin(container)
        picture = pictures.of(frame)
        picture.pts, picture.time_base = number, 1 / frames.rate
        if sound:
            sound.up_to(number / frames.rate)
        container.mux(stream.encode(picture))
        progress(number + 1, expected, "frames")
    if stream is None:
        raise MediaError(f"{frames.reader.path}: no frame of it can be decoded; export it again")
    container.mux(stream.encode(None))
    if sound:
        sound.up_to(None)


class SteadyFrames:
    """A clip's frames at a constant rate, by the rule in the module's docstring; at most `seconds` of them."""

    def __init__(self, reader: ClipReader, rate: Fraction, *, seconds: Fraction | None = None) -> None:
        self.reader, self.rate = reader, rate
        self.times_ms: list[float] = []
        """Frames of the clip so far."""
        self._most = None if seconds is None else max(1, math.ceil(float(seconds * rate) - _TIE))

    def expected(self) -> int:
        """How many frames there will be, by what the file says of itself; 0 where it says nothing."""
        video = self.reader.facts.video
        listed = round((video.duration_ms or 0.0) * float(self.rate) / 1000) if video else 0
        return listed if self._most is None else min(listed, self._most)

    def __iter__(self) -> Iterator[Frame]:
        held: Frame | None = None
        given, first_ms, zero_ms = 0, 0.0, 0.0
        for frame in self.reader:
            self.times_ms.append(frame.time_ms)
            if held is None:
                first_ms = frame.time_ms
                zero_ms = 0.0 if self._most is None else first_ms
            else:
                upto = self._slot(frame.time_ms - zero_ms)
                yield from repeat(held, upto - given)
                given = max(given, upto)
                if given == self._most:
                    return
            held = frame
        if held is not None:
            end_ms = first_ms + (self.reader.measured_duration_ms or 0.0)
            yield from repeat(held, max(self._slot(end_ms - zero_ms), 1) - given)

    def _slot(self, time_ms: float) -> int:
        nearest = math.floor(time_ms * float(self.rate) / 1000 + 0.5 + _TIE)
        return nearest if self._most is None else min(nearest, self._most)
