"""Picking numbers by name, by what they are about and by how they were measured; never by taking a signature apart.

One reading has one spelling for people, "blur_score (p10)", and one for loggers and trackers,
"blur_score/statistic_p10": `reading_names` and `machine_names` make them of what tells a reading from its namesakes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, TypeAlias

from rushes.core.definition import Definition, Setting, setting_text
from rushes.core.errors import InputError
from rushes.core.measurement import At, Measurement
from rushes.core.words.notebook_repr import line_html, numbers_html, page_html

Where = Setting | None
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")
_NUMBER = re.compile(r"[-+0-9.]+e[-+]?[0-9]+")
"""Of numbers, those with a letter in them."""
_Pairs: TypeAlias = Sequence[tuple[str, str]]


class Measured(Protocol):
    """A `Measurement` or a `Reading`: how it was measured, and what it is about."""

    @property
    def definition(self) -> Definition: ...

    @property
    def at(self) -> At: ...


def select(measurements: Iterable[Measurement], name: str | None = None, **where: Where) -> tuple[Measurement, ...]:
    """The measurements of this name (or signature) for which every key of `where` holds, in order.

    A key is a place (`system="amber"`) or a parameter (`k=20`, `labels="raw"`). Matching is exact: a number without the
    key does not match, and `None` asks for those without it. Raises `InputError` for a key that no number of this name
    has: a misspelt key must not select nothing, or everything.
    """
    named = [m for m in measurements if name is None or name in (m.name, m.signature)]
    for key in where:
        if named and not any(key in keys_of(m) for m in named):
            known = sorted({known for m in named for known in keys_of(m)})
            raise InputError(
                f"no number of {name or 'these'} has {key!r}; they have {', '.join(known) or 'no settings'}"
            )
    wanted = {key: None if value is None else setting_text(value) for key, value in where.items()}
    return tuple(m for m in named if all(keys_of(m).get(key) == value for key, value in wanted.items()))


def one(measurements: Iterable[Measurement], name: str, **where: Where) -> Measurement:
    """The only measurement that `select` finds; `InputError` says how several differ, or that there is none.

    Where some are about a part (PCK of one joint) and one about the whole, it is the whole that is meant.
    """
    given = tuple(measurements)
    found = select(given, name, **where)
    found = tuple(m for m in found if not set(m.place) - set(m.definition.places) - set(where)) or found
    if len(found) == 1:
        return found[0]
    asked = ", ".join(f"{key}={value!r}" for key, value in where.items())
    what = f"{name} with {asked}" if asked else name
    if not found:
        have = ", ".join(dict.fromkeys(m.name for m in given)) or "none"
        raise InputError(f"there is no {what}" + ("" if any(m.name == name for m in given) else f"; there are {have}"))
    differ = differing_keys(found)
    raise InputError(f"{len(found)} numbers are {what}; they differ in {', '.join(differ) or 'nothing'}: say which")


def differing_keys(measured: Sequence[Measured]) -> tuple[str, ...]:
    """The places and parameters in which these are not all alike, sorted."""
    return _differing([keys_of(m) for m in measured])


def _differing(rows: Sequence[dict[str, str]]) -> tuple[str, ...]:
    keys = sorted({key for row in rows for key in row})
    return tuple(key for key in keys if len({row.get(key) for row in rows}) > 1)


def label(measured: Measured, keys: Iterable[str]) -> str:
    """What tells this number from its namesakes, in words: "joint left_wrist, k 20"."""
    row = keys_of(measured)
    return _words([(key, row[key]) for key in keys if key in row])


def keys_of(measured: Measured) -> dict[str, str]:
    """Its parameters and places, by name, as text."""
    return {**dict(measured.definition.params), **dict(measured.at)}


def reading_names(measured: Sequence[Measured]) -> list[str]:
    """What people call each of these: the metric's name, and what tells it from its namesakes among them.

    "psnr", "blur_score (p10)", "pck (k 20)", "pck (joint left_wrist, k 20)".
    """
    return [spelt(m.definition.name, words) for m, words in zip(measured, told_apart(measured), strict=True)]


def machine_names(measured: Sequence[Measured]) -> list[str]:
    """The same for loggers and trackers: "psnr", "blur_score/statistic_p10", "pck/joint_left_wrist/k_20".

    Letters beside A to Z, digits, "_", "-" and "." become "_".
    """
    rows = zip(measured, _apart(measured), strict=True)
    return ["/".join((m.definition.name, *(_OTHER.sub("_", f"{k}_{v}") for k, v in pairs))) for m, (pairs, _) in rows]


def spelt(name: str, words: str) -> str:
    """A reading's name with what it is about.

    >>> spelt("blur_score", "p10"), spelt("psnr", "")
    ('blur_score (p10)', 'psnr')
    """
    return f"{name} ({words})" if words else name


def told_apart(
    measured: Sequence[Measured], *, heads: Sequence[str] | None = None, without: Collection[str] = ()
) -> list[str]:
    """Of each of these, what tells it from its namesakes among them, in words; "" where nothing needs to.

    A word that says what it is stands alone ("p10"); a number, true and false stand behind their key ("k 20"), and so
    does everything where there are several. `heads` are what they are called, where that is not their
    metrics' names; `without` are keys that are told elsewhere.
    """
    return [
        pairs[0][1] if is_alone and pairs and _speaks(pairs[0][1]) else _words(pairs)
        for pairs, is_alone in _apart(measured, heads, without)
    ]


def _apart(
    measured: Sequence[Measured], heads: Sequence[str] | None = None, without: Collection[str] = ()
) -> list[tuple[_Pairs, bool]]:
    """Of each, the keys and values in which its namesakes differ, and whether that is one key alone.

    Two versions of one metric differ in nothing else: then "v" is a key too.
    """
    names = heads or [m.definition.name for m in measured]
    rows = [{key: text for key, text in keys_of(m).items() if key not in without} for m in measured]
    found: dict[str, list[dict[str, str]]] = {}
    for name, row in zip(names, rows, strict=True):
        found.setdefault(name, []).append(row)
    marks = [(name, *sorted(row.items())) for name, row in zip(names, rows, strict=True)]
    versions: dict[object, set[int]] = {}
    for mark, m in zip(marks, measured, strict=True):
        versions.setdefault(mark, set()).add(m.definition.version)
    for mark, m, row in zip(marks, measured, rows, strict=True):
        row |= {"v": str(m.definition.version)} if len(versions[mark]) > 1 else {}
    keys = {name: _differing(namesakes) for name, namesakes in found.items()}
    return [
        ([(key, row[key]) for key in keys[name] if key in row], len(keys[name]) == 1)
        for name, row in zip(names, rows, strict=True)
    ]


def _words(pairs: _Pairs) -> str:
    return ", ".join(f"{key} {text}" for key, text in pairs)


def _speaks(text: str) -> bool:
    """Whether a value says what it is without its key.

    >>> [text for text in ("p10", "left_wrist", "20", "1e-3", "true", "16:9") if _speaks(text)]
    ['p10', 'left_wrist']
    """
    return any(map(str.isalpha, text)) and text not in ("true", "false") and not _NUMBER.fullmatch(text)


class Numbers:
    """What every result that holds measurements offers: picking them by name, place and parameter."""

    __slots__ = ()
    measurements: tuple[Measurement, ...]

    def select(self, name: str | None = None, **where: Where) -> tuple[Measurement, ...]:
        """Numbers by metric name or signature, place (`joint="nose"`) and parameter (`k=20`); matching is exact."""
        return select(self.measurements, name, **where)

    def one(self, name: str, **where: Where) -> Measurement:
        """The only number that `select` finds; `InputError` where there is none, or in what several differ."""
        return one(self.measurements, name, **where)

    def __getitem__(self, name: str) -> Measurement:
        return self.one(name)

    def _repr_html_(self) -> str:
        return page_html(line_html(repr(self)), numbers_html(self.measurements))
