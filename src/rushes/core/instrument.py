"""What an instrument is to the rest of Rushes: one question, and where its parts lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rushes.core.definition import Definition
from rushes.core.registry import load
from rushes.core.showing import brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """One instrument: catalogue, command line, report and demo are made by going over them all.

    Parts are named as "package.module:name" and imported when used, so that a list of instruments costs nothing.
    """

    __repr__ = brief

    name: str
    """As `run.json` has it."""
    title: str
    question: str
    """What its numbers answer, in one sentence."""
    definitions: str
    """A tuple of every `Definition`, in the catalogue's order."""
    commands: Mapping[str, str]
    """Verbs of the command line: a function, or a Typer app of several."""
    section: str
    """The part of a report about one run: `section(run, anchor, options) -> Section`."""
    charts: str = ""
    """Figures of one run: `charts(run) -> Iterable[Figure]`; "" where there are none."""
    timeline: str = ""
    """The lines under one subject: `timeline(measurements, series, settings) -> data | None`; "" without frames."""
    demo: tuple[str, ...] = field(default=())
    """Parts of `rushes demo`, in order: `part(folder) -> DemoPart`."""

    def catalog(self) -> tuple[Definition, ...]:
        """Every definition of this instrument."""
        found: tuple[Definition, ...] = load(self.definitions)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPart:
    """One instrument's share of the demo: what was run, what it found, and whether that is what was put in."""

    title: str
    run: Path
    """The run directory, which the demo's report shows."""
    found: str
    """One sentence for a newcomer: what the numbers say."""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """A small table for the terminal."""
    as_expected: bool = True
    """False when a fault that was put in was not found: the demo then exits 1."""
