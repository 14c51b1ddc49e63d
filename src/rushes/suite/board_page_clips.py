"""The clips behind a board: what its runs say of each, and where a page plays it from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from rushes.media.find import candidates
from rushes.remote.address import is_remote
from rushes.runs import Entry, Run
from rushes.suite.board_data import BoardClip, BoardData

ClipKey: TypeAlias = tuple[str, str]
"""System and prompt id."""
_RATE_IF_UNKNOWN = 25.0


class ClipIndex:
    """Clips by system and prompt, with their runs and what those say of them."""

    def __init__(self, data: BoardData) -> None:
        self._clips = data.clips
        self._runs = {system.name: system.runs for system in data.systems}
        self._entries: dict[tuple[str, int], dict[str, Entry]] = {}

    def clip(self, key: ClipKey) -> BoardClip:
        return self._clips[key]

    def run(self, key: ClipKey) -> Run:
        return self._runs[key[0]][self._clips[key].run]

    def entry(self, key: ClipKey) -> Entry | None:
        """Its subject and numbers in its run; None where the run does not have it."""
        clip = self._clips[key]
        place = key[0], clip.run
        if place not in self._entries:
            self._entries[place] = {entry.subject.id: entry for entry in self.run(key).entries}
        return self._entries[place].get(clip.subject)

    def candidates(self, key: ClipKey) -> tuple[str, ...]:
        """Where the file may lie: as its run names it, then beside the run."""
        path = self._clips[key].path
        return (path,) if is_remote(path) else tuple(map(str, candidates(path, beside=self.run(key).path)))

    def url(self, key: ClipKey, page: Path | str) -> str:
        """Where the page plays the clip from; "" where it is gone or in a store.

        A clip below the folder that holds the page's own folder is named relative to the page, so that both can move
        together; any other by its full file URL.
        """
        if is_remote(self._clips[key].path):
            return ""
        found = next((place for place in self.candidates(key) if _is_file(place)), None)
        if found is None:
            return ""
        whole = Path(os.path.abspath(found))
        if not is_remote(page):
            folder = Path(os.path.abspath(page)).parent
            if whole.is_relative_to(folder.parent) and folder.parent != Path(folder.anchor):
                return quote(os.path.relpath(whole, folder).encode("utf-8", "surrogateescape"))
        return whole.as_uri()


def _is_file(place: str) -> bool:
    try:
        return os.path.isfile(place)
    except ValueError:  # a name this system cannot have
        return False


def frame_rate(clip: BoardClip) -> float:
    """Frames a second of the file; 25 where its run does not tell, so that a step is still a step."""
    try:
        rate = float(Fraction(str(_video(clip).get("fps"))))
    except (ValueError, ZeroDivisionError):
        return _RATE_IF_UNKNOWN
    return rate if rate > 0 else _RATE_IF_UNKNOWN


def frame_count(clip: BoardClip) -> int:
    """Frames by length and rate; 0 where its run does not tell."""
    return int(_length_ms(clip) / 1000 * frame_rate(clip) + 0.5)


def media_words(clip: BoardClip) -> str:
    """ "320×180, 10 fps, 1.60 s"; "" where the run does not tell."""
    video, length = _video(clip), _length_ms(clip)
    size = f"{video['width']}×{video['height']}" if video.get("width") and video.get("height") else ""
    rate = f"{frame_rate(clip):.4g} fps" if video.get("fps") else ""
    return ", ".join(filter(None, (size, rate, f"{length / 1000:.2f} s" if length else "")))


def _length_ms(clip: BoardClip) -> float:
    length = _video(clip).get("duration_ms")
    return float(length) if isinstance(length, int | float) else 0.0


def _video(clip: BoardClip) -> Mapping[str, Any]:
    media = clip.facts.get("media")
    video = media.get("video") if isinstance(media, Mapping) else None
    return video if isinstance(video, Mapping) else {}
