"""Clips encoded in the form in which a study shows them (`shown_form`): once each, several at a time, resumable.

A clip's copy is named by what goes into it, the source's digest and the form, so one that is there is never made again,
in this study or another. It is put in place when it is complete.

H.264 (CRF 16, one thread, bit-exact flags), yuv420p, BT.601, limited range, AAC at 48 kHz: the same bytes every time,
and the same headers for every clip of one form. Pictures are resized by area where they shrink and by Lanczos where
they grow, then cropped to the middle or put before black bars. A picture that ends earlier holds its last frame.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from av.stream import Stream
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from numpy.typing import NDArray

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import MediaError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.media_facts import MediaFacts
from rushes.media.canon.clip import SteadyFrames
from rushes.media.canon.rate import own_rate
from rushes.media.canon.sound import CanonSound, sound_of
from rushes.media.encode import X264_STEADY, add_video, replacing, writing
from rushes.media.frames import ClipReader, Frame
from rushes.media.opening import need_video, open_media, pick_audio
from rushes.study.material.shown_form import ClipShape, ShownForm

_ENCODER = {"crf": "16", "preset": "medium", "b_strategy": "0", "sc_threshold": "0", **X264_STEADY}
"""Kinds of frames go by their number, never by the picture: the times in a file would tell a clip made at 8 fps from
one made at 25."""
_SMPTE170M = 6
_VERSION = 2
"""Of how a copy is made; in its name."""


def clip_shape(path: Path, facts: MediaFacts) -> ClipShape:
    """What a file says of itself; `MediaError` for one without picture or length."""
    video = facts.video
    if video is None or video.upright is None or not facts.duration_ms:
        raise MediaError(f"{path}: expected a clip with a picture and a duration; re-export it")
    return ClipShape(
        size=video.upright,
        fps=own_rate(path),
        seconds=Fraction(video.duration_ms or facts.duration_ms).limit_denominator() / 1000,
        **_coding(path),
    )


def _coding(path: Path) -> dict[str, str]:
    """Codec and headers of picture and sound: the settings of an encoder leave their mark there."""
    with open_media(path) as container:
        found = {"coding": need_video(container, path), "sound": pick_audio(container)}
        return {name: _mark(stream) for name, stream in found.items() if stream is not None}


def _mark(stream: Stream) -> str:
    context = stream.codec_context
    return hashlib.sha256(context.name.encode() + bytes(context.extradata or b"")).hexdigest()[:16]


def even_clips(
    wanted: Mapping[Path, tuple[Path, ShownForm]], *, jobs: int | None = None, progress: Progress = no_progress
) -> None:
    """Write clips, each in its form, to their places: by place, source and form. What is there already is kept."""
    todo = [(source, target, form) for target, (source, form) in wanted.items() if not target.exists()]
    done = len(wanted) - len(todo)
    progress(done, len(wanted), "clips")
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:  # libav and OpenCV let other threads run
        for _ in pool.map(lambda one: even_clip(*one), todo):
            done += 1
            progress(done, len(wanted), "clips")


def even_name(form: ShownForm) -> str:
    """The file's name in its source's folder.

    >>> even_name(ShownForm(form=AlikeForm.parse("64x36@8,2s"), sound=False))
    'alike-2-53e37be0c764.mp4'
    """
    return f"alike-{_VERSION}-{hashlib.sha256(form.label.encode()).hexdigest()[:12]}.mp4"


def even_clip(source: Path, target: Path, shown: ShownForm) -> None:
    """Write one clip in its form; `MediaError` where no frame of it can be decoded."""
    form = shown.form
    with ClipReader(source) as reader, ExitStack() as stack:
        sound = _sound(stack, source, form) if shown.sound else None
        part = stack.enter_context(replacing(target))
        with writing(part, target, {"movflags": "+faststart"}) as container:
            size = (form.width, form.height)
            stream = add_video(container, target, "libx264", form.fps, "yuv420p", size, _ENCODER, "limited")
            stream.codec_context.colorspace = _SMPTE170M
            if sound:
                sound.begin(container)
            for number, picture in enumerate(_pictures(reader, form)):
                picture.pts, picture.time_base = number, 1 / form.fps
                if sound:
                    sound.up_to(number / form.fps)
                container.mux(stream.encode(picture))
            container.mux(stream.encode(None))
            if sound:
                sound.up_to(None)


def _sound(stack: ExitStack, source: Path, form: AlikeForm) -> CanonSound | None:
    return sound_of(stack, source, None, filling=Fraction(form.frames) / form.fps)


def _pictures(reader: ClipReader, form: AlikeForm) -> Iterator[VideoFrame]:
    """The form's frames, each made once however often it is shown."""
    reformatter, given = VideoReformatter(), 0
    last: tuple[Frame, VideoFrame] | None = None
    for frame in SteadyFrames(reader, form.fps, seconds=Fraction(form.frames) / form.fps):
        if last is None or last[0] is not frame:
            last = (frame, _encodable(fitted(frame.rgb(), form), reformatter))
        yield last[1]
        given += 1
    if last is None:
        raise MediaError(f"{reader.path}: none of its frames can be decoded; export it again")
    for _ in range(given, form.frames):
        yield last[1]


def fitted(picture: NDArray[np.uint8], form: AlikeForm) -> NDArray[np.uint8]:
    """An RGB picture in the form's size.

    >>> fitted(np.zeros((20, 40, 3), np.uint8), AlikeForm.parse("16x16@8,1s")).shape
    (16, 16, 3)
    """
    import cv2

    height, width = picture.shape[:2]
    scale = float(form.scale((width, height)))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    if form.fit == "crop":
        size = max(size[0], form.width), max(size[1], form.height)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LANCZOS4
    resized: NDArray[Any] = picture if scale == 1 else np.asarray(cv2.resize(picture, size, interpolation=how))
    rows, columns = _middle(resized.shape[0], form.height), _middle(resized.shape[1], form.width)
    out = np.zeros((form.height, form.width, 3), np.uint8)
    out[rows[1], columns[1]] = resized[rows[0], columns[0]]
    return out


def _middle(have: int, want: int) -> tuple[slice, slice]:
    """Which part of a side is taken, and where it goes."""
    both = min(have, want)
    return slice((have - both) // 2, (have - both) // 2 + both), slice((want - both) // 2, (want - both) // 2 + both)


def _encodable(picture: NDArray[np.uint8], reformatter: VideoReformatter) -> VideoFrame:
    frame = reformatter.reformat(
        VideoFrame.from_ndarray(picture, format="rgb24"),
        format="yuv420p",
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
        dst_colorspace=Colorspace.ITU601,
        threads=1,
    )
    frame.color_range = ColorRange.MPEG
    return frame
