"""One small picture of a clip, by the opaque token of the clip: decoded when a browser asks, and kept in memory."""

from __future__ import annotations

import base64
import threading
from collections import OrderedDict
from pathlib import Path

from rushes.clip.strips import StripTask, take_strip
from rushes.media.find import candidates
from rushes.remote.address import is_remote
from rushes.web.run_cache import OpenRun, Row

_MOST = 4000
"""Pictures that are kept, some 5 kB each."""
_FRAME = 24
"""A frame of the first second: late enough for a fade from black, early enough to be decoded quickly."""
_kept: OrderedDict[tuple[str, str, str], bytes] = OrderedDict()
_lock, _work = threading.Lock(), threading.BoundedSemaphore(2)


def picture_address(token: str, stamp: str) -> str:
    """Where a page finds the picture of the clip behind this token of the run cache."""
    return f"/grid/pictures/{token}.jpg?v={stamp}"


def picture(opened: OpenRun, row: Row) -> bytes:
    """A JPEG of one frame of a run's clip; b"" where it is gone, has changed or cannot be decoded."""
    subject = row.entry.subject
    path = subject.path
    found = (path,) if is_remote(path) else tuple(map(str, candidates(path, beside=opened.run.path)))
    return _taken((str(opened.run.path), opened.stamp, subject.id), found, subject.sha256)


def file_picture(file: Path) -> bytes:
    """The same of a file, whatever is in it now."""
    stat = file.stat()
    return _taken((str(file), str(stat.st_mtime_ns), str(stat.st_size)), (str(file),), None)


def _taken(place: tuple[str, str, str], found: tuple[str, ...], sha256: str | None) -> bytes:
    with _lock:
        if place in _kept:
            _kept.move_to_end(place)
            return _kept[place]
    with _work:
        strip = take_strip(StripTask(candidates=found, sha256=sha256, frames=(0, _FRAME)))
    taken = base64.b64decode(strip.frames[-1].jpeg.partition(",")[2]) if strip.frames else b""
    if taken:  # a clip that is put back is looked for again
        with _lock:
            _kept[place] = taken
            while len(_kept) > _MOST:
                _kept.popitem(last=False)
    return taken
