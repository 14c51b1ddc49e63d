"""What the library of loops is made of; `hatch_build.py` runs this file before there is a package to import."""

from __future__ import annotations

import hashlib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def c_files() -> list[Path]:
    """In a checkout; a wheel has the library alone."""
    return sorted(FOLDER.glob("*.c"))


def digest() -> str:
    """Of all C files and headers: the library knows that of the ones it was made of."""
    found = hashlib.sha256()
    for path in (*c_files(), *sorted(FOLDER.glob("*.h"))):
        found.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
    return found.hexdigest()[:16]
