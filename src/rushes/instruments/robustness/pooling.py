"""Several sweeps of the same axes, one per clip: means over clips with intervals, and stability beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

from rushes.core import Definition, Estimate, Measurement, Why
from rushes.core.selection import Numbers
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.robustness.definitions.one_sweep import ANSWER_FLIPS, FAILURE_RATE
from rushes.instruments.robustness.definitions.pools import ANSWER_ALPHA, DRIFT_OVER_CLIPS, ESI_OVER_CLIPS
from rushes.instruments.robustness.effects import answer_names, one_axis
from rushes.instruments.robustness.measure import SweepReport
from rushes.instruments.robustness.measurements import OUTPUT, Axes, grid_digest, value_label
from rushes.instruments.robustness.seed.encoding import value_order
from rushes.instruments.robustness.seed.metrics import mean_score
from rushes.instruments.robustness.seed.scores import RunScore
from rushes.stats.bootstrap import clip_alpha, clip_mean


class SeveralSweeps(Numbers):
    """What sweeps say together: a data class of names, remarks and measurements."""

    __slots__ = ()

    def facts(self) -> dict[str, object]:
        """What the subject's line in a run directory says beside the numbers."""
        names = [field.name for field in fields(self) if field.name != "measurements"]  # type: ignore[arg-type]
        return {name: list(getattr(self, name)) for name in names}

    def as_dict(self) -> dict[str, object]:
        return {**self.facts(), "measurements": [m.as_dict() for m in self.measurements]}


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledReport(SeveralSweeps):
    """What several sweeps of the same axes say together; a clip is the unit."""

    sweeps: tuple[str, ...]
    """The sweeps that are in it."""
    remarks: tuple[str, ...]
    """Those that are not, and why."""
    measurements: tuple[Measurement, ...]

    def table(self) -> Table:
        """A row per axis and per value of it, with intervals over clips."""
        return pool_table(self.measurements)


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
    for definition, of_run in zip(definitions, (match_of, drift_of), strict=True):
        by_clip = [_by_value(axis, scores, of_run) for scores in along]
        overall = [sum(values.values()) / len(values) for values in by_clip if values]
        yield _mean(definition, overall, {"axis": axis}, len(along))
        for value in value_order(axes[axis]):
            found = [values[value] for values in by_clip if value in values]
            yield _mean(definition, found, {"axis": axis, "value": value_label(axes, axis, value)}, len(along))


def match_of(score: RunScore) -> float:
    """1 where the run answers as the baseline does, else 0."""
    return float(score.matches)


def drift_of(score: RunScore) -> float:
    """How far its reasons moved; 0 where the source keeps none."""
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
    found = clip_mean(values)
    return Measurement.of(definition, found, at=at, note="; ".join(filter(None, (silent, _no_interval(found)))))


def _no_interval(found: Estimate) -> str:
    return "" if found.interval or found.why is None else f"{found.why.text}: no interval"


def alpha_measurement(axis: str, units: Sequence[Sequence[str | None]], *, grid: str) -> Measurement:
    """Krippendorff's α over clips, whose values are the answers along the axis."""
    definition, at = ANSWER_ALPHA.with_params(grid=grid), {"axis": axis}
    usable = [unit for unit in units if len(unit) > 1]
    found = clip_alpha(usable)
    if found.value is None:
        same = len({answer for unit in usable for answer in unit}) == 1
        why = "every answer is the same, so nothing tells steadiness from habit" if same else Why.NEEDS_TWO_CLIPS.text
        return Measurement.missing(definition, why, count=len(usable), at=at)
    return Measurement.of(definition, found, at=at, note=_no_interval(found))


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
    columns = (
        *(*TEXT("axis", "value"), *NUMBER("ESI ↑"), *INTERVAL("95 %"), *NUMBER("drift ↓"), *INTERVAL("95 %")),
        *(*NUMBER("α ↑"), *COUNT("clips")),
    )
    return Table(title=title, columns=columns, rows=rows)


def flip_table(measurements: Sequence[Measurement], *, title: str = "What answers turn into") -> Table:
    """A row per axis and pair of answers, over clips: the answer at baseline, the answer at other values, and runs."""
    flips = [m for m in measurements if m.name == ANSWER_FLIPS.name and "value" not in m.place]
    rows = [(Cell(m.place["axis"]), Cell(m.place["from"]), Cell(m.place["to"]), Cell(str(m.value), m)) for m in flips]
    return Table(title=title, columns=(*TEXT("axis", "at baseline", "at other values"), *COUNT("runs")), rows=rows)
