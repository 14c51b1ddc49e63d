"""A clip's timeline: the lanes of its metrics, and its faults, marked by the rules and thresholds that counted them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rushes.core import Definition, Measurement
from rushes.core.metric import Lane, Scale, Trace, spanning
from rushes.instruments.clip.bundle import by_name
from rushes.instruments.clip.frames.spans import stretches
from rushes.instruments.clip.metrics import known
from rushes.instruments.clip.metrics.motion import diff_spikes, scene_cuts
from rushes.instruments.clip.signals.profile import profile_of
from rushes.present.pages.timeline import Marks, Series, Threshold, duration_of, stored_series, timeline_data
from rushes.storage.runs import Entry, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Where the counted faults of one clip lie, by frame index; steps carry the frame they lead to."""

    cuts: tuple[int, ...] = ()
    spikes: tuple[int, ...] = ()
    freezes: tuple[tuple[int, int], ...] = ()
    """First and last frozen step of each stretch."""
    gaps: tuple[tuple[int, int], ...] = ()
    """First and last frame of each stretch without a face."""

    def frames(self) -> list[int]:
        """One frame per fault, in order of time: where a film strip should look."""
        return sorted({*self.cuts, *self.spikes, *((a + b) // 2 for a, b in (*self.freezes, *self.gaps))})


def lanes_of(measurements: Iterable[Measurement]) -> list[Lane]:
    """The lanes of these numbers' metrics, in order; a metric that is not installed any more has none."""
    definitions = {m.name: m.definition for m in measurements}
    lanes = (_lane(definition) for definition in definitions.values())
    return [lane for lane in lanes if lane is not None]


def _lane(definition: Definition) -> Lane | None:
    """A metric's lane; a network of the user's own has one of its scale, with the values of the frames it saw."""
    if (metric := known(definition.name)) is not None:
        return metric.lane
    if definition.param("network") is None or definition.name.endswith("_similarity"):
        return None  # the similarities are the two parts of consistency
    low, high = definition.lowest, definition.highest
    scale: Scale = (lambda least, most: (least, most)) if low is None or high is None else spanning(low, high)
    name = definition.name
    label = next((kind.capitalize() for kind in ("alignment", "consistency") if name.endswith(f"_{kind}")), name)
    return Lane(label=label, traces=(Trace(series=name, word=name, scale=scale),))


def _held(series: Mapping[str, Series], measurements: Iterable[Measurement]) -> dict[str, Series]:
    """The series, with what a network gave drawn on until the next frame that it saw."""
    drawn = dict(series)
    for name in {m.name for m in measurements if m.definition.param("network") is not None} & drawn.keys():
        values = drawn[name]
        latest = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
        drawn[name] = np.where(latest < 0, np.nan, values[latest])
    return drawn


def kept_series(run: Run, entry: Entry) -> dict[str, Series]:
    """The series a timeline needs; {} where none were stored or the file is damaged: that costs a timeline, no more."""
    drawn = {trace.series for lane in lanes_of(entry.measurements) for trace in lane.traces}
    return stored_series(run, entry.subject.id, {"time_ms", "luma_diff", "mafd", "face_count"} | drawn)


def find_faults(measurements: Sequence[Measurement], series: Mapping[str, Series]) -> Faults:
    """Cuts, spikes, freezes and missing faces, under the parameters the run's measurements were computed with."""
    chosen = by_name(measurements)
    diffs, mafd = _values(series, "luma_diff"), _values(series, "mafd")
    threshold = _param(chosen.get("scene_cut_count"), "threshold")
    sigmas = _param(chosen.get("frame_diff_spike_count"), "sigmas")
    epsilon = _param(chosen.get("freeze_frame_ratio"), "eps")
    frozen = [] if epsilon is None else [False, *(diff < epsilon for diff in diffs)]
    absent = [not faces > 0 for faces in _values(series, "face_count")]
    return Faults(
        cuts=() if threshold is None else tuple(scene_cuts(mafd, threshold=threshold)),
        spikes=() if sigmas is None else tuple(diff_spikes(diffs, sigmas=sigmas)),
        freezes=tuple(stretches(frozen)),
        gaps=tuple(stretches(absent)),
    )


def clip_timeline(
    measurements: Sequence[Measurement], series: Mapping[str, Series], settings: object = None
) -> dict[str, object] | None:
    """The timeline data of one clip; None where the run kept no series for it.

    `settings` are those of `run.json`: a lane whose metric has a threshold in the run's profile shows it as a line.
    """
    times = series.get("time_ms")
    if times is None or len(times) == 0:
        return None
    lanes = lanes_of(measurements)
    return timeline_data(
        times,
        _held(series, measurements),
        lanes=lanes,
        marks=_marks(find_faults(measurements, series), times),
        thresholds=list(_thresholds(lanes, measurements, settings)),
    )


def _thresholds(lanes: Iterable[Lane], measurements: Sequence[Measurement], settings: object) -> Iterator[Threshold]:
    """The limits that the run's metrics count by, and the rules of its profile on what a series is pooled to."""
    chosen, profile = by_name(measurements), profile_of(settings)
    for trace in (trace for lane in lanes for trace in lane.traces):
        if trace.limit is not None:
            name, key, word = trace.limit
            value = _param(chosen.get(name), key)
            if value is not None:
                yield Threshold(series=trace.series, value=value, text=f"{word} below {value:g}")
        for rule in profile.rules if profile is not None and trace.pooled_by else ():
            if trace.pooled_by in rule.readings and rule.comparison != "is":
                text = f"{rule.level} {rule.comparison} {rule.threshold:g}"
                yield Threshold(series=trace.series, value=float(rule.threshold), text=text)


def _values(series: Mapping[str, Series], name: str) -> list[float]:
    found = series.get(name)
    return [] if found is None else found.tolist()


def _param(measurement: Measurement | None, key: str) -> float | None:
    """The threshold this number was counted with; None where it was not computed."""
    text = None if measurement is None or measurement.value is None else measurement.definition.param(key)
    return None if text is None else float(text)


def _marks(faults: Faults, times: Series) -> list[Marks]:
    def at(frame: int) -> float:
        return round(float(times[frame]) if frame < len(times) else duration_of(times), 3)

    cuts, spikes = ([(at(frame), frame) for frame in frames] for frames in (faults.cuts, faults.spikes))
    still = [(at(first - 1), at(last), last - first + 1) for first, last in faults.freezes]
    gaps = [(at(first), at(last + 1), last - first + 1) for first, last in faults.gaps]
    return [
        Marks(kind="freezes", word="Still", shape="span", tone="warn", unit="step", at=still),
        Marks(kind="gaps", word="No face", shape="span", tone="bad", at=gaps),
        Marks(kind="cuts", word="Scene cut", shape="line", tone="ink", at=cuts),
        Marks(kind="spikes", word="Spike", shape="triangle", tone="bad", at=spikes),
    ]
