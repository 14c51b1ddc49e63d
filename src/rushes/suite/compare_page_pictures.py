"""Film strips of a clip in every run, at the same moments; of pairs, their worst frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushes.clip.instrument import INSTRUMENT as CLIP
from rushes.clip.strips import StripTask, key_frames, take_strip
from rushes.clip.timeline import find_faults, kept_series
from rushes.fidelity.instrument import INSTRUMENT as FIDELITY
from rushes.fidelity.tables import metric_of
from rushes.fidelity.worst import GAIN, lead_of, worst_frames, worst_strips
from rushes.media.find import candidates
from rushes.remote.address import is_remote
from rushes.report.section import ReportOptions
from rushes.report.strips import Strip
from rushes.report.timeline import Series, stored_series
from rushes.runs import Entry, Run
from rushes.suite.compare_many import RunsComparison
from rushes.suite.compare_page_clips import ChangedClip, Take, entries_of
from rushes.suite.compare_page_words import run_name
from rushes.workers.local import Crash, run_tasks

PAIRS_SHOW = f"generated, reference, difference × {GAIN}, where the runs differ most"
_SECONDS_A_CLIP = 120.0
_NONE = "No pictures are kept for runs of this instrument."
_NOT_HERE = "This run has no such clip to compare."
_NO_FRAME = "No frame of this clip was decoded by the run."
_CRASHED = "The clip could not be decoded again, so there is nothing to show."
_MANY = 4
"""Runs up to which a strip has frames at faults too; more runs have smaller strips."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    clip: int
    run: int
    task: StripTask


def takes_of(found: RunsComparison, clips: Sequence[ChangedClip], options: ReportOptions) -> list[tuple[Take, ...]]:
    """For every clip the pictures of every run, in the order of the runs; one that is gone says so."""
    instrument = found.runs[0].instrument
    rows = [entries_of(found, clip.subject) for clip in clips]
    strips: dict[tuple[int, int], Strip] = {}
    if instrument == CLIP.name:
        strips = _film_strips(found.runs, rows, options)
    elif instrument == FIDELITY.name:
        strips = _pair_strips(found.runs, rows, options)
    missing = _NONE if instrument not in (CLIP.name, FIDELITY.name) else _NO_FRAME
    return [
        tuple(
            Take(
                letter=found.letters[place],
                run=run_name(run),
                path="" if entry is None else entry.subject.path,
                strip=Strip(missing=_NOT_HERE)
                if entry is None
                else strips.get((number, place), Strip(missing=missing)),
            )
            for place, (run, entry) in enumerate(zip(found.runs, entries, strict=True))
        )
        for number, entries in enumerate(rows)
    ]


def _film_strips(
    runs: Sequence[Run], rows: Sequence[Sequence[Entry | None]], options: ReportOptions
) -> dict[tuple[int, int], Strip]:
    wanted = [one for number, entries in enumerate(rows) for one in _strip_tasks(number, runs, entries)]
    taken: dict[tuple[int, int], Strip] = {}
    if wanted:
        options.progress(0, len(wanted), "film strips")
    tasks = [one.task for one in wanted]
    outcomes = run_tasks(take_strip, tasks, jobs=options.jobs, timeout=_SECONDS_A_CLIP)
    for done, (position, outcome) in enumerate(outcomes, 1):
        one = wanted[position]
        taken[one.clip, one.run] = Strip(missing=_CRASHED) if isinstance(outcome, Crash) else outcome
        options.progress(done, len(wanted), "film strips")
    return taken


def _strip_tasks(number: int, runs: Sequence[Run], entries: Sequence[Entry | None]) -> list[_Wanted]:
    series = [None if entry is None else kept_series(run, entry) for run, entry in zip(runs, entries, strict=True)]
    moments = _moments(entries, series)
    found = []
    for place, (run, entry, kept) in enumerate(zip(runs, entries, series, strict=True)):
        frames = frames_at(_times(kept), moments)
        if entry is None or not frames:
            continue
        path = entry.subject.path
        task = StripTask(
            candidates=(path,) if is_remote(path) else tuple(map(str, candidates(path, beside=run.path))),
            sha256=entry.subject.sha256,
            canon="canon" in entry.subject.facts,
            frames=frames,
        )
        found.append(_Wanted(number, place, task))
    return found


def _moments(entries: Sequence[Entry | None], series: Sequence[Mapping[str, Series] | None]) -> list[float]:
    """When to look, in ms: fixed places of the longest take, and every take's faults while there is room."""
    clocks = [_times(kept) for kept in series]
    longest = max(clocks, key=lambda clock: float(clock[-1]) if len(clock) else -1.0)
    faults: list[int] = []
    if sum(entry is not None for entry in entries) <= _MANY:
        for entry, kept, clock in zip(entries, series, clocks, strict=True):
            if entry is not None and kept is not None and len(clock):
                at = [frame for frame in find_faults(entry.measurements, kept).frames() if frame < len(clock)]
                faults += frames_at(longest, [float(clock[frame]) for frame in at])
    return [float(longest[frame]) for frame in key_frames(len(longest), sorted(set(faults)))]


def frames_at(clock: Series, moments: Sequence[float]) -> tuple[int, ...]:
    """The frames that are on the screen at these moments, once each; none beyond the clip's end.

    >>> frames_at(np.array([0.0, 40.0, 80.0]), [0.0, 50.0, 60.1, 95.0, 400.0])
    (0, 1, 2)
    """
    if not len(clock):
        return ()
    step = float(np.median(np.diff(clock))) if len(clock) > 1 else 1.0
    inside = [moment for moment in moments if moment < float(clock[-1]) + step]
    return tuple(sorted({int(np.abs(clock - moment).argmin()) for moment in inside}))


def _times(kept: Mapping[str, Series] | None) -> Series:
    return np.zeros(0) if kept is None else kept.get("time_ms", np.zeros(0))


def _pair_strips(
    runs: Sequence[Run], rows: Sequence[Sequence[Entry | None]], options: ReportOptions
) -> dict[tuple[int, int], Strip]:
    chosen = [_pair_frames(runs, entries) for entries in rows]
    taken: dict[tuple[int, int], Strip] = {}
    for place, run in enumerate(runs):
        wanted = [(entry, frames) for entries, frames in zip(rows, chosen, strict=True) if (entry := entries[place])]
        strips = worst_strips(run, wanted, options)
        for number, entries in enumerate(rows):
            entry = entries[place]
            if entry is not None and entry.subject.id in strips:
                taken[number, place] = strips[entry.subject.id]
    return taken


def _pair_frames(runs: Sequence[Run], entries: Sequence[Entry | None]) -> tuple[int, ...]:
    """The frames on which a later run is furthest behind the first, or is worst by itself: two, of many runs one."""
    curves: list[Any] = []
    for run, entry in zip(runs, entries, strict=True):
        if entry is None:
            continue
        names = {found[1].series for m in entry.measurements if (found := metric_of(m)) is not None}
        series = stored_series(run, entry.subject.id, names)
        lead = lead_of(entry.measurements, series)
        metric = None if lead is None else metric_of(lead)
        if lead is not None and metric is not None:
            curves.append(series[metric[1].series] * (1.0 if lead.definition.better == "higher" else -1.0))
    if not curves:
        return ()
    first, last = curves[0], curves[-1]
    behind = last - first if len(curves) > 1 and len(first) == len(last) else last
    worst = worst_frames(behind, lower_is_worse=True)
    order = sorted(worst, key=lambda frame: float(behind[frame]))
    return tuple(sorted(order[: 2 if len(runs) == 2 else 1]))
