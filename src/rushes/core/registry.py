"""Named things of one kind: those that Rushes ships, and those that installed packages add.

A package adds to a registry by an entry point in its own pyproject.toml, whose group is the registry's:

    [project.entry-points."rushes.clip_metrics"]
    letterbox_ratio = "letterbox:LETTERBOX"

Nothing is imported before it is asked for. A package that cannot be loaded costs what it adds, and `broken` says why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rushes.core.errors import InputError
from rushes.core.machine.memory import ran_out_of_memory
from rushes.core.words.suggest import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rushes.core.definition import Definition

Thing = TypeVar("Thing")


def load(reference: str) -> Any:
    """What "package.module:name" names, imported now.

    >>> load("math:tau") > 6
    True
    """
    module, _, name = reference.partition(":")
    return attrgetter(name)(import_module(module))


_CATALOGUE = "rushes.instruments.catalogue:find"


def catalogued(name: str, instrument: str = "") -> list[Definition]:
    """The definitions that a name, a signature or an alias means, of one instrument or of all; [] where it is none.

    Named and not imported, since the catalogue stands on everything here; asking costs the import of the instruments.
    """
    try:
        found: list[Definition] = load(_CATALOGUE)(name, instrument=instrument)
    except InputError:
        return []
    return found


def optional_package(name: str, needs: str, *, extra: str = "", package: str = "") -> Any:
    """A package of an extra, or another one, imported now; `MissingDependency` with what needs it and how to get it.

    >>> optional_package("not_there", "charts need it", package="it")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rushes.core.errors.MissingDependency: charts need it; run: ...pip install it
    """
    try:
        return import_module(name)
    except ImportError as error:
        from rushes.core.machine.installing import not_installed

        if ran_out_of_memory(error):
            raise
        raise not_installed(needs, extra=extra, package=package) from None


class Registry(Generic[Thing]):
    """Things by name, in order: built-in ones first, then those of entry points, by name.

    >>> shapes = Registry("shape", group="rushes.shapes", built_in={"circle": "math:pi"})
    >>> list(shapes), shapes["circle"] > 3
    (['circle'], True)
    >>> shapes["circel"]
    Traceback (most recent call last):
    rushes.core.errors.InputError: no shape is called 'circel'. Did you mean `circle`?
    """

    def __init__(
        self, kind: str, *, group: str, built_in: Mapping[str, str | Thing], type_: type[Thing] | None = None
    ) -> None:
        self.kind = kind
        """What an error calls one of them: "clip metric"."""
        self.group = group
        self.type = type_
        """What a thing of another package must be; anything where it is left out."""
        self._built_in = dict(built_in)
        self._loaded: dict[str, Thing] = {}
        self.broken: dict[str, str] = {}
        """Why a thing of another package could not be loaded, by name, once it was asked for."""

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from (name for name in sorted(_entry_points(self.group)) if name not in self._built_in)

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in _entry_points(self.group)

    def __getitem__(self, name: str) -> Thing:
        """The thing of this name; `InputError` with the nearest names, or with why it cannot be loaded."""
        if name not in self._loaded:
            if name not in self:
                raise InputError(f"no {self.kind} is called {name!r}{did_you_mean(name, self)}")
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Thing:
        if name in self._built_in:
            thing = self._built_in[name]
            return load(thing) if isinstance(thing, str) else thing
        if name not in self.broken:
            try:
                found: Thing = _entry_points(self.group)[name].load()
                if self.type is not None and not isinstance(found, self.type):
                    raise TypeError(f"expected {self.type.__name__}; got {type(found).__name__}")
                return found
            except Exception as error:  # somebody else's module: whatever it raises is its own
                self.broken[name] = f"{type(error).__name__}: {error}"
        raise InputError(f"the {self.kind} {name!r} cannot be loaded ({self.broken[name]})")

    def items(self) -> Iterator[tuple[str, Thing]]:
        """Every thing that can be loaded, with its name."""
        for name in self:
            try:
                yield name, self[name]
            except InputError:
                if name in self._built_in:
                    raise

    def package(self, name: str) -> str:
        """The distribution that adds a thing, with its version; "rushes" for a built-in one."""
        point = None if name in self._built_in else _entry_points(self.group).get(name)
        found = None if point is None else point.dist
        return "rushes" if found is None else f"{found.name} {found.version}"

    def refused(self) -> Iterator[tuple[str, str]]:
        """What packages add under a name that is taken: the name, and why it is not there."""
        for name, points in _every_point(self.group, tuple(sys.path)).items():
            for point in points if name in self._built_in else points[1:]:
                added = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
                owner = "Rushes" if name in self._built_in else self.package(name)
                yield name, f"the {self.kind} {name!r} of {added} takes a name that {owner} has"

    def is_built_in(self, name: str) -> bool:
        return name in self._built_in


def _entry_points(group: str) -> dict[str, EntryPoint]:
    """Entry points by name, as the installed packages declare them; of two of one name, the first by what it names."""
    return _declared(group, tuple(sys.path))


@cache
def _declared(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    return {name: points[0] for name, points in _every_point(group, path).items()}


@cache
def _every_point(group: str, path: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    if f"[{group}]" not in _declarations(path):
        return {}
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        found.setdefault(point.name, []).append(point)
    return found


@cache
def _declarations(path: tuple[str, ...]) -> str:
    """Every declaration of an entry point on the path: 2 ms, where importing importlib.metadata and asking takes 25."""
    files = (file for place in path for file in Path(place or ".").glob("*-info/entry_points.txt"))
    return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
