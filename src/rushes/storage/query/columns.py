"""The columns of the view `clips`: what each is called, and which of them a name in a question means.

A reading's column is called by its metric and the settings that belong to the metric's name (`Definition.named_by`):
`blur_score`, `pck_k_20_norm_torso_diameter`. Of several readings of one such name the first in the run has it; the
others have the settings behind it in which they differ: `blur_score_statistic_p10`.

A question may also use a metric's bare name, `pck`, which the answer then spells out, or any other name that the
catalogue knows, `blur_p10`. A metric that the run's instrument has and the run has not is a column of nulls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rushes.core import Definition
from rushes.core.errors import InputError
from rushes.core.registry import catalogued
from rushes.core.selection import meant_by
from rushes.storage.runs.run import Run
from rushes.storage.shards.table import ReadingKey

CLIP_COLUMNS = ("number", "id", "path", "kind", "sha256", "review_signal", "severity", "reasons", "facts")
OLD_NAMES = dict.fromkeys(("badge", "signal", "status_badge"), "review_signal")
"""What the column of review signals was called, here and in MetricBundleV1; a question may still say so."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `clips` that holds numbers."""

    name: str
    key: ReadingKey
    definition: Definition
    is_first: bool = True
    """Whether it is the first reading of its metric with these settings in its name."""

    @property
    def signature(self) -> str:
        return self.key.signature


@dataclass(frozen=True, slots=True)
class Extra:
    """A column that the view gets because a question names it."""

    name: str
    expression: str
    signature: str = ""


def columns_of(run: Run) -> list[Column]:
    """The columns of `clips` that hold numbers, in stored order."""
    if run.shards is not None:
        return _named(run.shards.readings, run.shards.definitions)
    readings: dict[ReadingKey, Definition] = {}
    for entry in run.entries:
        for m in entry.measurements:
            readings.setdefault(ReadingKey(m.signature, m.at), m.definition)
    return _named(list(readings), {key.signature: definition for key, definition in readings.items()})


def spelt_out(columns: Sequence[Column], names: Iterable[str]) -> dict[str, str]:
    """Of these names, those that are a metric's without the settings that belong to it, each with its column.

    Raises `InputError` with the choices where several columns are meant.
    """
    known = {column.name for column in columns}
    bare: dict[str, list[str]] = {}
    for column in columns:
        if column.definition.named_by and column.is_first and (name := _plain(column.definition.name)) not in known:
            bare.setdefault(name, []).append(column.name)
    found = {name: bare[name.lower()] for name in names if name.lower() in bare}
    for name, choices in found.items():
        if len(choices) > 1:
            raise InputError(f"{name} matches {len(choices)} columns; use one of {', '.join(choices)}")
    return {name: choices[0] for name, choices in found.items()}


def extras(run: Run, columns: Sequence[Column], names: Iterable[str]) -> list[Extra]:
    """Of these names, those that the catalogue knows and the view has not, as columns to add to it."""
    known = {*CLIP_COLUMNS, *(column.name for column in columns)}
    found = []
    for name in dict.fromkeys(names):
        if name.lower() in known:
            continue
        if name.lower() in OLD_NAMES:
            found.append(Extra(name, quoted(OLD_NAMES[name.lower()])))
        elif catalogued(name, run.instrument):
            fits = meant_by(name)
            meant = [column for column in columns if fits(column.definition)]
            column = next((one for one in meant if one.is_first), meant[0] if meant else None)
            found.append(Extra(name, quoted(column.name), column.signature) if column else Extra(name, "null::double"))
    return found


def quoted(name: str) -> str:
    """A name in SQL; what is a view's column already is left plain by being the same."""
    return '"' + name.replace('"', '""') + '"'


def _named(readings: Sequence[ReadingKey], definitions: Mapping[str, Definition]) -> list[Column]:
    """A name for each reading: the metric's with what belongs to it, and what tells it from its namesakes."""
    by_name: dict[str, list[ReadingKey]] = {}
    for key in readings:
        by_name.setdefault(key.name, []).append(key)
    used = set(CLIP_COLUMNS)
    found: dict[ReadingKey, tuple[str, bool]] = {}
    for name, keys in by_name.items():
        facts = [_facts(key, definitions[key.signature]) for key in keys]
        differing = {k for fact in facts for k in fact if len({other.get(k) for other in facts}) > 1}
        firsts: set[str] = set()
        for key, fact in zip(keys, facts, strict=True):
            belongs = definitions[key.signature].named_by
            head = _spelt(name, fact, belongs)
            is_first = head not in firsts
            firsts.add(head)
            spelling = head if is_first else _spelt(name, fact, differing.union(belongs))
            found[key] = _free(spelling, used), is_first
    return [Column(found[key][0], key, definitions[key.signature], found[key][1]) for key in readings]


def _spelt(name: str, fact: Mapping[str, str], keys: Iterable[str]) -> str:
    return _plain("_".join([name, *(f"{key}_{fact[key]}" for key in sorted(keys) if key in fact)]))


def _plain(text: str) -> str:
    """As a column is called: lower case, in letters that need no quotes.

    >>> _plain("fid-vid"), _plain("pck_norm_absolute-px(0.08)")
    ('fid_vid', 'pck_norm_absolute_px_0_08')
    """
    return re.sub(r"\W+", "_", text).strip("_").lower()


def _facts(key: ReadingKey, definition: Definition) -> dict[str, str]:
    return dict(definition.params) | {"v": str(definition.version)} | dict(key.at)


def _free(name: str, used: set[str]) -> str:
    candidate, number = name, 1
    while candidate in used:
        number += 1
        candidate = f"{name}_{number}"
    used.add(candidate)
    return candidate
