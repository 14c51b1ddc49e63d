"""An overall score, only where its weights are declared, and then under a definition that names them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from rushes.compare.board.model import BoardData, Reading
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.words.suggest import did_you_mean
from rushes.stats.means import mean_over_clips

OVERALL = Definition(
    name="overall_score",
    unit="1",
    lowest=None,
    highest=None,
    better="higher",
    summary="A weighted sum of metrics of one clip, with weights that the user declared.",
    formula="Σ weight · value over the metrics where higher is better − Σ weight · value where lower is better; a "
    "weight is per unit of its metric",
    edge_cases="A prompt without one of the values has no score.",
    reference="rushes board",
    open_params=("weights",),
)
DEFINITIONS = (OVERALL,)


def with_overall(data: BoardData, weights: Mapping[str, float]) -> BoardData:
    """The board with one more reading, its first: the weighted sum that these weights declare.

    `weights` are by label, metric name or key of a reading, each above 0: direction is the reading's own. Whatever
    moves a weighted reading without a gain moves the sum too, and stays part of its definition. Raises `InputError`
    for a name that is no reading or several, a reading without a direction or without a value per prompt, and a weight
    that is not above 0.
    """
    terms = [(_found(data, name), _checked(name, weight)) for name, weight in weights.items()]
    definition = _definition(terms)
    label = "Overall (" + " + ".join(f"{weight:g} × {reading.label}" for reading, weight in terms) + ")"
    overall = Reading(definition=definition, label=label, instrument="overall", per_prompt=True)
    values = {(name, overall.key): _values(data, name, terms, definition) for name in data.names}
    shared = [
        prompt.id
        for prompt in data.prompts
        if all(values[name, overall.key][prompt.id].value is not None for name in data.names)
    ]
    whole = {key: _mean(definition, found, shared) for key, found in values.items()}
    return replace(
        data,
        readings=(overall, *data.readings),
        values={**values, **data.values},
        whole={**whole, **data.whole},
    )


def _found(data: BoardData, name: str) -> Reading:
    found = [r for r in data.readings if name in (r.key, r.label, r.definition.name, r.definition.signature)]
    if len(found) > 1:
        keys = ", ".join(reading.key for reading in found)
        raise InputError(f"overall weight {name!r}: {len(found)} metrics have this name; name one of {keys}")
    if not found:
        names = {text.lower(): text for r in data.readings for text in (r.definition.name, r.label)}
        hint = did_you_mean(name, names.values(), otherwise=f"; there are {', '.join(r.label for r in data.readings)}")
        raise InputError(f"overall weight {name!r}: no metric on the board has this name{hint}")
    reading = found[0]
    if reading.definition.better == "neither":
        raise InputError(f"overall weight {name!r}: this metric has no better direction, so it cannot be weighted")
    if not reading.per_prompt:
        raise InputError(
            f"overall weight {name!r}: this metric has one value per system, and an overall score is summed and "
            "tested prompt by prompt; leave it out of the weights and use its own column"
        )
    return reading


def _checked(name: str, weight: float) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight <= 0:
        raise InputError(f"overall weight {name!r}: expected a number above 0; got {weight!r}")
    return float(weight)


def _definition(terms: list[tuple[Reading, float]]) -> Definition:
    """Its weights are in the signature, and each reading's own signature, its bars written as semicolons."""
    text = ",".join(f"{weight:g}*({reading.key.replace('|', ';')})" for reading, weight in terms)
    raised: dict[str, None] = {}
    lowered: dict[str, None] = {}
    for reading, _ in terms:
        up, down = reading.definition.raised_by, reading.definition.lowered_by
        if reading.definition.better == "lower":
            up, down = down, up
        raised |= dict.fromkeys(up)
        lowered |= dict.fromkeys(down)
    facts = dict.fromkeys(fact for reading, _ in terms for fact in reading.definition.depends_on)
    base = OVERALL.with_params(weights=text)
    return replace(base, raised_by=tuple(raised), lowered_by=tuple(lowered), depends_on=tuple(facts))


def _values(
    data: BoardData, name: str, terms: list[tuple[Reading, float]], definition: Definition
) -> dict[str, Measurement]:
    found = {}
    for prompt in data.prompts:
        parts = [data.values.get((name, reading.key), {}).get(prompt.id) for reading, _ in terms]
        missing = [r.label for (r, _), m in zip(terms, parts, strict=True) if m is None or m.value is None]
        if missing:
            found[prompt.id] = Measurement.missing(definition, f"no value of {', '.join(missing)}")
            continue
        signed = [(-w if r.definition.better == "lower" else w) for r, w in terms]
        value = math.fsum(w * float(m.value) for w, m in zip(signed, parts, strict=True) if m and m.value is not None)
        found[prompt.id] = Measurement(definition=definition, value=value, count=len(terms))
    return found


def _mean(definition: Definition, found: Mapping[str, Measurement], shared: list[str]) -> Measurement:
    over = definition.add_params(aggregate="mean", over="shared-prompts")
    mean = mean_over_clips([found[name].value for name in shared])
    note = "no prompt on which every system has a score" if mean.value is None else ""
    return Measurement.of(over, mean, note=note)
