"""Where model files are kept, and whether what lies there is what is pinned."""

from __future__ import annotations

import os
from pathlib import Path

from rushes.core.errors import MissingDependency, WeightsError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.files import replacing_bytes
from rushes.core.machine.provenance import bytes_digest, file_digest, short_digest
from rushes.vision.models.catalogue import Group, ModelFile, file_named


def pull_command(group: str) -> str:
    """What a user types to get a group of files."""
    return f"rushes models pull {group}"


def place(file: ModelFile) -> Path:
    """Where a file lies, or would."""
    return cache_folder() / "models" / file.name


def is_pulled(group: Group) -> bool:
    """Whether every file of the group is in the cache with its pinned size.

    Digests are left to whoever opens a file (`model_path`) or pulls it: this is asked often, of hundreds of megabytes.
    """
    return all(_size(place(file)) == file.size for file in group.files)


def is_right(file: ModelFile) -> bool:
    """Whether a file is in the cache, byte for byte."""
    path = place(file)
    return _size(path) == file.size and file_digest(path) == file.sha256


def model_path(name: str) -> Path:
    """The cached file of this name, checked against its pinned digest.

    Raises `MissingDependency` with the command that fetches it, `WeightsError` for a file that is not the pinned one:
    damaged, or left by a version of Rushes that pinned another.
    """
    group, file = file_named(name)
    path = place(file)
    if not path.is_file():
        raise MissingDependency(f"{name} is not in {path.parent}; run: {pull_command(group.name)}")
    digest = file_digest(path)
    if digest != file.sha256:
        raise WeightsError(
            f"{path}: expected sha256 {short_digest(file.sha256)}, got {short_digest(digest)}; "
            f"run: {pull_command(group.name)}"
        )
    return path


def write(file: ModelFile, content: bytes) -> Path:
    """Put a file into the cache, whole or not at all; several processes may do so at once."""
    path = place(file)
    if bytes_digest(content) != file.sha256:
        raise WeightsError(
            f"{file.name}: expected sha256 {file.sha256} after conversion, got "
            f"{bytes_digest(content)}; nothing was kept"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_bytes(path, shared=True) as out:
        if file.executable:
            os.fchmod(out.fileno(), 0o700)
        out.write(content)
    return path


def _size(path: Path) -> int:
    """Bytes of a plain file; -1 where there is none."""
    return path.stat().st_size if path.is_file() else -1
