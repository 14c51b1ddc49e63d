"""The instruments, the catalogue of every definition made from them, and what each says of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core import Definition
from rushes.core.errors import InputError
from rushes.core.instrument import Instrument
from rushes.core.registry import Registry, load
from rushes.core.words.suggest import did_you_mean

if TYPE_CHECKING:
    from rushes.core.reading import Reading
    from rushes.storage.runs import Run

INSTRUMENTS: Registry[Instrument] = Registry(
    "instrument",
    group="rushes.instruments",
    type_=Instrument,
    built_in={
        name: f"rushes.instruments.{name}.instrument:INSTRUMENT"
        for name in ("clip", "distribution", "fidelity", "pose", "preference", "robustness")
    },
)

COMPARING = (
    "rushes.compare.definitions.comparisons:DEFINITIONS",
    "rushes.compare.definitions.people:DEFINITIONS",
    "rushes.compare.definitions.ratings:DEFINITIONS",
    "rushes.compare.board.overall:DEFINITIONS",
)
"""Tuples of the definitions that belong to no instrument: what is computed from several runs."""


def instrument_of(run: Run) -> Instrument | None:
    """The instrument that made a run; None where no package here has it: its numbers are in the run all the same."""
    try:
        return INSTRUMENTS[run.instrument] if run.instrument in INSTRUMENTS else None
    except InputError:  # a package that cannot be loaded
        return None


def readings_of(run: Run) -> list[Reading]:
    """What a run shows on a board, by its instrument's own choice; see `Instrument.readings`."""
    from rushes.storage.runs.readings import whole_readings  # the command line lists instruments without reading a run

    instrument = instrument_of(run)
    chosen = load(instrument.readings) if instrument is not None and instrument.readings else whole_readings
    return list(chosen(run))


def catalog() -> dict[str, Definition]:
    """Definitions by signature, grouped by instrument, in the order the instruments list them; then `COMPARING`."""
    groups = [instrument.catalog() for _, instrument in INSTRUMENTS.items()] + [load(name) for name in COMPARING]
    return {definition.signature: definition for group in groups for definition in group}


def find(name: str) -> list[Definition]:
    """Definitions with this name or signature; `InputError` with the nearest names where there is none."""
    everything = catalog()
    if name in everything:
        return [everything[name]]
    chosen = [definition for definition in everything.values() if definition.name == name]
    if not chosen:
        names = sorted(definition.name for definition in everything.values())
        hint = did_you_mean(name, names, otherwise="; `rushes metrics` lists them all")
        raise InputError(f"no metric is called {name!r}{hint}")
    return chosen
