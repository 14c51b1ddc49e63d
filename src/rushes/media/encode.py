"""Writing clips, the same bytes every time: one thread, bit-exact flags, no times and no program names in the file.

The clip is written under a temporary name beside its target and renamed when complete, so a failure leaves nothing
half-written. Sound is AAC, or Opus in WebM. GIF has no yuv420p: there the default means rgb8, a fixed 3-3-2 palette
(`pix_fmt="gray"` keeps gray exactly).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.codec.context import Flags as CodecFlags
from av.container.output import OutputContainer
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from rushes.core.errors import InputError, MediaError
from rushes.core.machine.files import replacing_path
from rushes.core.media_facts import Range
from rushes.media.audio import AudioTrack
from rushes.media.luma import color_range_of
from rushes.media.opening import reason

X264_STEADY = {"mbtree": "0"}
"""x264's macroblock-tree rate control can vary from run to run, on one thread too: 12 runs over one 200×200 clip gave
11 different files with it, and one file without."""

_QUALITY: dict[str, dict[str, str]] = {"libx264": X264_STEADY, "libx264rgb": X264_STEADY, "libvpx-vp9": {"b": "0"}}
"""Codecs that know `crf`, and what else they need."""
_AUDIO_BLOCK = 1024


def write_clip(
    path: Path | str,
    frames: Iterable[NDArray[np.uint8]],
    fps: Fraction | float = 25,
    audio: AudioTrack | None = None,
    crf: int = 18,
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    *,
    color_range: Range | None = None,
    rotation: int = 0,
    options: Mapping[str, str] | None = None,
) -> Path:
    """Write frames (H×W×3 RGB or H×W gray, uint8, one size) as a clip; the container follows the file's ending.

    Inputs      fps: constant rate. crf: quality for codecs that know it.
                pix_fmt: as libav names it; lossless FFV1 takes gray, yuv444p, bgr0 and more.
                color_range: values are scaled to it and the stream is tagged; None scales YUV to limited, untagged.
                rotation: clockwise turn a player must make, as display matrix. options: for the encoder.
    Edge cases  an odd size cannot be held by a format with shared chroma (yuv420p, yuv422p): an error, never a crop or
                a pad; use an even size or yuv444p. No frames at all: an error.
    """
    target = Path(path)
    rate = Fraction(fps).limit_denominator(1_000_000)
    settings = ({"crf": str(crf)} if codec in _QUALITY else {}) | _QUALITY.get(codec, {}) | dict(options or {})
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise InputError(f"{target}: expected at least one frame; got none")
    pictures, size = chain([first], pictures), (first.shape[1], first.shape[0])
    pix_fmt = "rgb8" if codec == "gif" and pix_fmt == "yuv420p" else pix_fmt
    with replacing(target) as part, writing(part, target) as container:
        stream = add_video(container, target, codec, rate, pix_fmt, size, settings, color_range)
        if rotation:
            stream.set_display_rotation(-rotation)
        sound = _Sound(container, audio) if audio is not None else None
        reformatter = VideoReformatter()
        for index, picture in enumerate(pictures):
            frame = _encodable(_as_frame(target, picture, size), pix_fmt, color_range, reformatter)
            frame.pts, frame.time_base = index, 1 / rate
            if sound:
                sound.up_to(index / rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if sound:
            sound.up_to(None)
    return target


def add_video(
    container: OutputContainer,
    target: Path,
    codec: str,
    rate: Fraction,
    pix_fmt: str,
    size: tuple[int, int],
    options: Mapping[str, str],
    color_range: Range | None,
) -> VideoStream:
    """A video stream set up so that the same frames give the same bytes."""
    _check_format(target, codec, pix_fmt)
    _check_size(target, size, pix_fmt)
    stream = cast(VideoStream, container.add_stream(codec, rate=rate, options=dict(options)))
    stream.width, stream.height = size
    stream.pix_fmt = pix_fmt
    stream.thread_count = 1
    if color_range is not None:
        stream.codec_context.color_range = _tag(color_range)
    stream.codec_context.flags |= CodecFlags.bitexact
    return stream


def _check_format(target: Path, codec: str, pix_fmt: str) -> None:
    known = [form.name for form in av.Codec(codec, "w").video_formats or ()]
    if known and pix_fmt not in known:
        raise InputError(f"{target}: {codec} cannot hold {pix_fmt}; it takes {', '.join(known[:8])} …")


def _check_size(target: Path, size: tuple[int, int], pix_fmt: str) -> None:
    form = VideoFormat(pix_fmt, *size)
    across, down = (form.chroma_width(2) < 2, form.chroma_height(2) < 2)
    if form.is_rgb or not ((across and size[0] % 2) or (down and size[1] % 2)):
        return
    raise InputError(f"{target}: {pix_fmt} needs an even size, got {size[0]}×{size[1]}; use an even size or yuv444p")


def _as_frame(target: Path, picture: NDArray[np.uint8], size: tuple[int, int]) -> VideoFrame:
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise InputError(f"{target}: expected frames of H×W×3 or H×W uint8, got {picture.shape} {picture.dtype}")
    if (picture.shape[1], picture.shape[0]) != size:
        raise InputError(
            f"{target}: expected frames of one size, {size[0]}×{size[1]}, got {picture.shape[1]}×{picture.shape[0]}"
        )
    return VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="gray" if picture.ndim == 2 else "rgb24")


def _encodable(frame: VideoFrame, pix_fmt: str, color_range: Range | None, reformatter: VideoReformatter) -> VideoFrame:
    """The frame in the encoder's format; BT.601, and the range asked for."""
    wanted = _tag(color_range or color_range_of(pix_fmt, 0))
    out = reformatter.reformat(
        frame, format=pix_fmt, src_color_range=ColorRange.JPEG, dst_color_range=wanted, threads=1
    )
    out.color_range = wanted if color_range else ColorRange.UNSPECIFIED
    return out


