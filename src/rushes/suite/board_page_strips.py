"""Thumbnails of the matrix: three frames of a clip side by side, in one small JPEG."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from rushes.clip.strips import StripTask, take_strip
from rushes.core.progress import Progress, no_progress
from rushes.report.strips import jpeg_uri
from rushes.suite.board_page_clips import ClipIndex, ClipKey, frame_count
from rushes.workers.local import Crash, run_tasks

_POSITIONS = (0.1, 0.5, 0.9)
"""Of the frames, from the clip's first to its last."""
_HEIGHT, _LONGEST, _QUALITY = 72, 400, 62
"""Pixels of a thumbnail, and its JPEG quality: some 5 kB each."""
_SECONDS_A_CLIP = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A picture as a data URI, or why there is none."""

    jpeg: str = ""
    missing: str = ""


def thumbnails(
    clips: ClipIndex, keys: Sequence[ClipKey], *, jobs: int, progress: Progress = no_progress
) -> dict[ClipKey, Thumbnail]:
    """Thumbnails of these clips. A clip that moved, changed or cannot be decoded costs its own alone, and says so."""
    tasks = [_task(clips, key) for key in keys]
    made: dict[ClipKey, Thumbnail] = {}
    if tasks:
        progress(0, len(tasks), "film strips")
    for place, outcome in run_tasks(_thumbnail, tasks, jobs=jobs, timeout=_SECONDS_A_CLIP):
        lost = Thumbnail(missing="The clip could not be decoded again.")
        made[keys[place]] = lost if isinstance(outcome, Crash) else outcome
        progress(len(made), len(tasks), "film strips")
    return made


def thumbnail_of(clips: ClipIndex, key: ClipKey) -> Thumbnail:
    """The thumbnail of one clip, taken in this process, or why there is none."""
    return _thumbnail(_task(clips, key))


def _task(clips: ClipIndex, key: ClipKey) -> StripTask:
    entry = clips.entry(key)
    last = max(frame_count(clips.clip(key)) - 1, 0)
    return StripTask(
        candidates=clips.candidates(key),
        sha256=entry.subject.sha256 if entry else None,
        frames=tuple(sorted({int(position * last) for position in _POSITIONS})),
    )


def _thumbnail(task: StripTask) -> Thumbnail:
    strip = take_strip(task)
    if not strip.frames:
        return Thumbnail(missing=strip.missing)
    pictures = np.hstack([_picture(frame.jpeg) for frame in strip.frames])
    return Thumbnail(jpeg=jpeg_uri(np.ascontiguousarray(pictures), longest=_LONGEST, quality=_QUALITY))


def _picture(uri: str) -> np.ndarray:
    """A key frame, as high as all are, so that they stand side by side."""
    coded = np.frombuffer(base64.b64decode(uri.partition(",")[2]), np.uint8)
    picture = cv2.imdecode(coded, cv2.IMREAD_COLOR)
    assert picture is not None, "a JPEG that was just made"
    height, width = picture.shape[:2]
    size = (max(round(width * _HEIGHT / height), 1), _HEIGHT)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
