"""The instruments, and the catalogue of every definition made from them."""

from __future__ import annotations

from difflib import get_close_matches

from rushes.core import Definition
from rushes.core.instrument import Instrument
from rushes.core.registry import Registry
from rushes.errors import InputError

INSTRUMENTS: Registry[Instrument] = Registry(
    "instrument",
    group="rushes.instruments",
    type_=Instrument,
    built_in={
        name: f"rushes.{name}.instrument:INSTRUMENT"
        for name in ("clip", "distribution", "fidelity", "pose", "preference", "robustness")
    },
)


def catalog() -> dict[str, Definition]:
    """Definitions by signature, grouped by instrument, in the order the instruments list them."""
    from rushes.paired.definitions import DEFINITIONS as paired
    from rushes.paired.family_definitions import FAMILY
    from rushes.paired.margin_definitions import DEFINITIONS as margins
    from rushes.paired.people_definitions import DEFINITIONS as people

    everything = [definition for _, instrument in INSTRUMENTS.items() for definition in instrument.catalog()]
    return {definition.signature: definition for definition in (*everything, *paired, *FAMILY, *margins, *people)}


def find(name: str) -> list[Definition]:
    """Definitions with this name or signature; `InputError` with the nearest names where there is none."""
    everything = catalog()
    if name in everything:
        return [everything[name]]
    chosen = [definition for definition in everything.values() if definition.name == name]
    if not chosen:
        close = get_close_matches(name, sorted({d.name for d in everything.values()}), n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "`rushes metrics` lists them all"
        raise InputError(f"no metric is called {name!r}; {hint}")
    return chosen
