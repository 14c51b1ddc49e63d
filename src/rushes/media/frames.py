"""The one frame reader: a single pass over picture and sound, damage counted.

    with ClipReader("take.mp4", audio_rate=16000) as reader:
        for frame in reader:
            frame.luma.values.mean()

Frames come in presentation order, one at a time; nothing is kept, so memory does not grow with the clip (the sound,
when asked for, does: see `rushes.media.audio`). A packet that cannot be decoded is counted in `decode_failures` and
the next one is tried; a file that breaks off gives the frames up to the break.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, cast

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from rushes.core.errors import MediaError
from rushes.core.media_facts import MediaFacts
from rushes.media.audio import AudioTrack, MonoCollector
from rushes.media.luma import LumaPlane, Order, luma_plane, rgb_of, scale_of
from rushes.media.opening import DEMUX_ERRORS, need_video, open_media, open_to_decode, pick_audio, start_of
from rushes.media.probe import PacketSpan, facts_of, listed_frames, promised_end_ms, promised_ms
from rushes.media.pyav import ratio
from rushes.media.quantiser import EXPORTED, quantiser_of
from rushes.media.yuv import YuvPlanes, yuv_planes

_ROUGH_MS = 500.0
"""How far a length that a container has for all its streams may be off."""


class Frame:
    """One decoded frame. Keeping a frame, or its luma, keeps the decoder's memory for it."""

    __slots__ = ("_luma", "_reader", "index", "time_ms", "video")

    def __init__(self, index: int, time_ms: float, video: VideoFrame, reader: ClipReader) -> None:
        self.index = index
        """0 for the first frame that decoded."""
        self.time_ms = time_ms
        """Presentation time; 0 is the earliest start of the clip's picture and sound."""
        self.video = video
        """PyAV's frame, for what this class does not offer."""
        self._reader = reader
        self._luma: LumaPlane | None = None

    @property
    def luma(self) -> LumaPlane:
        """Luma as coded, not rotated; see `rushes.media.luma`."""
        if self._luma is None:
            self._luma = luma_plane(self.video, self._reader._reformatter)
        return self._luma

    @property
    def luma_scale(self) -> tuple[float, float]:
        """Scale and offset of the luma, without the plane."""
        return scale_of(self.video)

    @property
    def quantiser(self) -> float:
        """How coarsely the frame was coded, 0 to 51; NaN where its stream does not say. See `quantiser_of`."""
        return quantiser_of(self.video)

    def rgb(self) -> NDArray[np.uint8]:
        """H×W×3, RGB, full range, upright, contiguous. YUV uses its tagged matrix, BT.601 where untagged."""
        return self._picture("rgb24")

    def bgr(self) -> NDArray[np.uint8]:
        """As `rgb`, in OpenCV's order."""
        return self._picture("bgr24")

    def planes(self) -> YuvPlanes | None:
        """The planes as stored, where `rushes.media.yuv` makes `rgb()` of them bit for bit; None of a turned clip."""
        video = self._reader.facts.video
        assert video is not None
        return None if video.rotation or video.mirrored else yuv_planes(self.video)

    def _picture(self, order: Order) -> NDArray[np.uint8]:
        picture = rgb_of(self.video, self._reader._reformatter, order)
        video = self._reader.facts.video
        assert video is not None
        return np.ascontiguousarray(upright(picture, video.rotation, video.mirrored))


