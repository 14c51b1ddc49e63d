"""Builders of clips whose content is known by construction, for any suite.

`write_clip` of the package writes RGB and gray; here the coded planes themselves are set, in any pixel format, with
timestamps, rotation and cover art of the test's choosing. FFV1 in Matroska is lossless, so what is set is what is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.frame import VideoFrame


def flat(value: int, *, size: tuple[int, int] = (32, 16), channels: int = 0) -> np.ndarray:
    """A frame of one value; `size` is (width, height)."""
    shape = (size[1], size[0], channels) if channels else (size[1], size[0])
    return np.full(shape, value, np.uint8)


def noise(count: int, *, size: tuple[int, int] = (32, 16), seed: int = 0, channels: int = 0) -> list[np.ndarray]:
    """Frames of seeded noise."""
    rng = np.random.default_rng(seed)
    shape = (size[1], size[0], channels) if channels else (size[1], size[0])
    return [rng.integers(0, 256, shape, dtype=np.uint8) for _ in range(count)]


def coded_frame(luma: np.ndarray, pix_fmt: str) -> VideoFrame:
    """A planar YUV or gray frame whose first plane holds exactly these codes; chroma planes are mid-scale."""
    height, width = luma.shape
    frame = VideoFrame(width, height, pix_fmt)
    order = ">u2" if frame.format.is_big_endian else "<u2"
    kind = np.dtype(np.uint8 if frame.format.components[0].bits == 8 else order)
    middle = 1 << (frame.format.components[0].bits - 1)
    for index, plane in enumerate(frame.planes):
        rows = np.frombuffer(memoryview(plane), kind).reshape(-1, plane.line_size // kind.itemsize)
        if index == 0:
            rows[:height, :width] = luma
        else:
            rows[:] = middle
    return frame


def write_frames(
    path: Path,
    frames: Iterable[VideoFrame],
    *,
    codec: str = "ffv1",
    times: Sequence[int] | None = None,
    time_base: Fraction = Fraction(1, 25),
    rate: Fraction | int = 25,
    color_range: int = 0,
    transfer: int = 2,
    rotation: int = 0,
    hflip: bool = False,
    vflip: bool = False,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    b_frames: int | None = None,
) -> Path:
    """Write ready frames; `times` are their pts in `time_base`, 0, 1, 2 … where not given.

    `color_range`: 0 untagged, 1 limited, 2 full. `transfer`: libav's number, 2 untagged, 16 PQ, 18 HLG. `rotation`: the
    clockwise turn that makes the picture upright.
    """
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream = None
        for index, frame in enumerate(frames):
            if stream is None:
                stream = container.add_stream(codec, rate=rate, options=options or {})
                stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, frame.format.name
                stream.codec_context.time_base = time_base
                stream.codec_context.color_range = color_range
                stream.codec_context.color_trc = transfer
                if b_frames is not None:
                    stream.codec_context.max_b_frames = b_frames
                if rotation or hflip or vflip:
                    stream.set_display_rotation(-rotation, hflip=hflip, vflip=vflip)
            frame.pts = times[index] if times else index
            frame.time_base = time_base
            frame.color_range = color_range
            container.mux(stream.encode(frame))
        if stream is not None:
            container.mux(stream.encode(None))
    return path


def write_luma(path: Path, planes: Iterable[np.ndarray], pix_fmt: str, **settings) -> Path:
    """FFV1 clip whose luma codes are exactly these; settings as for `write_frames`."""
    return write_frames(path, (coded_frame(plane, pix_fmt) for plane in planes), **settings)


def write_sound(path: Path, samples: np.ndarray, *, rate: int = 16000, codec: str = "pcm_s16le") -> Path:
    """An audio file (WAV by its ending); `samples` is (channels, n) float32 in [−1, 1]."""
    layout = {1: "mono", 2: "stereo"}[len(samples)]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples, np.float32), format="fltp", layout=layout)
        frame.sample_rate = rate
        frame.pts = 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def write_av(
    path: Path,
    *,
    codecs: tuple[str, str],
    frames: int,
    seconds: float,
    picture_at_ms: int = 0,
    format: str | None = None,
    container_options: dict[str, str] | None = None,
) -> Path:
    """A clip at 25 fps with picture and sound of lengths of their own; the picture starts `picture_at_ms` late."""
    rate = 48000 if codecs[1] == "libopus" else 44100
    with av.open(str(path), "w", format=format, options=container_options or {}) as container:
        video = container.add_stream(codecs[0], rate=25, options={"deadline": "realtime"} if "vpx" in codecs[0] else {})
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        video.codec_context.time_base = Fraction(1, 1000)
        if codecs[0] in ("mpeg4", "mpeg2video", "flv", "wmv2"):  # these take the frame rate's own ticks alone
            video.codec_context.time_base = Fraction(1, 25)
        audio = container.add_stream(codecs[1], rate=rate, layout="mono")
        audio.bit_rate = 64_000
        for index, luma in enumerate(noise(frames, size=(64, 48))):
            frame = coded_frame(luma, "yuv420p")
            frame.pts, frame.time_base = index * 40 + picture_at_ms, Fraction(1, 1000)
            container.mux(video.encode(frame))
        samples = tone(seconds, rate=rate)
        for start in range(0, len(samples), 4800):
            block = np.ascontiguousarray(samples[None, start : start + 4800])
            heard = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
            heard.sample_rate, heard.pts, heard.time_base = rate, start, Fraction(1, rate)
            container.mux(audio.encode(heard))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))
    return path


def without_duration_tags(path: Path) -> Path:
    """A Matroska or WebM file as muxers write it that tag no stream: the container's length alone is left."""
    path.write_bytes(path.read_bytes().replace(b"DURATION", b"XURATION"))
    return path


def spoil(path: Path, kind: str, packets: Sequence[int], *, fill: int = 0) -> Path:
    """Overwrite whole packets of the first "video" or "audio" stream, by number, in an MP4 or MOV."""
    with av.open(str(path)) as container:
        stream = getattr(container.streams, kind)[0]
        places = [(packet.pos, packet.size) for packet in container.demux(stream) if packet.size]
    data = bytearray(path.read_bytes())
    for start, size in (places[number] for number in packets):
        data[start : start + size] = bytes([fill]) * size
    path.write_bytes(data)
    return path


def tone(seconds: float, *, rate: int = 16000, hz: float = 440) -> np.ndarray:
    """A sine of amplitude 0.5, float32."""
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)
