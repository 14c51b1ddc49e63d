"""Boards made by hand, for tests and benchmarks: values as arrays, systems without runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rushes.compare.board.model import BoardClip, BoardData, Reading, System
from rushes.core import Definition, Interval, Measurement
from rushes.suite.prompts import Prompt

Values = Mapping[str, Sequence[float | bool | None]]
"""By system, a value per prompt; None where there is none, and a shorter list where the last prompts are lacking."""


def metric(name: str = "score", **more: Any) -> Definition:
    """Judges on both sides, higher is better, unless told otherwise."""
    fields: dict[str, Any] = {"unit": "1", "lowest": None, "highest": None, "better": "higher"}
    return Definition(**{"name": name, "summary": "s", "formula": "f"} | fields | more)


def reading(definition: Definition | None = None, *, per_prompt: bool = True, **more: Any) -> Reading:
    definition = definition or metric()
    return Reading(
        **{"definition": definition, "label": definition.name, "instrument": "clip", "per_prompt": per_prompt} | more
    )


def number(definition: Definition, value: float | bool | None, **more: Any) -> Measurement:
    note = "no frames" if value is None else ""
    return Measurement(**{"definition": definition, "value": value, "count": 1, "note": note} | more)


def around(definition: Definition, value: float, half: float, level: float = 0.95, **more: Any) -> Measurement:
    interval = Interval(low=value - half, high=value + half, level=level, method="jackknife-20")
    return number(definition, value, count=100, interval=interval, **more)


def board(*columns: tuple[Reading, Values], systems: Sequence[System] = (), **more: Any) -> BoardData:
    """A board of readings with one value per prompt; prompts are p0, p1 …"""
    names = list(dict.fromkeys(name for _, values in columns for name in values))
    longest = max((len(row) for _, values in columns for row in values.values()), default=0)
    return BoardData(
        **{
            "systems": tuple(systems) or tuple(System(name=name, runs=()) for name in names),
            "prompts": tuple(Prompt(id=f"p{i}") for i in range(longest)),
            "readings": tuple(column for column, _ in columns),
            "values": {
                (name, column.key): {f"p{i}": number(column.definition, v) for i, v in enumerate(row)}
                for column, values in columns
                for name, row in values.items()
            },
            "whole": {},
        }
        | more
    )


def numbers(column: Reading, found: Mapping[str, Measurement], systems: Sequence[System] = ()) -> BoardData:
    """A board of one reading with one number per system."""
    return BoardData(
        systems=tuple(systems) or tuple(System(name=name, runs=()) for name in found),
        prompts=(),
        readings=(column,),
        values={},
        whole={(name, column.key): m for name, m in found.items()},
    )


def clips(sizes: Mapping[str, Sequence[tuple[int, int]]]) -> dict[tuple[str, str], BoardClip]:
    """Clips of these frame sizes, by system and prompt."""
    return {
        (name, f"p{i}"): BoardClip(
            path=f"{name}/p{i}.mp4",
            run=0,
            subject=f"p{i}",
            facts={"media": {"video": {"width": width, "height": height, "fps": "25", "duration_ms": 1000}}},
        )
        for name, row in sizes.items()
        for i, (width, height) in enumerate(row)
    }
