"""A clip's timeline as compact data, for `assets/timeline.js` to draw.

There are thousands of clips on a page, so a series becomes at most `POINTS` bytes: each value is one of 255 levels
between the series' `low` and `high`. Faults are kept exactly, with the rules and thresholds of the run's own
signatures, so what is marked is what was counted.

The data, as JSON::

    {"duration_ms": 3000.0, "frames": 75,
     "times": [0.0, 2960.0] | "<base64>",     evenly from first to last, or uint16 little-endian, 65535 = duration
     "series": [{"name": "luma_mean", "low": 0.0, "high": 255.0, "points": "<base64>"}],     uint8; 255 is a gap
     "cuts": [[1600.0, 40]], "spikes": [[1600.0, 40]],                    time, frame
     "freezes": [[800.0, 2200.0, 35]], "gaps": [[2000.0, 4000.0, 50]],    start, end, steps or frames
     "left_out": 0}                                                       marks beyond `MARKS` of a kind
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rushes.clip.bundle import by_bundle_key
from rushes.clip.metrics.motion import diff_spikes, scene_cuts
from rushes.core import Measurement
from rushes.runs import Run

POINTS = 600
"""Most points a series keeps. A longer one keeps the lowest and the highest of each stretch, so no peak is lost."""
MARKS = 200
"""Most marks of one kind; more could not be told apart."""
_LEVELS = 254
_GAP = 255

Series = NDArray[np.float64]


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


def kept_series(run: Run, subject_id: str) -> dict[str, Series]:
    """The series a timeline needs; {} where none were stored or the file is damaged: that costs a timeline, no more."""
    target = run.series_file(subject_id)
    if target is None:
        return {}
    try:
        # numpy leaves the file open when it is no archive, so it is opened here.
        with open(target, "rb") as file, np.load(file, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files if key in _NEEDED}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return {}


def find_faults(measurements: Sequence[Measurement], series: Mapping[str, Series]) -> Faults:
    """Cuts, spikes, freezes and missing faces, under the parameters the run's measurements were computed with."""
    chosen = by_bundle_key(measurements)
    diffs, mafd = _values(series, "luma_diff"), _values(series, "mafd")
    threshold, sigmas, epsilon = (
        _param(chosen, *key)
        for key in (
            ("scene_cut_count", "threshold"),
            ("frame_diff_spike_count", "sigmas"),
            ("freeze_frame_ratio", "eps"),
        )
    )
    frozen = [] if epsilon is None else [step + 1 for step, diff in enumerate(diffs) if diff < epsilon]
    faces = series.get("face_count")
    absent = [] if faces is None else np.flatnonzero(~(faces > 0)).tolist()
    return Faults(
        cuts=() if threshold is None else tuple(scene_cuts(mafd, threshold=threshold)),
        spikes=() if sigmas is None else tuple(diff_spikes(diffs, sigmas=sigmas)),
        freezes=_stretches(frozen),
        gaps=_stretches(absent),
    )


def clip_timeline(measurements: Sequence[Measurement], series: Mapping[str, Series]) -> dict[str, object] | None:
    """The timeline data of one clip; None where the run kept no series for it."""
    times = series.get("time_ms")
    if times is None or len(times) == 0:
        return None
    frames = len(times)
    step = float(np.median(np.diff(times))) if frames > 1 else 0.0
    duration = float(times[-1]) + max(step, 1.0)
    drawn = [(name, low, high, _aligned(series[name], frames)) for name, low, high in _ranges(series, frames)]
    data: dict[str, object] = {
        "duration_ms": round(duration, 3),
        "frames": frames,
        "times": _times(_thinned_times(times), duration),
        "series": [
            {"name": name, "low": low, "high": high, "points": _coded(_thinned(values), low, high)}
            for name, low, high, values in drawn
        ],
    }
    return data | _marks(find_faults(measurements, series), times, duration)


def _values(series: Mapping[str, Series], name: str) -> list[float]:
    found = series.get(name)
    return [] if found is None else found.tolist()


def _param(chosen: Mapping[str, Measurement], name: str, key: str) -> float | None:
    """A parameter from the signature of this metric; None where it was not computed."""
    measurement = chosen.get(name)
    if measurement is None or measurement.value is None:
        return None
    text = dict(measurement.definition.params).get(key)
    return None if text is None else float(text)


