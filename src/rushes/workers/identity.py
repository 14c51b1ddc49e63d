"""What a worker on another machine must have in common with this one: the code, and the packages behind the numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from rushes.core.provenance import environment, short_digest

_MAY_DIFFER = ("python", "system")
"""Recorded in a run, but no part of what decides a value."""


def identity() -> dict[str, str]:
    """Versions of Rushes and of the packages that can move a value, and a digest of Rushes' own source."""
    facts = {name: version for name, version in environment().items() if name not in _MAY_DIFFER}
    return facts | {"rushes source": short_digest(source_digest(Path(__file__).parents[1]))}


def source_digest(package: Path) -> str:
    """sha256 over every Python file of a package, its place included: two copies with equal digests define alike."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """The first fact in which a node differs, in words; "" when it can stand in for this machine.

    An optional package that is on one side only is no difference: work that needs it says so.

    >>> difference({"rushes": "0.2.0", "av": "18.0.0"}, {"rushes": "0.2.0", "av": "17.1.0"})
    'av 17.1.0 there, 18.0.0 here'
    """
    for name in here:
        if name in there and there[name] != here[name]:
            return f"{name} {there[name]} there, {here[name]} here"
    return ""
