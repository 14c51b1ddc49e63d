"""Picking numbers by name, by what they are about and by how they were measured; never by taking a signature apart.

One reading has one spelling for people, "blur_score (p10)", and one for loggers and trackers,
"blur_score/statistic_p10": `reading_names` and `machine_names` make them of what tells a reading from its namesakes,
and of the parameters that belong to the metric's name (`Definition.named_by`): "pck (k 20, norm torso-diameter)" and
never "pck". No other module spells a name for output (`tests/test_spelling.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rushes.core.alike_form import form_of
from rushes.core.definition import Definition, Setting, setting_text
from rushes.core.errors import InputError
from rushes.core.measurement import At, Measurement
from rushes.core.registry import catalogued
from rushes.core.words.notebook_repr import line_html, numbers_html, page_html
from rushes.core.words.suggest import did_you_mean

Where = Setting | None
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")
_NUMBER = re.compile(r"[-+0-9.]+e[-+]?[0-9]+")
"""Of numbers, those with a letter in them."""
_SHOWN = 6
"""Values that an error offers of a key."""
_MANY = 3
"""Keys in a name, beyond which one word that says enough stands for all."""
_INPUT = "input"
"""The parameter that says what of a clip was measured: `rushes.instruments.clip.input_param`."""
_ALIKE = "alike"
"""What a name says of a common form, where there is one alone."""
_Pairs: TypeAlias = Sequence[tuple[str, str]]


class Measured(Protocol):
    """A `Measurement` or a `Reading`: how it was measured, and what it is about."""

    @property
    def definition(self) -> Definition: ...

    @property
    def at(self) -> At: ...


def select(measurements: Iterable[Measurement], name: str | None = None, **where: Where) -> tuple[Measurement, ...]:
    """The measurements of this name for which every key of `where` holds, in order; see `called` for what is a name.

    A key is a place (`system="amber"`) or a parameter (`k=20`, `labels="raw"`). Matching is exact: a number without the
    key does not match, and `None` asks for those without it. Raises `InputError` for a key that no number of this name
    has: a misspelt key must not select nothing, or everything.
    """
    given = tuple(measurements)
    named = given if name is None else called(given, name)
    for key in where:
        if named and not any(key in keys_of(m) for m in named):
            known = sorted({known for m in named for known in keys_of(m)})
            near = did_you_mean(key, known, otherwise=f"; they have {', '.join(known) or 'no settings'}")
            raise InputError(f"no number of {name or 'these'} has {key!r}{near}")
    wanted = {key: None if value is None else setting_text(value) for key, value in where.items()}
    return tuple(m for m in named if all(keys_of(m).get(key) == value for key, value in wanted.items()))


def one(measurements: Iterable[Measurement], name: str, **where: Where) -> Measurement:
    """The only measurement that `select` finds; `InputError` says how several differ, or that there is none.

    Where some are about a part (PCK of one joint) and one about the whole, it is the whole that is meant; of a clip and
    its common form, the clip.
    """
    given = tuple(measurements)
    found = select(given, name, **where)
    found = tuple(m for m in found if not set(m.place) - set(m.definition.places) - set(where)) or found
    if _INPUT not in where:
        found = tuple(m for m in found if form_of(m.definition.param(_INPUT) or "") is None) or found
    if len(found) == 1:
        return found[0]
    asked = ", ".join(f"{key}={value!r}" for key, value in where.items())
    what = f"{name} with {asked}" if asked else name
    if not found:
        near = "" if called(given, name) else did_you_mean(name, (m.name for m in given))
        raise InputError(f"there is no {what}{near}")
    if not (differ := differing_keys(found)):
        raise InputError(
            f"{len(found)} values are called {what}, one per clip. "
            "Choose a clip with subject='ID', or get them all with select()"
        )
    enough = [key for key in differ if len({keys_of(m).get(key) for m in found}) == len(found)]
    choices = " and ".join(f"{key}=… ({_choices(found, key)})" for key in enough[:1] or differ)
    raise InputError(f"{len(found)} numbers are called {what}. Say which with {choices}")


def _choices(found: Sequence[Measurement], key: str) -> str:
    """What one may type for a key, in order of first appearance."""
    values = list(dict.fromkeys(keys_of(m).get(key) for m in found))
    shown = [str(v) if v is None or not _speaks(v) else repr(v) for v in values[:_SHOWN]]
    return ", ".join(shown + ["…"] * (len(values) > _SHOWN))


def called(measurements: Sequence[Measurement], name: str) -> tuple[Measurement, ...]:
    """The measurements that a name means, in order.

    A name is a metric's own or a signature. Where no number has that, it is any other name that Rushes prints or knows:
    a reading's ("blur_score (p10)", "blur_score/statistic_p10"), an alias ("blur_p10", "CSIM"), or another case.
    """
    if own := tuple(m for m in measurements if name in (m.name, m.signature)):
        return own
    spellings = zip(measurements, reading_names(measurements), machine_names(measurements), strict=True)
    if printed := tuple(m for m, *names in spellings if name in names):
        return printed
    fits = meant_by(name)
    return tuple(m for m in measurements if fits(m.definition))


def meant_by(name: str) -> Callable[[Definition], bool]:
    """Whether a definition is one that the catalogue finds under this name.

    Of the definitions of one metric, a measured one belongs to that which says most about it: `csim` does not mean the
    numbers of `csim_all`.
    """
    wanted = catalogued(name)
    rivals = [d for metric in dict.fromkeys(d.name for d in wanted) for d in catalogued(metric)]

    def fits(definition: Definition) -> bool:
        near = [d for d in rivals if d.name == definition.name and set(d.params) <= set(definition.params)]
        return bool(near) and max(near, key=lambda d: len(d.params)) in wanted

    return fits


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


def full_name(definition: Definition) -> str:
    """What people call a metric by itself: its name, with the parameters that belong to it.

    >>> from dataclasses import replace
    >>> from rushes.core.definition import ratio_definition, signature_params
    >>> params = signature_params(k=20, norm="bbox-diagonal", unit="px")
    >>> d = ratio_definition(name="pck", better="higher", summary="s", formula="f", params=params)
    >>> full_name(d), full_name(replace(d, named_by=("norm", "k"))), full_name(replace(d, named_by=("norm",)))
    ('pck', 'pck (k 20, norm bbox-diagonal)', 'pck (bbox-diagonal)')
    """
    return reading_names([_Alone(definition)])[0]


@dataclass(frozen=True, slots=True)
class _Alone:
    """A metric that is about nothing in particular."""

    definition: Definition
    at: At = ()


def reading_names(measured: Sequence[Measured]) -> list[str]:
    """What people call each of these: the metric's name, what belongs to it, and what tells it from its namesakes.

    "psnr", "blur_score (p10)", "pck (k 20, norm bbox-diagonal)", "pck (joint left_wrist, k 20, norm bbox-diagonal)".
    """
    return [spelt(m.definition.name, words) for m, words in zip(measured, told_apart(measured), strict=True)]


def machine_names(measured: Sequence[Measured]) -> list[str]:
    """The same for loggers and trackers: "psnr", "blur_score/statistic_p10", "pck/k_20/norm_bbox-diagonal".

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
    """Of each of these, what belongs to its name or tells it from its namesakes, in words; "" where nothing needs to.

    A word that says what it is stands alone ("p10"); a number, true and false stand behind their key ("k 20"), and so
    does everything where there are several. `heads` are what they are called, where that is not their
    metrics' names; `without` are keys that are told elsewhere. Where more than three keys tell one, and the word of one
    of them is its alone, that word stands for all ("own-open-eye").
    """
    found = _apart(measured, heads, without)
    names = heads or [m.definition.name for m in measured]
    others = {
        name: [pair for n, (pairs, _) in zip(names, found, strict=True) if n == name for pair in pairs]
        for name in names
    }
    return [_told(*_shortest(*one, others[name])) for name, one in zip(names, found, strict=True)]


