"""`rushes suite run` in Python: every system under every instrument, what is missing alone, in one folder.

The folder holds what was asked, the runs behind it, and what could not be had.

DIR/
  suite.json            systems, prompts, reference, people's answers (path and digest), weights; every run, and why
                        one is missing
  amber/clip/           one run per system and instrument
  amber/pose/p001/      of poses: one per file
  preference/           what looks at all systems at once
  features/             of the distances, so that the next call need not compute them again
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rushes.core.answer import Answer, told
from rushes.core.errors import InputError, RunError, RushesError
from rushes.core.instrument import Measure
from rushes.core.machine.files import LOCK, locked_folder, replacing
from rushes.core.machine.progress import Progress
from rushes.core.registry import load
from rushes.core.words.options import option
from rushes.present.terminal.progress import shown_progress
from rushes.storage.integrity.seal import SEAL, file_damage, json_digest, require_sound
from rushes.storage.remote.address import local_only
from rushes.storage.runs import subject_ids
from rushes.storage.runs.disk import require_info
from rushes.suite.draft import drafted
from rushes.suite.file import Suite, SuitePlan, SuiteSystem, read_suite
from rushes.suite.prompts import Prompt
from rushes.suite.settings import measure_of
from rushes.workers.engine import LOCAL, Engine, connected
from rushes.workers.job import Job

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
class SuiteRun(Answer):
    """What `run_suite` made; `rushes board DIR` shows it."""

    __repr__ = told

    path: Path
    suite: Suite
    steps: tuple[SuiteStep, ...]
    complete: bool = False
    """Whether every step was tried; False while one is under way, and after an interruption."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files that hold what people said, by path, as they were when the suite ran."""

    @property
    def summary(self) -> str:
        """How many steps were measured."""
        done = len(self.steps) - len(self.failed)
        return f"{self.path}: {done} of {len(self.steps)} steps measured ({len(self.suite.systems)} systems)."

    @property
    def notes(self) -> tuple[str, ...]:
        """What failed, and why."""
        return tuple(f"{step.folder}: {step.why}" for step in self.failed)

    def _items(self) -> tuple[SuiteStep, ...]:
        return self.steps

    def _rows(self) -> list[dict[str, object]]:
        return [{"folder": str(step.folder), "failed": step.why} for step in self.steps]

    @property
    def failed(self) -> tuple[SuiteStep, ...]:
        return tuple(step for step in self.steps if step.why)

    def runs_of(self, step: SuiteStep) -> list[Path]:
        """Its run directories that are there: one, or several below its folder; `require_info` of each."""
        folder = self.path / step.folder
        if (folder / "run.json").is_file():
            return [folder]
        require_info(folder)
        return sorted(found.parent for found in folder.glob("*/run.json"))

    def write(self) -> None:
        """Put `suite.json` in place."""
        data = {
            "format": _FORMAT,
            "complete": self.complete,
            "suite": asdict(self.suite),
            "digests": dict(self.digests),
            "steps": [asdict(step) for step in self.steps],
        }
        data[SEAL] = json_digest(json.loads(json.dumps(data)))
        with replacing(self.path / FILE) as file:
            file.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def is_suite_folder(place: Path | str) -> bool:
    return Path(place, FILE).is_file()


class _Unreadable(RunError):
    """A `suite.json` that can only be written again."""


def read_suite_folder(place: Path | str, *, damaged: bool = False) -> SuiteRun:
    """What a folder of `rushes suite run` holds.

    Raises `RunError` where it is none, of a newer version, or `suite.json` was changed and `damaged` is not set.
    """
    file = Path(place, FILE)
    try:
        data = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise RunError(f"{place}: expected a folder of rushes suite run; it has no {FILE}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise _Unreadable(f"{file}: cannot be read as a suite ({error}); run rushes suite run again") from None
    require_sound(file_damage(file, data), damaged=damaged)
    try:
        if data["format"] > _FORMAT:
            raise RunError(f"{file}: written by a newer rushes; upgrade rushes")
        steps = tuple(SuiteStep(**step) for step in data["steps"])
        suite = _suite(data["suite"])
        if unknown := {step.system for step in steps} - {"", *(system.name for system in suite.systems)}:
            raise LookupError(f"no system is called {sorted(unknown)[0]}")
        digests = dict(data.get("digests", {}))
        _require_text(suite.name, suite.reference, suite.ratings, suite.votes, suite.kind, suite.alike)
        _require_text(*digests.values(), *suite.scale.values(), *suite.differences)
        _require_text(*(text for step in steps for text in astuple(step)))
        complete = bool(data["complete"])
        return SuiteRun(path=Path(place), suite=suite, steps=steps, complete=complete, digests=digests)
    except (LookupError, TypeError, AttributeError) as error:
        raise _Unreadable(f"{file}: is not a complete suite ({error!r}); run rushes suite run again") from None


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
        differences=tuple(data.get("differences", ())),
        prompts=_prompts(data["prompts"]),
        ratings=data["ratings"],
        scale=dict(data.get("scale", {})),
        votes=data.get("votes", ""),
        kind=data.get("kind", ""),
        alike=data.get("alike", ""),
        instruments=tuple(SuitePlan(**plan) for plan in data["instruments"]),
        overall=data["overall"],
    )


