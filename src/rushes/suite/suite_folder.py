"""The folder that `rushes suite run` fills: what was asked, the runs behind it, and what could not be had.

DIR/
  suite.json            systems, prompts, reference, weights; every run, and why one is missing
  amber/clip/           one run per system and instrument
  amber/pose/p001/      of poses: one per file
  preference/           what looks at all systems at once
  features/             of the distances, so that the next call need not compute them again
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from rushes.core.files import replacing, take_lock
from rushes.core.showing import brief
from rushes.errors import RunError
from rushes.suite.board_data import Prompt
from rushes.suite.suite_file import Suite, SuitePlan, SuiteSystem

FILE = "suite.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStep:
    """One run of the folder, or the reason why it is not there."""

    system: str
    """"" for a run about all systems."""
    plan: str
    """The instrument's table in the suite."""
    instrument: str
    folder: str
    """Below the suite's folder."""
    why: str = ""
    """What stopped it; "" where it went through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """What `run_suite` made; `rushes board DIR` shows it."""

    __repr__ = brief

    path: Path
    suite: Suite
    steps: tuple[SuiteStep, ...]
    complete: bool = False
    """Whether every step was tried; False while one is under way, and after an interruption."""

    @property
    def failed(self) -> tuple[SuiteStep, ...]:
        return tuple(step for step in self.steps if step.why)

    def runs_of(self, step: SuiteStep) -> list[Path]:
        """Its run directories that are there: one, or several below its folder."""
        folder = self.path / step.folder
        if (folder / "run.json").is_file():
            return [folder]
        return sorted(found.parent for found in folder.glob("*/run.json"))

    def write(self) -> None:
        """Put `suite.json` in place."""
        data = {
            "format": _FORMAT,
            "complete": self.complete,
            "suite": _plain(self.suite),
            "steps": [asdict(step) for step in self.steps],
        }
        with replacing(self.path / FILE) as file:
            file.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _plain(suite: Suite) -> dict[str, Any]:
    return {
        "name": suite.name,
        "systems": [asdict(system) for system in suite.systems],
        "reference": suite.reference,
        "prompts": [asdict(prompt) for prompt in suite.prompts],
        "ratings": suite.ratings,
        "instruments": [
            {"name": plan.name, "instrument": plan.instrument, "settings": dict(plan.settings)}
            for plan in suite.instruments
        ],
        "overall": dict(suite.overall),
    }


def is_suite_folder(place: Path | str) -> bool:
    return Path(place, FILE).is_file()


def read_suite_folder(place: Path | str) -> SuiteRun:
    """What a folder of `rushes suite run` holds; `RunError` where it is none, or of a newer version."""
    file = Path(place, FILE)
    try:
        data = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise RunError(f"{place}: expected a folder of rushes suite run; it has no {FILE}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{file}: cannot be read as a suite ({error}); run rushes suite run again") from None
    try:
        if data["format"] > _FORMAT:
            raise RunError(f"{file}: written by a newer rushes; upgrade rushes")
        steps = tuple(SuiteStep(**step) for step in data["steps"])
        suite = _suite(data["suite"])
        if unknown := {step.system for step in steps} - {"", *(system.name for system in suite.systems)}:
            raise LookupError(f"no system is called {sorted(unknown)[0]}")
        _require_text(suite.name, suite.reference, suite.ratings, *(text for step in steps for text in astuple(step)))
        return SuiteRun(path=Path(place), suite=suite, steps=steps, complete=bool(data["complete"]))
    except (LookupError, TypeError, AttributeError) as error:
        raise RunError(f"{file}: is no whole suite ({error!r}); run rushes suite run again") from None


def _require_text(*given: object) -> None:
    if wrong := [value for value in given if not isinstance(value, str)]:
        raise TypeError(f"expected text, got {wrong[0]!r}")


def _suite(data: Mapping[str, Any]) -> Suite:
    systems = [SuiteSystem(**system | {"runs": tuple(system["runs"])}) for system in data["systems"]]
    _require_text(*(text for system in systems for text in (system.name, system.clips, *system.runs)))
    return Suite(
        name=data["name"],
        systems=tuple(systems),
        reference=data["reference"],
        prompts=_prompts(data["prompts"]),
        ratings=data["ratings"],
        instruments=tuple(SuitePlan(**plan) for plan in data["instruments"]),
        overall=data["overall"],
    )


def _prompts(rows: Sequence[Mapping[str, str]]) -> tuple[Prompt, ...]:
    prompts = tuple(Prompt(**row) for row in rows)
    _require_text(*(text for prompt in prompts for text in astuple(prompt)))
    return prompts


@contextmanager
def writing(folder: Path, strangers_allowed: Sequence[str] = (".lock",)) -> Iterator[None]:
    """Keep other processes out of the folder; `RunError` for one that holds something else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RunError(f"{folder}: expected a folder to write; this is a file") from None
    try:
        lock = take_lock(folder / ".lock")
    except BlockingIOError:
        raise RunError(f"{folder}: another rushes is writing here; wait for it or choose another -o") from None
    try:
        others = sorted(path.name for path in folder.iterdir() if path.name not in strangers_allowed)
        if others and not is_suite_folder(folder):
            raise RunError(f"{folder}: expected an empty folder or one of rushes suite run; it holds {others[0]}")
        yield
    finally:
        lock.close()
        (folder / ".lock").unlink(missing_ok=True)
