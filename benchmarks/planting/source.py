"""A real clip in memory, ready to have a fault planted: upright RGB frames at one steady rate, and its sound.

Clips are used small and short (`LONGEST_S`, `SHORT_SIDE`): a fault is the same in a small picture, and thousands of
clips are judged in minutes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.media import AudioTrack, write_clip
from rushes.media.frames import ClipReader

Pixels = NDArray[np.uint8]
LONGEST_S = 4
"""Of a longer clip the beginning is used."""
SHORT_SIDE = 240
"""Larger pictures are made this small, by the mean over areas."""
SHORTEST_S = 1.5
"""In less than this there is no room for a fault beside something whole."""
SOUND_RATE = 44100


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """How a planted clip is written."""

    name: str
    codec: str = "libx264"
    crf: int = 18
    options: Mapping[str, str] = field(default_factory=dict)
    starved: Mapping[str, tuple[int, Mapping[str, str]]] = field(default_factory=dict)
    """crf and options by strength of the fault "starved of bits"."""

    @property
    def file_label(self) -> str:
        return self.name.replace(" ", "-")

    def settings(self, starved: str = "") -> dict[str, object]:
        """For `write_clip`."""
        crf, options = self.starved[starved] if starved else (self.crf, {})
        return {"codec": self.codec, "crf": crf, "options": {**self.options, **options}}


def _x264(preset: str, crf: int) -> Encoder:
    levels: dict[str, tuple[int, Mapping[str, str]]] = {"weak": (38, {}), "declared": (45, {}), "strong": (51, {})}
    return Encoder(name=f"x264 {preset} crf {crf}", crf=crf, options={"preset": preset}, starved=levels)


def _mpeg4(quantiser: int) -> dict[str, str]:
    return {"qmin": str(quantiser), "qmax": str(quantiser)}


ENCODERS = (
    _x264("ultrafast", 16),
    _x264("medium", 23),
    Encoder(
        name="mpeg4 q 3",
        codec="mpeg4",
        options=_mpeg4(3),
        starved={"weak": (0, _mpeg4(12)), "declared": (0, _mpeg4(24)), "strong": (0, _mpeg4(31))},
    ),
)
"""Repeats, noise and blocks look different after each of them, so a rule must hold for all three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The picture and sound to plant in."""

    name: str
    frames: Sequence[Pixels]
    fps: Fraction
    sound: NDArray[np.float32] | None
    """Mono samples, or N × 2 where a fault is about one channel."""
    encoder: Encoder = ENCODERS[0]

    @property
    def seconds(self) -> float:
        return float(len(self.frames) / self.fps)

    def index(self, seconds: float) -> int:
        """The frame shown at this time."""
        return min(len(self.frames) - 1, max(0, round(seconds * float(self.fps))))

    def changed(self, frames: dict[int, Pixels]) -> Source:
        """The same clip with some frames replaced."""
        return replace(self, frames=[frames.get(n, frame) for n, frame in enumerate(self.frames)])


def read_source(
    path: Path, name: str = "", *, longest_s: float = LONGEST_S, short_side: int | None = SHORT_SIDE
) -> Source:
    """The first seconds of a clip. A variable rate becomes its average; an odd size loses its last row or column."""
    with ClipReader(path, audio_rate=SOUND_RATE) as reader:
        frames: list[Pixels] = []
        times: list[float] = []
        for frame in reader:
            if frame.time_ms > longest_s * 1000:
                continue  # read on all the same: the sound is complete only after the last frame
            frames.append(_even(_small(frame.rgb(), short_side)))
            times.append(frame.time_ms)
        track = reader.audio
    fps = _rate(times)
    sound = None if track is None or not len(track.samples) else _fitted(track.samples, times[0], len(frames) / fps)
    return Source(name=name or path.stem, frames=frames, fps=fps, sound=sound)


def _small(picture: Pixels, short_side: int | None) -> Pixels:
    height, width = picture.shape[:2]
    if short_side is None or min(height, width) <= short_side:
        return picture
    scale = short_side / min(height, width)
    return cv2.resize(picture, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)


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
    """Encode with the clip's encoder unless told otherwise; with nothing planted this is the clean control."""
    chosen = source.encoder.settings() | settings
    if source.sound is not None and source.sound.ndim == 2:
        return _write_stereo(source, path, chosen)
    sound = None if source.sound is None else AudioTrack.of(source.sound, SOUND_RATE)
    return write_clip(path, source.frames, fps=source.fps, audio=sound, **chosen)  # type: ignore[arg-type]


def _write_stereo(source: Source, path: Path, settings: dict[str, object]) -> Path:
    """The picture as `write_clip` makes it, and a sound track of two channels beside it."""
    assert source.sound is not None
    silent = path.with_name(f"silent-{path.name}")
    write_clip(silent, source.frames, fps=source.fps, **settings)  # type: ignore[arg-type]
    with av.open(str(silent)) as given, av.open(str(path), "w") as made:
        picture = made.add_stream_from_template(given.streams.video[0])
        sound = made.add_stream("aac", rate=SOUND_RATE, layout="stereo")
        for packet in given.demux(video=0):
            if packet.dts is not None:
                packet.stream = picture
                made.mux(packet)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(source.sound.T), format="fltp", layout="stereo")
        frame.sample_rate, frame.pts = SOUND_RATE, 0
        for packet in [*sound.encode(frame), *sound.encode(None)]:
            made.mux(packet)
    os.unlink(silent)
    return path
