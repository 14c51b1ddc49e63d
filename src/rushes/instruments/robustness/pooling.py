"""Several sweeps together: of one judge over several clips, and of two judges on the same perturbed clips.

Sweeps of the same axes, one per clip, give means over clips with intervals, and stability beyond chance. Of two judges:
which keeps its answer better, and how sure that is. Their runs are paired by clip, axis values and seed; each judge is
held against its own baseline. A run in which either judge failed is no pair, and the baseline run, which keeps its
answer by construction, is none either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from rushes.core import Definition, Estimate, Measurement, Why
from rushes.core.errors import InputError
from rushes.core.estimate import Value
from rushes.core.selection import Numbers
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.robustness.definitions import pools
from rushes.instruments.robustness.definitions.one_sweep import ANSWER_FLIPS, FAILURE_RATE
from rushes.instruments.robustness.definitions.pools import ANSWER_ALPHA, DRIFT_OVER_CLIPS, ESI_OVER_CLIPS
from rushes.instruments.robustness.measure import SweepReport
from rushes.instruments.robustness.measurements import (
    OUTPUT,
    Axes,
    answer_names,
    grid_digest,
    moves_alone,
    one_axis,
    value_label,
)
from rushes.instruments.robustness.seed.encoding import value_order
from rushes.instruments.robustness.seed.metrics import mean_score
from rushes.instruments.robustness.seed.scores import RunScore
from rushes.stats.bootstrap import FEWEST_CLIPS, clip_alpha, clip_mean
from rushes.stats.sign_flip import mcnemar_p, sign_flip

Pair = tuple[RunScore, RunScore]
_OUTCOMES = {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}
"""By whether the first and the second judge keep their answers."""
_BESIDE = ("justification_drift_difference", "paired_runs first", "paired_runs second", "mcnemar_p", "sign_flip_p")


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
        why = (
            "every answer is the same, so a steady judge cannot be distinguished from a constant one"
            if same
            else Why.NEEDS_TWO_CLIPS.text
        )
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


def pool_table(measurements: Sequence[Measurement]) -> Table:
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
    return Table(title="Over clips, each axis by itself", columns=columns, rows=rows)


def flip_table(measurements: Sequence[Measurement]) -> Table:
    """A row per axis and pair of answers, over clips: the answer at baseline, the answer at other values, and runs."""
    flips = [m for m in measurements if m.name == ANSWER_FLIPS.name and "value" not in m.place]
    rows = [(Cell(m.place["axis"]), Cell(m.place["from"]), Cell(m.place["to"]), Cell(str(m.value), m)) for m in flips]
    columns = (*TEXT("axis", "at baseline", "at other values"), *COUNT("runs"))
    return Table(title="What answers turn into", columns=columns, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeComparison(SeveralSweeps):
    """The first judge against the second, on the runs that both answered."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    """The sweeps of each, in pairs."""
    remarks: tuple[str, ...]
    measurements: tuple[Measurement, ...]

    def table(self) -> Table:
        """A row for all runs and one per axis."""
        return comparison_table(self.measurements)


def compare_judges(first: Sequence[SweepReport], second: Sequence[SweepReport]) -> JudgeComparison:
    """Pair the sweeps of two judges by clip and compare how steady the judges are.

    One sweep on either side is a pair; of several, those whose folders have the same name are. `InputError` where there
    is no pair, or where a pair has other clips or no run in common.
    """
    sweeps, remarks = _paired_sweeps(first, second)
    clips: list[list[Pair]] = []
    for one, other in sweeps:
        _check_clip(one, other)
        pairs, lost = _paired_runs(one, other)
        clips.append(pairs)
        remarks += [f"{one.path}: {lost} runs have no partner or no answer on one side, and are left out"] * bool(lost)
    axes, homes = sweeps[0][0].axes, [one.scores[0].values for one, _ in sweeps]
    return JudgeComparison(
        first=tuple(str(one.path) for one, _ in sweeps),
        second=tuple(str(other.path) for _, other in sweeps),
        remarks=tuple(remarks),
        measurements=tuple(_compared_axes(tuple(axes), clips, homes, grid_of(sweeps[0][0]))),
    )


def _paired_sweeps(
    first: Sequence[SweepReport], second: Sequence[SweepReport]
) -> tuple[list[tuple[SweepReport, SweepReport]], list[str]]:
    if len(first) == len(second) == 1:
        return [(first[0], second[0])], []
    others = {_name(report): report for report in second}
    pairs = [(report, others[_name(report)]) for report in first if _name(report) in others]
    if not pairs:
        raise InputError(
            f"no sweep of {first[0].path} has a counterpart in {second[0].path}; sweep the same clips with both judges"
        )
    lost = len(first) + len(second) - 2 * len(pairs)
    return pairs, [f"{lost} sweeps have no counterpart on the other side and are left out"] if lost else []


def _name(report: SweepReport) -> str:
    return str(report.path).rstrip("/").rpartition("/")[2] if not isinstance(report.path, Path) else report.path.name


def _check_clip(one: SweepReport, other: SweepReport) -> None:
    if None not in (one.clip_sha256, other.clip_sha256) and one.clip_sha256 != other.clip_sha256:
        raise InputError(f"{one.path} and {other.path} are sweeps of different clips; both judges must see the same")
    if {axis: list(v) for axis, v in one.axes.items()}.keys() != other.axes.keys():
        raise InputError(f"{one.path} and {other.path} have different axes; both judges must see the same")
    for report in (one, other):
        if not report.scores or report.scores[0].failed:
            raise InputError(f"{report.path}: has no baseline answer to compare its runs with; choose other sweeps")


def _paired_runs(one: SweepReport, other: SweepReport) -> tuple[list[Pair], int]:
    theirs = {_key(score): score for score in other.scores}
    found = [(score, theirs[_key(score)]) for score in one.scores if _key(score) in theirs]
    home = _key(one.scores[0])
    if home != _key(other.scores[0]):
        raise InputError(f"{one.path} and {other.path} have different baselines; declare the same value first in both")
    pairs = [pair for pair in found if not (pair[0].failed or pair[1].failed) and _key(pair[0]) != home]
    return pairs, max(len(one.scores), len(other.scores)) - 1 - len(pairs)


def _key(score: RunScore) -> tuple[object, ...]:
    return (*sorted(score.values.items()), score.seed)


def _compared_axes(
    axes: Sequence[str], clips: Sequence[Sequence[Pair]], homes: Sequence[Mapping[str, str]], grid: str
) -> Iterator[Measurement]:
    yield from _compared(clips, {}, grid)
    for axis in axes if len(axes) > 1 else ():
        along = [
            [pair for pair in pairs if moves_alone(axis, pair[0], home)]
            for pairs, home in zip(clips, homes, strict=True)
        ]
        yield from _compared(along, {"axis": axis}, grid)


def _compared(clips: Sequence[Sequence[Pair]], at: Mapping[str, str], grid: str) -> Iterator[Measurement]:
    used = [pairs for pairs in clips if pairs]
    esi, drift = (
        [_mean_of(pairs, 0, of_run) - _mean_of(pairs, 1, of_run) for pairs in used] for of_run in (match_of, drift_of)
    )
    yield _difference(pools.ESI_DIFFERENCE.with_params(grid=grid), esi, at)
    yield _difference(pools.DRIFT_DIFFERENCE.with_params(grid=grid), drift, at)
    outcomes = Counter(_OUTCOMES[one.matches, other.matches] for pairs in used for one, other in pairs)
    counted = sum(outcomes.values())
    for outcome in _OUTCOMES.values():
        yield Measurement(
            definition=pools.PAIRED_RUNS.with_params(grid=grid),
            value=outcomes[outcome],
            count=counted,
            note="" if counted else "no paired run",
            at={**at, "outcome": outcome},
        )
    yield _p(pools.MCNEMAR_P.with_params(grid=grid), mcnemar_p(outcomes["first"], outcomes["second"]), counted, at)
    p = sign_flip(esi).value if len(esi) > 1 else None
    yield _p(pools.SIGN_FLIP_P.with_params(grid=grid), p, len(esi), at)


def _mean_of(pairs: Sequence[Pair], side: int, of_run: Callable[[RunScore], float]) -> float:
    return sum(of_run(pair[side]) for pair in pairs) / len(pairs)


def _difference(definition: Definition, values: Sequence[float], at: Mapping[str, str]) -> Measurement:
    if not values:
        return Measurement.missing(definition, "no paired run", at=at)
    found = clip_mean(values)
    if all(value == values[0] for value in values):  # nothing varies, and no difference is a share of clips
        found = replace(found, interval=None, why=Why.EQUAL_VALUES)
    few = f"fewer than {FEWEST_CLIPS} clips, or no clip differs from another: no interval"
    return Measurement.of(definition, found, at=at, note="" if found.interval else few)


def _p(definition: Definition, value: Value, count: int, at: Mapping[str, str]) -> Measurement:
    if value is None or not count:
        return Measurement.missing(definition, "needs two clips or more" if count else "no paired run", at=at)
    return Measurement(definition=definition, value=value, count=count, at=at)


def comparison_table(measurements: Sequence[Measurement], *, title: str = "First judge against second") -> Table:
    """A row for all runs and one per axis: the difference, its interval, the discordant runs and both p."""
    found: dict[str, dict[str, Measurement]] = {}
    for m in measurements:
        key = m.name + (" " + m.place["outcome"] if "outcome" in m.place else "")
        found.setdefault(m.place.get("axis", "all runs"), {})[key] = m
    rows = [
        (
            *(Cell(axis), number(row.get("esi_difference")), interval_cell(row.get("esi_difference"))),
            *(number(row.get(name)) for name in _BESIDE),
        )
        for axis, row in found.items()
    ]
    columns = (
        *(*TEXT("axis"), *NUMBER("ESI difference"), *INTERVAL("95 %"), *NUMBER("drift difference")),
        *(*COUNT("first alone holds", "second alone holds"), *NUMBER("McNemar p", "sign-flip p")),
    )
    return Table(title=title, columns=columns, rows=rows)
