"""Every two systems on a reading that has one number per system (FVD, Elo, ESI): what its runs let be said.

Two such numbers share no prompts to pair, and two intervals that overlap, or do not, are poor evidence. So a difference
that a run drew an interval of comes first (`rushes fvd A REAL --versus B`). Only where there is none are the two
intervals held against each other, and then with their errors summed. Without intervals nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from rushes.core import Definition, Interval, Measurement
from rushes.core.definition import describe_difference
from rushes.distribution.detail_tables import is_difference, verdict_of
from rushes.distribution.evaluate import GEN_ID
from rushes.distribution.instrument import INSTRUMENT as DISTRIBUTION
from rushes.paired.contrasts import place
from rushes.paired.definitions import INTERVAL_P, NUMBER_DIFFERENCE, of
from rushes.runs import Run
from rushes.suite.board_data import BoardData, Reading
from rushes.suite.board_pairs import RawContrast
from rushes.suite.set_distances import other_truth

_NO_VERDICT = "no verdict"
_OF_PAIR = {"n_gen", "n_versus", "cut", "bias"}
"""Parameters of a difference that are the two sets' own."""
_SUMMED = "no interval of the difference: held against each other are the two numbers' own intervals, errors summed"


def number_contrasts(data: BoardData, reading: Reading) -> list[RawContrast]:
    """Every pair of systems, in the board's order."""
    return [_contrast(data, reading, first, second) for first, second in combinations(data.names, 2)]


def _contrast(data: BoardData, reading: Reading, first: str, second: str) -> RawContrast:
    metric = reading.definition
    at = place(metric, first, second, reading.at)
    one, other = (data.whole.get((name, reading.key)) for name in (first, second))
    drawn = _drawn_difference(data, metric, first, second)
    why = _why_not(data, reading, (first, one), (second, other))
    if drawn is not None and not why:
        if verdict_of(drawn).startswith(_NO_VERDICT):
            why = verdict_of(drawn)
        else:
            p = _interval_p(metric, "difference", float(drawn.value or 0), _error(drawn), drawn.count, at)
            return RawContrast(first=first, second=second, difference=drawn, p=p)
    definition = of(NUMBER_DIFFERENCE, metric)
    test = of(INTERVAL_P, metric).with_params(evidence="two-intervals")
    if one is None or other is None or one.value is None or other.value is None or _apart(one, other):
        missing = Measurement.missing(definition, why, at=at)
        return RawContrast(first=first, second=second, difference=missing, p=Measurement.missing(test, why, at=at))
    moved, count = float(one.value) - float(other.value), min(one.count, other.count)
    why = why or _few_clips(metric) or _without_interval(reading, (first, one), (second, other))
    difference = Measurement(definition=definition, value=moved, count=count, note=why or _SUMMED, at=at)
    if why:
        return RawContrast(first=first, second=second, difference=difference, p=Measurement.missing(test, why, at=at))
    summed = _error(one, towards=float(other.value)) + _error(other, towards=float(one.value))
    p = _interval_p(metric, "two-intervals", moved, summed, count, at)
    return RawContrast(first=first, second=second, difference=difference, p=p)


def _apart(one: Measurement, other: Measurement) -> bool:
    return one.signature != other.signature


def _why_not(
    data: BoardData, reading: Reading, first: tuple[str, Measurement | None], second: tuple[str, Measurement | None]
) -> str:
    """Why no difference of the two may be formed at all; "" where one may."""
    for name, m in (first, second):
        if m is None or m.value is None:
            return f"{name} has no value: {m.note}" if m is not None else f"{name} has no value"
    one, other = first[1], second[1]
    if one is not None and other is not None and _apart(one, other):
        return describe_difference(one.signature, other.signature)
    runs = [_run_of(data, reading, name) for name, _ in (first, second)]
    return other_truth(runs[0], runs[1]) if runs[0] is not None and runs[1] is not None else ""


def _run_of(data: BoardData, reading: Reading, name: str) -> Run | None:
    """The run of distances that a system's number is from."""
    signature = reading.definition.signature
    runs = (run for system in data.systems if system.name == name for run in system.runs)
    return next(
        (
            run
            for run in runs
            if run.instrument == DISTRIBUTION.name
            and any(m.signature == signature for m in run.measurements.get(GEN_ID, ()))
        ),
        None,
    )


def _few_clips(metric: Definition) -> str:
    """A Fréchet distance of no more clips than features says how varied a set is, not how close."""
    d, sizes = metric.param("d"), [metric.param(key) for key in ("n_gen", "n_gt")]
    if metric.param("covariance") is None or d is None or None in sizes:
        return ""
    fewest = min(int(str(size)) for size in sizes)
    if fewest > int(d):
        return ""
    return f"{_NO_VERDICT} with {fewest} for D = {d}: a set with too little variety looks closer than it is; use kvd"


def _without_interval(reading: Reading, *numbers: tuple[str, Measurement]) -> str:
    advice = ""
    if reading.instrument == DISTRIBUTION.name:
        advice = f"; ask the sets: rushes fvd {numbers[0][0]} REAL --versus {numbers[1][0]}"
    for name, m in numbers:
        if m.interval is None or m.interval.low == m.interval.high:
            return f"the number of {name} has no interval, so chance cannot be told from difference{advice}"
    return ""


def _drawn_difference(data: BoardData, metric: Definition, first: str, second: str) -> Measurement | None:
    """The difference of the two that one of their runs has, first − second; None where none has it."""
    settings = {key: value for key, value in metric.params if key not in _OF_PAIR}
    for m in _differences(data, first, second):
        if m.name == f"{metric.name}_difference" and settings.items() <= dict(m.definition.params).items():
            if m.value is None or m.interval is None:
                continue
            return m if m.place["first"] == first else _turned(m)
    return None


def _differences(data: BoardData, first: str, second: str) -> Iterator[Measurement]:
    for system in data.systems:
        if system.name not in (first, second):
            continue
        for run in system.runs:
            for m in run.measurements.get(GEN_ID, ()):
                if is_difference(m) and {m.place["first"], m.place["versus"]} == {first, second}:
                    yield m


def _turned(m: Measurement) -> Measurement:
    """The same difference, the other way round."""
    assert m.value is not None and m.interval is not None
    sizes = {key: m.definition.param(key) for key in ("n_gen", "n_versus")}
    definition = m.definition.with_params(n_gen=str(sizes["n_versus"]), n_versus=str(sizes["n_gen"]))
    about = dict(m.at) | {"first": m.place["versus"], "versus": m.place["first"]}
    interval = replace(m.interval, low=-m.interval.high, high=-m.interval.low)
    return replace(m, definition=definition, value=-float(m.value), interval=interval, at=tuple(about.items()))


def _error(m: Measurement, *, towards: float = 0.0) -> float:
    """Standard error on the side of `towards`, by the interval's own level; half its width where that is more."""
    interval, value = m.interval, float(m.value or 0)
    assert interval is not None
    facing = value - interval.low if towards < value else interval.high - value
    return max(facing, (interval.high - interval.low) / 2) / _quantile(interval)


def _quantile(interval: Interval) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + interval.level) / 2))


def _interval_p(
    metric: Definition, evidence: str, moved: float, error: float, count: int, at: tuple[tuple[str, str], ...]
) -> Measurement:
    definition = of(INTERVAL_P, metric).with_params(evidence=evidence)
    p = math.erfc(abs(moved) / error / math.sqrt(2)) if error > 0 else 1.0
    return Measurement(
        definition=definition, value=p, count=count, note="" if count else "the run does not say of how many", at=at
    )
