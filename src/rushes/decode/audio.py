"""Sound as mono float samples.

Resampling and mixing down are libswresample's (stereo to mono is the mean of both), through `av.AudioResampler`.
`samples[0]` is at the clip's time zero, the earliest start of its picture and sound: a track that starts later is led
in by silence, so that sample and frame times agree. The whole track is held in memory: at 16 kHz, 3.8 MB a minute.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from numpy.typing import NDArray

from rushes.decode.opening import open_media, pick_audio, pick_video, start_of
from rushes.decode.probe import facts_of
from rushes.errors import MediaError

_LONGEST_LEAD_S = 60
"""A track that claims to start later than this has broken timestamps: no silence is put before it."""


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


class MonoCollector:
    """Gathers decoded audio frames into one mono track."""

    def __init__(self, rate: int, start: Fraction | None) -> None:
        self.rate = rate
        self._start = start
        self._chunks: list[NDArray[np.float32]] = []
        self._resampler: AudioResampler | None = None
        self._kind: tuple[str, str, int] | None = None
        self._empty = True
        self.lead = 0
        """Samples of silence before the first frame."""

    def add(self, frame: AudioFrame) -> None:
        """Take one decoded frame. A change of rate, layout or format in mid-stream starts a new resampler."""
        kind = (frame.format.name, frame.layout.name, frame.sample_rate)
        if kind != self._kind:
            self._drain()
            self._kind = kind
            self._resampler = AudioResampler(format="flt", layout="mono", rate=self.rate)
        if self._empty:
            self._empty = False
            self._lead_in(frame)
        assert self._resampler is not None
        self._keep(self._resampler.resample(frame))

    def track(self, stated_ms: float | None) -> AudioTrack:
        """Everything heard, in [−1, 1]; where the file states no duration, the samples' own."""
        self._drain()
        samples = np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.float32)
        self._chunks.clear()
        np.clip(samples, -1, 1, out=samples)
        heard_ms = (len(samples) - self.lead) * 1000 / self.rate
        return AudioTrack(samples=samples, rate=self.rate, duration_ms=heard_ms if stated_ms is None else stated_ms)

    def _lead_in(self, frame: AudioFrame) -> None:
        if self._start is None or frame.pts is None or frame.time_base is None:
            return
        late = frame.pts * frame.time_base - self._start
        if 0 < late <= _LONGEST_LEAD_S:
            self.lead = round(late * self.rate)
            self._chunks.append(np.zeros(self.lead, np.float32))

    def _drain(self) -> None:
        if self._resampler is not None:
            tail = self._resampler.resample(None)  # [None] where it had nothing to do
            self._keep([frame for frame in tail if frame is not None])
        self._resampler = None

    def _keep(self, frames: list[AudioFrame]) -> None:
        self._chunks.extend(frame.to_ndarray()[0].astype(np.float32) for frame in frames)


def read_audio(path: Path | str, rate: int = 16000) -> AudioTrack:
    """The sound of a clip or an audio file as one mono track.

    Raises `MediaError` where the file cannot be opened, has no audio track, or none of it decodes.
    """
    with open_media(path) as container:
        stream = pick_audio(container)
        if stream is None:
            raise MediaError(f"{os.fspath(path)}: expected sound, the file has no audio track that can be decoded")
        facts = facts_of(container, None, stream, None)
        collector = MonoCollector(rate, start_of(pick_video(container), stream))
        stream.codec_context.thread_count = 1
        packets = container.demux(stream)
        while True:
            try:
                packet = next(packets, None)
                if packet is None:
                    break
                for frame in packet.decode():
                    collector.add(frame)
            except av.FFmpegError:
                continue  # a damaged packet is a gap in the sound; `ClipReader.audio_failures` counts them
    track = collector.track(facts.audio.duration_ms if facts.audio else None)
    if len(track.samples) <= collector.lead:
        raise MediaError(f"{os.fspath(path)}: the audio track holds no sound that can be decoded; export it again")
    return track
