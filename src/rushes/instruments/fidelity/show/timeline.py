"""A pair over time: a lane for each metric, and its worst frames marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rushes.core import Measurement
from rushes.core.metric import Lane, Trace
from rushes.instruments.fidelity.metric import PairMetric, Series
from rushes.instruments.fidelity.show.tables import metric_of
from rushes.instruments.fidelity.show.worst import lead_of, worst_frames
from rushes.present.pages.timeline import Marks, stored_series, timeline_data
from rushes.storage.runs import Entry, Run

LANES = 6
"""Lanes of a timeline in a report; a page of many pairs has no room for more."""


def kept_series(run: Run, entry: Entry) -> dict[str, Series]:
    """The series a timeline needs; {} where none were stored."""
    return stored_series(
        run, entry.subject.id, {"time_ms", *(metric.series for metric in _metrics(entry.measurements))}
    )


def worst_of(measurements: Sequence[Measurement], series: Mapping[str, Series]) -> tuple[int, ...]:
    """The pair's worst frames, by its first number that has a direction and a series."""
    if (lead := lead_of(measurements, series)) is None:
        return ()
    return worst_frames(lead[1], lower_is_worse=lead[0].definition.better == "higher")


def pair_timeline(
    measurements: Sequence[Measurement],
    series: Mapping[str, Series],
    settings: object = None,
    *,
    most: int | None = None,
) -> dict[str, object] | None:
    """The timeline data of one pair; None where the run kept no times for it. No profile judges pairs: no settings.

    `most` is how many lanes it has at the most.
    """
    times = series.get("time_ms")
    if times is None or not len(times):
        return None
    lanes = [_lane(metric) for metric in _metrics(measurements) if metric.series in series][:most]
    at = [(round(float(times[frame]), 3), frame) for frame in worst_of(measurements, series)]
    marks = [Marks(kind="worst", word="Worst frame", shape="triangle", tone="bad", at=at)]
    return timeline_data(times, series, lanes=lanes, marks=marks)


def _metrics(measurements: Iterable[Measurement]) -> list[PairMetric]:
    found = (metric_of(m) for m in measurements)
    return [each[1] for each in found if each is not None]


def _lane(metric: PairMetric) -> Lane:
    """The metric's own lane, or one between its lowest and highest value."""
    own = Trace(series=metric.series, word=metric.label, scale=lambda low, high: (low, high))
    return metric.lane or Lane(label=metric.label, traces=(own,))
