"""Film strips of a clip in every run, at the same moments; of pairs, their worst frames.

Below them its timelines on one clock and one scale: in each lane the first run, and another dashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np

from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.page.clips import ChangedClip, Highlight, entries_of
from rushes.compare.runs.page.words import run_name
from rushes.core.metric import Lane, Scale, Trace
from rushes.instruments.clip.frames.film_strips import StripTask, key_frames, take_strips
from rushes.instruments.clip.instrument import INSTRUMENT as CLIP
from rushes.instruments.clip.metrics import known
from rushes.instruments.clip.show.timeline import clip_timeline, find_faults, kept_series
from rushes.instruments.fidelity.instrument import INSTRUMENT as FIDELITY
from rushes.instruments.fidelity.show.tables import metric_of
from rushes.instruments.fidelity.show.worst import GAIN, lead_of, worst_frames, worst_strips
from rushes.present.pages.film_strips import Strip
from rushes.present.pages.section import ReportOptions
from rushes.present.pages.timeline import Marks, Series, stored_series, timeline_data
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run
from rushes.storage.runs.relocation import candidates

PAIRS_SHOW = f"generated, reference, difference × {GAIN}, where the runs differ most"
_NONE = "No pictures are kept for runs of this instrument."
_NOT_HERE = "This run has no such clip to compare."
_NO_FRAME = "No frame of this clip was decoded by the run."
_MANY = 4
"""Runs up to which a strip has frames at faults too; more runs have smaller strips."""


_LANES = 4
"""Lanes of one pair of runs; more are too much to look at."""
_ALL_LANES = 12
_Entries: TypeAlias = Sequence[Entry | None]
"""A clip's row in each run."""
_Strips: TypeAlias = dict[tuple[int, int], Strip]
"""By clip and run."""


def takes_of(
    found: RunsComparison, clips: Sequence[ChangedClip], options: ReportOptions
) -> list[tuple[Highlight, ...]]:
    """For every clip the pictures of every run, in the order of the runs; one that is gone says so."""
    rows = [entries_of(found, clip.subject) for clip in clips]
    takers = {CLIP.name: (_film_strips, _NO_FRAME), FIDELITY.name: (_pair_strips, _NO_FRAME)}
    take, missing = takers.get(found.runs[0].instrument, (lambda *given: {}, _NONE))
    strips = take(found.runs, rows, options)
    return [
        tuple(
            Highlight(letter=letter, run=run_name(run), path="", strip=Strip(missing=_NOT_HERE))
            if entry is None
            else Highlight(
                letter=letter,
                run=run_name(run),
                path=entry.subject.path,
                strip=strips.get((number, place), Strip(missing=missing)),
            )
            for place, (letter, run, entry) in enumerate(zip(found.letters, found.runs, entries, strict=True))
        )
        for number, entries in enumerate(rows)
    ]


def _film_strips(runs: Sequence[Run], rows: Sequence[_Entries], options: ReportOptions) -> _Strips:
    wanted = {place: task for number, entries in enumerate(rows) for place, task in _tasks(number, runs, entries)}
    return take_strips(wanted, jobs=options.jobs, progress=options.progress)


def _tasks(number: int, runs: Sequence[Run], entries: _Entries) -> Iterator[tuple[tuple[int, int], StripTask]]:
    series = list(map(_kept, runs, entries))
    moments = _moments(entries, series)
    for place, (run, entry, kept) in enumerate(zip(runs, entries, series, strict=True)):
        frames = frames_at(_times(kept), moments)
        if entry is not None and frames:
            path = entry.subject.path
            yield (
                (number, place),
                StripTask(
                    candidates=(path,) if is_remote(path) else tuple(map(str, candidates(path, beside=run.path))),
                    sha256=entry.subject.sha256,
                    canon=entry.subject.canon,
                    frames=frames,
                ),
            )


