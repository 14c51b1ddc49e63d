"""The clips of a run as files a browser can play: addressed by opaque token, found where they lie now; and how large
the picture is, as the run recorded it: a page keeps its place before a byte of the video is there.
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from rushes.core.errors import MediaError
from rushes.media import probe
from rushes.storage.runs import Run, Subject
from rushes.storage.runs.relocation import relocate
from rushes.study import Media
from rushes.study.material.clips import content_type, ready_clip

_converting = threading.Lock()
"""One clip at a time is made playable: the others are being watched meanwhile."""


def clip_address(token: str, file: Path) -> str:
    """Where a page finds the clip; changes with the file, so that a browser's cache never shows an old one."""
    stat = file.stat()
    version = hashlib.sha256(f"{stat.st_mtime_ns}-{stat.st_size}".encode()).hexdigest()[:10]
    return f"/clips/{token}?v={version}"


def file_of(run: Run, subject: Subject) -> Path | None:
    """The clip's file where it lies now; None when it is gone, or when the subject is no clip."""
    return relocate(subject.path, beside=run.path) if subject.kind in ("clip", "pair") else None


def playable(file: Path, *, media: Path) -> Media:
    """The file itself where every browser plays it, else a canonical copy in the media folder; `MediaError`."""
    kind = content_type(file, probe(file))
    if kind is None:
        with _converting:
            try:
                ready = ready_clip(file, media=media, hide=())
            except OSError as error:
                raise MediaError(f"{file}: a playable copy cannot be made ({error.strerror or error})") from None
        file, kind = ready.path, ready.content_type
    stat = os.stat(file)
    etag = hashlib.sha256(f"{file}-{stat.st_mtime_ns}-{stat.st_size}".encode()).hexdigest()[:32]
    return Media(path=str(file), content_type=kind, etag=etag, size=stat.st_size)


_USUAL = (16, 9)


def frame_size(subject: Subject) -> tuple[int, int] | None:
    """Width and height of the picture as it is shown, upright; None where the run did not record them.

    A page gives them to the player, which then keeps its room before the clip has loaded.
    """
    media = subject.media
    return media.video.upright if media is not None and media.video is not None else None


def picture_size(subject: Subject) -> tuple[int, int]:
    """Width and height as a player shows them, upright; 16 × 9 where the run does not tell.

    >>> video = {"width": 1280, "height": 720, "rotation": 90}
    >>> picture_size(Subject(id="a", kind="clip", path="a.mp4", sha256=None, facts={"media": {"video": video}}))
    (720, 1280)
    """
    return frame_size(subject) or _USUAL
