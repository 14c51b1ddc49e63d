"""The frames of each clip as the judge gets them, made once: in a temporary folder, the latest in memory."""

from __future__ import annotations

import base64
import json
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from rushes.core.errors import MediaError
from rushes.instruments.judge.asking.plants import degraded
from rushes.instruments.judge.asking.requests import Method, View
from rushes.storage.remote.transfer import local_copy
from rushes.vision.judges.chat import image_part
from rushes.vision.judges.pictures import jpeg, sampled_frames

_IN_MEMORY = 64 << 20
"""Bytes of encoded frames that are held; the others are read back from the folder."""
_PREFIX = "data:image/jpeg;base64,"


class FrameStore:
    """Frames by view. Several threads may ask for the same ones: the first makes them, the others wait."""

    def __init__(self, method: Method, folder: Path) -> None:
        self._method, self._folder = method, folder
        self._guard = Lock()
        self._locks: dict[View, Lock] = {}
        self._files: dict[View, Path] = {}
        self._held: OrderedDict[View, bytes] = OrderedDict()
        self._size = 0

    @property
    def made(self) -> int:
        """How many views were decoded."""
        return len(self._files)

    def parts(self, view: View) -> bytes:
        """The frames as parts of a chat message, in JSON, with commas between them; `MediaError` for a bad clip."""
        with self._guard:
            if (found := self._held.get(view)) is not None:
                self._held.move_to_end(view)
                return found
            lock = self._locks.setdefault(view, Lock())
        with lock:
            if (file := self._files.get(view)) is not None:
                data = file.read_bytes()
            else:
                data = self._make(view)
        self._hold(view, data)
        return data

    def jpegs(self, view: View) -> list[bytes]:
        """The same as JPEG files."""
        found = json.loads(b"[" + self.parts(view) + b"]")
        return [base64.b64decode(part["image_url"]["url"].removeprefix(_PREFIX)) for part in found]

    def _make(self, view: View) -> bytes:
        with local_copy(view.path) as copy:
            frames = sampled_frames(copy.path, self._method.frames, side=self._method.side)
        if not frames:
            raise MediaError(f"{view.path}: expected frames; there are none")
        shown = degraded(frames, view.plant, sha256=view.sha256)
        data = b",".join(json.dumps(image_part(jpeg(one, quality=self._method.quality))).encode() for one in shown)
        with self._guard:
            file = self._folder / f"{len(self._files)}.json"
            file.write_bytes(data)
            self._files[view] = file
        return data

    def _hold(self, view: View, data: bytes) -> None:
        with self._guard:
            if view not in self._held:
                self._held[view] = data
                self._size += len(data)
            while self._size > _IN_MEMORY and len(self._held) > 1:
                self._size -= len(self._held.popitem(last=False)[1])
