"""Two to four clips on one clock, as plain data: what the page and its `.json` twin show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rushes.core import Measurement, difference
from rushes.core.definition import describe_difference
from rushes.web.clip_size import picture_size
from rushes.web.run_cache import OpenRun, Reading, Row, RunCache
from rushes.web.run_data import take_data, value_data

LETTERS = "abcd"
MOST = len(LETTERS)


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the clips: its run, by the name a page calls it, and its row there."""

    name: str
    opened: OpenRun
    row: Row
    places: Mapping[str, str]
    """Addresses that replace those of a served run: its `address` and its `timeline`; {} for a served run."""


def sides_data(sides: Sequence[Side], *, run_cache: RunCache) -> dict[str, object]:
    """Each clip under its letter, and every number of all of them."""
    clips = {letter: clip_data(side, run_cache=run_cache) for letter, side in zip(LETTERS, sides, strict=False)}
    return {**clips, "numbers": number_lines(sides)}


def clip_data(side: Side, *, run_cache: RunCache) -> dict[str, object]:
    """A clip with the size of its picture, so that its box has its shape before the video comes."""
    width, height = picture_size(side.row.entry.subject)
    found = take_data(side.name, side.opened, side.row, run_cache=run_cache)
    return {**found, "width": width, "height": height, **side.places}


def number_lines(sides: Sequence[Side]) -> list[dict[str, object]]:
    """Every reading of the clips. Of two, their difference where the signatures are equal; else why there is none."""
    readings: dict[str, Reading] = {}
    for side in reversed(sides):
        readings |= side.opened.readings
    keys = dict.fromkeys(key for side in sides for key in side.row.values)
    return [_line(key, readings[key].label, [side.row.values.get(key) for side in sides]) for key in keys]


def _line(key: str, name: str, found: Sequence[Measurement | None]) -> dict[str, object]:
    values = {
        letter: None if m is None else value_data(m, reading=name) for letter, m in zip(LETTERS, found, strict=False)
    }
    line: dict[str, object] = {"key": key, **values, "difference": None, "why": _why(found)}
    first, second = found[:2]
    if len(found) == 2 and not line["why"] and first is not None and second is not None:
        line["difference"] = value_data(difference(second, first))
    return line


def _why(found: Sequence[Measurement | None]) -> str:
    """Why the values do not compare; "" where they do."""
    there = [m for m in found if m is not None]
    if len(there) < len(found):
        return "one of the runs does not have it"
    other = next((m for m in there if m.signature != there[0].signature), None)
    return "" if other is None else describe_difference(there[0].signature, other.signature)
