"""A per-frame series over time: the mean over a system's clips at each moment, with a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rushes.compare.board.model import System
from rushes.compare.figures.figure import PaperFigure, Value
from rushes.compare.paper.columns import COLUMNS
from rushes.compare.paper.evaluation import Evaluation
from rushes.core.errors import InputError, RunError
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.clip.metrics import METRICS, known
from rushes.instruments.fidelity.metrics import METRICS as PAIR_METRICS
from rushes.present.charts import style
from rushes.present.charts.paper import Look, canvas, fitted_svg, legend_columns, looks
from rushes.present.pages.timeline import stored_series
from rushes.present.tables.fitting import Width
from rushes.stats.means import student_mean

MOMENTS, MOMENTS_OF_ONE = 60, 300
"""Moments of a curve, evenly over the longest clip; of a single clip, whose frames are not averaged, more."""
USUAL = ("psnr", "ssim", "lpips", "luma_diff", "head_speed")
"""Series that are drawn where nobody chose one, the first that is there."""
_TIME = "time_ms"
_HEADER = ("series", "system", "time_s", "mean", "low", "high", "clips")
_FEWEST = 0.5
"""A curve goes on as long as this share of a system's clips does: the mean of the last few is another mean."""


def curves(evaluation: Evaluation, columns: Sequence[str] | None, width: Width, prompts: Sequence[str]) -> PaperFigure:
    """One panel per series; a line per system, its band the 95 % interval of the mean over clips (Student's t).

    A series is asked for by its metric, or by its own name in the run's series/*.npz. With one prompt it is that clip's
    own series, without a band.
    """
    found = {system.name: _clips(system, prompts, evaluation) for system in evaluation.data.systems}
    every = dict.fromkeys(name for clips in found.values() for clip in clips for name in clip if name != _TIME)
    if not every:
        raise InputError(f"{evaluation.source} has no per-frame series for these clips")
    names = [_series(word, list(every)) for word in (columns or [_first(found, list(every))])]
    rows: list[tuple[Value, ...]] = []
    single = len(prompts) == 1
    for name in names:
        for system, clips in found.items():
            having = [clip for clip in clips if name in clip]
            rows += [(name, system, *point) for point in _curve(having, name, MOMENTS_OF_ONE if single else MOMENTS)]
    shown = [name for name in evaluation.data.names if any(row[1] == name for row in rows)]
    what = f"prompt {', '.join(prompts)}" if prompts else "all prompts"
    drawn = "each system's clip" if single else "mean over a system's clips, band: its 95 % interval (student-t)"
    ends = "" if single else "; a line ends where half of the clips have ended"
    return PaperFigure(
        kind="curves",
        caption=f"Per-frame values over time, {what}: {drawn}{ends}.",
        svg=_drawn(names, rows, shown, looks(shown, reference=evaluation.data.reference), width),
        header=_HEADER,
        rows=tuple(rows),
    )


def _first(found: Mapping[str, Sequence[Mapping[str, Any]]], every: Sequence[str]) -> str:
    """What a video paper draws: quality against the reference over time, else change from frame to frame.

    Where none of `USUAL` was kept, the first series with different values: a flag that never goes up is no curve.
    """
    for name in (*(name for name in USUAL if name in every), *every):
        clips = [clip[name][1] for some in found.values() for clip in some if name in clip]
        if any(np.nanmax(values) > np.nanmin(values) for values in clips if np.isfinite(values).any()):
            return name
    return every[0]


def _series(word: str, every: Sequence[str]) -> str:
    """The series behind a name: its own, or that of the metric's lane."""
    if word in every:
        return word
    metric = known(word)
    for trace in metric.lane.traces if metric is not None and metric.lane is not None else ():
        if trace.series in every:
            return trace.series
    hint = did_you_mean(word, every, otherwise="")
    raise InputError(f"no per-frame series is called {word!r}{hint}; the runs have {', '.join(every)}")


def _title(series: str) -> str:
    """What an axis is called: the metric and its unit, "PSNR (dB)"; else the series' own name."""
    usual, unit = COLUMNS.get(series), ""
    if series in PAIR_METRICS:
        unit = PAIR_METRICS[series].definition.unit
    for metric in (known(name) for name in METRICS):
        traces = metric.lane.traces if metric is not None and metric.lane is not None else ()
        if metric is not None and any(trace.series == series and trace.pooled_by for trace in traces):
            unit = metric.definition.unit
    words = usual.title if usual is not None else series.replace("_", " ")
    return f"{words} ({unit})" if unit not in ("", "1", "ratio") else words


