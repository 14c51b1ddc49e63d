"""Settings in a suite file are the keyword arguments of the function that measures: checked before anything runs.

A suite can measure with the instruments that say how.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, get_type_hints

from rushes.core.errors import InputError
from rushes.core.instrument import Measure
from rushes.core.words.kinds import fits, kind_words
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.catalogue import INSTRUMENTS


def checked_settings(
    where: str, given: Mapping[str, object], measure: Callable[..., object], *, taken: Collection[str]
) -> dict[str, object]:
    """The settings, once each is known to be an argument of `measure` and of a kind that it takes.

    `taken` are the arguments that the suite itself gives; `where` opens an error: "suite.toml, [instruments.clip]".
    Raises `InputError` for an unknown key, with the nearest ones, and for a value of another kind.
    """
    hints = _hints(measure)
    known = {name: one.default for name, one in _keywords(measure).items() if name not in taken}
    for key, value in given.items():
        if key not in known:
            raise InputError(f"{where}: {unknown_key(key, known)}")
        if not fits(value, hints.get(key, Any)):
            raise InputError(f"{where}: {key} is {kind_words(hints[key])}; got {value!r}")
    for name, default in known.items():
        if default is inspect.Parameter.empty and name not in given:
            raise InputError(f"{where}: expected {name} ({kind_words(hints.get(name, Any))}); it is missing")
    return dict(given)


def unknown_key(key: str, known: Iterable[str]) -> str:
    """What is wrong with a key, and what may have been meant.

    >>> unknown_key("motoin", ["motion", "tier"])
    "there is no 'motoin'. Did you mean `motion`?"
    """
    return f"there is no {key!r}{did_you_mean(key, known)}"


def takes(measure: Callable[..., object], key: str) -> bool:
    """Whether a function has a keyword argument of this name."""
    return key in _keywords(measure)


def _keywords(measure: Callable[..., object]) -> dict[str, inspect.Parameter]:
    every = inspect.signature(measure).parameters
    return {name: one for name, one in every.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}


def _hints(measure: Callable[..., object]) -> dict[str, Any]:
    """The kinds of its keyword arguments; what is written as text, or is there for type checkers, takes anything."""
    keywords = {name: one.annotation for name, one in _keywords(measure).items()}
    here = vars(sys.modules[measure.__module__])
    names = {name: Any if isinstance(value, str) else value for name, value in here.items()}
    while True:
        try:
            return get_type_hints(types.SimpleNamespace(__annotations__=keywords), globalns=names)
        except NameError as error:
            if error.name is None or error.name in names:
                return {}
            names[error.name] = Any


GIVEN = frozenset({"run", "jobs", "engine", "overwrite", "progress", "warn", "add"})
"""Arguments of every instrument's function that the suite gives by itself."""


def measure_of(name: str, where: str) -> Measure:
    """How a suite measures with the instrument of this name; `InputError`, after `where`, with the nearest ones."""
    if name in INSTRUMENTS and (measure := INSTRUMENTS[name].measure) is not None:
        return measure
    able = [other for other, instrument in INSTRUMENTS.items() if instrument.measure is not None]
    hint = did_you_mean(name, able)
    raise InputError(
        f"{where}: no instrument is called {name!r}{hint} (a table of any other name needs instrument = …)"
    )
