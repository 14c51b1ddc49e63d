"""A real clip in memory, ready to have a fault planted: upright RGB frames at one steady rate, and its sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.media import AudioTrack, write_clip
from rushes.media.frames import ClipReader

Pixels = NDArray[np.uint8]
LONGEST_S = 5
"""Of a longer clip the beginning is used: a 1080p minute would not fit into memory, and the fault is the same."""
SHORTEST_S = 1.5
"""In less than this there is no room for a fault beside something whole."""
SOUND_RATE = 44100
CRF = 18
PRESET = {"preset": "superfast"}
"""x264 at this quality: what is added to a clip is far below any fault, and a 1080p clip is written in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The picture and sound to plant in."""

    name: str
    frames: Sequence[Pixels]
    fps: Fraction
    sound: NDArray[np.float32] | None

    @property
    def seconds(self) -> float:
        return float(len(self.frames) / self.fps)

    def index(self, seconds: float) -> int:
        """The frame shown at this time."""
        return min(len(self.frames) - 1, max(0, round(seconds * float(self.fps))))

    def changed(self, frames: dict[int, Pixels]) -> Source:
        """The same clip with some frames replaced."""
        return replace(self, frames=[frames.get(n, frame) for n, frame in enumerate(self.frames)])


def read_source(path: Path, name: str = "", *, longest_s: float = LONGEST_S) -> Source:
    """The first seconds of a clip. A variable rate becomes its average; an odd size loses its last row or column."""
    with ClipReader(path, audio_rate=SOUND_RATE) as reader:
        frames: list[Pixels] = []
        times: list[float] = []
        for frame in reader:
            if frame.time_ms > longest_s * 1000:
                continue  # read on all the same: the sound is complete only after the last frame
            frames.append(_even(frame.rgb()))
            times.append(frame.time_ms)
        track = reader.audio
    fps = _rate(times)
    sound = None if track is None or not len(track.samples) else _fitted(track.samples, times[0], len(frames) / fps)
    return Source(name=name or path.stem, frames=frames, fps=fps, sound=sound)


def _even(picture: Pixels) -> Pixels:
    height, width = (side // 2 * 2 for side in picture.shape[:2])
    return np.ascontiguousarray(picture[:height, :width])


def _rate(times: Sequence[float]) -> Fraction:
    if len(times) < 2 or times[-1] <= times[0]:
        return Fraction(25)
    return Fraction((len(times) - 1) * 1000 / (times[-1] - times[0])).limit_denominator(1001)


def _fitted(samples: NDArray[np.float32], first_ms: float, seconds: Fraction) -> NDArray[np.float32]:
    """The sound from the first frame on, as long as the picture; silence where the track ends before it."""
    begin, length = round(first_ms * SOUND_RATE / 1000), round(seconds * SOUND_RATE)
    return pad(samples[begin : begin + length], length)


def pad(samples: NDArray[np.float32], length: int) -> NDArray[np.float32]:
    """Exactly this many samples: cut, or silence added at the end."""
    out = np.zeros(length, np.float32)
    out[: min(length, len(samples))] = samples[:length]
    return out


def write_source(source: Source, path: Path, **settings: object) -> Path:
    """Encode with x264 at crf 18 unless told otherwise; with nothing planted this is the clean control."""
    sound = None if source.sound is None else AudioTrack.of(source.sound, SOUND_RATE)
    chosen = {"crf": CRF, "options": PRESET} | settings
    return write_clip(path, source.frames, fps=source.fps, audio=sound, **chosen)  # type: ignore[arg-type]