def _shortest(pairs: _Pairs, is_alone: bool, every: Sequence[tuple[str, str]]) -> tuple[_Pairs, bool]:
    """One word in place of many; `every` are the pairs of all namesakes."""
    if len(pairs) <= _MANY:
        return pairs, is_alone
    word = next((pair for pair in pairs if _speaks(pair[1]) and every.count(pair) == 1), None)
    return (pairs, is_alone) if word is None else ([word], True)


def _told(pairs: _Pairs, is_alone: bool) -> str:
    """ "p10", "k 20, norm torso-diameter", "mean-abs-delta, alike"."""
    rest = [pair for pair in pairs if pair != (_INPUT, _ALIKE)]
    if rest and len(rest) < len(pairs):
        return f"{_told(rest, len(rest) == 1)}, {_ALIKE}"
    return pairs[0][1] if is_alone and pairs and _speaks(pairs[0][1]) else _words(pairs)


def _apart(
    measured: Sequence[Measured], heads: Sequence[str] | None = None, without: Collection[str] = ()
) -> list[tuple[_Pairs, bool]]:
    """Of each, the keys and values that belong to its name or tell it from its namesakes, and whether it is one alone.

    Two versions of one metric differ in nothing else: then "v" is a key too.
    """
    names = heads or [m.definition.name for m in measured]
    rows = [{key: text for key, text in keys_of(m).items() if key not in without} for m in measured]
    found: dict[str, list[dict[str, str]]] = {}
    for name, row in zip(names, rows, strict=True):
        found.setdefault(name, []).append(row)
    for namesakes in found.values():
        _short_input(namesakes)
    marks = [(name, *sorted(row.items())) for name, row in zip(names, rows, strict=True)]
    versions: dict[object, set[int]] = {}
    for mark, m in zip(marks, measured, strict=True):
        versions.setdefault(mark, set()).add(m.definition.version)
    for mark, m, row in zip(marks, measured, rows, strict=True):
        row |= {"v": str(m.definition.version)} if len(versions[mark]) > 1 else {}
    keys = {name: set(_differing(namesakes)) for name, namesakes in found.items()}
    spelt_by = [
        sorted(keys[name].union(m.definition.named_by) & row.keys())
        for name, m, row in zip(names, measured, rows, strict=True)
    ]
    return [
        ([(key, row[key]) for key in own], len(own) == 1 >= len(keys[name] - ({_INPUT} - row.keys())))
        for name, own, row in zip(names, spelt_by, rows, strict=True)
    ]


def _short_input(namesakes: Sequence[dict[str, str]]) -> None:
    """Where a clip is measured in one common form as well: that one is "alike", and the clip itself needs no word."""
    forms = {text for row in namesakes if form_of(text := row.get(_INPUT, "")) is not None}
    own = {row.get(_INPUT, "") for row in namesakes} - forms
    if len(forms) == 1 and len(own) == 1:
        for row in namesakes:
            if row.pop(_INPUT, "") in forms:
                row[_INPUT] = _ALIKE


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

    def __contains__(self, name: object) -> bool:
        """Whether a number has this name, though `found[name]` may still ask which of several is meant.

        Of anything but a name: whether it is one of the numbers, or of the items that the result is a collection of.
        """
        if isinstance(name, str):
            return bool(called(self.measurements, name))
        return name in self.measurements or (isinstance(self, Iterable) and any(item == name for item in self))

    def _repr_html_(self) -> str:
        return page_html(*map(line_html, repr(self).splitlines()), numbers_html(self.measurements))
