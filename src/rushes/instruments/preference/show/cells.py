"""What a study's tables are made of: numbers picked by what they are about, and the cells they are drawn in."""

from __future__ import annotations

from collections.abc import Iterable

from rushes.core import Measurement
from rushes.core.selection import keys_of, select
from rushes.core.table import Cell, number
from rushes.core.words.definition_text import ends_text
from rushes.instruments.preference.definitions.study import DEFINITIONS
from rushes.instruments.preference.numbers.conditions import ALL_FAMILIES, NO_RULE
from rushes.instruments.preference.rubric import FAMILIES

_PLACES = {definition.name: definition.places for definition in DEFINITIONS}


def about(measurements: Iterable[Measurement], name: str) -> list[Measurement]:
    """The numbers of this name that say what they are about; in runs of the first format, parameters said it."""
    named = [m for m in measurements if m.name == name and "bound" not in keys_of(m)]
    return [m for m in named if all(place in m.place for place in _PLACES[name])]


def raw_numbers(measurements: Iterable[Measurement], name: str, exclusion: str) -> list[Measurement]:
    """The numbers of one name that rest on raw votes under one exclusion rule."""
    return list(select(about(measurements, name), labels="raw", exclusion=exclusion))


def of_all_families(measurements: Iterable[Measurement]) -> list[Measurement]:
    return [m for m in measurements if m.place.get("family") == ALL_FAMILIES]


def by_place(measurements: Iterable[Measurement], place: str) -> dict[str, Measurement]:
    return {m.place[place]: m for m in measurements}


def has(measurement: Measurement, **params: str) -> bool:
    return params.items() <= keys_of(measurement).items()


def strength(measurement: Measurement) -> float:
    return float("-inf") if measurement.value is None else float(measurement.value)


def amount(measurement: Measurement | None) -> float:
    return 0.0 if measurement is None else float(measurement.value or 0)


def with_interval(measurement: Measurement | None) -> Cell:
    """Value and interval in one cell: "4.20 (3.91 to 4.49)"."""
    cell = number(measurement)
    span = "" if measurement is None or measurement.interval is None else ends_text(measurement)
    return Cell(f"{cell.text} ({span})", measurement) if span else cell


def over_all(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Those of the whole study; a ranking's numbers in one task family name it."""
    return [m for m in measurements if "family" not in m.place]


def adjudicated_shares(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Win shares by adjudicators' labels alone."""
    return [m for m in about(measurements, "win_share") if has(m, labels="adjudicated")]


def interval_words(measurements: Iterable[Measurement]) -> str:
    """What kind of intervals these numbers have: "Intervals: 95 % rater-clustered." """
    kinds = {(m.interval.level, m.interval.method) for m in measurements if m.interval is not None}
    words = " and ".join(f"{level * 100:g} % {method}" for level, method in sorted(kinds))
    return f"Intervals: {words}." if words else "There are no intervals."


def order_words(strengths: Iterable[Measurement]) -> str:
    """What the intervals of a ranking say about its order."""
    given = list(strengths)
    if any(m.interval is not None for m in given):
        return f"{interval_words(given)} Where they overlap, the order is open."
    why = next((f": {m.note}" for m in given if m.note), "")
    return f"There are no intervals{why}. So the order's certainty is unknown."


def below_minimum(measurements: Iterable[Measurement], *, exclusion: str = NO_RULE) -> str:
    """That samples have fewer raters than the rubric asks for; "" where none has, or the run is older."""
    found = of_all_families(raw_numbers(measurements, "samples_below_minimum", exclusion))
    if not found or not found[0].value:
        return ""
    few, minimum = found[0], keys_of(found[0])["minimum"]
    return f"{few.value:g} of {few.count} samples have fewer than {minimum} raters"


def family_label(family: str) -> str:
    """A task family in words.

    >>> family_label("T2"), family_label("all"), family_label("mine")
    ('T2 temporal', 'all families', 'mine')
    """
    if family == ALL_FAMILIES:
        return "all families"
    return f"{family} {FAMILIES[family]}" if family in FAMILIES else family


def ruled_title(words: str, exclusion: str, below: str = "") -> str:
    """A table's title: under which rule, and what its reader must know before any number."""
    ruled = words if exclusion == NO_RULE else f"{words} without raters excluded by {exclusion}"
    return f"{ruled} ({below})" if below else ruled
