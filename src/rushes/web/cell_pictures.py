"""One small picture of a clip, by the opaque token of the clip: decoded when a browser asks, and kept in memory."""

from __future__ import annotations

import base64
import threading
from collections import OrderedDict

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
    """A JPEG of one frame; b"" where the clip is gone, has changed or cannot be decoded."""
    subject = row.entry.subject
    place = (str(opened.run.path), opened.stamp, subject.id)
    with _lock:
        if place in _kept:
            _kept.move_to_end(place)
            return _kept[place]
    path = subject.path
    found = (path,) if is_remote(path) else tuple(map(str, candidates(path, beside=opened.run.path)))
    with _work:
        strip = take_strip(StripTask(candidates=found, sha256=subject.sha256, frames=(0, _FRAME)))
    taken = base64.b64decode(strip.frames[-1].jpeg.partition(",")[2]) if strip.frames else b""
    if taken:  # a clip that is put back is looked for again
        with _lock:
            _kept[place] = taken
            while len(_kept) > _MOST:
                _kept.popitem(last=False)
    return taken
