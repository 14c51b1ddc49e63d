"""Whether a value of a TOML file is of the kind that an annotation asks for, and that kind in words."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin


def fits(value: object, hint: Any) -> bool:
    """Whether a value of TOML is of this kind; a path is text there, and a tuple a list."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inside)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in inside)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(fits(each, inside[1]) for each in value.values())
    if origin is tuple and inside[-1] is not Ellipsis:
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
