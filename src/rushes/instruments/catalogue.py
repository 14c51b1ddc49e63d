"""The instruments, the catalogue of every definition made from them, and what each says of its runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rushes.core import Definition
from rushes.core.definition import parse_signature
from rushes.core.errors import DefinitionError, InputError
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
        for name in ("clip", "distribution", "fidelity", "judge", "pose", "preference", "robustness")
    },
)

COMPARING = (
    "rushes.instruments.clip.signals.severity:DEFINITIONS",
    "rushes.compare.definitions.comparisons:DEFINITIONS",
    "rushes.compare.definitions.people:DEFINITIONS",
    "rushes.compare.definitions.ratings:DEFINITIONS",
    "rushes.compare.definitions.powered:DEFINITIONS",
    "rushes.compare.board.overall:DEFINITIONS",
    "rushes.compare.board.reference_differences:DEFINITIONS",
)
"""Tuples of the definitions that no instrument measures: severity, and what is computed from several runs."""
_METRICS = ("rushes.instruments.clip.metrics:METRICS", "rushes.instruments.fidelity.metrics:METRICS")
"""What other packages add to instruments of Rushes."""
_OURS = "rushes"
IMPORTED = {"vbench": "rushes.suite.imports.vbench_scores:DEFINITIONS"}
"""Tuples of the definitions of other tools' numbers, by family: what `rushes import-scores` knows."""
COMPARISON = "comparison"


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


def summary_of(run: Run) -> str:
    """What a run says, in its instrument's words; how many subjects it has where nobody knows the instrument."""
    instrument = instrument_of(run)
    if instrument is not None and instrument.summary and (said := str(load(instrument.summary)(run))):
        return said
    many = len(run.subjects)
    return f"{run.instrument}, {many:,} subject{'' if many == 1 else 's'}."


def notes_of(run: Run) -> tuple[str, ...]:
    """What to know beside a run's summary."""
    instrument = instrument_of(run)
    return tuple(load(instrument.notes)(run)) if instrument is not None and instrument.notes else ()


def catalog() -> dict[str, Definition]:
    """Definitions by signature, by family: instruments in order, as they list them, then comparisons and imports."""
    return {definition.signature: definition for _, group in _groups() for definition in group}


def families() -> dict[str, str]:
    """The family of every definition of the catalogue, by signature: its instrument, "comparison", or another tool."""
    return {definition.signature: name for name, group in _groups() for definition in group}


def _groups() -> list[tuple[str, tuple[Definition, ...]]]:
    found = [(name, instrument.catalog()) for name, instrument in INSTRUMENTS.items()]
    found += [(COMPARISON, load(name)) for name in COMPARING]
    return found + [(name, load(place)) for name, place in IMPORTED.items()]


def packages() -> dict[str, str]:
    """The package that adds a metric of the catalogue, with its version: signature → "letterbox 1.0"."""
    added: dict[str, str] = {}
    for place in _METRICS:
        registry: Registry[Any] = load(place)
        for name, one in registry.items():
            if isinstance(definition := getattr(one, "definition", None), Definition):  # not all that is added is one
                added[definition.name] = registry.package(name)
    of_family = {name: INSTRUMENTS.package(name) for name in INSTRUMENTS}
    found = {d.signature: (of_family.get(name), added.get(d.name)) for name, group in _groups() for d in group}
    return {
        signature: package
        for signature, origins in found.items()
        for package in origins
        if package and package != _OURS
    }


def other_names(instrument: str = "") -> list[tuple[str, Definition]]:
    """What else metrics are called, each name with its metric, by `Instrument.names` of one instrument or of all."""
    every = [one for name, one in INSTRUMENTS.items() if instrument in ("", name)]
    return [pair for one in every if one.names for pair in load(one.names)()]


def names_of(definition: Definition) -> list[str]:
    """What else a metric of the catalogue is called; names that differ in case alone are one."""
    found = {_folded(definition.name): ""}
    for name, one in other_names():
        if _is_variant(definition, one):
            found.setdefault(_folded(name), name)
    return [name for name in found.values() if name]


def find(name: str, *, instrument: str = "") -> list[Definition]:
    """The definitions that a name means, of one instrument or of all; `InputError` with the nearest names for no name.

    A name is a metric's own, another that it has (`other_names`), a signature (with the settings of a run, or open), or
    how tables, trackers and queries spell a reading: "blur_score (p10)", "blur_score/statistic_p10",
    "blur_score_statistic_p10". Case does not matter, nor do "-" and "_".
    """
    every = list(catalog().values()) if not instrument else list(_definitions_of(instrument))
    aliases = other_names(instrument)
    if same := [definition for definition in every if definition.signature == name]:
        return same
    wanted = _folded(name)
    meant = [one for alias, one in aliases if _folded(alias) == wanted]
    if chosen := [d for d in every if _folded(d.name) == wanted or any(_is_variant(d, one) for one in meant)]:
        return chosen
    for means in (_by_signature, _as_spelt):
        if chosen := [definition for definition in every if means(definition, name)]:
            return chosen
    names = sorted({*(definition.name for definition in every), *(alias for alias, _ in aliases)})
    raise InputError(f"no metric is called {name!r}{did_you_mean(name, names, otherwise=_LIST)}")


_LIST = "; `rushes metrics` lists them all"


def _definitions_of(instrument: str) -> tuple[Definition, ...]:
    return INSTRUMENTS[instrument].catalog() if instrument in INSTRUMENTS else ()


def _folded(name: str) -> str:
    """
    >>> _folded("FID-VID"), _folded("PSNR ↑"), _folded("Justification Drift")
    ('fid_vid', 'psnr', 'justification_drift')
    """
    return name.rstrip(" ↑↓·").casefold().replace("-", "_").replace(" ", "_")


def _is_variant(definition: Definition, of: Definition) -> bool:
    """Whether the catalogue's definition is this one, with what every metric of its instrument has beside it."""
    params, left_open = set(of.params), set(of.open_params)
    return definition.name == of.name and params <= set(definition.params) and left_open <= set(definition.open_params)


def _by_signature(definition: Definition, name: str) -> bool:
    """A signature of a run: every parameter that is not open is as the definition has it."""
    if "|" not in name:
        return False
    try:
        metric, params, _ = parse_signature(name)
    except DefinitionError:
        return False
    return metric == definition.name and set(definition.params) <= set(params.items())


def _as_spelt(definition: Definition, name: str) -> bool:
    """A reading as people, trackers or queries have it: the metric, and behind it some of its settings."""
    head = re.split(r" \(|[/@]", name)[0]
    if head != name:
        return _folded(head) == _folded(definition.name)
    keys = "|".join([key for key, _ in definition.params] + list(definition.open_params) + list(definition.named_by))
    return bool(keys and re.match(rf"{_folded(definition.name)}_(?:{keys})_.", name))
