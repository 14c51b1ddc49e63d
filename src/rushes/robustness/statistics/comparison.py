"""Two judges on the same perturbed clips: which keeps its answer better, and how sure that is.

Runs are paired by clip, axis values and seed; each judge is held against its own baseline. A run in which either judge
failed is no pair, and the baseline run, which keeps its answer by construction, is none either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core import Definition, Measurement
from rushes.core.selection import Numbers
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.errors import InputError
from rushes.robustness.measure import SweepReport
from rushes.robustness.pool_definitions import (
    DRIFT_DIFFERENCE,
    ESI_DIFFERENCE,
    FEWEST_CLIPS,
    MCNEMAR_P,
    PAIRED_RUNS,
    SIGN_FLIP_P,
)
from rushes.robustness.scores import RunScore
from rushes.robustness.statistics.clusters import mcnemar_p, mean_interval, sign_flip_p
from rushes.robustness.statistics.pooling import grid_of

Pair = tuple[RunScore, RunScore]
_OUTCOMES = ("both", "first", "second", "neither")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeComparison(Numbers):
    """The first judge against the second, on the runs that both answered."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    """The sweeps of each, in pairs."""
    remarks: tuple[str, ...]
    measurements: tuple[Measurement, ...]

    def table(self) -> Table:
        """A row for all runs and one per axis."""
        return comparison_table(self.measurements)

    def facts(self) -> dict[str, object]:
        return {"first": list(self.first), "second": list(self.second), "remarks": list(self.remarks)}

    def as_dict(self) -> dict[str, object]:
        return {**self.facts(), "measurements": [m.as_dict() for m in self.measurements]}


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
        measurements=tuple(_measured(tuple(axes), clips, homes, grid_of(sweeps[0][0]))),
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
            f"no sweep of {first[0].path} has a namesake in {second[0].path}; sweep the same clips with both judges"
        )
    lost = len(first) + len(second) - 2 * len(pairs)
    return pairs, [f"{lost} sweeps have no namesake on the other side, and are left out"] if lost else []


def _name(report: SweepReport) -> str:
    return str(report.path).rstrip("/").rpartition("/")[2] if not isinstance(report.path, Path) else report.path.name


def _check_clip(one: SweepReport, other: SweepReport) -> None:
    if None not in (one.clip_sha256, other.clip_sha256) and one.clip_sha256 != other.clip_sha256:
        raise InputError(f"{one.path} and {other.path} are sweeps of different clips; both judges must see the same")
    if {axis: list(v) for axis, v in one.axes.items()}.keys() != other.axes.keys():
        raise InputError(f"{one.path} and {other.path} have different axes; both judges must see the same")
    for report in (one, other):
        if not report.scores or report.scores[0].failed:
            raise InputError(f"{report.path}: has no baseline answer to hold its runs against; compare other sweeps")


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


def _measured(
    axes: Sequence[str], clips: Sequence[Sequence[Pair]], homes: Sequence[Mapping[str, str]], grid: str
) -> Iterator[Measurement]:
    yield from _compared(clips, {}, grid)
    for axis in axes if len(axes) > 1 else ():
        along = [
            [pair for pair in pairs if _moves_alone(axis, pair[0], home)]
            for pairs, home in zip(clips, homes, strict=True)
        ]
        yield from _compared(along, {"axis": axis}, grid)


def _moves_alone(axis: str, score: RunScore, home: Mapping[str, str]) -> bool:
    return all(score.values[name] == value for name, value in home.items() if name != axis)


def _compared(clips: Sequence[Sequence[Pair]], at: Mapping[str, str], grid: str) -> Iterator[Measurement]:
    used = [pairs for pairs in clips if pairs]
    esi = [_share(pairs, 0) - _share(pairs, 1) for pairs in used]
    drift = [_drift(pairs, 0) - _drift(pairs, 1) for pairs in used]
    yield _difference(ESI_DIFFERENCE.with_params(grid=grid), esi, at)
    yield _difference(DRIFT_DIFFERENCE.with_params(grid=grid), drift, at)
    outcomes = Counter(_outcome(pair) for pairs in used for pair in pairs)
    counted = sum(outcomes.values())
    for outcome in _OUTCOMES:
        yield Measurement(
            definition=PAIRED_RUNS.with_params(grid=grid),
            value=outcomes[outcome],
            count=counted,
            note="" if counted else "no paired run",
            at={**at, "outcome": outcome},
        )
    yield _p(MCNEMAR_P.with_params(grid=grid), mcnemar_p(outcomes["first"], outcomes["second"]), counted, at)
    yield _p(SIGN_FLIP_P.with_params(grid=grid), sign_flip_p(esi), len(esi), at)


def _share(pairs: Sequence[Pair], side: int) -> float:
    return sum(pair[side].matches for pair in pairs) / len(pairs)


def _drift(pairs: Sequence[Pair], side: int) -> float:
    return sum(pair[side].drift or 0.0 for pair in pairs) / len(pairs)


def _outcome(pair: Pair) -> str:
    return {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}[
        pair[0].matches, pair[1].matches
    ]


def _difference(definition: Definition, values: Sequence[float], at: Mapping[str, str]) -> Measurement:
    if not values:
        return Measurement.missing(definition, "no paired run", at=at)
    interval = mean_interval(values) if any(value != values[0] for value in values) else None
    note = "" if interval else f"fewer than {FEWEST_CLIPS} clips, or no clip differs from another: no interval"
    mean = sum(values) / len(values)
    return Measurement(definition=definition, value=mean, count=len(values), at=at, note=note, interval=interval)


def _p(definition: Definition, value: float | None, count: int, at: Mapping[str, str]) -> Measurement:
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
            Cell(axis),
            number(row.get("esi_difference")),
            interval_cell(row.get("esi_difference")),
            number(row.get("justification_drift_difference")),
            number(row.get("paired_runs first")),
            number(row.get("paired_runs second")),
            number(row.get("mcnemar_p")),
            number(row.get("sign_flip_p")),
        )
        for axis, row in found.items()
    ]
    head = ("ESI difference", "95 %", "drift difference", "first alone holds", "second alone holds", "McNemar p")
    return Table(title=title, header=("axis", *head, "sign-flip p"), rows=rows)
