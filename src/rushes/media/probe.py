"""What a media file holds: container, picture, sound, durations.

Durations are those of the stream, never of another: the stream's own, as ffprobe reports it, else its DURATION tag
(Matroska), else the container's where the file has no other picture or sound. Where the file states none (a live WebM;
FLV, ASF and untagged WebM with picture and sound, which have one length for both), they are measured: end of the last
packet less the start of the first. So is the picture of containers that never state one (MPEG program and transport
streams, bare streams): libav's figure there is an estimate that differs between its versions by a frame and more.

libavformat's DURATION tag is the time at which the stream ends: a picture of 3.000 s that starts at 0.464 s has the tag
3.464 s. Its start is taken off. Other muxers (mkvmerge) write the length itself, which is left as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from av.audio.stream import AudioStream
from av.container.input import InputContainer
from av.packet import Packet
from av.sidedata.sidedata import SideData
from av.stream import Disposition, Stream
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from rushes.errors import MediaError
from rushes.media.luma import Range, color_range_of
from rushes.media.opening import DEMUX_ERRORS, moving_pictures, open_media, pick_audio, pick_video

_MATROSKA = "matroska,webm"
_ONE_LENGTH = {"asf", "asf_o"}
"""Containers with one length for all streams, which libav copies to each of them."""
_ENDS = {_MATROSKA, "flv"}
"""Containers whose length is the time at which they end, counted from 0 and not from the first frame."""

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
        spans = _measure(container, [s for s in (video, audio) if s])
        return facts.with_measured(
            video_ms=spans[video.index].length_ms if video else None,
            audio_ms=spans[audio.index].length_ms if audio else None,
        )


def facts_of(
    container: InputContainer, video: VideoStream | None, audio: AudioStream | None, first: VideoFrame | None
) -> MediaFacts:
    """Facts from the headers and the first decoded frame, which alone carries the rotation."""
    estimated = container.format.name in _ESTIMATED
    return MediaFacts(
        container=container.format.name,
        duration_ms=_container_ms(container),
        video=_video_facts(video, first, None if estimated else _stated_ms(container, video)) if video else None,
        audio=_audio_facts(audio, _stated_ms(container, audio)) if audio else None,
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


def _container_ms(container: InputContainer) -> float | None:
    unknown = container.format.name in _ESTIMATED or container.duration is None or container.duration < 0
    return None if unknown else cast(int, container.duration) / 1000


def _stated_ms(container: InputContainer, stream: Stream) -> float | None:
    """Length of a stream as the file states it; None where it states none, or one for several streams."""
    kind, whole = container.format.name, _container_ms(container)
    alone = sum(1 for s in container.streams if s.type in ("video", "audio") and not _is_still(s)) == 1
    own = _own_ms(stream)
    if own is not None and (alone or kind not in _ONE_LENGTH) and (alone or not _is_copied(stream, own, whole)):
        return own
    late = max(0.0, start_ms(stream) or 0.0)
    tag = _tag_ms(stream)
    if tag is not None:
        tag = tag if whole is None else min(tag, whole)  # a tag carried over from a longer file promises nothing
        by_libav = container.metadata.get("ENCODER", container.metadata.get("encoder", "")).startswith("Lavf")
        return _after(late, tag) if by_libav else tag
    if not alone or whole is None:
        return None
    return _after(late, whole) if kind in _ENDS else whole


def _after(start: float, end: float) -> float | None:
    """From start to end; None where the end is no later, which a piece of a longer recording may say."""
    return end - start if end > start else None


def _is_still(stream: Stream) -> bool:
    return bool(stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails))


def _own_ms(stream: Stream) -> float | None:
    if stream.duration is None or stream.duration < 0 or not stream.time_base:  # a damaged header may say −1
        return None
    return float(stream.duration * stream.time_base * 1000)


def _is_copied(stream: Stream, own: float, whole: float | None) -> bool:
    """libav gives a stream of which it saw no packet the container's start and length."""
    return stream.start_time is None and whole is not None and abs(own - whole) < 1


