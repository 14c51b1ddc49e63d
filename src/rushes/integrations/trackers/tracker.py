"""What every tracker can do, and the choice of one: a text such as "wandb", or the object a training script has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from rushes.core.definition import describe_difference
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.core.machine.installing import not_installed

KINDS = ("wandb", "mlflow", "tensorboard")
_MODULES = {"wandb": "wandb", "mlflow": "mlflow", "tensorboard": "tensorboard", "tensorboardX": "tensorboard"}
_LIGHTNING = ("lightning.", "pytorch_lightning.", "lightning_fabric.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A film strip of a clip, and the clip where it is a file here."""

    name: str
    caption: str
    jpeg: bytes
    clip: Path | None = None


class Tracker(Protocol):
    """One run of a tracker, open."""

    place: str
    """Where the numbers went, in words."""

    def signatures(self) -> Mapping[str, str]:
        """What was logged there before: the signature of each name."""
        ...

    def numbers(self, values: Mapping[str, float], *, step: int | None) -> None:
        """Values by name."""

    def describe(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        """Texts by name, of each kind: {"signature": {"fvd": "fvd|…|v:1"}, "interval": …, "note": …}."""

    def file(self, path: Path) -> None:
        """Keep a file with the run."""

    def pictures(self, pictures: list[Picture], *, step: int | None) -> None: ...

    def close(self) -> None:
        """Finish what `log` itself began; an object that was given stays open."""


def open_tracker(to: Any) -> Tracker:
    """The tracker that a text or an object means.

    "wandb" and "mlflow" are the active run, or a new one under the settings of that package (its environment variables;
    nothing is stored here). "tensorboard:FOLDER" writes event files. Objects: a `wandb` run, an MLflow run, a
    `SummaryWriter`, or one of Lightning's loggers around them. Raises `InputError` for anything else.
    """
    if type(to).__module__.startswith(_LIGHTNING) and hasattr(to, "experiment"):
        to = (to.experiment, to.run_id) if hasattr(to, "run_id") else to.experiment
    if isinstance(to, str | Path):
        kind, _, rest = str(to).partition(":")
        given: Any = rest
    else:
        first = to[0] if isinstance(to, tuple) and to else to
        words = re.split(r"\W", getattr(first, "__name__", "") or type(first).__module__)
        kind = next((_MODULES[word] for word in words if word in _MODULES), "")
        given = to
    if kind not in KINDS:
        raise InputError(f"expected wandb, mlflow, tensorboard:FOLDER, or a run or writer of theirs; got {to!r}")
    maker: Callable[[Any], Tracker] = import_module(f"rushes.integrations.trackers.to_{kind}").open_run
    return maker(given)


def package(name: str) -> Any:
    """A tracker's package; `MissingDependency` where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        what = name.partition(".")[0]
        raise not_installed(f"logging to {what} needs {what}", extra="trackers") from None


def require_same(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """`DefinitionMismatch` where a name was logged under another signature: one curve is one definition."""
    for name, signature in now.items():
        if before.get(name, signature) != signature:
            why = describe_difference(before[name], signature)
            raise DefinitionMismatch(f"{name} was logged under another signature; give another prefix= ({why})")
