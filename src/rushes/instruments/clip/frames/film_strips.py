"""Film strips: a few small key frames of a clip, at fixed positions and at its faults."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from rushes.core.errors import MediaError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.show.timeline import find_faults, kept_series
from rushes.media import ClipReader, Frame, MediaFacts
from rushes.media.canon.clip import SteadyFrames
from rushes.present.pages.film_strips import KeyFrame, Strip, jpeg_uri
from rushes.present.pages.section import ReportOptions
from rushes.storage.remote.address import is_remote
from rushes.storage.remote.errors import RemoteError
from rushes.storage.remote.transfer import local_copy
from rushes.storage.runs import Entry, Run
from rushes.storage.runs.relocation import candidates
from rushes.workers.engine import Crash, run_tasks

Key = TypeVar("Key", bound=Hashable)
FRAMES = 8
"""Frames of a strip: five at fixed positions, the others at faults."""
_FIXED = (0.0, 0.25, 0.5, 0.75, 1.0)
_SIDE = 160
"""Longer side of a key frame, in pixels."""
_CRASHED = "The clip could not be decoded again, so there is nothing to show."
_SECONDS_A_CLIP = 120.0
_GONE = "The clip is no longer where the run found it. Its values are still valid; only the pictures are missing."


@dataclass(frozen=True, slots=True, kw_only=True)
class StripTask:
    """One clip to take key frames from; travels to a worker process."""

    candidates: tuple[str, ...]
    """Where the clip may lie: as the run names it, then beside the run."""
    sha256: str | None
    frames: tuple[int, ...]
    """Frame indices, in order."""
    canon: MediaFacts | None = None
    """The canonical form, where that was measured: the indices are those of its frames."""
    side: int = _SIDE
    """Longer side of a key frame, in pixels."""


def key_frames(total: int, faults: Sequence[int]) -> tuple[int, ...]:
    """Which frames to show: the fixed positions, and faults spread over the clip while there is room.

    >>> key_frames(101, [10, 60])
    (0, 10, 25, 50, 60, 75, 100)
    >>> key_frames(2, [])
    (0, 1)
    """
    if total <= 0:
        return ()
    fixed = {round(position * (total - 1)) for position in _FIXED}
    new = [frame for frame in faults if frame not in fixed and 0 <= frame < total]
    room = FRAMES - len(fixed)
    spread = {new[round(n * (len(new) - 1) / max(room - 1, 1))] for n in range(room)} if len(new) > room else set(new)
    return tuple(sorted(fixed | spread))


def take_strip(task: StripTask) -> Strip:
    """Key frames of a clip. A clip that moved, changed or cannot be read gives a strip that says so."""
    address = next((place for place in task.candidates if is_remote(place)), None)
    if address is None:
        return _taken(task)
    try:
        with local_copy(address) as copy:
            return _taken(replace(task, candidates=(str(copy.path),)))
    except RemoteError:
        return Strip(missing=_GONE)


def _taken(task: StripTask) -> Strip:
    path, missing = _find(task)
    if path is None:
        return Strip(missing=missing)
    wanted = set(task.frames)
    taken: list[KeyFrame] = []
    try:
        with ClipReader(path) as reader:
            for index, (time_ms, frame) in enumerate(_timed(reader, task.canon)):
                if index in wanted:
                    taken.append(KeyFrame(index, round(time_ms, 3), jpeg_uri(frame.bgr(), longest=task.side)))
                if index >= max(wanted):
                    break
    except MediaError:
        if not taken:
            return Strip(missing="The clip cannot be decoded, so there is nothing to show.")
    return Strip(tuple(taken)) if taken else Strip(missing="No frame could be decoded.")


def _timed(reader: ClipReader, canon: MediaFacts | None) -> Iterator[tuple[float, Frame]]:
    """The frames as they were measured, each with its time in ms."""
    if canon is None or canon.video is None:
        return ((frame.time_ms, frame) for frame in reader)
    steady = SteadyFrames(reader, canon.video.fps)
    return ((float(place * 1000 / steady.rate), frame) for place, frame in steady.placed())


def _find(task: StripTask) -> tuple[Path | None, str]:
    """The clip the run measured: by place and by content."""
    missing = _GONE
    for candidate in map(Path, task.candidates):
        try:
            if not candidate.is_file():
                continue
            if task.sha256 is None or file_digest(candidate) == task.sha256:
                return candidate, ""
        except (OSError, ValueError):
            continue
        missing = "This file is not the one that was measured, so its pictures are not shown."
    return None, missing


def take_strips(tasks: Mapping[Key, StripTask], *, jobs: int, progress: Progress = no_progress) -> dict[Key, Strip]:
    """Strips of these clips, by the same keys. A clip that crashes the decoder or hangs it costs its own strip only."""
    keys, taken = list(tasks), {}
    if tasks:
        progress(0, len(tasks), "film strips")
    outcomes = run_tasks(take_strip, list(tasks.values()), jobs=jobs, timeout=_SECONDS_A_CLIP)
    for done, (position, outcome) in enumerate(outcomes, 1):
        taken[keys[position]] = Strip(missing=_CRASHED) if isinstance(outcome, Crash) else outcome
        progress(done, len(tasks), "film strips")
    return taken


def film_strips(run: Run, entries: Sequence[Entry], options: ReportOptions) -> dict[str, Strip]:
    """Strips by subject id."""
    tasks = {entry.subject.id: task for entry in entries if (task := _task(run, entry)) is not None}
    missing = {entry.subject.id: Strip(missing="No frame of this clip could be decoded.") for entry in entries}
    return missing | take_strips(tasks, jobs=options.jobs, progress=options.progress)


def _task(run: Run, entry: Entry) -> StripTask | None:
    """What to take from a clip; None where the run saw no frame of it."""
    series = kept_series(run, entry)
    total = len(series.get("time_ms", ()))
    if not total:
        return None
    path = entry.subject.path
    return StripTask(
        candidates=(path,) if is_remote(path) else tuple(map(str, candidates(path, beside=run.path))),
        sha256=entry.subject.sha256,
        canon=entry.subject.canon,
        frames=key_frames(total, find_faults(entry.measurements, series).frames()),
    )
