"""The boards being served: collected and judged once, again when a run of the suite changes, never written to."""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from rushes.remote.address import is_remote
from rushes.suite.board import board_page
from rushes.suite.board_page import BoardPage
from rushes.suite.board_page_clips import ClipIndex, ClipKey
from rushes.suite.board_page_strips import thumbnail_of
from rushes.suite.collect_systems import moved_run
from rushes.suite.suite_folder import FILE, SuiteRun, read_suite_folder
from rushes.web.run_cache import run_stamp

_MOST_STRIPS = 4000
"""Film strips that are kept, some 5 kB each."""


@dataclass(frozen=True)
class OpenBoard:
    """A board as it was when its suite and its runs had this stamp."""

    page: BoardPage
    clips: ClipIndex
    stamp: str


@dataclass
class BoardCache:
    """Boards by the folder of their suite, and the film strips that were asked for last."""

    _open: dict[Path, OpenBoard] = field(default_factory=dict)
    _strips: OrderedDict[tuple[str, ClipKey], bytes] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _work: threading.Lock = field(default_factory=threading.Lock)
    """One board or strip is made at a time: the other requests go on."""

    def read(self, folder: Path) -> OpenBoard:
        """The board of what is on disk now; `RunError` or `InputError` where there is none to show."""
        stamp = _stamp(read_suite_folder(folder))
        with self._work:
            known = self._open.get(folder)
            if known is None or known.stamp != stamp:
                page = board_page(folder)
                known = self._open[folder] = OpenBoard(page, ClipIndex(page.data), stamp)
        return known

    def strip(self, board: OpenBoard, key: ClipKey) -> bytes:
        """Three frames of a clip as a JPEG; b"" where the clip is gone, has changed or cannot be decoded."""
        place = (board.stamp, key)
        with self._lock:
            if place in self._strips:
                self._strips.move_to_end(place)
                return self._strips[place]
        with self._work:
            taken = base64.b64decode(thumbnail_of(board.clips, key).jpeg.partition(",")[2])
        if taken:  # a clip that is put back is looked for again
            with self._lock:
                self._strips[place] = taken
                while len(self._strips) > _MOST_STRIPS:
                    self._strips.popitem(last=False)
        return taken


def _stamp(suite: SuiteRun) -> str:
    """Changes with the suite's list and with every run behind it."""
    declared = [moved_run(place, suite.path) for system in suite.suite.systems for place in system.runs]
    runs = [Path(place) for place in declared if not is_remote(place)]
    runs += [folder for step in suite.steps for folder in suite.runs_of(step)]
    stat = os.stat(suite.path / FILE)
    parts = [f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}", *(f"{folder} {run_stamp(folder)}" for folder in runs)]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]
