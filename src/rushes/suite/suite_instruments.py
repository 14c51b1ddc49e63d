"""The instruments of a suite: which function measures, what the suite gives it, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rushes.clip.evaluate import evaluate_clips
from rushes.core.progress import Progress
from rushes.distribution.evaluate import compare_sets
from rushes.errors import InputError
from rushes.fidelity.evaluate import evaluate_fidelity
from rushes.media.endings import VIDEO_SUFFIXES
from rushes.media.find import natural_key, search_clips
from rushes.pose.evaluate import score_pose
from rushes.preference.evaluate import evaluate_study
from rushes.preference.study import open_service
from rushes.remote.address import local_only
from rushes.robustness.evaluate import measure_robustness
from rushes.robustness.sweep.evaluate import sweep_clips
from rushes.runs import clip_ids, subject_ids
from rushes.workers.engine import Engine

_POSES = {".json", ".jsonl", ".npy", ".npz", *VIDEO_SUFFIXES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One system under one instrument, with everything that a suite knows and a settings table does not."""

    clips: str
    """The system's clips; "" for an instrument that looks at all systems at once."""
    reference: str
    out: Path
    """The run directory, or the folder of several runs."""
    features: Path
    """Where distances keep their features, for every system."""
    settings: Mapping[str, Any]
    jobs: int | None
    engine: Engine
    overwrite: bool
    progress: Progress
    warn: Callable[[str], None]

    @property
    def shared(self) -> dict[str, Any]:
        """What every instrument that works clip by clip is given."""
        return {
            "jobs": self.jobs,
            "engine": self.engine,
            "overwrite": self.overwrite,
            "progress": self.progress,
            "warn": self.warn,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteInstrument:
    """How a suite measures with one instrument."""

    name: str
    arguments: Callable[..., object]
    """The function whose keyword arguments are the settings."""
    measure: Callable[[Job], object]
    taken: frozenset[str]
    """Arguments that the suite gives by itself."""
    own: tuple[str, ...] = ()
    """Settings beside the function's: required, and text."""
    paths: tuple[str, ...] = ()
    """Settings that are files or folders, seen from the suite file."""
    needs_reference: bool = False
    whole_suite: bool = False
    """One run for all systems."""


def _measure_clips(job: Job) -> None:
    evaluate_clips(job.clips, run=job.out, **job.shared, **job.settings)


def _measure_fidelity(job: Job) -> None:
    evaluate_fidelity(job.clips, job.reference, run=job.out, **job.shared, **job.settings)


def _measure_distances(job: Job) -> None:
    compare_sets(job.clips, job.reference, run=job.out, cache=job.features, **job.shared, **job.settings)


def _measure_poses(job: Job) -> None:
    """A run per file that both folders have, by its path below them."""
    local_only(job.clips, job.reference)
    predicted, truth = _pose_files(job.clips), _pose_files(job.reference)
    names = [name for name in predicted if name in truth]
    if not names:
        raise InputError(f"{job.clips} and {job.reference}: expected poses or clips of the same names in both")
    if lacking := [name for name in truth if name not in predicted]:
        job.warn(f"{job.clips}: {len(lacking)} of {len(truth)} poses are not there, such as {lacking[0]}")
    for done, (name, folder) in enumerate(zip(names, subject_ids(names), strict=True), 1):
        score_pose(predicted[name], truth[name], run=job.out / folder, overwrite=job.overwrite, **job.settings)
        job.progress(done, len(names), "poses")


def _pose_files(folder: str) -> dict[str, Path]:
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{folder}: expected a folder of poses or clips; there is no such folder")
    files = [path for path in root.rglob("*") if path.suffix.lower() in _POSES and path.is_file()]
    ordered = sorted(files, key=lambda path: natural_key(path.as_posix()))
    return {path.relative_to(root).with_suffix("").as_posix(): path for path in ordered}


def _measure_robustness(job: Job) -> None:
    """The sweeps lie beside the run, a folder per clip: `robustness-sweeps/p001`."""
    sweeps = job.out.with_name(f"{job.out.name}-sweeps")
    found = search_clips(job.clips)
    single = len(found.clips) == 1  # which would else be the folder itself, and lose the clip's name
    out = sweeps / clip_ids([str(found.clips[0])], found.names)[0] if single else sweeps
    engine: dict[str, Any] = {"jobs": job.jobs, "engine": job.engine, "progress": job.progress, "warn": job.warn}
    sweep_clips(job.clips, out=out, **engine, **job.settings)
    measure_robustness(sweeps, run=job.out, overwrite=job.overwrite)


def _measure_study(job: Job) -> None:
    settings = dict(job.settings)
    database, study = settings.pop("db"), settings.pop("study")
    service = open_service(database)
    try:
        evaluate_study(service, study, run=job.out, overwrite=job.overwrite, **settings)
    finally:
        service.close()


_SHARED = frozenset({"run", "jobs", "engine", "overwrite", "progress", "warn", "add"})

SUITE_INSTRUMENTS: Mapping[str, SuiteInstrument] = {
    one.name: one
    for one in (
        SuiteInstrument(
            name="clip",
            arguments=evaluate_clips,
            measure=_measure_clips,
            taken=_SHARED,
            paths=("audio", "profile", "face_model", "syncnet_weights"),
        ),
        SuiteInstrument(
            name="fidelity",
            arguments=evaluate_fidelity,
            measure=_measure_fidelity,
            taken=_SHARED,
            paths=("models",),
            needs_reference=True,
        ),
        SuiteInstrument(
            name="distribution",
            arguments=compare_sets,
            measure=_measure_distances,
            taken=_SHARED | {"cache", "save_gt", "save_gen", "versus"},
            paths=("weights", "groups"),
            needs_reference=True,
        ),
        SuiteInstrument(name="pose", arguments=score_pose, measure=_measure_poses, taken=_SHARED, needs_reference=True),
        SuiteInstrument(
            name="preference",
            arguments=evaluate_study,
            measure=_measure_study,
            taken=_SHARED,
            own=("db", "study"),
            paths=("db",),
            whole_suite=True,
        ),
        SuiteInstrument(
            name="robustness",
            arguments=sweep_clips,
            measure=_measure_robustness,
            taken=_SHARED | {"out"},
            paths=("profile",),
        ),
    )
}


def suite_instrument(name: str, where: str) -> SuiteInstrument:
    """The instrument of this name; `InputError` with the nearest ones."""
    if name in SUITE_INSTRUMENTS:
        return SUITE_INSTRUMENTS[name]
    close = get_close_matches(name, SUITE_INSTRUMENTS, n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"expected one of {', '.join(SUITE_INSTRUMENTS)}"
    raise InputError(f"{where}: no instrument is called {name!r}; {hint} (another name says instrument = … inside)")
