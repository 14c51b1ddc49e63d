"""Two judges on the same perturbed clips: which keeps its answer better, and how sure that is.

Runs are paired by clip, axis values and seed; each judge is held against its own baseline. A run in which either judge
failed is no pair, and the baseline run, which keeps its answer by construction, is none either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.core import Definition, Measurement, Why
from rushes.core.errors import InputError
from rushes.core.estimate import Value
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.robustness.definitions import pools
from rushes.instruments.robustness.effects import moves_alone
from rushes.instruments.robustness.measure import SweepReport
from rushes.instruments.robustness.pooling import SeveralSweeps, drift_of, grid_of, match_of
from rushes.instruments.robustness.seed.scores import RunScore
from rushes.stats.bootstrap import FEWEST_CLIPS, clip_mean
from rushes.stats.sign_flip import mcnemar_p, sign_flip

Pair = tuple[RunScore, RunScore]
_OUTCOMES = {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}
"""By whether the first and the second judge keep their answers."""
_BESIDE = ("justification_drift_difference", "paired_runs first", "paired_runs second", "mcnemar_p", "sign_flip_p")


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
            [pair for pair in pairs if moves_alone(axis, pair[0], home)]
            for pairs, home in zip(clips, homes, strict=True)
        ]
        yield from _compared(along, {"axis": axis}, grid)


def _compared(clips: Sequence[Sequence[Pair]], at: Mapping[str, str], grid: str) -> Iterator[Measurement]:
    used = [pairs for pairs in clips if pairs]
    esi, drift = (
        [_mean(pairs, 0, of_run) - _mean(pairs, 1, of_run) for pairs in used] for of_run in (match_of, drift_of)
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


def _mean(pairs: Sequence[Pair], side: int, of_run: Callable[[RunScore], float]) -> float:
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
