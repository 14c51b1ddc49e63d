"""What an instrument is to the rest of Rushes: one question, and where its parts lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rushes.core.definition import Definition
from rushes.core.registry import load
from rushes.core.words.notebook_repr import brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How a suite measures with an instrument: what it calls for each system, and what that needs."""

    job: str
    """`measure(job)` makes the run, or the runs, of one system in `job.out`; see `rushes.workers.job`."""
    arguments: str
    """The function whose keyword arguments are the settings in a suite file."""
    taken: tuple[str, ...] = ()
    """Of these, what the suite gives by itself, beside `run`, `jobs`, `engine`, `overwrite`, `progress` and `warn`."""
    own: tuple[str, ...] = ()
    """Settings beside the function's: required, and text."""
    paths: tuple[str, ...] = ()
    """Settings that are files or folders, seen from the suite file."""
    needs_reference: bool = False
    whole_suite: bool = False
    """One run for all systems: its readings name the systems, `at` their place "system"."""


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
    names: str = ""
    """What else its metrics are called, by the heads of its columns, its options and its specification:
    `names() -> Iterable[tuple[str, Definition]]`; "" for nothing else."""
    section: str = ""
    """The part of a report about one run: `section(run, anchor, options) -> Section`; "" for its charts and numbers."""
    tables: str = ""
    """What one run's numbers say, and its tables, for its own page: `tables(run) -> (summary, tables)`; "" to take both
    from the section."""
    summary: str = ""
    """The answer of one run in a sentence or a few: `summary(run) -> str`; "" for how many subjects it has."""
    notes: str = ""
    """What to know beside it, a line each: `notes(run) -> tuple[str, ...]`; "" for nothing."""
    readings: str = ""
    """What boards and trackers show of one run: `readings(run) -> Iterable[Reading]`; "" for every number about a
    subject as a whole, each in a column that is called by its metric."""
    measure: Measure | None = None
    """How a suite measures with it; None where it cannot."""
    charts: str = ""
    """Figures of one run: `charts(run) -> Iterable[Figure]`; "" where there are none."""
    timeline: str = ""
    """The lines under one subject: `timeline(measurements, series, settings) -> data | None`; "" without frames."""
    asked: str = ""
    """What was asked about one subject and answered, beside its clip: `asked(run, entry) -> data | None`; "" where
    nobody is asked."""
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
