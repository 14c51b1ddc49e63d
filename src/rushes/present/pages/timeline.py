"""Series over time as compact data, for `assets/timeline.js` to draw: lanes and marks say what they are, in the data.

There are thousands of timelines on a page, so a series becomes at most `POINTS` bytes: each value is one of 255 levels
between its `low` and `high`. Marks are kept exactly.

The data, as JSON::

    {"duration_ms": 3000.0, "frames": 75,
     "times": [0.0, 2960.0] | "<base64>",     evenly from first to last, or uint16 little-endian, 65535 = duration
     "lanes": [{"label": "Luma", "band": false, "series": [
         {"name": "luma_mean", "word": "luma", "low": 0.0, "high": 255.0, "points": "<base64>"}],      uint8; 255 a gap
         "lines": [{"series": "luma_mean", "value": 16.0, "text": "flagged below 16"}]}],   only where there are any
     "marks": [{"kind": "cuts", "word": "Scene cut", "shape": "line", "tone": "ink", "unit": "frame",
                "at": [[1600.0, 40]],         time and frame; of a "span" start, end and how many units
                "listed": [[1600.0, 40]]}],   those worth a line in a list, where that is not each of them
     "shorter": 0,                            spans that are not listed
     "left_out": 0}                           points that are not listed

Every mark is drawn. A list of each would hide the long ones: real clips have dozens of stills of one to three steps. So
the list beside a timeline has the few worth a look, and the rest as a count.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.metric import Lane, Trace
from rushes.storage.numpy_files import FAULTS, load_npz
from rushes.storage.runs import Run

POINTS = 600
"""Most points a series keeps. A longer one keeps the lowest and the highest of each stretch, so no peak is lost."""
MARKS = 200
"""Most marks of one kind; more could not be told apart."""
_LEVELS = 254
_GAP = 255

Series = NDArray[np.float64]
SHORTEST_MS = 200.0
"""A span shorter than this is drawn and counted, and not listed."""
MOST_SPANS = 10
"""Spans of one kind in the list: the longest."""
MOST_POINTS = 20
"""Points of one kind in the list: the first."""
At: TypeAlias = Sequence[float]
"""Of a span its start and end in ms and how many units it is long; of a point its time in ms and frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Everything of one kind that is marked on a timeline."""

    kind: str
    word: str
    """What a list calls one of them: "Scene cut"."""
    shape: Literal["line", "triangle", "span"]
    tone: Literal["ink", "warn", "bad"]
    at: Sequence[Sequence[float]]
    """Time in ms and frame of each; of a span its start, its end and how many units it is long."""
    unit: str = "frame"

    def listed(self) -> tuple[list[list[float]], int]:
        """Those worth a line in a list, and how many there are beside them."""
        return listed_spans(self.at) if self.shape == "span" else listed_points(self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A line across a lane: where a rule or a count begins."""

    series: str
    value: float
    text: str
    """What it says: "flagged below 20", "still below 1"."""


def timeline_data(
    times: Series,
    series: Mapping[str, Series],
    *,
    lanes: Sequence[Lane],
    marks: Sequence[Marks] = (),
    thresholds: Sequence[Threshold] = (),
) -> dict[str, object]:
    """The data of one timeline; lanes without a series are left out, bands go below the lines.

    A lane reaches to each of its thresholds, so that a line far from the values is seen and not cut off.
    """
    frames, duration = len(times), duration_of(times)
    drawn = [_lane(lane, series, frames, thresholds) for lane in sorted(lanes, key=lambda lane: lane.band)]
    kinds = [(kind, *kind.listed()) for kind in marks if kind.at]
    return {
        "duration_ms": round(duration, 3),
        "frames": frames,
        "times": _times(_thinned_times(times), duration),
        "lanes": [lane for lane in drawn if lane["series"]],
        "marks": [_mark(kind, listed) for kind, listed, _ in kinds],
        "shorter": sum(rest for kind, _, rest in kinds if kind.shape == "span"),
        "left_out": sum(rest for kind, _, rest in kinds if kind.shape != "span"),
    }


