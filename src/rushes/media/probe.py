"""What a media file holds: container, picture, sound, durations.

Durations are those ffprobe reports: the stream's own, else the stream's DURATION tag (Matroska), else the container's.
Where the file states none (a live WebM), they are measured: end of the last packet less the start of the first. So is
the picture of containers that never state one (MPEG program and transport streams, bare streams): libav's figure there
is an estimate that differs between its versions by a frame and more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal, cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container.input import InputContainer
from av.sidedata.sidedata import SideData
from av.stream import Stream
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from rushes.errors import MediaError
from rushes.media.luma import Range, color_range_of
from rushes.media.opening import moving_pictures, open_media, pick_audio, pick_video

Transfer = Literal["sdr", "pq", "hlg"]
_TRANSFERS: dict[int, Transfer] = {16: "pq", 18: "hlg"}
"""libav's numbers for the two HDR curves, SMPTE ST 2084 and ARIB STD-B67."""

_ESTIMATED = {"mpeg", "mpegts", "mpegvideo", "h264", "hevc", "m4v", "mjpeg", "av1", "obu", "ivf"}
"""Containers that state no duration: libav guesses the picture's from the bit rate or the last timestamps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFacts:
    """The clip's picture."""

    codec: str
    width: int
    height: int
    """Size as coded, before rotation."""
    rotation: int
    """0, 90, 180 or 270: the clockwise turn that makes the picture upright."""
    mirrored: bool = False
    """The display matrix also flips: after the turn, top to bottom (0, 180) or left to right (90, 270)."""
    pix_fmt: str
    bits: int
    color_range: Range
    range_tagged: bool
    """False when the file does not say its range and the rule in `rushes.media.luma` decided."""
    transfer: Transfer = "sdr"
    """What a code means in light: "pq" or "hlg" where the file is tagged so, "sdr" for all else."""
    fps: Fraction | None
    """Average frame rate, as ffprobe's avg_frame_rate; None where the file does not tell."""
    duration_ms: float | None
    frames_declared: int | None
    """Frames the header promises; None where it promises nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFacts:
    """The clip's sound."""

    codec: str
    rate: int
    channels: int
    duration_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaFacts:
    """What a file holds. `video` is None for a file with sound only: cover art is no video."""

    container: str
    duration_ms: float | None
    video: VideoFacts | None
    audio: AudioFacts | None
    video_streams: int
    """Video streams, attached pictures not counted; the default one, else the first, is read."""

    def plain(self) -> dict[str, object]:
        """As plain data for JSON; the frame rate is a text such as "30000/1001", exact."""
        facts = asdict(self)
        if self.video and self.video.fps:
            facts["video"]["fps"] = str(self.video.fps)
        return facts

    def with_measured(self, *, video_ms: float | None, audio_ms: float | None) -> MediaFacts:
        """The same facts, with the durations the file does not state filled in from what was measured."""
        video, audio = self.video, self.audio
        if video and video.duration_ms is None:
            video = replace(video, duration_ms=video_ms)
        if audio and audio.duration_ms is None:
            audio = replace(audio, duration_ms=audio_ms)
        known = [part.duration_ms for part in (video, audio) if part and part.duration_ms is not None]
        whole = self.duration_ms if self.duration_ms is not None else max(known, default=None)
        return replace(self, video=video, audio=audio, duration_ms=whole)


def probe(path: Path | str) -> MediaFacts:
    """What a file holds. Reads the headers and one frame; all packets only where a duration is not stated.

    Raises `MediaError` where the file cannot be opened or holds neither picture nor sound.
    """
    with open_media(path) as container:
        video, audio = pick_video(container), pick_audio(container)
        if video is None and audio is None:
            raise MediaError(f"{os.fspath(path)}: expected a video, the file has neither picture nor sound")
        facts = facts_of(container, video, audio, _first_frame(container, video) if video else None)
    parts = [part for part in (facts.video, facts.audio) if part]
    if all(part.duration_ms is not None for part in parts):
        return facts
    with open_media(path) as container:
        video, audio = pick_video(container), pick_audio(container)
        lengths = _measure(container, [s for s in (video, audio) if s])
        return facts.with_measured(
            video_ms=lengths.get(video.index) if video else None, audio_ms=lengths.get(audio.index) if audio else None
        )


