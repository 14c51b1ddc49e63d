"""Which readings a gate is about, and the margin of each: asked for by the user, or from the noise of repeats.

A reading of the baseline is seen beside its values in the candidate and in the repeats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.compare.agreement.credential import shipped_credentials
from rushes.compare.agreement.earned_say import earned_say
from rushes.compare.comparison import number_or_why
from rushes.compare.definitions.comparisons import MARGIN, REPEAT_NOISE, of
from rushes.compare.runs.changes import Changes
from rushes.compare.runs.results import MetricComparison, RunComparison, why_unlike
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.measurement import At
from rushes.core.selection import full_name, reading_names
from rushes.core.words.options import option
from rushes.instruments.clip.metrics import known
from rushes.stats.equivalence import COVERAGE, NoiseFloor, noise_floor
from rushes.stats.rounding import stored_floats
from rushes.storage.columns import ReadingColumn, reading_columns

Side: TypeAlias = Literal["below", "above", "either"]
"""To which side a change is a loss."""
_NO_REPEAT = "no repeat has this metric"
Margins: TypeAlias = Mapping[str, float | str | None]
"""By metric name or signature: a number in its unit, "2%" of the baseline's mean, or None for the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One reading that is looked at."""

    reading: GateReading
    side: Side
    gated: bool
    """Whether the gate goes by it; else it is told for information."""
    judges: bool
    """Whether it judges the picture (`judges_picture`)."""
    margin: Measurement
    """Without a value where there is none, its note saying why."""
    noise: Measurement
    floor: NoiseFloor | None


def loss_side(definition: Definition) -> Side:
    """Where a loss lies by the metric's direction; either side where it has none.

    >>> from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> loss_side(FREEZE_FRAME_RATIO)
    'above'
    """
    return {"higher": "below", "lower": "above", "neither": "either"}[definition.better]  # type: ignore[return-value]


def judges_loss(definition: Definition) -> bool:
    """Whether a change to the side of loss is a verdict, not only a change."""
    return definition.verdict(rose=loss_side(definition) == "above") == "worse"


def questions(definition: Definition, at: At = ()) -> tuple[str, ...]:
    """What people were asked where the metric agreed with them: the questions of its credentials; () without one."""
    return tuple(one.question for one in earned_say(definition, shipped_credentials(), at=at).credentials)


def judges_picture(definition: Definition, at: At = (), *, named: bool = True) -> bool:
    """Whether a metric says that a picture is worse, or worse in what people were asked about.

    Metrics of fidelity, distributions, judges and poses do where their loss is a verdict. A metric of single clips
    (decoding, timing, sharpness, motion) sees whether a clip is whole or has changed, and an upside-down picture is
    whole: it judges only with a credential, about the question that people were asked, and only where it is named.
    """
    if known(definition.name) is None:
        return judges_loss(definition)
    return named and bool(questions(definition, at))


def named_side(definition: Definition) -> Side:
    """Where a change of a metric that is named counts: towards loss, and to either side where a gain is no verdict.

    Blocks of a starved encoder raise sharpness, so a rise of it is a finding and not a gain.

    >>> from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> named_side(FREEZE_FRAME_RATIO)
    'either'
    """
    side = loss_side(definition)
    return side if definition.verdict(rose=side == "below") == "better" else "either"


def gate_rules(readings: Sequence[GateReading], margins: Margins, *, factor: float, repeated: bool) -> list[Rule]:
    """The readings that were asked for; where none was, every one whose loss is a verdict, and the rest as information.

    Where a reading is about the whole, those about its parts (one joint) are left out. Raises `InputError` where a
    margin is missing, a metric is unknown, or nothing is left to go by.
    """
    if margins:
        rules = [
            _rule(reading, _checked(name, margin), factor, gated=True, named=True)
            for name, margin in margins.items()
            for reading in _named(readings, name)
        ]
        labels = [rule.reading.label for rule in rules]
        if twice := [label for i, label in enumerate(labels) if label in labels[:i]]:
            raise InputError(f"{twice[0]}: given twice; give each metric one margin")
    else:
        rules = [
            _rule(reading, None, factor, gated=_is_gated(reading), named=False) for reading in _whole(list(readings))
        ]
        if not any(rule.gated for rule in rules):
            raise InputError(
                "no metric of the baseline has a better direction; name one, with the largest change you "
                f"would accept: {_example(readings)}"
            )
    lacking = [rule.reading for rule in rules if rule.gated and rule.margin.value is None and rule.reading.pairs]
    if lacking and not repeated:
        names = list(dict.fromkeys(reading.sample.name for reading in lacking))
        raise InputError(
            f"no margin for {', '.join(names)}: its noise is not known; give a second run of the "
            f"baseline ({option('--repeat RUN', 'repeats=[…]')}) or the largest change you would accept "
            f"({_example(lacking)})"
        )
    return rules if repeated else [rule for rule in rules if rule.gated]


