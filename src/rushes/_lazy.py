"""The public names of a package, written once: in the `__init__.pyi` beside it, a line a name.

Type checkers and editors read that stub; at run time a name is imported from where the stub says when it is first used,
so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType


def public_names(file: str) -> dict[str, tuple[str, str]]:
    """Public name → (module, name there), sorted, from lines `from MODULE import NAME as PUBLIC` of the stub."""
    with open(file.removesuffix(".py") + ".pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ") and " as " in line]
    names = ((public, (module, name)) for _, module, _, name, _, public in lines)
    return dict(sorted(pair for pair in names if not pair[0].startswith("_")))


def lazy(package: str, file: str) -> tuple[list[str], Callable[[str], object]]:
    """`__all__` and `__getattr__` of a package."""
    homes = public_names(file)

    def __getattr__(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        module, inner = homes[name]
        home = import_module(module)
        return getattr(home, inner) if hasattr(home, inner) else import_module(f"{module}.{inner}")

    return list(homes), __getattr__


class VerbModule(ModuleType):
    """A package that is a verb too: `rushes.pose(pred, gt, norms=…)` beside `rushes.pose.pck_at`."""

    _verb: str

    @property
    def __wrapped__(self) -> Callable[..., object]:
        module, _, name = self._verb.partition(":")
        found: Callable[..., object] = getattr(import_module(module), name)
        return found

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"{self.__dict__.get('__doc__') or ''}\n\n{self.__wrapped__.__doc__ or ''}"

    def __call__(self, *arguments: object, **options: object) -> object:
        return self.__wrapped__(*arguments, **options)


def as_verb(package: str, verb: str) -> None:
    """Let a package be called: as "module:function", which is imported when it is."""
    module = sys.modules[package]
    module.__class__ = VerbModule
    module._verb = verb  # type: ignore[attr-defined]


DOORS = {
    **{
        name: f"rushes.instruments.{name}"
        for name in ("clip", "distribution", "fidelity", "pose", "preference", "robustness")
    },
    "errors": "rushes.core.errors",
    "loop": "rushes.integrations.loop",
    "pytest_plugin": "rushes.integrations.pytest_plugin",
    "runs": "rushes.storage.runs",
    "trackers": "rushes.integrations.trackers",
}
"""Documented names of packages, and where they live: `from rushes.pose import pck_at` holds whatever the folders do."""


class Doors:
    """Finds `rushes.pose` and what is below it as `rushes.instruments.pose`: one module under two names."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        first, _, rest = name.partition(".")
        return ModuleSpec(name, self) if first == "rushes" and rest.partition(".")[0] in DOORS else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _, door, *below = spec.name.split(".")
        module = import_module(".".join([DOORS[door], *below]))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It was executed under its own name, which it keeps."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state
