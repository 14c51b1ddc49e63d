"""Sound as mono float samples.

Resampling and mixing down are libswresample's (stereo to mono is the mean of both), through `av.AudioResampler`.
`samples[0]` is at the clip's time zero, the earliest start of its picture and sound: a track that starts later is led
in by silence and a hole in it is filled with silence, so that sample and frame times agree. The whole track is held in
memory: at 16 kHz, 3.8 MB a minute.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container.input import InputContainer
from numpy.typing import NDArray

from rushes.core.errors import MediaError
from rushes.media.opening import decoded, open_media, pick_audio, pick_video, start_of
from rushes.media.probe import facts_of
from rushes.media.pyav import ratio

_LONGEST_SILENCE_S = 60
"""A track that claims to start later than this, or to have a longer hole, has broken timestamps: nothing is filled."""

_SHORTEST_HOLE_S = Fraction(1, 200)
"""Timestamps are rounded, to milliseconds in Matroska: less than this is no hole."""


_MANY_PLANES = 8
"""PyAV crashes on the planes of a frame that has as many."""

_MIX = {"rematrix_maxval": "1"}
"""Mixing weights add up to one. Without this, float stereo to mono is 0.71·(L + R), which clips."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AudioTrack:
    """A mono track: float32 samples in [−1, 1], their rate, and the duration its file states, in milliseconds."""

    samples: NDArray[np.float32]
    rate: int
    duration_ms: float

    @classmethod
    def of(cls, samples: NDArray[np.float32], rate: int) -> AudioTrack:
        """A track made from samples; its duration is theirs.

        >>> AudioTrack.of(np.zeros(8000, np.float32), 16000).duration_ms
        500.0
        """
        return cls(samples=samples, rate=rate, duration_ms=len(samples) * 1000 / rate)


class Resampling:
    """Decoded frames in, frames of one format, layout and rate out; holes between them are filled with silence."""

    def __init__(self, *, format: str, layout: str, rate: int) -> None:
        self._wanted = (format, layout, rate)
        self._resampler: AudioResampler | None = None
        self._kind: tuple[str, str, int] | None = None
        self._end: Fraction | None = None

    def push(self, frame: AudioFrame) -> list[AudioFrame]:
        """Take one decoded frame. A change of rate, layout or format in mid-stream starts a new resampler."""
        missing = self._hole(frame)
        before = self._convert(_silence_like(frame, missing)) if missing else []
        return before + self._convert(frame)

    def _hole(self, frame: AudioFrame) -> int:
        """Samples missing between the last frame's end and this frame; damaged packets leave such holes."""
        base = ratio(frame.time_base)
        if frame.pts is None or base is None:
            self._end = None
            return 0
        start, length = frame.pts * base, Fraction(frame.samples, frame.sample_rate)
        late = Fraction(0) if self._end is None else start - self._end
        self._end = start + length
        hole = max(length / 2, _SHORTEST_HOLE_S) <= late <= _LONGEST_SILENCE_S
        return round(late * frame.sample_rate) if hole else 0

    def _convert(self, frame: AudioFrame) -> list[AudioFrame]:
        kind = (frame.format.name, frame.layout.name, frame.sample_rate)
        tail = []
        if kind != self._kind or self._resampler is None:
            tail = self.drain()
            self._kind = kind
            format, layout, rate = self._wanted
            self._resampler = AudioResampler(format=format, layout=layout, rate=rate, options=_MIX)
        return tail + self._resampler.resample(frame)

    def drain(self) -> list[AudioFrame]:
        """What the resampler still holds."""
        resampler, self._resampler = self._resampler, None
        if resampler is None:
            return []
        tail = resampler.resample(None)  # [None] where it had nothing to do
        return [frame for frame in tail if frame is not None]