def _stretches(indices: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Neighbouring indices joined.

    >>> _stretches([3, 4, 5, 9])
    ((3, 5), (9, 9))
    """
    runs = groupby(enumerate(indices), key=lambda pair: pair[1] - pair[0])
    joined = [[index for _, index in run] for _, run in runs]
    return tuple((run[0], run[-1]) for run in joined)


def _marks(faults: Faults, times: Series, duration: float) -> dict[str, object]:
    def at(frame: int) -> float:
        return round(float(times[frame]), 3) if frame < len(times) else round(duration, 3)

    found: dict[str, list[list[float]]] = {
        "cuts": [[at(frame), frame] for frame in faults.cuts],
        "spikes": [[at(frame), frame] for frame in faults.spikes],
        "freezes": [[at(first - 1), at(last), last - first + 1] for first, last in faults.freezes],
        "gaps": [[at(first), at(last + 1), last - first + 1] for first, last in faults.gaps],
    }
    left_out = sum(max(len(marks) - MARKS, 0) for marks in found.values())
    return {kind: marks[:MARKS] for kind, marks in found.items()} | {"left_out": left_out}


# What is drawn, and between which values: wide enough that a steady clip looks steady.
_SCALES: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "luma_mean": lambda low, high: (max(0.0, min(low, (low + high) / 2 - 12)), min(255.0, max(high, low + 24))),
    "luma_diff": lambda low, high: (0.0, max(high, 4.0)),
    "laplacian_variance": lambda low, high: (0.0, max(high, 1.0)),
    "mouth_openness": lambda low, high: (min(low, 0.0), max(high, 0.05)),
    "audio_envelope": lambda low, high: (0.0, max(high, 0.01)),
    "face_count": lambda low, high: (0.0, 1.0),
}


_NEEDED = {"time_ms", "mafd", *_SCALES}


def _ranges(series: Mapping[str, Series], frames: int) -> list[tuple[str, float, float]]:
    ranges = []
    for name, scale in _SCALES.items():
        values = series.get(name)
        finite = values[np.isfinite(values)] if values is not None and values.ndim == 1 else np.zeros(0)
        if values is not None and finite.size and len(values) in (frames, frames - 1):
            low, high = scale(float(finite.min()), float(finite.max()))
            ranges.append((name, round(low, 6), round(max(high, low + 1e-6), 6)))
    return ranges


def _aligned(values: Series, frames: int) -> Series:
    """One value per frame: the first frame has no step that leads to it."""
    return values if len(values) == frames else np.concatenate([[np.nan], values])


def _bucket(frames: int) -> int:
    """Frames that share two points."""
    return 1 if frames <= POINTS else -(-frames // (POINTS // 2))


def _thinned(values: Series) -> Series:
    """At most `POINTS` values: of each stretch the lowest and the highest, in the order they came."""
    size = _bucket(len(values))
    if size == 1:
        return values
    padded = np.concatenate([values, np.full(-len(values) % size, np.nan)]).reshape(-1, size)
    missing = np.isnan(padded)
    lowest = np.where(missing, np.inf, padded).argmin(axis=1)
    highest = np.where(missing, -np.inf, padded).argmax(axis=1)
    order = np.sort(np.stack([lowest, highest], axis=1), axis=1)
    thinned: Series = np.take_along_axis(padded, order, axis=1).ravel()
    return thinned


def _thinned_times(times: Series) -> Series:
    """The times that go with `_thinned`: the first frame and the middle of each stretch."""
    size = _bucket(len(times))
    if size == 1:
        return times
    starts = np.arange(0, len(times), size)
    middles = np.minimum(starts + size // 2, len(times) - 1)
    thinned: Series = times[np.stack([starts, middles], axis=1).ravel()]
    return thinned


def _times(times: Series, duration: float) -> list[float] | str:
    """First and last time where they are evenly spaced to a thousandth of the clip, else 16 bits each."""
    even = np.linspace(times[0], times[-1], len(times))
    if np.abs(times - even).max() <= duration / 1000:
        return [round(float(times[0]), 3), round(float(times[-1]), 3)]
    levels = np.clip(np.rint(times / duration * 65535), 0, 65535)
    return base64.b64encode(levels.astype("<u2").tobytes()).decode()


def _coded(values: Series, low: float, high: float) -> str:
    levels = np.full(len(values), _GAP, np.uint8)
    known = np.isfinite(values)
    levels[known] = np.clip(np.rint((values[known] - low) / (high - low) * _LEVELS), 0, _LEVELS).astype(np.uint8)
    return base64.b64encode(levels.tobytes()).decode()
