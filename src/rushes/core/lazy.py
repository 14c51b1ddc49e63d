"""Names of a package that are imported when first used, so that importing the package costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A module's `__getattr__`: each public name comes from the module that `homes` says; "" is a module itself.

    >>> lazy_names("rushes.core", {"stored_float": "rushes.core.canonical"})("stored_float")(1 / 3)
    0.33333333
    """

    def __getattr__(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return import_module(f"{package}.{name}") if not home else getattr(import_module(home), name)

    return __getattr__