def _is_gated(reading: GateReading) -> bool:
    return judges_loss(reading.definition) or bool(questions(reading.definition, reading.sample.at))


def _example(readings: Sequence[GateReading]) -> str:
    name = readings[0].sample.name if readings else "psnr"
    return option(f"--metric {name}:MARGIN", f"metrics={{{name!r}: …}}")


def _whole(readings: Sequence[GateReading]) -> list[GateReading]:
    wholes = {reading.sample.signature for reading in readings if not reading.is_part}
    return [reading for reading in readings if not reading.is_part or reading.sample.signature not in wholes]


def _named(readings: Sequence[GateReading], name: str) -> list[GateReading]:
    found = [reading for reading in readings if name in (reading.sample.name, reading.sample.signature)]
    if not found:
        have = ", ".join(dict.fromkeys(reading.sample.name for reading in readings)) or "none"
        raise InputError(f"{name}: the baseline has no value of it; it has {have}")
    return _whole(found)


def _checked(name: str, margin: float | str | None) -> float | str | None:
    """A margin as given, or `InputError`."""
    if margin is None:
        return None
    text = str(margin).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"{name}: expected a margin from 0, in the metric's unit or as 2%; got {text!r}")
    return text if text.endswith("%") else number


def _rule(reading: GateReading, asked: float | str | None, factor: float, *, gated: bool, named: bool) -> Rule:
    floor = noise_floor(reading.repeats) if reading.repeats else None
    count, noise = len(reading.repeats) * reading.runs, of(REPEAT_NOISE, reading.definition)
    return Rule(
        reading=reading,
        side=named_side(reading.definition) if named else loss_side(reading.definition),
        gated=gated,
        judges=judges_picture(reading.definition, reading.sample.at, named=named),
        margin=_margin(reading, asked, factor, floor, count),
        noise=number_or_why(noise, floor.sd if floor else None, count=count, why=_NO_REPEAT, at=reading.at),
        floor=floor,
    )


def _margin(
    reading: GateReading, asked: float | str | None, factor: float, floor: NoiseFloor | None, count: int
) -> Measurement:
    value: float | None
    rule, why = f"repeatability-limit-{COVERAGE}-x{factor:g}", _NO_REPEAT
    if isinstance(asked, str):
        rule, why, count = f"given-{asked}", "no clip has a value in both runs", reading.clips
        size = abs(math.fsum([] if reading.pairs is None else reading.pairs.first.tolist())) / max(1, count)
        value = float(asked.removesuffix("%")) / 100 * size if count else None
    elif asked is not None:
        rule, value, count = "given", float(asked), 1
    else:
        value = factor * floor.repeatability_limit() if floor else None
    definition = of(MARGIN, reading.definition, rule=rule)
    return number_or_why(definition, value, count=max(1, count), why=why, at=reading.at)


