"""Which readings a gate is about, and the margin of each: asked for by the user, or from the noise of repeats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core import Definition, Measurement
from rushes.errors import InputError
from rushes.paired.margin_definitions import MARGIN, REPEAT_NOISE, bound
from rushes.paired.noise_floor import COVERAGE, NoiseFloor, noise_floor
from rushes.suite.gate_readings import GateReading

Side: TypeAlias = Literal["below", "above", "either"]
"""To which side a change is a loss."""
Margins: TypeAlias = Mapping[str, float | str | None]
"""By metric name or signature: a number in its unit, "2%" of the baseline's mean, or None for the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One reading that is looked at."""

    reading: GateReading
    side: Side
    gated: bool
    """Whether the gate goes by it; else it is told for information."""
    margin: Measurement
    """Without a value where there is none, its note saying why."""
    noise: Measurement
    floor: NoiseFloor | None


def loss_side(definition: Definition) -> Side:
    """Where a loss lies by the metric's direction; either side where it has none.

    >>> from rushes.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> loss_side(FREEZE_FRAME_RATIO)
    'above'
    """
    return {"higher": "below", "lower": "above", "neither": "either"}[definition.better]  # type: ignore[return-value]


def judges_loss(definition: Definition) -> bool:
    """Whether a change to the side of loss is a verdict, not only a change."""
    return definition.verdict(rose=loss_side(definition) == "above") == "worse"


def gate_rules(readings: Sequence[GateReading], margins: Margins, *, factor: float, repeated: bool) -> list[Rule]:
    """The readings that were asked for; where none was, every one whose loss is a verdict, and the rest as information.

    Where a reading is about the whole, those about its parts (one joint) are left out. Raises `InputError` where a
    margin is missing, a metric is unknown, or nothing is left to go by.
    """
    if margins:
        rules = [
            _rule(reading, _checked(name, margin), factor, gated=True)
            for name, margin in margins.items()
            for reading in _named(readings, name)
        ]
        labels = [rule.reading.label for rule in rules]
        if twice := [label for i, label in enumerate(labels) if label in labels[:i]]:
            raise InputError(f"{twice[0]}: named twice; give each metric one margin")
    else:
        rules = [
            _rule(reading, None, factor, gated=judges_loss(reading.definition)) for reading in _whole(list(readings))
        ]
        if not any(rule.gated for rule in rules):
            raise InputError(
                "no number of the baseline says better or worse by itself; name one, with the largest change that you "
                f"would let through: --metric {_example(readings)}"
            )
    lacking = [rule.reading for rule in rules if rule.gated and rule.margin.value is None and rule.reading.pairs]
    if lacking and not repeated:
        names = list(dict.fromkeys(reading.sample.name for reading in lacking))
        raise InputError(
            f"no margin for {', '.join(names)}: how much it moves by itself is not known; give a second run of the "
            f"baseline (--repeat RUN) or the largest change that you would let through (--metric {_example(lacking)})"
        )
    return rules if repeated else [rule for rule in rules if rule.gated]


def _example(readings: Sequence[GateReading]) -> str:
    return f"{readings[0].sample.name if readings else 'psnr'}:MARGIN"


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


def _rule(reading: GateReading, asked: float | str | None, factor: float, *, gated: bool) -> Rule:
    floor = noise_floor(reading.repeats) if reading.repeats else None
    at = {"metric": reading.sample.name} | reading.sample.place
    noise = bound(REPEAT_NOISE, reading.definition)
    count = len(reading.repeats) * reading.runs
    return Rule(
        reading=reading,
        side=loss_side(reading.definition),
        gated=gated,
        margin=_margin(reading, asked, factor, floor, at),
        noise=Measurement.missing(noise, "no repeat has this reading", at=at)
        if floor is None
        else Measurement(definition=noise, value=floor.sd, count=count, at=at),
        floor=floor,
    )


def _margin(
    reading: GateReading, asked: float | str | None, factor: float, floor: NoiseFloor | None, at: Mapping[str, str]
) -> Measurement:
    count = max(1, len(reading.repeats) * reading.runs)
    if isinstance(asked, str):
        definition = bound(MARGIN, reading.definition, rule=f"given-{asked}")
        if not reading.pairs:
            return Measurement.missing(definition, "no clip has a value in both runs", at=at)
        size = abs(math.fsum(float(pair.baseline.value or 0) for pair in reading.pairs)) / len(reading.pairs)
        value = float(asked.removesuffix("%")) / 100 * size
        return Measurement(definition=definition, value=value, count=len(reading.pairs), at=at)
    if asked is not None:
        definition = bound(MARGIN, reading.definition, rule="given")
        return Measurement(definition=definition, value=float(asked), count=1, at=at)
    definition = bound(MARGIN, reading.definition, rule=f"repeatability-limit-{COVERAGE}-x{factor:g}")
    if floor is None:
        return Measurement.missing(definition, "no repeat has this reading", at=at)
    return Measurement(definition=definition, value=factor * floor.repeatability_limit(), count=count, at=at)
