"""Rushes: the evaluation workbench for generated video. No number without its definition."""

from rushes._lazy import lazy, public_names

__version__ = "0.2.0"

__all__, _imported = lazy(__name__, __file__)
_ERRORS = {name for name, (module, _) in public_names(__file__).items() if module == "rushes.errors"}


def __getattr__(name: str) -> object:
    if name in __all__ and name not in _ERRORS:
        from rushes.core.platforms import require_unix

        require_unix()
    return _imported(name)


def __dir__() -> list[str]:
    return __all__