_SHOWN = 3
_SIDES = ("the baseline", "the candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReading:
    """One number of the baseline, clip by clip, beside the candidate's and those of the repeats."""

    label: str
    sample: Measurement
    """One of its values: which reading this is, and what it is about."""
    pairs: Changes | None
    """Clips with a value in both that compare; None where the candidate has no such number."""
    unchecked: str
    """Which clips of the baseline were not checked, and why; "" where all were."""
    repeats: tuple[tuple[float, ...], ...]
    """One row per clip: its value in the baseline and in each repeat that has the reading; () where none has."""
    why_not: str = ""
    """Why the candidate has no such number to compare; "" where it has."""

    @property
    def clips(self) -> int:
        """Clips with a value in both that compare."""
        return 0 if self.pairs is None else len(self.pairs)

    @property
    def definition(self) -> Definition:
        return self.sample.definition

    @property
    def at(self) -> dict[str, str]:
        """What the gate's own numbers of it are about."""
        return {"metric": full_name(self.sample.definition)} | self.sample.place

    @property
    def is_part(self) -> bool:
        """About a part (PCK of one joint) of what its definition is about."""
        return bool(set(self.sample.place) - set(self.definition.places))

    @property
    def runs(self) -> int:
        """Runs of the baseline that its noise rests on."""
        return len(self.repeats[0]) if self.repeats else 1

    @property
    def is_flag(self) -> bool:
        return self.pairs is None or self.pairs.is_flag


def gate_readings(found: RunComparison, repeats: Sequence[RunComparison]) -> list[GateReading]:
    """Every reading of the baseline that has a value, in its order; `repeats` are the baseline against its repeats."""
    others = [*found.only_first, *found.doubtful]
    every = reading_columns(found.first, [*found.paired, *others]) if others else found.columns
    whole = [reading for reading in every if reading.has_value]
    compared = {m.key: m for m in (*found.metrics, *found.facts)}
    noise = [{m.key: m for m in (*repeat.metrics, *repeat.facts)} for repeat in repeats]
    return [
        GateReading(
            label=name,
            sample=reading.number(int(np.argmax(reading.valued))),
            pairs=one.changes.whole if one else None,
            unchecked=_unchecked(reading, one) if one else "",
            repeats=_rows(reading, [metrics[reading.same] for metrics in noise if reading.same in metrics]),
            why_not="" if one else _why_not(found, reading.definition.signature),
        )
        for name, reading in zip(reading_names(whole), whole, strict=True)
        for one in (compared.get(reading.same),)
    ]


def _unchecked(reading: ReadingColumn, compared: MetricComparison) -> str:
    """A clip that the candidate has no value for may be the one that broke: it is never left out in silence."""
    unlike, valued = compared.unlike.subjects, np.flatnonzero(reading.valued)
    had = len(valued)
    # Clips that compare and those that are unlike have both values: where that is all of them, none is lost.
    is_whole = had == len(compared.changes.whole) + len(unlike)
    lost = [] if is_whole else compared.lost([reading.subjects[place] for place in valued.tolist()])
    parts = []
    if lost:
        places = {name: place for place, name in enumerate(compared.changes.subjects)}
        first = next((places[clip] for clip in lost if clip in places), None)
        reason = "" if first is None else f"; the first: {compared.changes[first].second.note}"
        names = ", ".join(lost[:_SHOWN]) + (", …" if len(lost) > _SHOWN else "")
        parts.append(f"{_many(lost, had)} without a value in the candidate ({names}{reason})")
    if unlike:
        parts.append(f"{_many(unlike, had)} not comparable ({why_unlike(compared.unlike, _SIDES)})")
    return "; ".join(parts)


def _many(some: Sequence[str], of: int) -> str:
    return f"{len(some)} of {of} clips {'is' if len(some) == 1 else 'are'}"


def _rows(reading: ReadingColumn, repeats: Sequence[MetricComparison]) -> tuple[tuple[float, ...], ...]:
    """Clips that have a comparable value in the baseline and in every repeat that has the reading."""
    if not repeats:
        return ()
    places = {name: place for place, name in enumerate(reading.subjects)}
    columns = [stored_floats(reading.values)]
    for one in repeats:
        column = np.full(len(reading.values), np.nan)
        column[[places[name] for name in one.changes.subjects]] = stored_floats(one.changes.second)
        columns.append(column)
    rows = np.column_stack(columns)
    return tuple(map(tuple, rows[~np.isnan(rows).any(axis=1)].tolist()))


def _why_not(found: RunComparison, signature: str) -> str:
    refusals = (one.why for one in found.refused if signature in (one.first, one.second))
    return next(refusals, "the candidate has no such number")
