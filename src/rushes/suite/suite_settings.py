"""Settings in a suite file are the keyword arguments of the function that measures: checked before anything runs."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rushes.errors import InputError


def checked_settings(
    where: str, given: Mapping[str, object], measure: Callable[..., object], *, taken: Collection[str]
) -> dict[str, object]:
    """The settings, once each is known to be an argument of `measure` and of a kind that it takes.

    `taken` are the arguments that the suite itself gives; `where` opens an error: "suite.toml, [instruments.clip]".
    Raises `InputError` for an unknown key, with the nearest ones, and for a value of another kind.
    """
    hints = _hints(measure)
    known = [
        name
        for name, parameter in inspect.signature(measure).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in taken
    ]
    for key, value in given.items():
        if key not in known:
            raise InputError(f"{where}: {unknown_key(key, known)}")
        if not fits(value, hints.get(key, Any)):
            raise InputError(f"{where}: {key} is {kind_words(hints[key])}; got {value!r}")
    required = [
        name for name in known if inspect.signature(measure).parameters[name].default is inspect.Parameter.empty
    ]
    for name in required:
        if name not in given:
            raise InputError(f"{where}: expected {name} ({kind_words(hints.get(name, Any))}); it is not there")
    return dict(given)


def unknown_key(key: str, known: Iterable[str]) -> str:
    """What is wrong with a key, and what may have been meant.

    >>> unknown_key("motoin", ["motion", "tier"])
    "there is no 'motoin'; did you mean motion?"
    """
    names = list(known)
    close = get_close_matches(key, names, n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"expected one of {', '.join(names)}"
    return f"there is no {key!r}; {hint}"


def _hints(measure: Callable[..., object]) -> dict[str, Any]:
    """The kinds of its keyword arguments; what is written as text, or is there for type checkers, takes anything."""
    parameters = inspect.signature(measure).parameters.values()
    keywords = {one.name: one.annotation for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    here = vars(sys.modules[measure.__module__])
    names = {name: Any if isinstance(value, str) else value for name, value in here.items()}
    while True:
        try:
            return get_type_hints(types.SimpleNamespace(__annotations__=keywords), globalns=names)
        except NameError as error:
            if error.name is None or error.name in names:
                return {}
            names[error.name] = Any


def fits(value: object, hint: Any) -> bool:
    """Whether a value of TOML is of this kind; a path is text there, and a tuple a list."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inside)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in inside)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(fits(each, inside[1]) for each in value.values())
    if origin is tuple:
        return isinstance(value, list) and len(value) == len(inside) and all(map(fits, value, inside))
    if origin is not None and issubclass(origin, Iterable):
        return isinstance(value, list) and all(fits(each, inside[0]) for each in value)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint in (int, bool):
        return type(value) is hint
    if hint in (str, Path):
        return isinstance(value, str)
    return hint in (Any, object)


def kind_words(hint: Any) -> str:
    """A kind in words.

    >>> kind_words(bool), kind_words(Literal["none", "shortest"]), kind_words(int | None), kind_words(Iterable[int])
    ('true or false', 'none or shortest', 'a whole number', 'a list')
    """
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(map(str, inside))
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(words for each in inside if (words := kind_words(each))))
    if origin is not None:
        return "a table" if issubclass(origin, Mapping) else "a list"
    plain = {bool: "true or false", int: "a whole number", float: "a number", str: "text", Path: "text"}
    return plain.get(hint, "")
