"""Every two systems on a reading that has one number per system (FVD, Elo, ESI): what its runs let be said.

Two such numbers share no prompts to pair, and two intervals that overlap, or do not, are poor evidence. So a difference
that a run drew an interval of comes first (`rushes fvd A REAL --versus B`). Only where there is none are the two
intervals held against each other, and then with their errors summed. Without intervals nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

from rushes.compare.board.model import BoardData, Contrast, Reading
from rushes.compare.board.pairs import place
from rushes.compare.comparison import WhyNot
from rushes.compare.definitions.comparisons import INTERVAL_P, NUMBER_DIFFERENCE, of
from rushes.compare.runs.set_distances import other_truth
from rushes.core import Definition, Measurement
from rushes.core.definition import describe_difference
from rushes.core.words.number_text import number_text
from rushes.instruments.distribution.few_videos import GEN_ID, clips_of, few_videos_text, why_no_verdict
from rushes.instruments.distribution.instrument import INSTRUMENT as DISTRIBUTION
from rushes.instruments.distribution.show.tables import is_difference, verdict_of
from rushes.stats.intervals import normal_quantile
from rushes.storage.runs import Run

Said: TypeAlias = tuple[WhyNot, str]
"""Why two numbers give no verdict, and in words."""
_OF_PAIR = {"n_gen", "n_versus", "cut", "bias"}
"""Parameters of a difference that are the two sets' own."""
_SUMMED = "no interval of the difference: the two values' own intervals are compared, errors summed"


def number_contrasts(data: BoardData, reading: Reading) -> list[Contrast]:
    """Every pair of systems, in the board's order."""
    return [_contrast(data, reading, first, second) for first, second in combinations(data.names, 2)]


def _contrast(data: BoardData, reading: Reading, first: str, second: str) -> Contrast:
    metric, names = reading.definition, (first, second)
    at = place(reading, first, second)
    one, other = (data.whole.get((name, reading.key)) for name in names)
    drawn = _drawn_difference(data, metric, first, second)
    why = _why_not(data, reading, (first, one), (second, other))
    if drawn is not None and why is None:
        if why_no_verdict(drawn):
            why = WhyNot.TOO_FEW, verdict_of(drawn)
        else:
            p = _interval_p(metric, "difference", float(drawn.value or 0), _error(drawn), drawn.count, at)
            return Contrast.draft(reading, names, replace(drawn, note=_how_made(drawn, one, other)), p)
    definition = of(NUMBER_DIFFERENCE, metric, systems=True)
    test = of(INTERVAL_P, metric, evidence="two-intervals")
    if one is None or other is None or one.value is None or other.value is None or _apart(one, other):
        reason, said = why or (WhyNot.NOTHING_SHARED, "")
        missing, no_p = (Measurement.missing(number, said, at=at) for number in (definition, test))
        return Contrast.draft(reading, names, missing, no_p, why=reason)
    moved, count = float(other.value) - float(one.value), min(one.count, other.count)
    both = (first, one), (second, other)
    why = why or _few_clips(data, reading, *both) or _without_interval(reading, *both)
    note = why[1] if why else _SUMMED
    difference = Measurement(definition=definition, value=moved, count=count, note=note, at=at)
    if why:
        return Contrast.draft(reading, names, difference, Measurement.missing(test, note, at=at), why=why[0])
    summed = _error(one, towards=float(other.value)) + _error(other, towards=float(one.value))
    return Contrast.draft(reading, names, difference, _interval_p(metric, "two-intervals", moved, summed, count, at))


def _how_made(drawn: Measurement, one: Measurement | None, other: Measurement | None) -> str:
    """The difference's own note, and where the two values lie otherwise, why."""
    if one is None or other is None or drawn.definition.param("bias") in (None, "none"):
        return drawn.note
    values = number_text(float(other.value or 0) - float(one.value or 0))
    clause = f"the bias of small sets is removed from this difference; the two values differ by {values}"
    return "; ".join(filter(None, (clause, drawn.note)))


def _apart(one: Measurement, other: Measurement) -> bool:
    return one.signature != other.signature


def _why_not(
    data: BoardData, reading: Reading, first: tuple[str, Measurement | None], second: tuple[str, Measurement | None]
) -> Said | None:
    """Why no difference of the two may be formed at all; None where one may."""
    for name, m in (first, second):
        if m is None or m.value is None:
            return WhyNot.NOTHING_SHARED, f"{name} has no value" + (f": {m.note}" if m is not None else "")
    one, other = first[1], second[1]
    if one is not None and other is not None and _apart(one, other):
        return WhyNot.MEASURED_DIFFERENTLY, describe_difference(one.signature, other.signature)
    runs = [_run_of(data, reading, name) for name, _ in (first, second)]
    said = other_truth(runs[0], runs[1]) if runs[0] is not None and runs[1] is not None else ""
    return (WhyNot.MEASURED_DIFFERENTLY, said) if said else None


def _runs(data: BoardData, *names: str) -> Iterator[Run]:
    return (run for system in data.systems if system.name in names for run in system.runs)


def _run_of(data: BoardData, reading: Reading, name: str) -> Run | None:
    """The run of distances that a system's number is from."""
    signature = reading.definition.signature
    runs = (run for run in _runs(data, name) if run.instrument == DISTRIBUTION.name)
    return next((run for run in runs if any(m.signature == signature for m in run.measurements.get(GEN_ID, ()))), None)


def _few_clips(data: BoardData, reading: Reading, *numbers: tuple[str, Measurement]) -> Said | None:
    """A Fréchet distance of no more videos than features says how varied a set is, not how close."""
    for name, m in numbers:
        run = _run_of(data, reading, name)
        clips = [] if run is None else clips_of(run)
        if why_no_verdict(m, clips):
            return WhyNot.TOO_FEW, few_videos_text(m.definition, clips)
    return None


def _without_interval(reading: Reading, *numbers: tuple[str, Measurement]) -> Said | None:
    advice = ""
    if reading.instrument == DISTRIBUTION.name:
        advice = f"; ask the sets: rushes fvd {numbers[0][0]} REAL --versus {numbers[1][0]}"
    for name, m in numbers:
        if m.interval is None or m.interval.low == m.interval.high:
            said = f"the value of {name} has no interval, so no difference can be tested{advice}"
            return WhyNot.NO_INTERVAL, said
    return None


def _drawn_difference(data: BoardData, metric: Definition, first: str, second: str) -> Measurement | None:
    """The difference of the two that one of their runs has, second − first; None where none has it."""
    settings = {key: value for key, value in metric.params if key not in _OF_PAIR}
    for m in (m for run in _runs(data, first, second) for m in run.measurements.get(GEN_ID, ()) if is_difference(m)):
        is_pair = {m.place["first"], m.place["versus"]} == {first, second}
        is_alike = m.name == f"{metric.name}_difference" and settings.items() <= dict(m.definition.params).items()
        if is_pair and is_alike and m.value is not None and m.interval is not None:
            return m if m.place["first"] == second else _turned(m)
    return None


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
    return max(facing, (interval.high - interval.low) / 2) / normal_quantile((1 + interval.level) / 2)


def _interval_p(
    metric: Definition, evidence: str, moved: float, error: float, count: int, at: Mapping[str, str]
) -> Measurement:
    definition = of(INTERVAL_P, metric, evidence=evidence)
    p = math.erfc(abs(moved) / error / math.sqrt(2)) if error > 0 else 1.0
    return Measurement(
        definition=definition, value=p, count=count, note="" if count else "the run does not say of how many", at=at
    )
