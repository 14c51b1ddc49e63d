"""Timelines of the clips on a board, from whichever instrument kept series of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rushes.clip.instrument import INSTRUMENT as CLIP
from rushes.clip.metrics import known
from rushes.clip.timeline import clip_timeline, kept_series
from rushes.core.metric import Lane, Trace
from rushes.fidelity.instrument import INSTRUMENT as FIDELITY
from rushes.fidelity.tables import metric_of
from rushes.report.timeline import stored_series, timeline_data
from rushes.runs import Entry, Run
from rushes.suite.board_data import Reading
from rushes.suite.board_page_clips import ClipIndex, ClipKey


def board_timeline(clips: ClipIndex, key: ClipKey) -> dict[str, object] | None:
    """What `assets/timeline.js` draws of one clip; None where its run kept no series of it."""
    entry, run = clips.entry(key), clips.run(key)
    if entry is None:
        return None
    if run.instrument == CLIP.name:
        return clip_timeline(entry.measurements, kept_series(run, entry))
    return _pair_timeline(run, entry) if run.instrument == FIDELITY.name else None


def lane_label(reading: Reading) -> str:
    """The lane that a reading's values come from; "" where it has none."""
    if reading.instrument == CLIP.name:
        metric = known(reading.definition.name)
        return metric.lane.label if metric is not None and metric.lane is not None else ""
    return reading.label if reading.instrument == FIDELITY.name else ""


def _pair_timeline(run: Run, entry: Entry) -> dict[str, object] | None:
    found = (metric_of(m) for m in entry.measurements)
    metrics = {metric.series: metric for _, metric in (each for each in found if each is not None)}
    series: Mapping[str, Any] = stored_series(run, entry.subject.id, {"time_ms", *metrics})
    times = series.get("time_ms")
    if times is None or not len(times):
        return None
    lanes = [metric.lane or _lane(name, metric.label) for name, metric in metrics.items() if name in series]
    return timeline_data(times, series, lanes=lanes)


def _lane(series: str, label: str) -> Lane:
    return Lane(label=label, traces=(Trace(series=series, word=label, scale=lambda low, high: (low, high)),))
