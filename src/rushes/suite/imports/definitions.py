"""What the columns of somebody else's table mean, as its reader declares it: no number comes in without a definition.

In TOML, a table per metric; or in one line, `name:unit=1,better=higher,lowest=0,highest=1`. `unit` and `better` are
needed; `lowest` and `highest` are left out where there is no end; `column` is the head of the column where it is not
the name; `summary`, `formula` and `reference` say more; `raised_by` and `lowered_by` (lists) say what moves it though
nothing got better or worse, so that a change to that side is no verdict; every key of `params` enters the signature.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushes.core import Definition, signature_params
from rushes.core.errors import DefinitionError, InputError

_BETTER = ("higher", "lower", "neither")
_WORDS = (
    *("unit", "better", "lowest", "highest", "column"),
    *("summary", "formula", "reference", "params", "raised_by", "lowered_by"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredColumn:
    """A column of a table and its definition."""

    column: str
    definition: Definition


def read_definitions(path: Path | str) -> list[DeclaredColumn]:
    """Declarations from a TOML file; `InputError` naming file and metric where one is wrong."""
    try:
        data = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML ({error})") from None
    if not data or not all(isinstance(facts, Mapping) for facts in data.values()):
        raise InputError(
            f"{path}: expected a table per metric, such as [clip_score]; got {', '.join(data) or 'nothing'}"
        )
    return [declared(name, facts, str(path)) for name, facts in data.items()]


def parse_definition(text: str) -> DeclaredColumn:
    """One declaration in one line.

    >>> parse_definition("clip_score:unit=1,better=higher,lowest=0,highest=1").definition.signature
    'clip_score|origin:imported|range:0.0..1.0|unit:1|v:1'
    """
    name, sign, rest = text.partition(":")
    pairs = [part.partition("=") for part in rest.split(",") if part]
    if not sign or not all(equals and key for key, equals, _ in pairs):
        raise InputError(f"expected NAME:unit=…,better=higher|lower|neither[,lowest=…,highest=…]; got {text!r}")
    return declared(name.strip(), {key.strip(): value.strip() for key, _, value in pairs}, "--define")


def declared(name: str, facts: Mapping[str, Any], source: str) -> DeclaredColumn:
    """A column and its definition from what was declared."""
    if unknown := [key for key in facts if key not in _WORDS]:
        raise InputError(f"{source}: {name} has no {unknown[0]!r}; it may have {', '.join(_WORDS)}")
    if lacking := [key for key in ("unit", "better") if not facts.get(key)]:
        raise InputError(
            f"{source}: {name} needs {' and '.join(lacking)} (the unit of its values, "
            f"and whether higher or lower is better)"
        )
    if facts["better"] not in _BETTER:
        raise InputError(f"{source}: {name}: better is higher, lower or neither; got {facts['better']!r}")
    lowest, highest = (_end(name, key, facts, source) for key in ("lowest", "highest"))
    params = facts.get("params", {})
    if not isinstance(params, Mapping):
        raise InputError(f"{source}: {name}: params is a table of names and values; got {params!r}")
    ends = ("" if end is None else repr(end) for end in (lowest, highest))
    settings = {**params, "origin": "imported", "unit": str(facts["unit"]), "range": "..".join(ends)}
    try:
        definition = Definition(
            name=name,
            unit=str(facts["unit"]),
            lowest=lowest,
            highest=highest,
            better=facts["better"],
            summary=str(facts.get("summary") or f"Imported: {name}, as declared by whoever brought it in."),
            formula=str(facts.get("formula") or "not declared; the number was computed elsewhere"),
            edge_cases="An empty cell: no value.",
            reference=str(facts.get("reference") or "imported"),
            params=signature_params(**settings),
            raised_by=tuple(facts.get("raised_by", ())),
            lowered_by=tuple(facts.get("lowered_by", ())),
        )
    except (DefinitionError, TypeError) as error:
        raise InputError(f"{source}: {error}") from None
    return DeclaredColumn(column=str(facts.get("column") or name), definition=definition)


def _end(name: str, key: str, facts: Mapping[str, Any], source: str) -> float | None:
    if facts.get(key) in (None, ""):
        return None
    try:
        value = float(facts[key])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{source}: {name}: {key} is a number; got {facts[key]!r}")
    return value


def distinct(columns: Iterable[DeclaredColumn]) -> list[DeclaredColumn]:
    """The declarations; `InputError` where two are of one name or of one column."""
    found: list[DeclaredColumn] = []
    for one in columns:
        for other in found:
            if one.definition.name == other.definition.name or one.column == other.column:
                raise InputError(f"{one.definition.name}: declared twice; keep one of the two")
        found.append(one)
    return found
