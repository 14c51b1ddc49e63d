"""How far a system's clips are from the reference's in a metric that is measured on both: blinks, head movement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rushes.compare.board.model import PEOPLE, BoardData, Reading
from rushes.compare.comparison import Refused
from rushes.compare.readings.media_facts import differing_facts
from rushes.compare.readings.samples import mean_over_prompts, over_prompts
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.reading import ReadingKey
from rushes.core.words.suggest import did_you_mean
from rushes.storage.runs import Subject

DIFF = "diff"
"""What such a column is asked for by: diff:blink_rate_hz."""
REFERENCE_DIFFERENCE = Definition(
    name="reference_difference",
    unit="unit of the metric",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far a clip's value of a metric is from its reference's: closeness to the reference in this metric, "
    "and nothing else about quality.",
    formula="|value of the system's clip − value of the reference's clip of the same prompt|",
    edge_cases="One of the two has no value, or the two clips differ in a fact of the medium that the metric depends "
    "on: none. The reference itself has none. What changes the metric for other reasons than quality brings it closer "
    "to the reference or further from it: then the difference does not rank systems.",
    reference="rushes suite",
    open_params=("of",),
)
DEFINITIONS = (REFERENCE_DIFFERENCE,)


def is_difference(reading: Reading) -> bool:
    return reading.name == REFERENCE_DIFFERENCE.name


def difference_of(definition: Definition) -> str:
    """What a difference is asked for by, diff:METRIC; "" for any other number."""
    of = definition.param("of") if definition.name == REFERENCE_DIFFERENCE.name else None
    return "" if of is None else f"{DIFF}:{of.partition(';')[0]}"


def column_name(reading: Reading) -> str:
    """What a column is asked for by: the metric's name, of a difference diff:METRIC."""
    return difference_of(reading.definition) or reading.name


def difference_reading(base: Reading) -> Reading:
    """The column of a metric's differences; the metric's own signature is in its definition, bars as semicolons."""
    metric = base.definition
    causes = tuple(dict.fromkeys((*metric.raised_by, *metric.lowered_by)))
    definition = replace(
        REFERENCE_DIFFERENCE.with_params(of=base.key.replace("|", ";")),
        unit=metric.unit,
        depends_on=metric.depends_on,
        raised_by=causes,
        lowered_by=causes,
    )
    return Reading(definition=definition, label=f"{base.label} difference", instrument=base.instrument, per_prompt=True)


def with_differences(data: BoardData, bases: Iterable[Reading], *, tested: bool) -> BoardData:
    """The board with a column of differences per metric: among those it tests, or else among `others`.

    Raises `InputError` where there is no reference, and for a metric without values per prompt of the reference.
    """
    known = {one.key for one in (*data.readings, *data.others)}
    made: dict[ReadingKey, Reading] = {}
    values, whole = dict(data.values), dict(data.whole)
    for base in bases:
        _require_reference(data, base)
        reading = difference_reading(base)
        if reading.key in known or reading.key in made:
            continue
        made[reading.key] = reading
        rows = {name: _values(data, name, base, reading.definition) for name in data.names if name != data.reference}
        values |= {(name, reading.key): row for name, row in rows.items() if row}
        whole |= _means(data, reading, rows)
    if tested:
        return replace(data, readings=(*data.readings, *made.values()), values=values, whole=whole)
    return replace(data, others=(*data.others, *made.values()), values=values, whole=whole)


def with_declared_differences(data: BoardData, names: Sequence[str]) -> BoardData:
    """With the differences that a suite declares, tested; one that cannot be had is refused, and the board says why."""
    for name in names:
        try:
            data = with_differences(data, _named(data, name), tested=True)
        except InputError as error:
            data = replace(data, refused=(*data.refused, Refused(name=f"{DIFF}:{name}", why=str(error))))
    return data


def _named(data: BoardData, name: str) -> list[Reading]:
    """The metric in every way that the board compares, else in those that it leaves out."""
    listed, others = (
        [one for one in group if one.instrument != PEOPLE and not is_difference(one)]
        for group in (data.readings, data.others)
    )
    for group in (listed, others):
        if found := [one for one in group if name in (one.name, one.key, one.label)]:
            return found
    names = list(dict.fromkeys(one.name for one in (*listed, *others)))
    hint = did_you_mean(name, names, otherwise=f"; there are {', '.join(names)}")
    raise InputError(f"[reference] differences: no metric {name!r} was measured here{hint}")


def _require_reference(data: BoardData, base: Reading) -> None:
    what = f"difference in {base.name} from the reference"
    if data.reference not in data.names:
        raise InputError(
            f"{what}: none is measured; add [reference] with on_board = true to the suite and run it again"
        )
    if not base.per_prompt:
        raise InputError(f"{what}: expected a metric with a value per clip; this one has a value per system")
    found = data.values.get((data.reference, base.key), {})
    if all(m.value is None for m in found.values()):
        why = next((f" ({m.note})" for m in found.values() if m.note), "")
        raise InputError(f"{what}: {data.reference} has no value of it{why}; choose a metric of single clips")


def _values(data: BoardData, name: str, base: Reading, definition: Definition) -> dict[str, Measurement]:
    ours, theirs = (data.values.get((who, base.key), {}) for who in (name, data.reference))
    return {
        prompt.id: _difference(data, name, prompt.id, definition, (ours.get(prompt.id), theirs.get(prompt.id)))
        for prompt in data.prompts
        if ours
    }


def _difference(
    data: BoardData, name: str, prompt: str, definition: Definition, pair: tuple[Measurement | None, Measurement | None]
) -> Measurement:
    names = (name, data.reference)
    numbers = []
    for who, m in zip(names, pair, strict=True):
        if m is None or m.value is None:
            note = "not measured" if m is None or not m.note else m.note
            return Measurement.missing(definition, f"no value of {who}: {note}")
        numbers.append(float(m.value))
    clips = [data.clips.get((who, prompt)) for who in names]
    subjects = [Subject(id=c.subject, kind="clip", path=c.path, sha256=None, facts=c.facts) for c in clips if c]
    if len(subjects) == 2 and (words := differing_facts(definition, subjects[0], subjects[1], names=names)):
        return Measurement.missing(definition, f"the two clips do not compare: {words}")
    return Measurement(definition=definition, value=abs(numbers[0] - numbers[1]), count=1)


def _means(
    data: BoardData, reading: Reading, rows: Mapping[str, Mapping[str, Measurement]]
) -> dict[tuple[str, ReadingKey], Measurement]:
    """Each system's mean over the prompts on which every system that has differences has one."""
    having = [name for name, row in rows.items() if any(m.value is not None for m in row.values())]
    shared = [p.id for p in data.prompts if having and all(rows[name][p.id].value is not None for name in having)]
    mean = over_prompts(reading.definition)
    found = {}
    for name in rows:
        if name in having and shared:
            values = [rows[name][prompt] for prompt in shared]
            found[name, reading.key] = mean_over_prompts(values, left_out=len(data.prompts) - len(shared))
        else:
            notes = (m.note for m in rows[name].values() if m.note and name not in having)
            why = next(
                notes, "no prompt has a value for every system" if name in having else f"not measured for {name}"
            )
            found[name, reading.key] = Measurement.missing(mean, why)
    found[data.reference, reading.key] = Measurement.missing(mean, "the reference is what systems are compared with")
    return found