def facts_of(
    container: InputContainer, video: VideoStream | None, audio: AudioStream | None, first: VideoFrame | None
) -> MediaFacts:
    """Facts from the headers and the first decoded frame, which alone carries the rotation."""
    estimated = container.format.name in _ESTIMATED
    whole = None if estimated or container.duration is None or container.duration < 0 else container.duration / 1000
    return MediaFacts(
        container=container.format.name,
        duration_ms=whole,
        video=_video_facts(video, first, None if estimated else _stated_ms(video, whole)) if video else None,
        audio=_audio_facts(audio, _stated_ms(audio, whole)) if audio else None,
        video_streams=len(moving_pictures(container)),
    )


def _video_facts(stream: VideoStream, first: VideoFrame | None, duration_ms: float | None) -> VideoFacts:
    context = stream.codec_context
    source = first if first is not None else context
    pix_fmt = first.format.name if first is not None else context.pix_fmt or "yuv420p"
    rotation, mirrored = orientation(first) if first is not None else (0, False)
    return VideoFacts(
        codec=context.codec.canonical_name,
        width=source.width,
        height=source.height,
        rotation=rotation,
        mirrored=mirrored,
        pix_fmt=pix_fmt,
        bits=VideoFormat(pix_fmt).components[0].bits,
        color_range=color_range_of(pix_fmt, source.color_range),
        range_tagged=source.color_range in (1, 2) or pix_fmt.startswith("yuvj"),
        transfer=_TRANSFERS.get(int(source.color_trc), "sdr"),
        fps=stream.average_rate or None,
        duration_ms=duration_ms,
        frames_declared=stream.frames or None,
    )


def _audio_facts(stream: AudioStream, duration_ms: float | None) -> AudioFacts:
    context = stream.codec_context
    return AudioFacts(
        codec=context.codec.canonical_name,
        rate=context.sample_rate,
        channels=context.layout.nb_channels,
        duration_ms=duration_ms,
    )


def orientation(frame: VideoFrame) -> tuple[int, bool]:
    """(clockwise quarter turns in degrees that make the frame upright, whether it is mirrored as well)."""
    side = cast(SideData | None, frame.side_data.get("DISPLAYMATRIX"))
    if side is None:
        return 0, False
    a, b, _, c, d = np.frombuffer(memoryview(side), np.int32)[:5].tolist()
    return round(-frame.rotation / 90) * 90 % 360, a * d - b * c < 0


def _stated_ms(stream: Stream, container_ms: float | None) -> float | None:
    if stream.duration is not None and stream.duration >= 0 and stream.time_base:  # a damaged header may say −1
        return float(stream.duration * stream.time_base * 1000)
    tag = re.fullmatch(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)", stream.metadata.get("DURATION", ""))
    if tag:
        return (int(tag[1]) * 3600 + int(tag[2]) * 60 + float(tag[3])) * 1000
    return container_ms


def _first_frame(container: InputContainer, video: VideoStream) -> VideoFrame | None:
    video.thread_count = 1
    packets = container.demux(video)
    while True:
        try:
            packet = next(packets, None)
            frames = packet.decode() if packet is not None else []
        except av.FFmpegError:
            continue  # a damaged packet tells nothing about the next; a demuxer that failed ends the loop below
        if packet is None or frames:
            return next(iter(frames), None)


def _measure(container: InputContainer, streams: Iterable[Stream]) -> dict[int, float]:
    """Milliseconds from the first packet's start to the last one's end, by stream index; no decoding."""
    wanted = list(streams)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    try:
        for packet in container.demux(wanted):
            time = packet.pts if packet.pts is not None else packet.dts
            if time is None:
                continue
            index = packet.stream_index
            first[index] = min(time, first.get(index, time))
            last[index] = max(time + (packet.duration or _usual_ticks(packet.stream)), last.get(index, time))
    except av.FFmpegError:
        pass  # a torn end: what was read up to it is the duration
    return {
        s.index: float((last[s.index] - first[s.index]) * s.time_base * 1000)
        for s in wanted
        if s.index in last and s.time_base
    }


def _usual_ticks(stream: Stream) -> int:
    if not isinstance(stream, VideoStream) or not stream.average_rate or not stream.time_base:
        return 0
    return round(1 / (stream.average_rate * stream.time_base))
