"""The canonical form of a clip: `output_canon.mp4`.

H.264 (CRF 18, preset medium), yuv420p, limited range, constant frame rate, upright, AAC at 48 kHz, index before data
(faststart); the same bytes for the same input.

Size    never scaled. An odd width or height is padded by repeating the last column or row, as H.264 4:2:0 needs even.
Colour  YUV keeps its matrix and its tags; RGB and palette sources become BT.601, tagged so. Full range is scaled to
        limited, more than 8 bits are reduced to 8.
Rate    the clip's own, as `rushes.media.canon.rate` has it, unless another is asked for. Times are counted from the
        first frame: each is shown at the nearest 1/fps, so that no frame of a regular clip is shown twice or lost, and
        the last is there too. Beside a sound that starts earlier, the picture starts where it did, to 1/fps.
        At another rate output frame n shows the last source frame whose time, rounded to the nearest 1/fps (halves up),
        is not later than n/fps: frames are repeated or dropped, never blended. This is the rule of ffmpeg's `fps`
        filter. The first frame then also fills the time before it, where the sound starts earlier.
Length  round(end of the last frame · fps) frames, at least one. Where a sound file is given, picture and sound end with
        it: frames that would start at or after its end are dropped. A picture shorter than the sound stays shorter.
Sound   the given file's, else the clip's own track; mono stays mono, anything more becomes stereo. No sound: no track.
        The clip's own track keeps its offset from the picture; a given file starts with the picture.
Mark    the file says that it is a canonical form, and of which version and rate: `rushes.media.canon.mark`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from av.container.output import OutputContainer
from av.video.stream import VideoStream

from rushes.core.errors import InputError, MediaError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.media_facts import MediaFacts, exact_rate
from rushes.core.words.options import option
from rushes.media.canon.mark import CanonMark, write_mark
from rushes.media.canon.picture import CanonPicture
from rushes.media.canon.rate import own_rate
from rushes.media.canon.sound import CanonSound, sound_of
from rushes.media.encode import replacing, writing
from rushes.media.frames import ClipReader, Frame, ReadAccount, account

_TIE = 1e-6
"""Times are floats: a tie between two output frames is one to within this share of a frame."""


def canonicalize(
    path: Path | str,
    out: Path | str,
    *,
    audio: Path | str | None = None,
    fps: Fraction | float | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Write the canonical form of a clip to `out`: H.264 yuv420p at a constant rate, upright, AAC; the same bytes.

    Inputs      fps: the constant rate, above 0 and up to 1000; by default the clip's own, so that no frame of a regular
                clip is shown twice or lost. audio: sound to use instead of the clip's own; the result ends
                with it.
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
    fps: Fraction | float | None = None,
    progress: Progress = no_progress,
) -> CanonSource:
    """As `canonicalize`, and what was read on the way."""
    source, target = Path(path), Path(out)
    _check_target(target, *(Path(p) for p in (path, audio) if p is not None))
    asked = None if fps is None else exact_rate(fps)
    with ClipReader(source) as reader, ExitStack() as stack:
        sound = sound_of(stack, source, None if audio is None else Path(audio))
        frames = SteadyFrames(reader, asked, seconds=sound.seconds if sound else None)
        part = stack.enter_context(replacing(target))
        with writing(part, target, {"movflags": "+faststart"}) as container:
            _write(container, target, frames, sound, progress)
        write_mark(part, CanonMark(asked))
    return CanonSource(**account(reader), times_ms=tuple(frames.times_ms))


def _check_target(target: Path, *inputs: Path) -> None:
    if target.suffix.lower() != ".mp4":
        raise InputError(f"{target}: the canonical form is MP4; choose an output that ends in .mp4")
    for path in inputs:
        if target.exists() and path.exists() and os.path.samefile(target, path):
            raise InputError(
                f"{target}: is one of the inputs and would be overwritten; choose another output with {option('-o')}"
            )


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
    for done, (number, frame) in enumerate(frames.placed(), 1):
        if stream is None:
            stream = pictures.stream(container, target, frames.rate, frame)
            if sound:
                sound.begin(container)
        picture = pictures.of(frame)
        picture.pts, picture.time_base = number, 1 / frames.rate
        if sound:
            sound.up_to(number / frames.rate)
        container.mux(stream.encode(picture))
        progress(done, expected, "frames")
    if stream is None:
        raise MediaError(f"{frames.reader.path}: none of its frames can be decoded; export it again")
    container.mux(stream.encode(None))
    if sound:
        sound.up_to(None)


class SteadyFrames:
    """A clip's frames at a constant rate, by the rule in the module's docstring; at most `seconds` of them.

    `fps` is the rate that is asked for; None for the clip's own.
    """

    def __init__(self, reader: ClipReader, fps: Fraction | None = None, *, seconds: Fraction | None = None) -> None:
        own = own_rate(reader.path)
        self.reader, self.rate = reader, own if fps is None else fps
        self.times_ms: list[float] = []
        """Frames of the clip so far."""
        self._own = self.rate == own
        self._given_sound = seconds is not None
        self._most = None if seconds is None else max(1, math.ceil(float(seconds * self.rate) - _TIE))
        self._shift = 0.0

    def expected(self) -> int:
        """How many frames there will be, by what the file says of itself; 0 where it says nothing."""
        video = self.reader.facts.video
        listed = round((video.duration_ms or 0.0) * float(self.rate) / 1000) if video else 0
        return listed if self._most is None else min(listed, self._most)

    def __iter__(self) -> Iterator[Frame]:
        """The frames in order, those that are repeated as often as they are shown."""
        return (frame for _, frame in self.placed())

    def placed(self) -> Iterator[tuple[int, Frame]]:
        """The frames, each with its place: it is shown at place / rate."""
        held: Frame | None = None
        given, first_ms, zero_ms = 0, 0.0, 0.0
        for frame in self.reader:
            self.times_ms.append(frame.time_ms)
            if held is None:
                first_ms = frame.time_ms
                zero_ms = first_ms if self._given_sound else 0.0
                given = self._first_place(first_ms - zero_ms)
            else:
                upto = self._place(frame.time_ms - zero_ms)
                yield from ((place, held) for place in range(given, upto))
                given = max(given, upto)
                if given == self._most:
                    return
            held = frame
        if held is not None:
            end = self._place(first_ms + (self.reader.measured_duration_ms or 0.0) - zero_ms)
            least = given + 1 if self._own or not given else given
            yield from ((place, held) for place in range(given, max(end, least)))

    def _first_place(self, time_ms: float) -> int:
        """Where the picture begins: at its own rate each frame is as far from its place as the first."""
        if not self._own:
            return 0
        place = self._place(time_ms)
        self._shift = place - time_ms * float(self.rate) / 1000
        return place

    def _place(self, time_ms: float) -> int:
        nearest = math.floor(time_ms * float(self.rate) / 1000 + self._shift + 0.5 + _TIE)
        return nearest if self._most is None else min(nearest, self._most)
