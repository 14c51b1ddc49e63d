"""Several sweeps of the same axes, one per clip: means over clips with intervals, and stability beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rushes.core import Definition, Measurement
from rushes.core.selection import Numbers
from rushes.core.table import ARROWS, Cell, Table, interval_cell, number
from rushes.robustness.agreement import nominal_alpha
from rushes.robustness.definitions import FAILURE_RATE
from rushes.robustness.effect_definitions import ANSWER_FLIPS
from rushes.robustness.effects import answer_names, one_axis
from rushes.robustness.encoding import value_order
from rushes.robustness.measure import SweepReport
from rushes.robustness.measurements import OUTPUT, Axes, grid_digest, value_label
from rushes.robustness.metrics import mean_score
from rushes.robustness.pool_definitions import ANSWER_ALPHA, DRIFT_OVER_CLIPS, ESI_OVER_CLIPS, FEWEST_CLIPS
from rushes.robustness.scores import RunScore
from rushes.robustness.statistics.clusters import alpha_interval, mean_interval

_FEW = f"fewer than {FEWEST_CLIPS} clips: no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledReport(Numbers):
    """What several sweeps of the same axes say together; a clip is the unit."""

    sweeps: tuple[str, ...]
    """The sweeps that are in it."""
    remarks: tuple[str, ...]
    """Those that are not, and why."""
    measurements: tuple[Measurement, ...]

    def table(self) -> Table:
        """A row per axis and per value of it, with intervals over clips."""
        return pool_table(self.measurements)

    def facts(self) -> dict[str, object]:
        return {"sweeps": list(self.sweeps), "remarks": list(self.remarks)}

    def as_dict(self) -> dict[str, object]:
        return {**self.facts(), "measurements": [m.as_dict() for m in self.measurements]}


def pool_sweeps(reports: Sequence[SweepReport]) -> PooledReport | None:
    """The sweeps with the axes, values and seeds of the first, pooled over clips; None where fewer than two can be.

    A sweep with other axes, and one whose baseline failed, is left out and named in the remarks.
    """
    known = [report for report in reports if report.scores]
    if not known:
        return None
    kept, remarks = [], []
    for report in known:
        if _layout(report) != _layout(known[0]):
            remarks.append(f"{report.path} has other axes, values or seeds than {known[0].path}, and is not pooled")
        elif report.scores[0].failed:
            remarks.append(f"{report.path}: the judge failed in the baseline run, so it is not pooled")
        else:
            kept.append(report)
    if len(kept) < 2:
        return None
    return PooledReport(
        sweeps=tuple(str(report.path) for report in kept),
        remarks=tuple(remarks),
        measurements=tuple(_measured(kept[0].axes, [report.scores for report in kept], grid_of(kept[0]))),
    )


def _layout(report: SweepReport) -> object:
    return {axis: list(values) for axis, values in report.axes.items()}, report.seeds


def grid_of(report: SweepReport) -> str:
    """A short digest of the axes, values, seeds and design that sweeps share."""
    values = (f"{axis}={','.join(of_axis)}" for axis, of_axis in report.axes.items())
    return grid_digest([report.design, *values, *(f"seed={seed}" for seed in report.seeds)])


def _measured(axes: Axes, clips: Sequence[Sequence[RunScore]], grid: str) -> Iterator[Measurement]:
    every = [score for scores in clips for score in scores]
    failed = mean_score([float(score.failed) for score in every])
    yield Measurement(definition=FAILURE_RATE.with_params(grid=grid), value=failed, count=len(every))
    for axis in axes:
        along = [[score for score in one_axis(axis, scores) if not score.failed] for scores in clips]
        yield from _stability(axis, axes, along, grid)
        yield alpha_measurement(axis, [[score.answer for score in scores] for scores in along], grid=grid)
        yield from _flips(axis, along, grid)


def _stability(axis: str, axes: Axes, along: Sequence[Sequence[RunScore]], grid: str) -> Iterator[Measurement]:
    definitions = (ESI_OVER_CLIPS.with_params(answer=OUTPUT, grid=grid), DRIFT_OVER_CLIPS.with_params(grid=grid))
    for definition, of_run in zip(definitions, (_match, _drift), strict=True):
        by_clip = [_by_value(axis, scores, of_run) for scores in along]
        overall = [sum(values.values()) / len(values) for values in by_clip if values]
        yield _mean(definition, overall, {"axis": axis}, len(along))
        for value in value_order(axes[axis]):
            found = [values[value] for values in by_clip if value in values]
            yield _mean(definition, found, {"axis": axis, "value": value_label(axes, axis, value)}, len(along))


def _match(score: RunScore) -> float:
    return float(score.matches)


def _drift(score: RunScore) -> float:
    return score.drift or 0.0


def _by_value(axis: str, scores: Sequence[RunScore], of_run: Callable[[RunScore], float]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for score in scores:
        groups.setdefault(score.values[axis], []).append(of_run(score))
    return {value: sum(found) / len(found) for value, found in groups.items()}


def _mean(definition: Definition, values: Sequence[float], at: dict[str, str], clips: int) -> Measurement:
    if not values:
        return Measurement.missing(definition, "no clip has an answer here", at=at)
    silent = f"{clips - len(values)} of {clips} clips have no answer here" if len(values) < clips else ""
    interval = mean_interval(values)
    note = "; ".join(part for part in (silent, "" if interval else _FEW) if part)
    value = sum(values) / len(values)
    return Measurement(definition=definition, value=value, count=len(values), at=at, note=note, interval=interval)


def alpha_measurement(axis: str, units: Sequence[Sequence[str | None]], *, grid: str) -> Measurement:
    """Krippendorff's α over clips, whose values are the answers along the axis."""
    definition, at = ANSWER_ALPHA.with_params(grid=grid), {"axis": axis}
    usable = [unit for unit in units if len(unit) > 1]
    value = nominal_alpha(usable)
    if value is None:
        alike = len({answer for unit in usable for answer in unit}) == 1
        why = "every answer is the same, so nothing tells steadiness from habit" if alike else "needs two clips or more"
        return Measurement.missing(definition, why, count=len(usable), at=at)
    interval = alpha_interval(usable)
    note = (
        "" if interval else _FEW if len(usable) < FEWEST_CLIPS else "too few draws of clips have a value: no interval"
    )
    return Measurement(definition=definition, value=value, count=len(usable), at=at, note=note, interval=interval)