def _moments(entries: _Entries, series: Sequence[Mapping[str, Series]]) -> list[float]:
    """When to look, in ms: fixed places of the longest take, and every take's faults while there is room."""
    clocks = list(map(_times, series))
    longest = max(clocks, key=lambda clock: float(clock[-1]) if len(clock) else -1.0)
    faults: list[int] = []
    if sum(entry is not None for entry in entries) <= _MANY:
        for entry, kept, clock in zip(entries, series, clocks, strict=True):
            if entry is not None and len(clock):
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


def _times(kept: Mapping[str, Series]) -> Series:
    return kept.get("time_ms", np.zeros(0))


def _pair_strips(runs: Sequence[Run], rows: Sequence[_Entries], options: ReportOptions) -> _Strips:
    chosen = [_pair_frames(runs, entries) for entries in rows]
    taken: _Strips = {}
    for place, run in enumerate(runs):
        wanted = [(entry, frames) for entries, frames in zip(rows, chosen, strict=True) if (entry := entries[place])]
        strips = worst_strips(run, wanted, options)
        for number, entries in enumerate(rows):
            if (entry := entries[place]) is not None and entry.subject.id in strips:
                taken[number, place] = strips[entry.subject.id]
    return taken


def _pair_frames(runs: Sequence[Run], entries: _Entries) -> tuple[int, ...]:
    """The frames on which a later run is furthest behind the first, or is worst by itself: two, of many runs one."""
    curves: list[Any] = []
    for run, entry in zip(runs, entries, strict=True):
        if entry is None:
            continue
        if (lead := lead_of(entry.measurements, _kept(run, entry))) is not None:
            curves.append(lead[1] * (1.0 if lead[0].definition.better == "higher" else -1.0))
    if not curves:
        return ()
    first, last = curves[0], curves[-1]
    behind = last - first if len(curves) > 1 and len(first) == len(last) else last
    worst = worst_frames(behind, lower_is_worse=True)
    order = sorted(worst, key=lambda frame: float(behind[frame]))
    return tuple(sorted(order[: 2 if len(runs) == 2 else 1]))


def shared_timeline(found: RunsComparison, clip: ChangedClip) -> dict[str, object] | None:
    """What `assets/timeline.js` draws; None where fewer than two runs kept series of the clip."""
    entries = entries_of(found, clip.subject)
    kept = [_kept(run, entry) for run, entry in zip(found.runs, entries, strict=True)]
    there = [place for place, series in enumerate(kept) if len(series.get("time_ms", ()))]
    if 0 not in there or len(there) < 2:
        return None
    clock = max((kept[place]["time_ms"] for place in there), key=lambda times: float(times[-1]))
    series = {
        f"{name}@{place}": _resampled(values, kept[place]["time_ms"], clock)
        for place in there
        for name, values in kept[place].items()
    }
    lanes = _chosen(_lanes(found.runs[0].instrument, entries), kept, clip)
    others = [place for place in there if place]
    drawn = [
        one
        for lane, trace in lanes
        for place in others
        if (one := _against(lane, trace, place, found.letters, kept)) is not None
    ]
    marks = _marks(found, entries, kept, there) if found.runs[0].instrument == CLIP.name else []
    return timeline_data(clock, series, lanes=drawn[:_ALL_LANES], marks=marks)


def _kept(run: Run, entry: Entry | None) -> dict[str, Series]:
    if entry is None:
        return {}
    if run.instrument == CLIP.name:
        return kept_series(run, entry)
    if run.instrument != FIDELITY.name:
        return {}
    names = {found[1].series for m in entry.measurements if (found := metric_of(m)) is not None}
    return stored_series(run, entry.subject.id, {"time_ms", *names})


def _lanes(instrument: str, entries: _Entries) -> list[tuple[str, Lane]]:
    """Metric names and their lanes, in the metrics' order."""
    found: dict[str, tuple[str, Lane]] = {}
    for m in (m for entry in entries if entry is not None for m in entry.measurements):
        if instrument == CLIP.name:
            metric = known(m.name)
            if metric is not None and metric.lane is not None:
                found.setdefault(metric.lane.label, (m.name, metric.lane))
        elif (pair := metric_of(m)) is not None:
            own = Trace(series=pair[1].series, word=pair[1].label, scale=lambda low, high: (low, high))
            found.setdefault(pair[1].label, (m.name, pair[1].lane or Lane(label=pair[1].label, traces=(own,))))
    return list(found.values())


