"""Light and colour that drift, pump or go: light_drift, light_pumping, colour_drift, hue_drift, colour_loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.frames.picture_grid import PictureGrid
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.frames.spans import Span, spanned
from rushes.instruments.clip.metrics.making import from_zero, of_grid, share
from rushes.instruments.clip.metrics.picture.changes import (
    CUT,
    ENOUGH,
    PATH_MS,
    VIVID,
    CommonPath,
    Series,
    common_path,
    correlation,
    correlations,
    smoothed,
)

WINDOW_MS, SMOOTH_MS, PUMP_MS = 5000.0, 500.0, 300.0
SAME_VIEW = 0.5
"""Correlation of the grids at both ends of a drift: a camera that goes elsewhere sees other light."""
FAINT, DIMMED = 3.0, 0.35
"""Chroma levels that there must be to lose, and the share of the light by which a picture may become darker."""
SWINGS = 4
"""Turns up and down that make a pumping: two periods."""

_PATH = (
    f"the path is the sum, step by step ({PATH_MS:g} ms or more), of the median over blocks (16 along the shorter "
    f"side, taken two by two) of their change; it stands still over cuts (grids that correlate below {CUT:g}) and over "
    "fades to or from an empty picture"
)
_VIEW = f"between two frames whose grids correlate with r ≥ {SAME_VIEW:g}"
_levels = partial(
    from_zero,
    better="lower",
    edge_cases="Fewer than four frames: no value. Nothing changes: 0; a grey clip has no drift of colour.",
    reference="beside MetricBundleV1",
    depends_on=("duration", "transfer", "luma"),
)
LIGHT_DRIFT = _levels(
    name="light_drift",
    unit="luma levels",
    summary="How far the light of the whole picture drifts within five seconds, whatever moves in it. Fades to black "
    "do not count; a camera that adapts its exposure does.",
    formula=f"largest (max − min) within 5 s of the light path, averaged over 500 ms, {_VIEW}; {_PATH}",
    params=signature_params(plane="luma", same_view=SAME_VIEW, smooth_ms=SMOOTH_MS, window_ms=WINDOW_MS),
    raised_by=("automatic exposure", "light that really changes"),
    lowered_by=("a shorter clip", "a dark scene"),
)
LIGHT_PUMPING = _levels(
    name="light_pumping",
    unit="luma levels",
    summary="How far the light of the whole picture swings up and down, slower than a flicker: exposure that pumps.",
    formula=f"largest a such that the light path, averaged over 300 ms, swings up and down {SWINGS} times by a or "
    f"more; {_PATH}",
    params=signature_params(plane="luma", range="full", smooth_ms=PUMP_MS, swings=SWINGS),
    raised_by=("candles, fires and other living light", "light that really changes"),
    lowered_by=("a shorter clip, which has less than two periods", "a dark scene"),
)
COLOUR_DRIFT = _levels(
    name="colour_drift",
    unit="chroma levels",
    summary="How far the colour of the whole picture drifts within five seconds: a cast, a turn of all hues, or a loss "
    "or gain of saturation.",
    formula="largest (max − min) within 5 s of the paths of the cast (length of Cb and Cr ranges), of hue and of "
    f"saturation, averaged over 500 ms, full-range levels, {_VIEW}; the hue path adds Im(z′ z̄) / |z| and the "
    f"saturation path |z′| − |z| of blocks with |z| ≥ 4, z = Cb + i Cr, where a fifth of them has that; {_PATH}",
    params=signature_params(plane="chroma", same_view=SAME_VIEW, smooth_ms=SMOOTH_MS, window_ms=WINDOW_MS),
    raised_by=("automatic white balance", "stage light and sunsets"),
    lowered_by=("a shorter clip", "a clip of little colour"),
)
HUE_DRIFT = _levels(
    name="hue_drift",
    unit="°",
    summary="How far all hues of the picture turn within five seconds, whatever their saturation.",
    formula="largest (max − min) within 5 s of the path of hue, averaged over 500 ms, "
    f"{_VIEW}; it adds arg(z′ z̄) in degrees of blocks with |z| ≥ {VIVID:g} before and after, z = Cb + i Cr in "
    f"full-range levels, where a share of {ENOUGH:g} of the blocks has that; {_PATH}",
    params=signature_params(plane="chroma", same_view=SAME_VIEW, smooth_ms=SMOOTH_MS, vivid=VIVID, window_ms=WINDOW_MS),
    raised_by=("stage light that changes its colour", "something coloured that fills the picture little by little"),
    lowered_by=("a shorter clip", "a clip of little colour"),
)
COLOUR_LOSS = share(
    name="colour_loss",
    better="lower",
    summary="How much of its colour the picture loses, or gains, within five seconds while it shows the same.",
    formula="largest 1 − min/max within 5 s of c_t = mean over blocks (16 along the shorter side, taken two by two) of "
    f"√(Cb² + Cr²), full-range levels, where max ≥ {FAINT:g}, {_VIEW}, and their mean luma differs by at most "
    f"{DIMMED:g} of the larger",
    edge_cases="Fewer than four frames: no value. A picture that hardly has colour: 0. A fade to black, and a light "
    "that goes out, take the light as well and do not count.",
    reference="beside MetricBundleV1",
    params=signature_params(dimmed=DIMMED, faint=FAINT, plane="chroma", same_view=SAME_VIEW, window_ms=WINDOW_MS),
    depends_on=("duration", "transfer", "luma"),
    raised_by=("something coloured that leaves a grey scene", "a memory in black and white"),
    lowered_by=("a shorter clip", "a clip of little colour"),
)


def light_drift(path: CommonPath, times_ms: Any) -> Measurement:
    """The farthest drift of light; see `LIGHT_DRIFT`."""
    return _drift(LIGHT_DRIFT, [(path.light,)], path, times_ms)


def colour_drift(path: CommonPath, times_ms: Any) -> Measurement:
    """The farthest drift of colour; see `COLOUR_DRIFT`."""
    return _drift(COLOUR_DRIFT, [(path.blue, path.red), (path.hue,), (path.saturation,)], path, times_ms)


def hue_drift(path: CommonPath, times_ms: Any) -> Measurement:
    """The farthest turn of hues; see `HUE_DRIFT`."""
    return _drift(HUE_DRIFT, [(path.turn,)], path, times_ms)


def colour_loss(path: CommonPath, times_ms: Any) -> Measurement:
    """How much of its colour the picture loses; see `COLOUR_LOSS`."""
    length, _ = _window(path, times_ms)
    light = path.luma.mean(axis=1)
    later = np.concatenate([path.colour[1:], np.full(length - 2, np.nan)])
    lost = _lost(path.colour[:-1], sliding_window_view(later, len(path.frames) - 1))
    most = lost.max(axis=1)
    value, span = 0.0, None
    for lag in (np.argsort(-most, kind="stable") + 1).tolist():
        if most[lag - 1] <= value:
            break
        shares = lost[lag - 1, : len(path.frames) - lag]
        is_view = correlations(path.luma[:-lag], path.luma[lag:]) >= SAME_VIEW
        kept = np.where(is_view & (_lost(light[:-lag], light[lag:]) <= DIMMED), shares, 0.0)
        first = int(np.argmax(kept))
        if kept[first] > value:
            value = float(kept[first])
            span = Span(*(float(times_ms[path.frames[end]]) for end in (first, first + lag)))
    return spanned(COLOUR_LOSS, value, len(path.frames), span)


def _lost(before: Series, after: Series) -> Series:
    """The share by which the smaller of each pair is below the larger; 0 where that is `FAINT`, or one is missing.

    >>> _lost(np.array([8.0, 2.0, 1.0]), np.array([2.0, 8.0, 0.0])).tolist()
    [0.75, 0.75, 0.0]
    """
    larger = np.maximum(before, after)
    return np.where(larger >= FAINT, 1 - np.minimum(before, after) / np.maximum(larger, FAINT), 0.0)


def light_pumping(path: CommonPath, times_ms: Any) -> Measurement:
    """The amplitude of slow swings; see `LIGHT_PUMPING`.

    Found by halving, to a thousandth of a level.
    """
    light = smoothed(path.light, round(PUMP_MS / _step_ms(path, times_ms)))
    low, high = 0.0, float(np.ptp(light)) + 0.001
    while high - low > 0.001:
        middle = (low + high) / 2
        low, high = (middle, high) if swings(light, middle) >= SWINGS else (low, middle)
    return Measurement(definition=LIGHT_PUMPING, value=low, count=len(light))


def swings(path: Series, size: float) -> int:
    """How often a path turns up or down by `size` or more.

    >>> swings(np.array([0.0, 5.0, 1.0, 5.0, 4.0]), 4.0), swings(np.array([0.0, 5.0, 1.0, 5.0, 4.0]), 4.5)
    (3, 1)
    """
    count, direction, low, high = 0, 0, float(path[0]), float(path[0])
    for value in path.tolist():
        low = value if value < low else low  # quicker than min and max, which would be most of the time here
        high = value if value > high else high
        if direction <= 0 and value - low >= size:
            count, direction, high = count + 1, 1, value
        elif direction >= 0 and high - value >= size:
            count, direction, low = count + 1, -1, value
    return count


def _step_ms(path: CommonPath, times_ms: Any) -> float:
    return max(1.0, median(np.diff(np.asarray(times_ms)[path.frames])))


def _window(path: CommonPath, times_ms: Any) -> tuple[int, int]:
    """Frames of the path in `WINDOW_MS`, and in `SMOOTH_MS`."""
    step_ms = _step_ms(path, times_ms)
    return max(2, min(len(path.frames), round(WINDOW_MS / step_ms) + 1)), round(SMOOTH_MS / step_ms)


def _drift(definition: Definition, kinds: list[tuple[Series, ...]], path: CommonPath, times_ms: Any) -> Measurement:
    """The widest window over all kinds of drift, each of one path or more; its span joins the two extremes."""
    length, smooth = _window(path, times_ms)
    value, span = 0.0, None
    for kind in kinds:
        windows = np.stack([sliding_window_view(smoothed(one, smooth), length) for one in kind])
        ranges = windows.max(axis=2) - windows.min(axis=2)
        reach = np.sqrt((ranges**2).sum(axis=0))
        for start in np.argsort(-reach, kind="stable").tolist():
            if reach[start] <= value:
                break
            widest = windows[int(np.argmax(ranges[:, start])), start]
            first, last = sorted(start + int(end) for end in (np.argmin(widest), np.argmax(widest)))
            if correlation(path.luma[first], path.luma[last]) >= SAME_VIEW:
                value = float(reach[start])
                span = Span(*(float(times_ms[path.frames[end]]) for end in (first, last)))
    return spanned(definition, value, len(path.frames), span)


def _of_path(definition: Definition, function: Callable[[CommonPath, Any], Measurement], **shown: Any) -> ClipMetric:
    def measure(grid: PictureGrid, times_ms: list[float]) -> Measurement:
        if len(grid) < 4:
            return Measurement.missing(definition, "needs at least four frames")
        return function(common_path(grid, tuple(times_ms)), times_ms)

    return of_grid(definition, measure, **shown)


LIGHT_DRIFT_METRIC = _of_path(LIGHT_DRIFT, light_drift, too_high="light drifts")
LIGHT_PUMPING_METRIC = _of_path(LIGHT_PUMPING, light_pumping, too_high="exposure pumps")
COLOUR_DRIFT_METRIC = _of_path(COLOUR_DRIFT, colour_drift, too_high="colour drifts")
HUE_DRIFT_METRIC = _of_path(HUE_DRIFT, hue_drift, on_request=True, too_high="hues turn")
COLOUR_LOSS_METRIC = _of_path(COLOUR_LOSS, colour_loss, on_request=True, too_high="colour goes or comes")