def _clips(system: System, prompts: Sequence[str], evaluation: Evaluation) -> list[Mapping[str, Any]]:
    """Series of the system's clips of these prompts, of every run that kept some, joined clip by clip."""
    wanted = {prompt.id for prompt in evaluation.data.prompts}
    if unknown := [name for name in prompts if name not in wanted]:
        raise InputError(f"no prompt is called {unknown[0]!r}{did_you_mean(unknown[0], wanted, otherwise='')}")
    clips: dict[str, dict[str, Any]] = {}
    paths = {clip.path: prompt for (name, prompt), clip in evaluation.data.clips.items() if name == system.name}
    for run in system.runs:
        for subject in run.subjects:
            prompt = paths.get(subject.path)
            if prompt is None or (prompts and prompt not in prompts):
                continue
            try:
                series = stored_series(run, subject.id)
            except RunError:
                continue
            own = clips.setdefault(prompt, {})
            times = np.asarray(series.get(_TIME, ()), float)
            for name, values in series.items():
                if name != _TIME and len(times) and name not in own:
                    own[name] = times[len(times) - len(values) :] if len(values) < len(times) else times, values
    return [clip for clip in clips.values() if clip]


def _curve(clips: Sequence[Mapping[str, Any]], name: str, moments: int) -> list[tuple[Value, ...]]:
    """Time in seconds, mean, both ends of its interval, number of clips, at evenly spaced moments."""
    lines = []
    for clip in clips:
        times, values = (np.asarray(one, float) for one in clip[name])
        have = np.isfinite(values)
        if have.sum() > 1:
            lines.append((times[have], values[have]))
    if not lines:
        return []
    last = max(float(times[-1]) for times, _ in lines)
    points: list[tuple[Value, ...]] = []
    for moment in np.linspace(0, last, moments):
        here = [float(np.interp(moment, times, values)) for times, values in lines if moment <= times[-1] + 1e-6]
        if len(here) < max(_FEWEST * len(lines), 1):
            break
        found = student_mean(here)
        ends = (None, None) if found.interval is None else (found.interval.low, found.interval.high)
        mean = float(found.value or 0)
        points.append(
            (round(moment / 1000, 4), round(mean, 8), *(None if e is None else round(e, 8) for e in ends), len(here))
        )
    return points


def _drawn(
    series: Sequence[str], rows: Sequence[tuple[Value, ...]], names: Sequence[str], found: dict[str, Look], width: Width
) -> str:
    across = 1 if width == "one" else min(len(series), 2)

    def draw(inner: float) -> Any:
        altair = style.load_altair()
        each = max((inner - 50 * (across - 1)) / across, 80)
        charts = [
            _panel(name, [row for row in rows if row[0] == name], names, found, each, legend_columns(names, width))
            for name in series
        ]
        lines = [altair.hconcat(*charts[n : n + across], spacing=12) for n in range(0, len(charts), across)]
        return lines[0] if len(lines) == 1 else altair.vconcat(*lines, spacing=12)

    return fitted_svg(draw, width, first=canvas(width) - 50)


def _panel(
    name: str,
    rows: Sequence[tuple[Value, ...]],
    names: Sequence[str],
    found: dict[str, Look],
    width: float,
    columns: int,
) -> Any:
    altair = style.load_altair()
    keys = ("system", "time", "mean", "low", "high")
    values = [{key: v for key, v in zip(keys, row[1:6], strict=True) if v is not None} for row in rows]
    times = [float(row[2] or 0) for row in rows]
    heights = [float(v) for row in rows for v in row[3:6] if v is not None]
    x = style.number_axis(times, "time (s)", field="time:Q", zero=True, most=6)
    y = style.number_axis(heights, _title(name), field="mean:Q", vertical=True, zero=False, most=5)
    domain, colours = list(names), [found[n].colour for n in names]
    legend = altair.Legend(
        title=None, columns=columns, symbolType="stroke", symbolSize=260, symbolStrokeWidth=2, symbolOpacity=1
    )
    colour = altair.Color("system:N", scale=altair.Scale(domain=domain, range=colours), legend=legend)
    dash = altair.StrokeDash(
        "system:N", scale=altair.Scale(domain=domain, range=[list(found[n].dash) for n in names]), legend=legend
    )
    base = altair.Chart(altair.Data(values=values), width=width, height=min(width * 0.55, 170))
    band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.13)
    line = base.mark_line(strokeWidth=1.7).encode(x=x, y=y, color=colour, strokeDash=dash)
    return altair.layer(band.encode(x=x, y=altair.Y("low:Q"), y2="high:Q", color=colour), line)
