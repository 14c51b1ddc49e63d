"""The demo's parts, in the order they are shown. A part whose packages are not installed says so and is left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from rushes.demo.part import DemoPart
from rushes.errors import MissingDependency

_NAMES = ("clip", "face", "distribution", "pose", "preference", "robustness")
"""Modules beside this one, each with `run(folder)`; loaded when their turn comes."""


def _run(name: str, folder: Path) -> DemoPart:
    try:
        part: DemoPart = import_module(f"rushes.demo.{name}").run(folder)
    except ModuleNotFoundError as error:
        if (error.name or "rushes").partition(".")[0] == "rushes":
            raise
        raise MissingDependency(
            f"the demo of {name} needs {error.name}, which is not installed; run: pip install 'rushes[all]'"
        ) from None
    return part


PARTS: tuple[Callable[[Path], DemoPart], ...] = tuple(partial(_run, name) for name in _NAMES)
