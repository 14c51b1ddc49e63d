"""Rushes: the evaluation workbench for generated video. No number without its definition."""

import sys
from importlib import import_module

from rushes._lazy import DOORS, Doors, lazy, public_names

__version__ = "0.2.0"

sys.meta_path.insert(0, Doors())  # first: below a door the folder would be found, and its modules loaded twice
__all__, _imported = lazy(__name__, __file__)
_ERRORS = {name for name, (module, _) in public_names(__file__).items() if module == "rushes.core.errors"}


_RENAMED = {"Belief": "MetricAgreement"}


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        from warnings import warn

        warn(f"rushes.{name} is rushes.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name in DOORS:
        return import_module(f"{__name__}.{name}")
    if name in __all__ and name not in _ERRORS:
        from rushes.core.machine.platforms import require_unix

        require_unix()
    return _imported(name)


def __dir__() -> list[str]:
    return __all__
