"""Rushes: the evaluation workbench for generated video. No number without its definition.

    rushes.clips("takes/")                        which clips are broken?
    rushes.fvd("generated/", "real/")             how far is the set from the real one?
    rushes.fidelity("out/", "truth/")             how far is each clip from its reference?
    rushes.compare("runs/a", "runs/b")            what changed?
    rushes.board("out/suite")                     which system is better?

Every answer has `.summary`, `.notes`, `.to_pandas()` and `.show()`, a length and its items. The verbs are those of the
command line, with the same defaults; `dir(rushes)` lists them.
"""

import sys
from importlib import import_module

from rushes._lazy import DOORS, Doors, lazy, public_names

__version__ = "0.3.0"

sys.meta_path.insert(0, Doors())  # first: below a door the folder would be found, and its modules loaded twice
__all__ = [
    *("Definition", "InputError", "Measurement", "Run", "RushesError", "believe", "board", "clips", "compare"),
    *("export", "failures", "fidelity", "figure", "fvd", "gate", "judge", "loop", "metrics", "paper", "pose"),
    *("query", "rank", "read_run", "report", "robust", "study", "suite", "sweep", "table", "view"),
]
"""What one types; everything else of the stub can be imported too."""
_EVERY, _imported = lazy(__name__, __file__)
_ERRORS = {name for name, (module, _) in public_names(__file__).items() if module == "rushes.core.errors"}
_PACKAGES = ("compare", "study", "suite")
_RENAMED = {"Belief": "MetricAgreement"}


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        from warnings import warn

        warn(f"rushes.{name} is rushes.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name in DOORS or name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name not in _EVERY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_near(name)}", name=name)
    if name not in _ERRORS:
        from rushes.core.machine.platforms import require_unix

        require_unix()
    return _imported(name)


def _near(name: str) -> str:
    if name.startswith("_"):
        return ""
    from rushes.core.words.suggest import did_you_mean

    return did_you_mean(name, (*_EVERY, *DOORS, *_PACKAGES), otherwise="")


def __dir__() -> list[str]:
    return __all__
