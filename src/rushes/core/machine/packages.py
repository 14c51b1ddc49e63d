"""Optional packages: what needs one that is not here says so, and how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rushes.core.errors import MissingDependency


def optional_package(name: str, needed: str) -> Any:
    """A package that an extra brings, imported now; `MissingDependency` with what needs it, and the command to get it.

    >>> optional_package("not_installed", "charts need it: pip install it")
    Traceback (most recent call last):
    rushes.core.errors.MissingDependency: charts need it: pip install it
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependency(needed) from None
