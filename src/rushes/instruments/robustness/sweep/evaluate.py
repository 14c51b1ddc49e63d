"""`rushes sweep` in Python: perturb clips, let a judge look at each version, write sweep directories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushes.core.judge import Judge, JudgeOptions
from rushes.core.machine.files import Paths
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import file_digest
from rushes.instruments.robustness.seed.manifests import MANIFEST
from rushes.instruments.robustness.seed.sweep_dir import FULL_GRID
from rushes.instruments.robustness.sweep import writer
from rushes.instruments.robustness.sweep.axes import check_design, checked_grid, checked_seeds, idle_axes, planned
from rushes.instruments.robustness.sweep.judges import named_judge
from rushes.instruments.robustness.sweep.render import check_source
from rushes.instruments.robustness.sweep.writer import RunTask
from rushes.media import probe
from rushes.media.find.clips import search_clips
from rushes.storage.remote.address import Place, is_remote, joined
from rushes.storage.remote.transfer import cached_copy, local_copy
from rushes.storage.runs import Run, clip_ids, clip_paths, mirrored_folder
from rushes.workers.engine import LOCAL, Crash, Engine, run_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutcome:
    """What a sweep made; `measure_robustness(outcome.sweeps)` measures it."""

    sweeps: tuple[Path | str, ...]
    """One directory per clip; the output folder itself for a single clip."""
    runs: int
    """How many there are now, over all sweeps."""
    kept: int
    """Runs that an earlier sweep had finished."""
    failed: int
    """New runs whose judge gave no answer."""


def sweep_clips(
    clips: Paths | Run,
    *,
    axes: Mapping[str, Sequence[float]],
    out: Path | str,
    seeds: Sequence[int] = (1,),
    design: str = FULL_GRID,
    judge: Judge | str = "bundle",
    profile: object = "general",
    tier: int = 0,
    jobs: int | None = None,
    timeout: float | None = None,
    keep_clips: bool = False,
    retry_failed: bool = False,
    engine: Engine = LOCAL,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
) -> SweepOutcome:
    """Perturb clips along axes, and record what a judge says about each version; `rushes.robust` measures the result.

        rushes.sweep("takes/", axes={"gaussian_blur": [0, 1, 2], "crf": [23, 35]}, out="sweep")

    Args:
        clips: files, folders and globs, or a `Run`, whose clips are perturbed.
        axes: values by axis: brightness, contrast, gaussian_blur, gaussian_noise, resize, crf, fps, audio_shift and
            audio_noise.
        out: the sweep directory; of several clips, one below it each.
        seeds: whole numbers; each draws its own noise. (1,) by default.
        design: "full-grid" (the default), every combination; "one-at-a-time", one axis varies while the others keep
            their first value.
        judge: a judge, or its name: "bundle" (the default), "command:CMD {clip}" or NAME:ARGUMENT of an installed
            package.
        profile: thresholds of the clip bundle; "general" by default.
        tier: how far the clip bundle measures; 0 by default, 1 with faces and sound, 2 with SyncNet.
        jobs: runs at a time; by default one per core.
        timeout: seconds a judge may take that is given by name, or that keeps no time of its own; 120 by default for a
            program or a model.
        keep_clips: keep each perturbed clip in its run's folder.
        retry_failed: judge again where the judge failed before.
        engine: `Engine()` for this machine (the default), or Ray.
        progress: called while it works.
        warn: called with a line about skipped files, an axis that cannot change the judge's answer, and seeds that
            only repeat.

    Returns:
        A `SweepOutcome`. A run that is there already is kept. A judge that fails is recorded with its reason.

    Raises:
        InputError: no clip was found, or an axis, a judge or a design is not known.
    """
    check_design(design)
    grid, seed_list = checked_grid(axes.items()), checked_seeds(seeds)
    if isinstance(judge, str):
        judge = named_judge(judge, JudgeOptions(profile=profile, timeout=timeout, tier=tier))
    for line in idle_axes(grid, seed_list, judge):
        warn(line)
    found = search_clips(clip_paths(clips))
    if str(found.passed_over):
        warn(f"Skipped {found.passed_over}")
    with ExitStack() as held:
        sources = [held.enter_context(cached_copy(clip)) for clip in found.clips]
        for source in sources:
            with local_copy(source) as copy:
                check_source(copy.path, probe(copy.path), grid)
        target = held.enter_context(mirrored_folder(out))
        ids = clip_ids([str(clip) for clip in found.clips], found.names)
        folders = [target] if len(sources) == 1 else [target / name for name in ids]
        sweeps = {
            folder: _tasks(source, folder, planned(grid, seed_list, design=design), judge, keep_clips)
            for source, folder in zip(sources, folders, strict=True)
        }
        with writer.locked(target):
            _check_folders(target, sweeps)
            tasks = [task for of_clip in sweeps.values() for task in of_clip]
            todo = [task for task in tasks if not writer.is_finished(task, retry_failed=retry_failed)]
            kept, failed = len(tasks) - len(todo), 0
            progress(kept, len(tasks), "runs")
            limit = None if judge.keeps_time else timeout
            for done, gave_none in enumerate(_outcomes(todo, engine, jobs, limit), kept + 1):
                failed += gave_none
                progress(done, len(tasks), "runs")
            for folder, of_clip in sweeps.items():
                writer.write_manifest(folder, grid, seed_list, of_clip, design=design)
        places = tuple(_place(folder, target, out) for folder in folders)
        return SweepOutcome(sweeps=places, runs=len(tasks), kept=kept, failed=failed)


sweep = sweep_clips
"""Its name as a verb."""


def _check_folders(target: Path, sweeps: Mapping[Path, Sequence[RunTask]]) -> None:
    """Refuse folders that hold anything but these sweeps, and clear what was cut off in them."""
    if len(sweeps) > 1:
        writer.check_folder(target, [folder.name for folder in sweeps])
    for folder, tasks in sweeps.items():
        writer.check_folder(folder, ["runs", MANIFEST])
        writer.check_folder(folder / "runs", [task.name for task in tasks])
        writer.clear_cut_off(folder / "runs")


def _place(folder: Path, target: Path, out: Path | str) -> Path | str:
    """What a user calls a sweep's folder."""
    if not is_remote(out):
        return folder
    return joined(str(out), folder.name) if folder != target else str(out)


def _tasks(
    source: Place,
    folder: Path,
    runs: Sequence[tuple[Mapping[str, float], int]],
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
        for values, seed in runs
    ]


def _outcomes(tasks: Sequence[RunTask], engine: Engine, jobs: int | None, timeout: float | None) -> Iterator[bool]:
    """Whether the judge gave no answer, for every run as it is stored: by a local worker, or here for a remote one."""
    local = engine.kind == "local"
    work: Callable[[RunTask], Any] = writer.make_run if local else writer.judge_on_worker
    for position, outcome in run_tasks(work, tasks, engine=engine, jobs=jobs, timeout=timeout, needs=_files):
        if isinstance(outcome, Crash):
            writer.store_failure(tasks[position], outcome.reason)
            yield True
        else:
            yield outcome if local else writer.store_judged(tasks[position], outcome)


def _files(task: RunTask) -> tuple[str, ...]:
    return (str(task.source),)
