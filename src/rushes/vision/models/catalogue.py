"""Which model files there are: `groups.toml` as plain data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from rushes.core.errors import InputError

Registry = Literal["pypi", "npm"]
Conversion = Literal["copy", "i3d", "arrays", "torch"]
"""What becomes of a file: kept as it is; or read as data, without being executed, and written as `.npz`."""
NOTHING_YET = "nothing yet: no metric of this version reads it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """One released file of a package: a wheel, an sdist or an npm tarball."""

    file: str
    """Its name on the registry."""
    project: str
    version: str
    sha256: str
    size: int
    """Bytes."""
    registry: Registry = "pypi"

    @property
    def requirement(self) -> str:
        """The package as its own installer writes it.

        >>> Archive(file="x-1.0.tgz", project="@a/x", version="1.0", sha256="0", size=1, registry="npm").requirement
        'npm:@a/x@1.0'
        """
        return f"npm:{self.project}@{self.version}" if self.registry == "npm" else f"{self.project}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place where a file can be had."""

    archive: Archive
    inside: str
    """Path inside the archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of the cache, and the sources that give it."""

    name: str
    """In the cache."""
    sha256: str
    size: int
    source_sha256: str
    """Of the file in the archive; the same as `sha256` where nothing is converted."""
    convert: Conversion = "copy"
    executable: bool = False
    sources: tuple[Source, ...]
    """In the order in which they are tried; each holds the same bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Files that are pulled together."""

    name: str
    summary: str
    unlocks: str = NOTHING_YET
    """What Rushes can do once they are there."""
    licence: str
    named_in: str = ""
    """Where the literature names it."""
    files: tuple[ModelFile, ...]

    @property
    def archives(self) -> tuple[Archive, ...]:
        """Every archive that gives something, first choices first."""
        depth = max(len(file.sources) for file in self.files)
        found = [file.sources[rank].archive for rank in range(depth) for file in self.files if rank < len(file.sources)]
        return tuple(dict.fromkeys(found))

    @property
    def size(self) -> int:
        """Bytes in the cache."""
        return sum(file.size for file in self.files)

    def as_dict(self) -> dict[str, object]:
        """The group as plain data, for `--json`."""
        words = {key: getattr(self, key) for key in ("name", "summary", "unlocks", "licence", "named_in")}
        return words | {
            "archives": [
                {"package": one.requirement, "file": one.file, "sha256": one.sha256, "bytes": one.size}
                for one in self.archives
            ],
            "files": [
                {
                    "name": file.name,
                    "sha256": file.sha256,
                    "bytes": file.size,
                    "source_sha256": file.source_sha256,
                    "converted": file.convert != "copy",
                    "sources": [f"{source.archive.file}:{source.inside}" for source in file.sources],
                }
                for file in self.files
            ],
        }


def read_groups(text: str) -> dict[str, Group]:
    """The groups of a catalogue in TOML: `[archives."FILE"]` tables, then one table for each group."""
    tables = tomllib.loads(text)
    archives = {file: Archive(file=file, **table) for file, table in tables.pop("archives").items()}
    return {
        name: Group(name=name, **table | {"files": tuple(_file(entry, archives) for entry in table["files"])})
        for name, table in tables.items()
    }


def _file(entry: dict[str, Any], archives: Mapping[str, Archive]) -> ModelFile:
    sources = tuple(Source(archive=archives[source["archive"]], inside=source["inside"]) for source in entry["sources"])
    usual = {"name": sources[0].inside.rsplit("/", 1)[-1], "source_sha256": entry["sha256"]}
    return ModelFile(**usual | entry | {"sources": sources})


GROUPS = read_groups((resources.files("rushes.vision.models") / "groups.toml").read_text(encoding="utf-8"))


def group_named(name: str) -> Group:
    """The group of this name; `InputError` with the known ones where there is none."""
    if name not in GROUPS:
        raise InputError(f"no models are called {name!r}; choose from {', '.join(GROUPS)}")
    return GROUPS[name]


def licence_of(*groups: str) -> str:
    """The licence of the weights in these groups, as references end.

    >>> licence_of("rife", "transnet")
    'Licence of the weights: MIT.'
    """
    return f"Licence of the weights: {'; '.join(dict.fromkeys(group_named(name).licence for name in groups))}."


def file_named(name: str) -> tuple[Group, ModelFile]:
    """The file of this name in the cache, and the group it is pulled with."""
    for group in GROUPS.values():
        for file in group.files:
            if file.name == name:
                return group, file
    known = ", ".join(file.name for group in GROUPS.values() for file in group.files)
    raise InputError(f"no model file is called {name!r}; known are {known}")