def upright(picture: NDArray[np.uint8], rotation: int, mirrored: bool = False) -> NDArray[np.uint8]:
    """Turn a picture clockwise by `rotation` degrees; mirrored ones are then flipped. A view.

    >>> upright(np.array([[1, 2, 3]], np.uint8), 90).tolist()
    [[1], [2], [3]]
    >>> upright(np.array([[1, 2, 3]], np.uint8), 180).tolist()
    [[3, 2, 1]]
    """
    turned = np.rot90(picture, -rotation // 90)
    if not mirrored:
        return turned
    return turned[:, ::-1] if rotation in (90, 270) else turned[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAccount:
    """What was read of a clip, what was lost on the way, and what the file had promised."""

    facts: MediaFacts | None = None
    """None when the file could not be opened."""
    decode_failures: int = 0
    """Video packets that could not be decoded; one more when the file breaks off."""
    corrupt_frames: int = 0
    """Frames the decoder marked as damaged but patched up and delivered."""
    corrupt_packets: int = 0
    """Packets of the picture that the demuxer marked as damaged, decoded or not."""
    repeated_frames: int = 0
    """Packets of the picture without data, Theora's way to repeat the frame before; no frame comes of them."""
    measured_duration_ms: float | None = None
    """First frame's start to last frame's end; None when nothing decoded, and where reading was given up."""
    promised_frames: int | None = None
    """Frames the file's index lists as shown; None where it has no such index, and where reading was given up."""
    promised_duration_ms: float | None = None
    """Length of the picture as the file promises it; None where it does not, and where reading was given up."""


def account(read: ReadAccount | ClipReader) -> dict[str, Any]:
    """The fields of `ReadAccount` by name, whatever else there is."""
    return {field.name: getattr(read, field.name) for field in fields(ReadAccount)}


class ClipReader:
    """Reads one clip, once. It has the fields of `ReadAccount`: counts so far, and lengths after the loop.

    Opening decodes the first frame, for the facts only a frame carries. Raises `MediaError` where the file cannot be
    opened or has no video, and while reading where the frame size changes: a clip is measured at one size.
    """

    decode_failures = corrupt_frames = corrupt_packets = repeated_frames = 0
    audio_failures = 0
    """Audio packets that could not be decoded, so far."""
    measured_duration_ms: float | None = None
    promised_frames: int | None = None
    promised_duration_ms: float | None = None
    audio: AudioTrack | None = None
    """The sound, when `audio_rate` was given and the clip has any; complete after the loop."""
    pixel_aspect: Fraction | None = None
    """Width over height of one pixel, as coded; None where the file does not say."""
    facts: MediaFacts
    """What the file holds; durations it does not state are filled in after the loop."""

    def __init__(
        self,
        path: Path | str,
        audio_rate: int | None = None,
        *,
        listen: Callable[[AudioFrame], None] | None = None,
    ) -> None:
        self.path = Path(path)
        self._reformatter = VideoReformatter()
        self._finished = False
        self._container = open_to_decode(path)
        try:
            self._video = need_video(self._container, path)
            self._video.codec_context.options = EXPORTED
            self._sound = pick_audio(self._container)
            self._start = start_of(self._video, self._sound)
            wanted = audio_rate is not None and self._sound is not None
            self._collector = MonoCollector(cast(int, audio_rate), self._start) if wanted else None
            listeners = (self._collector.add if self._collector else None, listen if self._sound else None)
            self._listeners = [listener for listener in listeners if listener is not None]
            self._span = self._sound_span()
            self._decoded = self._decode()
            self._first = next(self._decoded, None)
            self.facts = self._read_facts()
            shape = self._video.sample_aspect_ratio or self._video.codec_context.sample_aspect_ratio
            self.pixel_aspect = ratio(shape)
        except BaseException:
            self._container.close()
            raise

    def __enter__(self) -> ClipReader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Frames already handed out stay valid."""
        self._decoded.close()
        self._container.close()

    def __iter__(self) -> Iterator[Frame]:
        """The frames, in presentation order; a second loop finds nothing."""
        video, self._first = self._first, None
        if video is None:
            if not self._finished:
                self._finish(None)
            return
        clock = _Clock(self._video, self._start, video)
        time_ms, width, height, index = clock.time_ms, video.width, video.height, 0
        yield Frame(index, time_ms(video), video, self)
        for video in self._decoded:
            if video.width != width or video.height != height:
                self._size_changed(index + 1, (width, height), (video.width, video.height))
            index += 1
            yield Frame(index, time_ms(video), video, self)
        self._finish(clock)

    def _decode(self) -> Generator[VideoFrame, None, None]:
        """Decoded video frames; sound goes to the collector on the way.

        One flat loop: between frames the decoder has emptied the CPU's caches, so every further generator or call costs
        several times what it does when measured alone.
        """
        video, decode, hear = self._video, self._video.decode, self._hear
        streams = [video, self._sound] if self._listeners or self._span else [video]
        packets: Iterator[Packet[Any] | None] | None = self._container.demux(streams)
        while packets is not None:
            try:
                for packet in packets:
                    if packet is not None:
                        if packet.stream is not video:
                            hear(packet)
                            continue
                        if packet.is_corrupt:
                            self.corrupt_packets += 1
                    try:
                        frames = decode(packet)
                    except av.FFmpegError:
                        if packet is not None and not packet.size and packet.pts is not None:
                            self.repeated_frames += 1
                        else:
                            self.decode_failures += 1
                        continue
                    for frame in frames:
                        if frame.is_corrupt:
                            self.corrupt_frames += 1
                        yield frame
                packets = None
            except av.FFmpegError:  # the file breaks off: count it, then empty the decoder
                self.decode_failures += 1
                packets = iter([None])
            except IndexError:  # PyAV's, after the last packet: see DEMUX_ERRORS
                packets = None

    def _read_facts(self) -> MediaFacts:
        """With what libav sees at the beginning of the file, where no frame could be decoded."""
        if self._first is not None:
            return facts_of(self._container, self._video, self._sound, self._first)
        with closing(open_media(self.path)) as seen:
            return facts_of(seen, need_video(seen, self.path), pick_audio(seen), None)

    def _sound_span(self) -> PacketSpan | None:
        """What to measure the sound with, where the file does not state its length."""
        facts = facts_of(self._container, None, self._sound, None).audio
        return PacketSpan(self._sound) if self._sound and facts and facts.duration_ms is None else None

    def _hear(self, packet: Packet[Any]) -> None:
        if self._span is not None:
            self._span.add(packet)
        if not self._listeners:
            return
        try:
            for frame in cast(list[AudioFrame], packet.decode()):
                for listener in self._listeners:
                    listener(frame)
        except av.FFmpegError:
            self.audio_failures += 1

    def _size_changed(self, index: int, before: tuple[int, int], after: tuple[int, int]) -> NoReturn:
        sizes = "{}×{} to {}×{}".format(*before, *after)
        raise MediaError(f"{self.path}: the size changes from {sizes} at frame {index}; re-encode it to one size")

    def _finish(self, clock: _Clock | None) -> None:
        self._finished = True
        self.measured_duration_ms = clock.duration_ms() if clock else None
        self.promised_duration_ms = promised_ms(self._container, self._video)
        if clock and self.promised_duration_ms is None:
            self.promised_duration_ms = self._promised_by_container(clock)
        self.promised_frames = self._promised_frames(clock)
        heard_ms = self._span.length_ms if self._span else None
        if self._collector and self.audio is None:
            stated_ms = self.facts.audio.duration_ms if self.facts.audio else None
            self.audio = self._collector.track(heard_ms if stated_ms is None else stated_ms)
        self.facts = self.facts.with_measured(video_ms=self.measured_duration_ms, audio_ms=heard_ms)

    def _promised_by_container(self, clock: _Clock) -> float | None:
        """The measured length and what neither picture nor sound reaches of the container's, which is all it promises.

        Such a length is a rough one (encoders round it): less than half a second is not held against the picture.
        """
        end_ms = promised_end_ms(self._container)
        sound_ms = 0.0 if self._sound is None else self._span.end_ms if self._span else None
        if end_ms is None or sound_ms is None:
            return None
        short = end_ms - max(clock.end_ms(), sound_ms)
        return clock.duration_ms() + (short if short > _ROUGH_MS else 0.0)

    def _promised_frames(self, clock: _Clock | None) -> int | None:
        """Frames the index lists as shown, less those before the first that can be: an open GOP's leading pictures."""
        listed = listed_frames(self._container, self._video)
        if listed is None or clock is None or listed <= clock.frames:
            return listed
        leading = 0
        try:
            with closing(open_media(self.path)) as again:
                for packet in again.demux(need_video(again, self.path)):
                    leading += packet.pts is not None and packet.pts < clock.first and not packet.is_discard
        except (MediaError, *DEMUX_ERRORS):
            pass  # it broke off before, and that has been counted
        return listed - leading


class _Clock:
    """Frame times in milliseconds from the clip's time zero, one rounding each."""

    def __init__(self, video: VideoStream, start: Fraction | None, first: VideoFrame) -> None:
        base, rate = ratio(video.time_base) or Fraction(1, 1000), ratio(video.average_rate)
        self._up, self._down = base.numerator * 1000, base.denominator
        self._usual = round(1 / (rate * base)) if rate else 0
        origin = start / base if start is not None else Fraction(_ticks(first) or 0)
        self._origin = origin.numerator if origin.denominator == 1 else float(origin)
        self._expected = self._origin
        self.first: float = 0
        """The first frame's timestamp, in ticks."""
        self._end: float = 0
        self.frames = 0

    def time_ms(self, frame: VideoFrame) -> float:
        """The frame's time; one without a timestamp starts where the frame before it ends."""
        ticks = _ticks(frame)
        now = self._expected if ticks is None else ticks
        self._expected = now + (frame.duration or self._usual)
        if not self.frames:
            self.first, self._end = now, self._expected
        elif self._expected > self._end:
            self._end = self._expected
        self.frames += 1
        return (now - self._origin) * self._up / self._down

    def duration_ms(self) -> float:
        """Start of the first frame to the end of the last."""
        return (self._end - self.first) * self._up / self._down

    def end_ms(self) -> float:
        """End of the last frame on the file's own clock."""
        return self._end * self._up / self._down


def _ticks(frame: VideoFrame) -> int | None:
    return frame.pts if frame.pts is not None else frame.dts
