"""One clip's timelines in several runs on one clock and one scale: in each lane the first run, and another dashed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from rushes.clip.instrument import INSTRUMENT as CLIP
from rushes.clip.metrics import known
from rushes.clip.timeline import clip_timeline, kept_series
from rushes.core.metric import Lane, Scale, Trace
from rushes.fidelity.instrument import INSTRUMENT as FIDELITY
from rushes.fidelity.tables import metric_of
from rushes.report.timeline import Marks, Series, stored_series, timeline_data
from rushes.runs import Entry, Run
from rushes.suite.compare_many import RunsComparison
from rushes.suite.compare_page_clips import ChangedClip, entries_of

_LANES = 4
"""Lanes of one pair of runs; more are too much to look at."""
_ALL_LANES = 12


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


def _lanes(instrument: str, entries: Sequence[Entry | None]) -> list[tuple[str, Lane]]:
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
        name = change.judged.metric.reading.name
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
    found: RunsComparison,
    entries: Sequence[Entry | None],
    kept: Sequence[Mapping[str, Series]],
    there: Sequence[int],
) -> list[Marks]:
    """Faults that not every run has at the same place, each with its run's letter."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for place in there:
        entry = entries[place]
        data = None if entry is None else clip_timeline(entry.measurements, kept[place])
        rows[place] = [] if data is None else cast("list[dict[str, Any]]", data["marks"])
    count: dict[tuple[object, ...], int] = {}
    for row in (row for marks in rows.values() for row in marks):
        for at in row["at"]:
            key = (row["kind"], *at)
            count[key] = count.get(key, 0) + 1
    return [
        Marks(
            kind=row["kind"],
            word=f"{row['word']} in {found.letters[place]}",
            shape=row["shape"],
            tone=row["tone"],
            unit=row["unit"],
            at=[at for at in row["at"] if count[row["kind"], *at] < len(there)],
        )
        for place, marks in rows.items()
        for row in marks
    ]