def _chosen(
    lanes: Sequence[tuple[str, Lane]], kept: Sequence[Mapping[str, Series]], clip: ChangedClip
) -> list[tuple[Lane, Trace]]:
    """The lanes of the metrics that changed most on this clip first; those whose lines differ before those equal."""
    sizes: dict[str, float] = {}
    for change in clip.changes:
        name = change.judged.reading.name
        sizes[name] = max(sizes.get(name, 0.0), abs(change.size))
    traces = [(name, lane, trace) for name, lane in lanes for trace in lane.traces]
    traces = [row for row in traces if row[2].series in kept[0]]
    order = sorted(range(len(traces)), key=lambda n: (_same(traces[n][2], kept), -sizes.get(traces[n][0], 0.0)))
    return [traces[place][1:] for place in sorted(order[:_LANES])]


def _same(trace: Trace, kept: Sequence[Mapping[str, Series]]) -> bool:
    found = [series[trace.series] for series in kept if trace.series in series]
    return all(len(one) == len(found[0]) and np.array_equal(one, found[0], equal_nan=True) for one in found)


def _against(
    lane: Lane, trace: Trace, place: int, letters: Sequence[str], kept: Sequence[Mapping[str, Series]]
) -> Lane | None:
    """The first run's line and another's in one lane, on the scale of every run's values."""
    if trace.series not in kept[place]:
        return None
    scale = _scale(trace, [series[trace.series] for series in kept if trace.series in series])
    pair = tuple(
        replace(trace, series=f"{trace.series}@{n}", word=f"{trace.word} {letters[n]}", scale=scale)
        for n in ((place,) if lane.band else (0, place))
    )
    label = lane.label if trace is lane.traces[0] else trace.word.capitalize()
    return Lane(label=f"{label} {letters[place]}" if lane.band else label, traces=pair, band=lane.band)


def _scale(trace: Trace, values: Sequence[Series]) -> Scale:
    finite = [one[np.isfinite(one)] for one in values]
    lowest = min((float(one.min()) for one in finite if one.size), default=0.0)
    highest = max((float(one.max()) for one in finite if one.size), default=1.0)
    ends = trace.scale(lowest, highest)
    return lambda low, high: ends


def _resampled(values: Series, times: Series, clock: Series) -> Series:
    """A series on another clock: what is on the screen at each moment; nothing beyond the clip's end."""
    if values.ndim != 1 or len(values) not in (len(times), len(times) - 1):
        return values
    aligned = values if len(values) == len(times) else np.concatenate([[np.nan], values])
    if len(times) == len(clock) and np.allclose(times, clock, atol=0.5):
        return cast("Series", aligned)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    places = np.clip(np.searchsorted(times, clock + step / 2, side="right") - 1, 0, len(times) - 1)
    return cast("Series", np.where(clock < times[-1] + step, aligned[places], np.nan))


def _marks(
    found: RunsComparison, entries: _Entries, kept: Sequence[Mapping[str, Series]], there: Sequence[int]
) -> list[Marks]:
    """Faults that not every run has at the same place, each with its run's letter."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for place in there:
        entry = entries[place]
        data = None if entry is None else clip_timeline(entry.measurements, kept[place])
        rows[place] = [] if data is None else cast("list[dict[str, Any]]", data["marks"])
    count = Counter((row["kind"], *at) for marks in rows.values() for row in marks for at in row["at"])
    return [
        Marks(
            **{key: row[key] for key in ("kind", "shape", "tone", "unit")},
            word=f"{row['word']} in {found.letters[place]}",
            at=[at for at in row["at"] if count[row["kind"], *at] < len(there)],
        )
        for place, marks in rows.items()
        for row in marks
    ]
