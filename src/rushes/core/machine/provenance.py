"""Where a number comes from: digests of inputs, versions of what computed it."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path

from rushes import __version__

# What can move a value or a byte of a result; anything else would only make run.json noisy.
_PACKAGES = ("av", "numpy", "opencv-python-headless", "ai-edge-litert", "torch", "pillow", "onnxruntime")


def bytes_digest(data: bytes) -> str:
    """sha256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def file_digest(path: Path | str) -> str:
    """sha256 of a file's bytes, in hex, read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def short_digest(digest: str) -> str:
    """The first 12 hex digits, as signatures show a digest."""
    return digest[:12]


def environment() -> dict[str, str]:
    """Versions of the packages and the machine that computed a run, for `run.json` only."""
    versions = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    versions["rushes"] = __version__
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
