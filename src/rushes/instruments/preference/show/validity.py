"""Metrics against votes as a table: how often each metric picks the human winner."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rushes.core import Measurement, parse_signature
from rushes.core.table import INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.preference.show.cells import about, by_place, has, interval_words, strength


def validity(measurements: Iterable[Measurement]) -> Table:
    """One row per metric, the best predictor of the human winner first."""
    given = list(measurements)
    picks = predictions(given)
    half = by_place([m for m in about(given, "metric_picks_winner") if has(m, ties="half")], "reading")
    lines = by_place(about(given, "suggested_threshold"), "reading")
    names = metric_names(picks)
    rows = [
        (
            Cell(names[reading := m.place["reading"]]),
            number(m),
            interval_cell(m),
            number(half.get(reading)),
            number(lines.get(reading)),
        )
        for m in picks
    ]
    return Table(
        title="How often a metric picks the human winner",
        columns=(
            *(*TEXT("metric"), *NUMBER("without ties ↑"), *INTERVAL("interval")),
            *NUMBER("with ties ↑", "suggested threshold"),
        ),
        rows=rows,
        caption=f"0.5 is chance. {interval_words(picks)} A threshold was fitted and judged on the same votes.",
    )


def predictions(measurements: Iterable[Measurement]) -> list[Measurement]:
    """How often each metric picks the winner of decided votes, the best first."""
    picks = [m for m in about(measurements, "metric_picks_winner") if has(m, ties="drop")]
    return sorted(picks, key=lambda m: (-strength(m), m.place["reading"]))


def metric_names(measurements: Sequence[Measurement]) -> dict[str, str]:
    """What to call each reading: its metric's name and, where another shares that name, in what the two differ.

    "blur_score, border reflect101": settings that all readings of the name have in common tell nothing apart.
    """
    readings = list(dict.fromkeys(m.place["reading"] for m in measurements))
    parts = {reading: _parts(reading) for reading in readings}
    called = {m.place["reading"]: m.place["metric"] for m in measurements}
    return {
        reading: _name(reading, [other for other in readings if called[other] == called[reading]], parts, called)
        for reading in readings
    }


def _name(reading: str, alike: Sequence[str], parts: Mapping[str, Mapping[str, str]], called: Mapping[str, str]) -> str:
    keys = sorted({key for one in alike for key in parts[one]})
    differ = [key for key in keys if len({parts[one].get(key) for one in alike}) > 1]
    words = [f"{key} {parts[reading][key]}" for key in differ if key in parts[reading]]
    return ", ".join([called[reading], *words])


_READING = re.compile(r"(.*\|v:[0-9]+)(?: at (.*))?", re.DOTALL)


def _parts(reading: str) -> dict[str, str]:
    """A reading's settings, its version and what it is about; the whole text where it is no signature."""
    found = _READING.fullmatch(reading)
    if found is None:
        return {"reading": reading}
    _, params, version = parse_signature(found[1])
    return {**params, "version": str(version)} | ({"at": found[2]} if found[2] else {})