def _tag_ms(stream: Stream) -> float | None:
    tag = re.fullmatch(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)", stream.metadata.get("DURATION", ""))
    return (int(tag[1]) * 3600 + int(tag[2]) * 60 + float(tag[3])) * 1000 if tag else None


def start_ms(stream: Stream) -> float | None:
    """Where a stream starts on the file's own clock; None where no header says."""
    if stream.start_time is None or not stream.time_base:
        return None
    return float(stream.start_time * stream.time_base * 1000)


def promised_ms(container: InputContainer, video: VideoStream) -> float | None:
    """Length of the picture that the file promises by itself, as a header written before the damage would have it.

    An AVI header counts frames; libav shortens the stated length of a cut AVI to what is left of it, not the count.
    """
    if container.format.name in _ESTIMATED:
        return None
    stated = _stated_ms(container, video)
    if container.format.name == "avi" and video.frames and video.average_rate:
        return max(stated or 0.0, float(video.frames / video.average_rate * 1000))
    return stated


def promised_end_ms(container: InputContainer) -> float | None:
    """Where the longer of picture and sound ends by what a container with one length for both says; None elsewhere.

    Other streams (a second sound, subtitles) may be what the length is of: then nothing is promised.
    """
    kind = container.format.name
    if len(container.streams) > 2 or kind not in _ENDS | _ONE_LENGTH:
        return None
    if kind in _ONE_LENGTH:
        return max((ms for s in container.streams if (ms := _own_ms(s)) is not None), default=None)
    return _container_ms(container)


def listed_frames(container: InputContainer, video: VideoStream) -> int | None:
    """Frames that the index at the head of an MP4 or MOV lists and its edit list shows; None where there is none.

    Other containers say nothing that holds: AVI counts empty slots, VP8 has packets that are never shown, Matroska's
    index has the key frames alone.
    """
    if not video.frames or not container.format.name.startswith("mov"):
        return None
    return sum(not entry.is_discard for entry in video.index_entries)


def _first_frame(container: InputContainer, video: VideoStream) -> VideoFrame | None:
    video.thread_count = 1
    packets = container.demux(video)
    while True:
        try:
            packet = next(packets, None)
            frames = packet.decode() if packet is not None else []
        except DEMUX_ERRORS:
            continue  # a damaged packet tells nothing about the next; a demuxer that failed ends the loop below
        if packet is None or frames:
            return next(iter(frames), None)


class PacketSpan:
    """Start of the first packet of a stream and end of its last, without decoding."""

    def __init__(self, stream: Stream) -> None:
        self._base = stream.time_base or Fraction(1, 1000)
        self._usual = _usual_ticks(stream)
        self._first: int | None = None
        self._last = 0

    def add(self, packet: Packet[Any]) -> None:
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None:
            return
        end = time + (packet.duration or self._usual)
        if self._first is None:
            self._first, self._last = time, end
        else:
            self._first, self._last = min(time, self._first), max(end, self._last)

    @property
    def length_ms(self) -> float | None:
        return None if self._first is None else float((self._last - self._first) * self._base * 1000)

    @property
    def end_ms(self) -> float | None:
        """On the file's own clock."""
        return None if self._first is None else float(self._last * self._base * 1000)


def _measure(container: InputContainer, streams: Iterable[Stream]) -> dict[int, PacketSpan]:
    """What the packets of each stream span, by stream index."""
    spans = {stream.index: PacketSpan(stream) for stream in streams}
    try:
        for packet in container.demux([container.streams[index] for index in spans]):
            spans[packet.stream_index].add(packet)
    except DEMUX_ERRORS:
        pass  # a torn end: what was read up to it is the duration
    return spans


def _usual_ticks(stream: Stream) -> int:
    """How long a packet lasts that does not say it: one frame at the average rate, or one block of samples."""
    if not stream.time_base:
        return 0
    if isinstance(stream, AudioStream):
        context = stream.codec_context
        return round(Fraction(context.frame_size, context.sample_rate) / stream.time_base) if context.sample_rate else 0
    rate = stream.average_rate if isinstance(stream, VideoStream) else None
    return round(1 / (rate * stream.time_base)) if rate else 0
