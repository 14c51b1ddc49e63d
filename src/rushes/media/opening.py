"""Opening a media file: one line for everything that can be wrong with it, and the streams worth reading.

Only local files are opened (`protocol_whitelist=file`), so a playlist cannot make a reader fetch something else. The
name is handed over as `file:NAME`, so a name with a colon is not taken for a protocol. Decoding runs on one thread:
the frames are then the same on every machine, and a batch gains more from one process per core.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

import av
from av.audio.stream import AudioStream
from av.codec.context import ThreadType
from av.container.input import InputContainer
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from rushes.core.errors import MediaError
from rushes.media.pyav import LENIENT, ratio

S = TypeVar("S", bound=Stream)

_TEXT_CODECS = {"ansi", "bintext", "xbin", "idf"}
"""libav draws text files as pictures with these; a text file is not a clip."""

_NOT_A_CLIP = {"image2", "image2pipe", "concat", "hls", "dash", "sdp", "ffmetadata"}
"""Still images and lists of other files. GIF and animated PNG have demuxers of their own: clips."""

_EXPECTED = {"video": "expected a video", "sound": "expected sound"}
STILL = Disposition.attached_pic | Disposition.timed_thumbnails
"""Streams that are a picture beside the clip: cover art and thumbnails."""
DEMUX_ERRORS = (av.FFmpegError, IndexError)
"""What reading packets may raise. PyAV raises IndexError at the end of a file in which a further stream turned up
midway (FLV and MPEG streams, damaged ones above all): every packet has been handed out by then, so it is an end too."""


def open_media(path: Path | str, *, wanted: Literal["video", "sound"] = "video") -> InputContainer:
    """Open a file for reading; raises `MediaError`, one line, for whatever cannot be opened.

    `wanted` is what the message says was expected.
    """
    name = os.fspath(path)
    _check_file(name, _EXPECTED[wanted])
    return _open(name, wanted)


def open_to_decode(path: Path | str) -> InputContainer:
    """As `open_media`, of a clip whose first frame will be decoded next: its pixel format may not be known before.

    libav decodes a key frame while it opens a file, which takes as long as several other frames. It is told not to for
    H.264 in MP4 whose index shows that frames are reordered: how far is then known without looking, which a decoder has
    to know from the start.
    """
    name = os.fspath(path)
    if _check_file(name, _EXPECTED["video"])[4:] == b"ftyp":
        with suppress(MediaError):  # what cannot be opened so may be opened as ever, or is refused there
            container = _open(name, "video", stream_options=[{"skip_frame": "all"}])
            video = pick_video(container)
            if video is not None and video.codec_context.name == "h264" and video.codec_context.has_b_frames:
                return container
            container.close()
    return _open(name, "video")


def _open(name: str, wanted: Literal["video", "sound"], **how: Any) -> InputContainer:
    expected = _EXPECTED[wanted]
    try:
        container: InputContainer = av.open(
            f"file:{name}",
            mode="r",
            format="mjpeg" if name.lower().endswith((".mjpeg", ".mjpg")) else None,  # by content a row of JPEGs is one
            options={"protocol_whitelist": "file"},
            **LENIENT,
            **how,
        )
    except (av.FFmpegError, ValueError) as error:
        raise MediaError(f"{name}: {expected}, got something that cannot be read ({reason(error)})") from error
    kind = _stranger(container)
    if kind:
        animated = container.format.name == "webp_pipe" and _is_animated_webp(name)
        container.close()
        if animated and wanted == "video":
            raise MediaError(f"{name}: {expected}, got an animated WebP, which libav cannot decode; convert it to GIF")
        raise MediaError(f"{name}: {expected}, got {kind}; give a {wanted} file")
    return container


def _check_file(name: str, expected: str) -> bytes:
    """Its first eight bytes; raises where there is nothing to read."""
    try:
        facts = os.stat(name)
        if stat.S_ISDIR(facts.st_mode):
            raise MediaError(f"{name}: {expected}, got a folder; give a file in it")
        if not stat.S_ISREG(facts.st_mode):
            raise MediaError(f"{name}: {expected}, got something that is not a regular file")
        with open(name, "rb") as file:
            start = file.read(8)
    except FileNotFoundError:
        raise MediaError(f"{name}: no such file; check the path") from None
    except PermissionError:
        raise MediaError(f"{name}: cannot be read (permission denied); change its permissions") from None
    except (OSError, ValueError) as error:
        raise MediaError(f"{name}: cannot be read ({reason(error)})") from None
    if not start:
        raise MediaError(f"{name}: {expected}, got an empty file; export it again")
    return start


def _stranger(container: InputContainer) -> str:
    """What the file is, when libav opens it although it is no clip; "" for a clip."""
    kind = container.format.name
    if kind == "tty" or any(s.codec_context and s.codec_context.name in _TEXT_CODECS for s in container.streams.video):
        return "a text file"
    if kind in _NOT_A_CLIP or (kind.endswith("_pipe") and kind != "yuv4mpegpipe"):
        return "a still image" if kind.endswith(("_pipe", "image2", "image2pipe")) else f"a list of files ({kind})"
    return ""


def _is_animated_webp(name: str) -> bool:
    """Whether a WebP says in its first chunk that it moves: bit 1 of the flags of VP8X."""
    with open(name, "rb") as file:
        start = file.read(21)
    return len(start) == 21 and start[8:16] == b"WEBPVP8X" and bool(start[20] & 2)


def reason(error: Exception) -> str:
    """Why something failed, in the system's words and without the file's name."""
    return str(getattr(error, "strerror", None) or error)


def decoded(container: InputContainer, stream: VideoStream | AudioStream) -> Iterator[Any]:
    """Frames of a stream, from here to the end; a packet that cannot be decoded is passed over."""
    stream.codec_context.thread_count = 1
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
            frames = packet.decode() if packet is not None else []
        except DEMUX_ERRORS:
            continue  # a damaged packet tells nothing about the next; a demuxer that failed has ended: None comes next
        if packet is None:
            return
        yield from frames


def pick_video(container: InputContainer) -> VideoStream | None:
    """The clip's picture: the default video stream, else the first. Cover art and thumbnails do not count."""
    return _default(moving_pictures(container))


def moving_pictures(container: InputContainer) -> list[VideoStream]:
    """Video streams that are not attached pictures and that this build can decode."""
    return [s for s in container.streams.video if s.codec_context is not None and not s.disposition & STILL]


def pick_audio(container: InputContainer) -> AudioStream | None:
    """The clip's sound: the default audio stream, else the first that this build can decode."""
    return _default([s for s in container.streams.audio if s.codec_context is not None and s.codec_context.sample_rate])


def _default(streams: list[S]) -> S | None:
    chosen = [s for s in streams if s.disposition & Disposition.default]
    return next(iter(chosen or streams), None)


def need_video(container: InputContainer, path: Path | str) -> VideoStream:
    """The clip's picture, or a `MediaError` that says what the file holds instead."""
    video = pick_video(container)
    if video is None:
        held = "only sound" if container.streams.audio else "neither picture nor sound that can be decoded"
        raise MediaError(f"{os.fspath(path)}: expected a video, the file has {held}; give a file with a video track")
    video.thread_count = 1
    video.thread_type = ThreadType.NONE
    return video


def start_of(*streams: Stream | None) -> Fraction | None:
    """The clip's time zero in seconds: the earliest start of its picture and sound, None where no header says."""
    starts = [s.start_time * base for s in streams if s and s.start_time is not None and (base := ratio(s.time_base))]
    return min(starts, default=None)