def _flips(axis: str, along: Sequence[Sequence[RunScore]], grid: str) -> Iterator[Measurement]:
    name = answer_names(score for scores in along for score in scores)
    pairs = Counter(
        (name(scores[0].answer), name(score.answer))
        for scores in along
        for score in scores
        if score.values[axis] != scores[0].values[axis]
    )
    for (before, after), count in sorted(pairs.items()):
        at = {"axis": axis, "from": before, "to": after}
        yield Measurement(definition=ANSWER_FLIPS.with_params(grid=grid), value=count, count=count, at=at)


def pool_table(measurements: Sequence[Measurement], *, title: str = "Over clips, each axis by itself") -> Table:
    """A row per axis and value: ESI and drift with their intervals, and α of the axis."""
    esi = [m for m in measurements if m.name == ESI_OVER_CLIPS.name]
    drift = {m.at: m for m in measurements if m.name == DRIFT_OVER_CLIPS.name}
    alpha = {m.at: m for m in measurements if m.name == ANSWER_ALPHA.name}
    rows = [
        (
            Cell(m.place["axis"]),
            Cell(m.place.get("value", "all values")),
            number(m),
            interval_cell(m),
            number(drift.get(m.at)),
            interval_cell(drift.get(m.at)),
            number(alpha.get(m.at)) if "value" not in m.place else Cell(""),
            Cell(str(m.count)),
        )
        for m in esi
    ]
    head = (f"ESI {ARROWS['higher']}", "95 %", f"drift {ARROWS['lower']}", "95 %", f"α {ARROWS['higher']}", "clips")
    return Table(title=title, header=("axis", "value", *head), rows=rows)


def flip_table(measurements: Sequence[Measurement], *, title: str = "What answers turn into") -> Table:
    """A row per axis and pair of answers, over clips: the answer at baseline, the answer at other values, and runs."""
    flips = [m for m in measurements if m.name == ANSWER_FLIPS.name and "value" not in m.place]
    rows = [(Cell(m.place["axis"]), Cell(m.place["from"]), Cell(m.place["to"]), Cell(str(m.value), m)) for m in flips]
    return Table(title=title, header=("axis", "at baseline", "at other values", "runs"), rows=rows)
