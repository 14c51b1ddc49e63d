"""The clips behind a board: what its runs say of each, and where a page plays it from.

Also their timelines, their thumbnails (three frames side by side, in one small JPEG), and which rows of the matrix come
first: the prompts on which the systems are furthest apart.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import cv2
import numpy as np

from rushes.compare.board.model import PEOPLE, BoardClip, BoardData
from rushes.compare.readings.value_rows import row_floats
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.registry import load
from rushes.instruments.catalogue import instrument_of
from rushes.instruments.clip.frames.film_strips import StripTask, take_strip
from rushes.media import MediaFacts, VideoFacts
from rushes.present.pages.film_strips import jpeg_uri
from rushes.present.pages.timeline import stored_series
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run
from rushes.storage.runs.packing import entry_of
from rushes.storage.runs.relocation import candidates, relocate
from rushes.workers.engine import Crash, run_tasks

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
        if (shards := self.run(key).shards) is not None:
            return entry_of(shards.line_of(clip.subject), shards.definitions) if shards.find(clip.subject) else None
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
        found = relocate(self._clips[key].path, beside=self.run(key).path)
        if found is None:
            return ""
        whole = Path(os.path.abspath(found))
        if not is_remote(page):
            folder = Path(os.path.abspath(page)).parent
            if whole.is_relative_to(folder.parent) and folder.parent != Path(folder.anchor):
                return quote(os.path.relpath(whole, folder).encode("utf-8", "surrogateescape"))
        return whole.as_uri()


def frame_rate(clip: BoardClip) -> float:
    """Frames a second of the file; 25 where its run does not tell, so that a step is still a step."""
    video = _video(clip)
    return float(video.fps) if video is not None and video.fps and video.fps > 0 else _RATE_IF_UNKNOWN


def frame_count(clip: BoardClip) -> int:
    """Frames by length and rate; 0 where its run does not tell."""
    return int(_length_ms(clip) / 1000 * frame_rate(clip) + 0.5)


def media_words(clip: BoardClip) -> str:
    """ "320×180, 10 fps, 1.60 s"; "" where the run does not tell."""
    video, length = _video(clip), _length_ms(clip)
    size = f"{video.width}×{video.height}" if video is not None and video.width and video.height else ""
    rate = f"{frame_rate(clip):.4g} fps" if video is not None and video.fps is not None else ""
    return ", ".join(filter(None, (size, rate, f"{length / 1000:.2f} s" if length else "")))


def _length_ms(clip: BoardClip) -> float:
    video = _video(clip)
    return 0.0 if video is None or video.duration_ms is None else float(video.duration_ms)


def _video(clip: BoardClip) -> VideoFacts | None:
    media = MediaFacts.in_facts(clip.facts)
    return None if media is None else media.video


def rows_by_disagreement(data: BoardData) -> list[int]:
    """Prompts by how far the systems are apart on them, furthest first; of equals, in the board's order.

    Per reading: (highest − lowest) / s, s the standard deviation of all its values on the board; then the mean over
    what people said, else over the readings that can say better and worse, else over all per-prompt readings. A prompt
    with fewer than two values of a reading has none there; a prompt with none at all comes last. It orders rows and is
    shown nowhere.
    """
    per_prompt = [reading for reading in data.readings if reading.per_prompt]
    people = [reading for reading in per_prompt if reading.instrument == PEOPLE]
    chosen = people or [reading for reading in per_prompt if reading.definition.ranks_systems] or per_prompt
    spreads = [_spread(data, reading.key) for reading in chosen]
    known = [spread for spread in spreads if spread is not None]
    if not known:
        return list(range(len(data.prompts)))
    table = np.stack(known)
    have = np.isfinite(table)
    means = np.where(have, table, 0).sum(axis=0) / np.maximum(have.sum(axis=0), 1)
    scores = np.where(have.any(axis=0), means, -1.0)
    return [int(place) for place in np.argsort(-scores, kind="stable")]


def _spread(data: BoardData, key: str) -> np.ndarray | None:
    """By prompt; NaN where fewer than two systems have a value. None where the reading never varies."""
    prompts = [prompt.id for prompt in data.prompts]
    table = np.stack([row_floats(data.values.get((name, key), {}), prompts) for name in data.names])
    have = np.isfinite(table)
    scale = float(table[have].std()) if have.any() else 0.0
    if not scale:
        return None
    high, low = (np.where(have, table, fill) for fill in (-np.inf, np.inf))
    with np.errstate(invalid="ignore"):
        width: np.ndarray = high.max(axis=0) - low.min(axis=0)
    width[have.sum(axis=0) < 2] = np.nan
    return width / scale


def first_clips(data: BoardData, order: Sequence[int], most: int) -> list[tuple[str, str]]:
    """Keys of the clips of the first rows, whole rows only, as many as `most` clips allow."""
    keys: list[tuple[str, str]] = []
    for place in order:
        row = [(name, data.prompts[place].id) for name in data.names if (name, data.prompts[place].id) in data.clips]
        if len(keys) + len(row) > most:
            break
        keys += row
    return keys


def board_timeline(clips: ClipIndex, key: ClipKey) -> dict[str, object] | None:
    """What `assets/timeline.js` draws of one clip; None where its run kept no series of it.

    No settings: the limits of one run's profile are not those of the others on the board.
    """
    run = clips.run(key)
    instrument = instrument_of(run)
    if instrument is None or not instrument.timeline or not (series := stored_series(run, clips.clip(key).subject)):
        return None
    if (entry := clips.entry(key)) is None:
        return None
    found: dict[str, object] | None = load(instrument.timeline)(entry.measurements, series, None)
    return found


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
