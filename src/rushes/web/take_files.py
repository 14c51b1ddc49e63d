"""The clips of a run as files a browser can play: addressed by opaque token, found where they lie now."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from rushes.errors import MediaError
from rushes.media import probe
from rushes.media.find import relocate
from rushes.preference.study import Media
from rushes.preference.study.clips import content_type, ready_clip
from rushes.runs import Run, Subject

_converting = threading.Lock()
"""One clip at a time is made playable: the others are being watched meanwhile."""


def take_address(token: str, file: Path) -> str:
    """Where a page finds the clip; changes with the file, so that a browser's cache never shows an old one."""
    stat = file.stat()
    version = hashlib.sha256(f"{stat.st_mtime_ns}-{stat.st_size}".encode()).hexdigest()[:10]
    return f"/takes/{token}?v={version}"


def take_file(run: Run, subject: Subject) -> Path | None:
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
