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
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
from av.audio.stream import AudioStream
from av.container.input import InputContainer
from av.packet import Packet
from av.sidedata.sidedata import SideData
from av.stream import Stream
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from rushes.core.errors import MediaError
from rushes.core.media_facts import AudioFacts, MediaFacts, Transfer, VideoFacts
from rushes.media.luma import color_range_of
from rushes.media.opening import DEMUX_ERRORS, STILL, decoded, moving_pictures, open_media, pick_audio, pick_video
from rushes.media.pyav import ratio

_MATROSKA = "matroska,webm"
_ONE_LENGTH = {"asf", "asf_o"}
"""Containers with one length for all streams, which libav copies to each of them."""
_ENDS = {_MATROSKA, "flv"}
"""Containers whose length is the time at which they end, counted from 0 and not from the first frame."""

_TRANSFERS: dict[int, Transfer] = {16: "pq", 18: "hlg"}
"""libav's numbers for the two HDR curves, SMPTE ST 2084 and ARIB STD-B67."""

_ESTIMATED = {"mpeg", "mpegts", "mpegvideo", "h264", "hevc", "m4v", "mjpeg", "av1", "obu", "ivf"}
"""Containers that state no duration: libav guesses the picture's from the bit rate or the last timestamps."""


def probe(path: Path | str) -> MediaFacts:
    """What a file holds. Reads the headers and one frame; all packets only where a duration is not stated.

    Raises `MediaError` where the file cannot be opened or holds neither picture nor sound.
    """
    with open_media(path) as container:
        video, audio = pick_video(container), pick_audio(container)
        if video is None and audio is None:
            raise MediaError(f"{os.fspath(path)}: expected a video, the file has neither picture nor sound")
        facts = facts_of(container, video, audio, next(decoded(container, video), None) if video else None)
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
        fps=ratio(stream.average_rate),
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
    alone = sum(1 for s in container.streams if s.type in ("video", "audio") and not s.disposition & STILL) == 1
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


def _own_ms(stream: Stream) -> float | None:
    base = ratio(stream.time_base)
    if stream.duration is None or stream.duration < 0 or base is None:  # a damaged header may say −1
        return None
    return float(stream.duration * base * 1000)


def _is_copied(stream: Stream, own: float, whole: float | None) -> bool:
    """libav gives a stream of which it saw no packet the container's start and length."""
    return stream.start_time is None and whole is not None and abs(own - whole) < 1


def _tag_ms(stream: Stream) -> float | None:
    tag = re.fullmatch(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)", stream.metadata.get("DURATION", ""))
    return (int(tag[1]) * 3600 + int(tag[2]) * 60 + float(tag[3])) * 1000 if tag else None


def start_ms(stream: Stream) -> float | None:
    """Where a stream starts on the file's own clock; None where no header says."""
    base = ratio(stream.time_base)
    return None if stream.start_time is None or base is None else float(stream.start_time * base * 1000)


def promised_ms(container: InputContainer, video: VideoStream) -> float | None:
    """Length of the picture that the file promises by itself, as a header written before the damage would have it.

    An AVI header counts frames; libav shortens the stated length of a cut AVI to what is left of it, not the count.
    """
    if container.format.name in _ESTIMATED:
        return None
    stated = _stated_ms(container, video)
    rate = ratio(video.average_rate)
    if container.format.name == "avi" and video.frames and rate:
        return max(stated or 0.0, float(video.frames / rate * 1000))
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


class PacketSpan:
    """Start of the first packet of a stream and end of its last, without decoding."""

    def __init__(self, stream: Stream) -> None:
        self._base = ratio(stream.time_base) or Fraction(1, 1000)
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
    base = ratio(stream.time_base)
    if base is None:
        return 0
    if isinstance(stream, AudioStream):
        context = stream.codec_context
        return round(Fraction(context.frame_size, context.sample_rate) / base) if context.sample_rate else 0
    rate = ratio(stream.average_rate) if isinstance(stream, VideoStream) else None
    return round(1 / (rate * base)) if rate else 0


def packet_count(path: Path | str) -> int:
    """Frames of a video as its container has them, without decoding one; `MediaError` where it cannot be read.

    Damaged or dropped frames count, so it says how long a clip is and not how many of its frames are good.
    """
    try:
        with open_media(path) as container:
            video = pick_video(container)
            return 0 if video is None else sum(packet.size > 0 for packet in container.demux(video))
    except DEMUX_ERRORS as error:
        raise MediaError(f"{path}: cannot be read ({error})") from None
