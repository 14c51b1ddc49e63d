"""Manifests of known networks that Rushes ships: preprocessing from their public code, no weights, no digests."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.core.words.suggest import did_you_mean
from rushes.vision.networks.files import networks_of
from rushes.vision.networks.manifest import Manifest
from rushes.vision.networks.reading import read_manifest


def _folder() -> Path:
    return Path(str(resources.files("rushes.vision.networks") / "shipped"))


def shipped() -> dict[str, Manifest]:
    """Every manifest by its network's name."""
    return {file.stem: read_manifest(file) for file in sorted(_folder().glob("*.toml"))}


def to_bring(name: str) -> dict[str, str]:
    """The files that a shipped manifest names, and how to get each."""
    manifest = shipped()[name]
    found = {network.file: network.obtain for _, network in networks_of(manifest)}
    return found | ({} if manifest.tokenizer is None else {manifest.tokenizer.file: manifest.tokenizer.obtain})


def write_manifest(name: str, folder: Path | str) -> Path:
    """Copy a manifest into a folder, where its network's files belong; where it was written.

    Raises `InputError` for a name that is not shipped, and for a file that is there already.
    """
    files = {file.stem: file for file in sorted(_folder().glob("*.toml"))}
    if name not in files:
        raise InputError(f"no manifest of {name!r} is shipped{did_you_mean(name, files)}")
    target = Path(folder) / files[name].name
    if target.exists():
        raise InputError(f"{target}: already exists; remove it to write it again")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as out:
            out.write(files[name].read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    return target