def _silence_like(frame: AudioFrame, samples: int) -> AudioFrame:
    format = frame.format if frame.layout.nb_channels < _MANY_PLANES else frame.format.packed
    quiet = AudioFrame(format=format.name, layout=frame.layout.name, samples=samples)
    for plane in quiet.planes:
        np.frombuffer(memoryview(plane), np.uint8)[:] = 128 if frame.format.name.startswith("u8") else 0
    quiet.sample_rate, quiet.time_base = frame.sample_rate, frame.time_base
    return quiet


def lead_in(frame: AudioFrame, start: Fraction | None, rate: int) -> int:
    """Samples of silence between the clip's time zero and its first audio frame."""
    base = ratio(frame.time_base)
    if start is None or frame.pts is None or base is None:
        return 0
    late = frame.pts * base - start
    return round(late * rate) if 0 < late <= _LONGEST_SILENCE_S else 0


class MonoCollector:
    """Gathers decoded audio frames into one mono track."""

    def __init__(self, rate: int, start: Fraction | None) -> None:
        self.rate = rate
        self._start = start
        self._chunks: list[NDArray[np.float32]] = []
        self._resampling = Resampling(format="flt", layout="mono", rate=rate)
        self._empty = True
        self.lead = 0
        """Samples of silence before the first frame."""

    def add(self, frame: AudioFrame) -> None:
        """Take one decoded frame."""
        if self._empty:
            self._empty = False
            self.lead = lead_in(frame, self._start, self.rate)
            self._chunks.append(np.zeros(self.lead, np.float32))
        self._keep(self._resampling.push(frame))

    def track(self, stated_ms: float | None) -> AudioTrack:
        """Everything heard, in [−1, 1]; where the file states no duration, the samples' own."""
        self._keep(self._resampling.drain())
        samples = np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.float32)
        self._chunks.clear()
        np.clip(samples, -1, 1, out=samples)
        heard_ms = (len(samples) - self.lead) * 1000 / self.rate
        return AudioTrack(samples=samples, rate=self.rate, duration_ms=heard_ms if stated_ms is None else stated_ms)

    def _keep(self, frames: list[AudioFrame]) -> None:
        self._chunks.extend(frame.to_ndarray()[0].astype(np.float32) for frame in frames)


def read_audio(
    path: Path | str,
    rate: int = 16000,
    *,
    at_ms: float | None = None,
    listen: Callable[[AudioFrame], None] | None = None,
) -> AudioTrack:
    """The sound of a clip or an audio file as one mono track.

    `at_ms` puts the first sample at that time of another clip, whatever the file's own offset, with silence before:
    sound given in place of a clip's own starts with its picture. `listen` is given every decoded frame on the way.

    Raises `MediaError` where the file cannot be opened, has no audio track, or none of it decodes.
    """
    with open_media(path, wanted="sound") as container:
        stream = need_sound(container, path)
        facts = facts_of(container, None, stream, None)
        collector = MonoCollector(rate, start_of(pick_video(container), stream) if at_ms is None else None)
        for frame in decoded(container, stream):
            collector.add(frame)
            if listen is not None:
                listen(frame)
    track = collector.track(facts.audio.duration_ms if facts.audio else None)
    if len(track.samples) <= collector.lead:
        raise no_sound(path)
    if at_ms is None:
        return track
    lead = np.zeros(round(max(0.0, at_ms) * rate / 1000), np.float32)
    return replace(track, samples=np.concatenate([lead, track.samples]))


def require_sound(path: Path | str) -> None:
    """Raise `MediaError`, one line, where a file has no sound that can be decoded; reads up to the first that can."""
    with open_media(path, wanted="sound") as container:
        if next(decoded(container, need_sound(container, path)), None) is None:
            raise no_sound(path)


def need_sound(container: InputContainer, path: Path | str) -> AudioStream:
    """The sound of a file, or a `MediaError` that says that it has none."""
    stream = pick_audio(container)
    if stream is None:
        raise MediaError(f"{os.fspath(path)}: expected sound; the file has no audio track that can be decoded")
    return stream


def no_sound(path: Path | str) -> MediaError:
    """Of a track of which nothing decodes."""
    return MediaError(f"{os.fspath(path)}: the audio track holds no sound that can be decoded; export it again")