def _mark(kind: Marks, listed: Sequence[Sequence[float]]) -> dict[str, object]:
    """A kind of mark; its list only where it differs from what is drawn, for there are thousands on a page."""
    drawn = [list(one) for one in kind.at[:MARKS]]
    return asdict(kind) | {"at": drawn} | ({} if listed == drawn else {"listed": listed})


def stored_series(run: Run, subject_id: str, wanted: Collection[str] | None = None) -> dict[str, Series]:
    """The series of these names (left out: all) that a run kept; {} where there are none or the file is damaged: that
    costs a timeline, no more."""
    target = run.series_file(subject_id)
    try:
        picked = list if wanted is None else lambda names: [name for name in names if name in wanted]
        return {} if target is None else load_npz(target, wanted=picked)[0]
    except FAULTS:
        return {}


def duration_of(times: Series) -> float:
    """From zero to the end of the last frame, which lasts as long as most do."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return float(times[-1]) + max(step, 1.0)


def _lane(lane: Lane, series: Mapping[str, Series], frames: int, thresholds: Sequence[Threshold]) -> dict[str, object]:
    names = {trace.series for trace in lane.traces if trace.series in series}
    lines = [] if lane.band else [line for line in thresholds if line.series in names]
    reach = {name: [line.value for line in lines if line.series == name] for name in names}
    traces = [_trace(trace, series.get(trace.series), frames, reach.get(trace.series, [])) for trace in lane.traces]
    drawn: dict[str, object] = {"label": lane.label, "band": lane.band}
    drawn["series"] = [trace for trace in traces if trace is not None]
    return drawn | ({"lines": [asdict(line) for line in lines]} if lines else {})


def _trace(trace: Trace, values: Series | None, frames: int, reach: Sequence[float]) -> dict[str, object] | None:
    if values is None or values.ndim != 1 or len(values) not in (frames, frames - 1):
        return None
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    shown = [float(finite.min()), float(finite.max()), *reach]
    ends = trace.scale(min(shown), max(shown))
    low, high = round(ends[0], 6), round(max(ends[1], ends[0] + 1e-6), 6)
    points = _coded(_thinned(_aligned(values, frames)), low, high)
    return {"name": trace.series, "word": trace.word, "low": low, "high": high, "points": points}


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


def joined_spans(spans: Sequence[At]) -> list[list[float]]:
    """Neighbours with only a blip between them as one span, from the first one's start to the last one's end.

    Formula     joined where the gap is shorter than 0.2 s and than half of the shorter neighbour, from left to right;
                units add up, so that the blip itself is not counted as part of it
    Edge cases  a film on twos or threes (still and moving steps by turns) is not joined into one still

    >>> joined_spans([(0, 400, 10), (440, 800, 9), (2000, 2400, 10)])
    [[0, 800, 19], [2000, 2400, 10]]
    >>> joined_spans([(0, 80, 2), (120, 200, 2)])
    [[0, 80, 2], [120, 200, 2]]
    """
    joined: list[list[float]] = []
    for start, end, count in spans:
        if joined:
            before = joined[-1]
            gap = start - before[1]
            if gap < SHORTEST_MS and gap < min(before[1] - before[0], end - start) / 2:
                joined[-1] = [before[0], end, before[2] + count]
                continue
        joined.append([start, end, count])
    return joined


def listed_spans(spans: Sequence[At]) -> tuple[list[list[float]], int]:
    """The ten longest of 0.2 s and more, in order of time, and how many shorter ones there are beside them.

    >>> listed_spans([(0, 400, 10), (1000, 1080, 2), (3000, 3040, 1)])
    ([[0, 400, 10]], 2)
    """
    joined = joined_spans(spans)
    long = [span for span in joined if span[1] - span[0] >= SHORTEST_MS]
    chosen = sorted(sorted(long, key=lambda span: span[0] - span[1])[:MOST_SPANS])
    return chosen, len(joined) - len(chosen)


def listed_points(points: Sequence[At]) -> tuple[list[list[float]], int]:
    """The first twenty, and how many more there are."""
    return [list(point) for point in points[:MOST_POINTS]], max(len(points) - MOST_POINTS, 0)
