"""The public names of a package, written once: in the `__init__.pyi` beside it, a line a name.

Type checkers and editors read that stub; at run time a name is imported from where the stub says when it is first used,
so that importing the package costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


def public_names(file: str) -> dict[str, tuple[str, str]]:
    """Public name → (module, name there), sorted, from lines `from MODULE import NAME as PUBLIC` of the stub."""
    with open(file.removesuffix(".py") + ".pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ")]
    return dict(sorted((public, (module, name)) for _, module, _, name, _, public in lines))


def lazy(package: str, file: str) -> tuple[list[str], Callable[[str], object]]:
    """`__all__` and `__getattr__` of a package."""
    homes = public_names(file)

    def __getattr__(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inner = homes[name]
        return import_module(f"{package}.{inner}") if module == package else getattr(import_module(module), inner)

    return list(homes), __getattr__
