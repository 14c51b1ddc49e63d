"""What a board is made of: systems, prompts, and for every reading one value per system and prompt, or per system.

A reading is a number that was measured alike for every system: one signature, one place. What was not is refused and
named, never averaged over. A clip belongs to a prompt by its name below its system's folder, unless a suite says
otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.core.showing import table_html
from rushes.core.table import Cell, Table, number
from rushes.runs import Run

ReadingKey: TypeAlias = str
"""The reading's signature and what it is about, in one text: its name on a board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What every system was asked for: one row of the matrix."""

    id: str
    text: str = ""
    group: str = ""
    """The task or category it belongs to; "" where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system and every run about it, of any instrument."""

    name: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One column of a board."""

    definition: Definition
    label: str
    """Head of the column."""
    instrument: str
    per_prompt: bool
    """Whether there is one value per clip, which pairs by prompt; else one per system (FVD, Elo, ESI)."""
    at: At = ()

    @property
    def key(self) -> ReadingKey:
        places = ",".join(f"{name}={value}" for name, value in self.at)
        return f"{self.definition.signature} @ {places}" if places else self.definition.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardClip:
    """One clip of the matrix: a system's answer to a prompt."""

    path: str
    """As its run has it."""
    run: int
    """Of the system's runs, the one that has its series."""
    subject: str
    """Its id there."""
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedReading:
    """A number that is not on the board, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoardData:
    """Everything a board shows, before any verdict."""

    systems: tuple[System, ...]
    prompts: tuple[Prompt, ...]
    readings: tuple[Reading, ...]
    values: Mapping[tuple[str, ReadingKey], Mapping[str, Measurement]]
    """Of readings per prompt: by (system, reading), then by prompt id. A missing value is a Measurement without one."""
    whole: Mapping[tuple[str, ReadingKey], Measurement]
    """One number per system and reading: the mean over its prompts with an interval, or the number itself."""
    clips: Mapping[tuple[str, str], BoardClip] = field(default_factory=dict)
    """By (system, prompt id)."""
    refused: tuple[RefusedReading, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a reader must know: prompts that a system lacks, media that differ, runs that are not complete."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(system.name for system in self.systems)

    def __repr__(self) -> str:
        listed = {"system": self.systems, "prompt": self.prompts, "reading": self.readings}
        sizes = [f"{len(some)} {name}{'' if len(some) == 1 else 's'}" for name, some in listed.items()]
        return f"BoardData({', '.join([*sizes, *([f'{len(self.refused)} refused'] if self.refused else [])])})"

    def _repr_html_(self) -> str:
        """A row per system: its number for each reading."""
        rows = [
            (Cell(name), *(number(self.whole.get((name, reading.key))) for reading in self.readings))
            for name in self.names
        ]
        return table_html(Table(title="", header=("system", *(reading.label for reading in self.readings)), rows=rows))