def _tag(color_range: Range) -> ColorRange:
    return ColorRange.JPEG if color_range == "full" else ColorRange.MPEG


class _Sound:
    """Encodes a track alongside the picture, so that the file is interleaved and nothing piles up."""

    def __init__(self, container: OutputContainer, track: AudioTrack) -> None:
        opus = container.format.name == "webm"
        self._container, self._track, self._done = container, track, 0
        self._stream = add_audio(container, "libopus" if opus else "aac", 48000 if opus else track.rate, "mono")

    def up_to(self, seconds: Fraction | None) -> None:
        """Encode the samples that belong before this time; for None all that is left, and the encoder's tail."""
        samples, rate = self._track.samples, self._track.rate
        while self._done < len(samples) and (seconds is None or Fraction(self._done, rate) <= seconds):
            self._encode(samples[self._done : self._done + _AUDIO_BLOCK])
        if seconds is None:
            self._container.mux(self._stream.encode(None))

    def _encode(self, samples: NDArray[np.float32]) -> None:
        frame = AudioFrame.from_ndarray(samples.reshape(1, -1), format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = self._track.rate, self._done, Fraction(1, self._track.rate)
        self._done += len(samples)
        self._container.mux(self._stream.encode(frame))


def add_audio(container: OutputContainer, codec: str, rate: int, layout: str) -> AudioStream:
    """An audio stream set up so that the same samples give the same bytes."""
    stream = cast(AudioStream, container.add_stream(codec, rate=rate))
    stream.layout = layout
    stream.bit_rate = 128_000
    stream.codec_context.thread_count = 1
    stream.codec_context.flags |= CodecFlags.bitexact
    return stream


def part_name(target: Path) -> Path:
    """Where a clip is written before it is complete; the ending stays, as it names the container."""
    return target.with_name(f".{target.stem}.part{target.suffix}")


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A name beside the target to write to; put in place at the end, removed where writing failed."""
    try:
        with replacing_path(target, part_name(target).name) as part:
            yield part
    except OSError as error:
        raise MediaError(f"{target}: cannot be written ({reason(error)})") from error


@contextmanager
def writing(part: Path, target: Path, options: Mapping[str, str] | None = None) -> Iterator[OutputContainer]:
    """A container open for writing; what libav cannot do becomes one line that names the target."""
    try:
        settings = {"fflags": "+bitexact", **(options or {})}
        with av.open(f"file:{part}", mode="w", options=settings) as container:
            yield container
    except (av.FFmpegError, av.codec.codec.UnknownCodecError, ValueError) as error:
        raise MediaError(f"{target}: cannot be written ({reason(error)})") from error