def _prompts(rows: Sequence[Mapping[str, str]]) -> tuple[Prompt, ...]:
    prompts = tuple(Prompt(**row) for row in rows)
    _require_text(*(text for prompt in prompts for text in astuple(prompt)))
    return prompts


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Keep other processes out of the folder; `RunError` for one that holds something else."""
    with locked_folder(folder):
        others = sorted(path.name for path in folder.iterdir() if path.name != LOCK)
        if others and not is_suite_folder(folder):
            raise RunError(f"{folder}: expected an empty folder or one of rushes suite run; it holds {others[0]}")
        yield


FEATURES = "features"


def run_suite(
    suite: Suite | Path | str,
    out: Path | str,
    *,
    jobs: int | None = None,
    engine: Engine = LOCAL,
    overwrite: bool = False,
    progress: Progress | None = None,
    warn: Callable[[str], None] = lambda line: None,
    started: Callable[[SuiteStep], None] = lambda step: None,
) -> SuiteRun:
    """Measure every system of a suite with every instrument, into `out`; each an ordinary run, `out/<system>/<name>`.

        done = rushes.suite.run("systems/", "out")
        [step.why for step in done.failed]

    `suite` is a suite file, or a folder with a folder of clips per system: its file, `OUT.toml`, is then made first.

    The same call goes on where it was interrupted, and measures what is new: each run keeps what it has. What fails for
    one system (`SuiteRun.failed` says why) does not end the others; it is tried again by the next call. Settings that
    changed since are such a failure, since a run has one question; `overwrite` starts every run anew. `jobs` and
    `engine` are as in `evaluate_clips`; `started` is told of every step as it begins. By default `progress` is shown
    while stderr is a terminal or a notebook.

    Raises `InputError` for a suite without an instrument, `RunError` for a folder that holds something else.
    """
    if not isinstance(suite, Suite) and Path(suite).is_dir():
        suite, remarks = drafted(Path(suite), out)
        for remark in remarks:
            warn(remark)
    asked = suite if isinstance(suite, Suite) else read_suite(suite)
    local_only(out)
    folder = Path(out)
    if not asked.instruments and not any(system.runs for system in asked.systems):
        raise InputError(f"suite {asked.name}: expected an instrument, such as a table [instruments.clip]; got none")
    with writing(folder), connected(engine, jobs=jobs), shown_progress(progress) as shown:
        _require_same(folder, asked)
        planned = list(_steps(asked))
        digests = {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in asked.asked}
        done = SuiteRun(path=folder, suite=asked, steps=tuple(step for step, _, _ in planned), digests=digests)
        done.write()
        steps = []
        for step, plan, system in planned:
            started(step)
            job = Job(
                clips=system.clips if system else "",
                reference=asked.reference,
                out=folder / step.folder,
                features=folder / FEATURES,
                settings=plan.settings,
                jobs=jobs,
                engine=engine,
                overwrite=overwrite,
                progress=shown,
                warn=partial(_warn, warn, step.folder),
                prompts={prompt.id: prompt.text for prompt in asked.prompts},
            )
            steps.append(replace(step, why=_why_not(job, plan)))
        done = replace(done, steps=tuple(steps), complete=True)
        done.write()
    return done


run = run_suite
"""Its name as a verb: `rushes.suite.run`."""


def _warn(warn: Callable[[str], None], folder: str, line: str) -> None:
    warn(f"{folder}: {line}")


def _why_not(job: Job, plan: SuitePlan) -> str:
    """Make the run; what stops it is the answer, and no end of the others."""
    try:
        load(_measure(plan).job)(job)
    except RushesError as error:
        return " ".join(str(error).split())
    return ""


def _steps(suite: Suite) -> Iterator[tuple[SuiteStep, SuitePlan, SuiteSystem | None]]:
    """System by system; what looks at all systems comes last."""
    every = [plan for plan in suite.instruments if _measure(plan).whole_suite]
    measured = [system for system in suite.systems if system.clips]
    folders = subject_ids([system.name for system in measured])
    if clash := sorted(
        {name.casefold() for name in (*(plan.name for plan in every), FEATURES)}
        & {folder.casefold() for folder in folders}
    ):
        raise InputError(
            f"suite {suite.name}: {clash[0]} is already the name of a folder below {option('-o', 'out')}; rename that "
            "system"
        )
    for system, folder in zip(measured, folders, strict=True):
        for plan in suite.instruments:
            if plan not in every and not (system.is_reference and _measure(plan).needs_reference):
                yield _step(system.name, plan, f"{folder}/{plan.name}"), plan, system
    for plan in every:
        yield _step("", plan, plan.name), plan, None


def _measure(plan: SuitePlan) -> Measure:
    return measure_of(plan.instrument, f"[instruments.{plan.name}]")


def _step(system: str, plan: SuitePlan, folder: str) -> SuiteStep:
    return SuiteStep(system=system, plan=plan.name, instrument=plan.instrument, folder=folder)


def _require_same(folder: Path, suite: Suite) -> None:
    """A folder is of one suite: systems may join it, but another suite's runs would mix with these.

    A `suite.json` that is damaged is written again; each run below it says itself what it was asked.
    """
    if not is_suite_folder(folder):
        return
    try:
        before = read_suite_folder(folder, damaged=True)
    except _Unreadable:
        return
    if before.suite.name != suite.name:
        raise RunError(
            f"{folder}: holds the suite {before.suite.name!r}; this file is of {suite.name!r}; choose another "
            f"{option('-o')}, or the same name"
        )
