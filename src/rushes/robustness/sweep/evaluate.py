"""`rushes sweep` in Python: perturb clips, let a judge look at each version, write sweep directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rushes.core.judge import Judge
from rushes.core.provenance import file_digest
from rushes.media import probe
from rushes.media.find import find_clips
from rushes.remote.address import Place, is_remote, joined
from rushes.remote.transfer import cached_copy, local_copy
from rushes.robustness.manifests import MANIFEST
from rushes.robustness.sweep.axes import checked_grid, checked_seeds
from rushes.robustness.sweep.judges import JUDGES
from rushes.robustness.sweep.render import check_source
from rushes.robustness.sweep.writer import (
    RunTask,
    check_folder,
    clear_cut_off,
    is_finished,
    judge_elsewhere,
    locked,
    make_run,
    planned,
    store_failure,
    store_judged,
    write_manifest,
)
from rushes.runs import mirrored_folder, subject_ids
from rushes.workers.engine import LOCAL, Crash, Engine, run_tasks

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutcome:
    """What a sweep made."""

    sweeps: tuple[Path | str, ...]
    """One directory per clip; the output folder itself for a single clip."""
    runs: int
    kept: int
    """Runs that an earlier sweep had finished."""
    failed: int
    """New runs whose judge gave no answer."""


def sweep_clips(
    clips: Iterable[Path | str],
    *,
    axes: Mapping[str, Sequence[float]],
    output: Path | str,
    seeds: Sequence[int] = (1,),
    judge: Judge | None = None,
    profile: object = "general",
    jobs: int | None = None,
    timeout: float | None = None,
    keep_clips: bool = False,
    retry_failed: bool = False,
    engine: Engine = LOCAL,
    progress: Callable[[int, int], Progress] | None = None,
) -> SweepOutcome:
    """Judge every clip at every combination of axis values and seeds.

    One clip writes `output` itself, several write `output/<clip>` each. `judge` defaults to the clip bundle under
    `profile`. A run that is there already is kept (with `retry_failed`, unless its judge failed); a judge that fails
    is recorded as the answer "judge-error" with its reason. `timeout`, in seconds, stops a run of the clip bundle;
    other judges carry a limit of their own. On the engine Ray a judge works on any node, and what it says is written
    here.
    """
    grid, seed_list = checked_grid(axes.items()), checked_seeds(seeds)
    bundle = judge is None
    judge = judge or JUDGES["bundle"](profile)
    with ExitStack() as held:
        sources = [held.enter_context(cached_copy(clip)) for clip in find_clips(clips)]
        for source in sources:
            with local_copy(source) as copy:
                check_source(copy.path, probe(copy.path), grid)
        target = held.enter_context(mirrored_folder(output))
        folders = [target] if len(sources) == 1 else [target / name for name in subject_ids([s.stem for s in sources])]
        sweeps = [
            _tasks(source, folder, grid, seed_list, judge, keep_clips)
            for source, folder in zip(sources, folders, strict=True)
        ]
        with locked(target):
            if len(sources) > 1:
                check_folder(target, [folder.name for folder in folders])
            for folder, tasks in zip(folders, sweeps, strict=True):
                check_folder(folder, ["runs", MANIFEST])
                check_folder(folder / "runs", [task.name for task in tasks])
                clear_cut_off(folder / "runs")
            everything = [task for tasks in sweeps for task in tasks]
            todo = [task for task in everything if not is_finished(task, retry_failed=retry_failed)]
            kept = len(everything) - len(todo)
            advance = progress(len(everything), kept) if progress else None
            limit = timeout if bundle else None
            failed = _make_all(todo, engine, jobs, limit, advance)
            for folder, tasks in zip(folders, sweeps, strict=True):
                write_manifest(folder, grid, seed_list, tasks)
        places = [_place(folder, target, output) for folder in folders]
        return SweepOutcome(sweeps=tuple(places), runs=len(everything), kept=kept, failed=failed)


def _place(folder: Path, target: Path, output: Path | str) -> Path | str:
    """What a user calls a sweep's folder."""
    if not is_remote(output):
        return folder
    return joined(str(output), folder.name) if folder != target else str(output)


def _tasks(
    source: Place,
    folder: Path,
    grid: Mapping[str, Sequence[float]],
    seeds: Sequence[int],
    judge: Judge,
    keep_clips: bool,
) -> list[RunTask]:
    with local_copy(source) as copy:
        digest = file_digest(copy.path)
    return [
        RunTask(
            source=source,
            clip_sha256=digest,
            runs=folder / "runs",
            values=values,
            seed=seed,
            judge=judge,
            keep_clip=keep_clips,
        )
        for values, seed in planned(grid, seeds)
    ]


def _make_all(
    tasks: Sequence[RunTask], engine: Engine, jobs: int | None, timeout: float | None, advance: Progress | None
) -> int:
    """How many judges failed."""
    failed = 0
    for position, outcome in _outcomes(tasks, engine, jobs, timeout):
        if isinstance(outcome, Crash):
            store_failure(tasks[position], outcome.reason)
            failed += 1
        else:
            failed += outcome
        if advance is not None:
            advance(1)
    return failed


def _outcomes(
    tasks: Sequence[RunTask], engine: Engine, jobs: int | None, timeout: float | None
) -> Iterator[tuple[int, bool | Crash]]:
    """Whether the judge failed, for every run as it is stored: by a worker here, or here for workers elsewhere."""
    if engine.kind == "local":
        yield from run_tasks(make_run, tasks, engine=engine, jobs=jobs, timeout=timeout)
        return
    outcomes = run_tasks(judge_elsewhere, tasks, engine=engine, jobs=jobs, timeout=timeout, needs=_files)
    for position, outcome in outcomes:
        yield position, outcome if isinstance(outcome, Crash) else store_judged(tasks[position], outcome)


def _files(task: RunTask) -> tuple[str, ...]:
    return (str(task.source),)
