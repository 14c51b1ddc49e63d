"""`rushes suite run` in Python: every system under every instrument, what is missing alone, in one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from rushes.core.progress import Progress, no_progress
from rushes.errors import InputError, RunError, RushesError
from rushes.remote.address import local_only
from rushes.runs import subject_ids
from rushes.suite.suite_file import Suite, SuitePlan, SuiteSystem, read_suite
from rushes.suite.suite_folder import SuiteRun, SuiteStep, is_suite_folder, read_suite_folder, writing
from rushes.suite.suite_instruments import SUITE_INSTRUMENTS, Job
from rushes.workers.engine import LOCAL, Engine, connected

FEATURES = "features"


def run_suite(
    suite: Suite | Path | str,
    out: Path | str,
    *,
    jobs: int | None = None,
    engine: Engine = LOCAL,
    overwrite: bool = False,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
    started: Callable[[SuiteStep], None] = lambda step: None,
) -> SuiteRun:
    """Measure every system of a suite with every instrument, into `out`; each an ordinary run, `out/<system>/<name>`.

        done = rushes.run_suite("suite.toml", "out/takes")
        [step.why for step in done.failed]

    The same call goes on where it was interrupted, and measures what is new: each run keeps what it has. What fails for
    one system (`SuiteRun.failed` says why) does not end the others; it is tried again by the next call. Settings that
    changed since are such a failure, since a run has one question; `overwrite` starts every run anew. `jobs` and
    `engine` are as in `evaluate_clips`; `started` is told of every step as it begins.

    Raises `InputError` for a suite without an instrument, `RunError` for a folder that holds something else.
    """
    asked = suite if isinstance(suite, Suite) else read_suite(suite)
    local_only(out)
    folder = Path(out)
    if not asked.instruments and not any(system.runs for system in asked.systems):
        raise InputError(f"suite {asked.name}: expected an instrument, such as a table [instruments.clip]; got none")
    with writing(folder), connected(engine, jobs=jobs):
        _require_same(folder, asked)
        planned = list(_steps(asked))
        done = SuiteRun(path=folder, suite=asked, steps=tuple(step for step, _, _ in planned))
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
                progress=progress,
                warn=partial(_warn, warn, step.folder),
            )
            steps.append(replace(step, why=_why_not(job, plan)))
        done = replace(done, steps=tuple(steps), complete=True)
        done.write()
    return done


def _warn(warn: Callable[[str], None], folder: str, line: str) -> None:
    warn(f"{folder}: {line}")


def _why_not(job: Job, plan: SuitePlan) -> str:
    """Make the run; what stops it is the answer, and no end of the others."""
    try:
        SUITE_INSTRUMENTS[plan.instrument].measure(job)
    except RushesError as error:
        return " ".join(str(error).split())
    return ""


def _steps(suite: Suite) -> Iterator[tuple[SuiteStep, SuitePlan, SuiteSystem | None]]:
    """System by system; what looks at all systems comes last."""
    every = [plan for plan in suite.instruments if SUITE_INSTRUMENTS[plan.instrument].whole_suite]
    measured = [system for system in suite.systems if system.clips]
    folders = subject_ids([system.name for system in measured])
    if clash := sorted(
        {name.casefold() for name in (*(plan.name for plan in every), FEATURES)}
        & {folder.casefold() for folder in folders}
    ):
        raise InputError(f"suite {suite.name}: {clash[0]} is a folder of its own below -o; call that system otherwise")
    for system, folder in zip(measured, folders, strict=True):
        for plan in suite.instruments:
            needs = SUITE_INSTRUMENTS[plan.instrument]
            if plan not in every and not (system.is_reference and needs.needs_reference):
                yield _step(system.name, plan, f"{folder}/{plan.name}"), plan, system
    for plan in every:
        yield _step("", plan, plan.name), plan, None


def _step(system: str, plan: SuitePlan, folder: str) -> SuiteStep:
    return SuiteStep(system=system, plan=plan.name, instrument=plan.instrument, folder=folder)


def _require_same(folder: Path, suite: Suite) -> None:
    """A folder is of one suite: systems may join it, but another suite's runs would mix with these."""
    if is_suite_folder(folder) and (before := read_suite_folder(folder)).suite.name != suite.name:
        raise RunError(
            f"{folder}: holds the suite {before.suite.name!r}; {suite.name!r} came; choose another -o, or the same name"
        )
