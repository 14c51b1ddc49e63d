"""One frame of a clip, upright, without decoding all of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import av
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.core.errors import MediaError
from rushes.media.frames import upright
from rushes.media.luma import rgb_of
from rushes.media.opening import decoded, need_video, open_media, pick_audio, start_of
from rushes.media.probe import orientation

_NO_SEEK_MS = 1000.0
"""Up to here a clip is read from its start: seeking is not worth it, and not every file can."""


def still_at(path: Path | str, time_ms: float) -> NDArray[np.uint8]:
    """The frame shown at `time_ms` after the clip's start, H × W × 3 in OpenCV's order, upright.

    Edge cases  a time past the end gives the last frame, one before the start the first; a clip that breaks off gives
                the last frame before the break.
    Raises      `MediaError` where the file cannot be opened, has no video, or no frame of it can be decoded.
    """
    shown = _read(path, time_ms, seek=True) if time_ms > _NO_SEEK_MS else None
    shown = shown or _read(path, time_ms, seek=False)
    if shown is None:
        raise MediaError(f"{path}: no frame can be decoded")
    picture = rgb_of(shown, VideoReformatter(), "bgr24")
    return np.ascontiguousarray(upright(picture, *orientation(shown)))


def _read(path: Path | str, time_ms: float, *, seek: bool) -> VideoFrame | None:
    with closing(open_media(path)) as container:
        video = need_video(container, path)
        seconds = float(start_of(video, pick_audio(container)) or 0) + time_ms / 1000
        if seek:
            try:
                container.seek(int(seconds / float(video.time_base or 1)), stream=video)
            except (av.FFmpegError, OverflowError, ValueError):
                return None  # a file that cannot be sought in is read from its start
        shown: VideoFrame | None = None
        for frame in decoded(container, video):
            if shown is not None and frame.time is not None and frame.time > seconds + 1e-6:
                break
            shown = frame
        return shown  # the last that begins at or before `seconds`, else the first there is
