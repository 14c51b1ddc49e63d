"""Writing a sweep directory in the known format, so that it resumes and its bytes never depend on when or how.

A run is made in a folder with a dot before its name and renamed when it is complete; a run that is there is finished.
`manifest.json` has a fixed timestamp: the format asks for one, and a real one would make no two sweeps alike.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rushes.core.files import replacing, take_lock
from rushes.core.judge import Judge, Verdict
from rushes.core.provenance import file_digest
from rushes.core.stopping import mark_stopped
from rushes.errors import RunError
from rushes.remote.address import Place
from rushes.remote.transfer import local_copy
from rushes.robustness.encoding import run_directory
from rushes.robustness.manifests import MANIFEST, RUNS_FAMILY
from rushes.robustness.sweep.render import render

TIMESTAMP = "1970-01-01T00:00:00Z"
PIPELINE = "rushes-perturb-1"
"""Names the formulas and their order; changes when a perturbation would give other pixels."""
TRACE = "trace_pack.jsonl"
CLIP = "clip.mp4"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    """One run to make; travels to a worker process."""

    source: Place
    clip_sha256: str
    runs: Path
    """The sweep's `runs` folder."""
    values: Mapping[str, float]
    seed: int
    judge: Judge
    keep_clip: bool = False

    @property
    def name(self) -> str:
        return run_directory(self.values, self.seed)

    @property
    def folder(self) -> Path:
        return self.runs / self.name

    @property
    def part(self) -> Path:
        """Where the run is made before it is complete."""
        return self.runs / f".{self.name}"

    def spec(self) -> str:
        """`spec.json`: everything that decides what the run will say."""
        spec = {
            "clip": {"name": self.source.name, "sha256": self.clip_sha256},
            "judge": self.judge.describe(),
            "keep_clip": self.keep_clip,
            "perturbations": dict(self.values),
            "pipeline": PIPELINE,
            "seed": self.seed,
        }
        return _pretty(spec)


def planned(grid: Mapping[str, Sequence[float]], seeds: Sequence[int]) -> list[tuple[dict[str, float], int]]:
    """Axis values and seed of every run, in execution order: axes by name, the last fastest, seeds innermost."""
    names = sorted(grid)
    points = itertools.product(*(grid[name] for name in names))
    return [(dict(zip(names, point, strict=True)), seed) for point in points for seed in seeds]


def make_run(task: RunTask) -> bool:
    """Perturb, judge and store one run; returns whether the judge failed."""
    shutil.rmtree(task.part, ignore_errors=True)
    task.part.mkdir(parents=True)
    try:
        clip = task.part / CLIP
        with local_copy(task.source) as source:
            render(source.path, clip, task.values, seed=task.seed, clip_sha256=task.clip_sha256)
        verdict = _verdict(task, clip)
        if not task.keep_clip:
            clip.unlink()
        store_run(task, verdict)
    finally:
        shutil.rmtree(task.part, ignore_errors=True)
    return verdict.failed


def _verdict(task: RunTask, clip: Path) -> Verdict:
    try:
        return task.judge.judge(clip, seed=task.seed)
    except MemoryError:
        raise  # the worker knows what to do about it
    except Exception as error:  # somebody else's judge: what it raises costs its own answer
        return Verdict.failure(f"{type(error).__name__}: {error}".replace(str(clip), clip.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run that was made on another machine: what it says, and the clip where it is kept."""

    verdict: Verdict
    clip: bytes | None


def judge_on_worker(task: RunTask) -> Judged:
    """Perturb and judge one run in a temporary folder; `store_judged` writes it where the sweep is."""
    with TemporaryDirectory(prefix="rushes-sweep-") as folder:
        clip = Path(folder) / task.part.name / CLIP
        clip.parent.mkdir()
        with local_copy(task.source) as source:
            render(source.path, clip, task.values, seed=task.seed, clip_sha256=task.clip_sha256)
        verdict = _verdict(task, clip)
        return Judged(verdict=verdict, clip=clip.read_bytes() if task.keep_clip else None)


def store_judged(task: RunTask, judged: Judged) -> bool:
    """Store a run that `judge_on_worker` made; returns whether the judge failed."""
    shutil.rmtree(task.part, ignore_errors=True)
    task.part.mkdir(parents=True)
    try:
        if judged.clip is not None:
            (task.part / CLIP).write_bytes(judged.clip)
        store_run(task, judged.verdict)
    finally:
        shutil.rmtree(task.part, ignore_errors=True)
    return judged.verdict.failed


def store_run(task: RunTask, verdict: Verdict) -> None:
    """Write a run's files beside a kept clip and put the folder in its place."""
    task.part.mkdir(parents=True, exist_ok=True)
    record = trace_record(verdict)
    (task.part / TRACE).write_text(json.dumps(record, sort_keys=True) + "\n", encoding="utf-8")
    (task.part / "spec.json").write_text(task.spec(), encoding="utf-8")
    artifacts = sorted(path.name for path in task.part.iterdir())
    manifest = {
        "run_id": task.name,
        "timestamp": TIMESTAMP,
        "seed": task.seed,
        "artifacts": artifacts,
        "artifact_sha256": {name: file_digest(task.part / name) for name in artifacts},
    }
    (task.part / "manifest.json").write_text(_pretty(manifest), encoding="utf-8")
    shutil.rmtree(task.folder, ignore_errors=True)
    os.replace(task.part, task.folder)


def trace_record(verdict: Verdict) -> dict[str, object]:
    """The one record of a run's trace. A failure is no output: its record has none, and says why instead."""
    if verdict.failed:
        return {"step": 1, "event": "judged", "status": "error", "error": verdict.justification}
    return {
        "step": 1,
        "event": "judged",
        "output": verdict.output,
        "justification": verdict.justification,
        "status": "ok",
        **({"rich_summary": dict(verdict.numbers)} if verdict.numbers else {}),
        **({"remarks": list(verdict.remarks)} if verdict.remarks else {}),
    }


def store_failure(task: RunTask, reason: str) -> None:
    """Store a run whose worker died; nothing it left behind is kept."""
    shutil.rmtree(task.part, ignore_errors=True)
    store_run(task, Verdict.failure(reason))


def is_finished(task: RunTask, *, retry_failed: bool) -> bool:
    """Whether an earlier sweep made this run; `RunError` when it made another under the same name."""
    if not (task.folder / "manifest.json").is_file():
        return False
    try:
        same = (task.folder / "spec.json").read_text(encoding="utf-8") == task.spec()
        failed = json.loads((task.folder / TRACE).read_bytes()).get("status") == "error"
    except (OSError, ValueError, AttributeError):
        return False
    if not same:
        raise RunError(
            f"{task.folder}: holds a run with another clip, judge or setting; choose another -o or remove the folder"
        )
    return not (failed and retry_failed)


def check_folder(folder: Path, expected: Iterable[str]) -> None:
    """Refuse a folder that holds anything but these names (and hidden files): it is not this sweep's."""
    strangers = sorted(_names(folder) - set(expected))
    if strangers:
        raise RunError(f"{folder}: expected an empty folder or this sweep; it holds {strangers[0]}; choose another -o")


def clear_cut_off(runs: Path) -> None:
    """Remove what runs that were cut off left behind."""
    for path in runs.glob(".*_seed=*"):
        shutil.rmtree(path)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()


def write_manifest(
    folder: Path, grid: Mapping[str, Sequence[float]], seeds: Sequence[int], tasks: Sequence[RunTask]
) -> None:
    """`sweep_manifest.json`, once every run is there."""
    manifest = {
        "axes": {name: list(values) for name, values in grid.items()},
        "seeds": list(seeds),
        "runs": [
            {
                "axis_values": dict(task.values),
                "seed": task.seed,
                "manifest_hash": hashlib.sha256((task.folder / "manifest.json").read_bytes()).hexdigest(),
            }
            for task in tasks
        ],
        "manifest_schema_family": RUNS_FAMILY,
    }
    with replacing(folder / MANIFEST) as out:
        out.write(_pretty(manifest))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second sweep out of the folder while this one writes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".lock"
    try:
        lock = take_lock(path)
    except BlockingIOError:
        raise RunError(f"{folder}: another sweep is writing here; wait for it or choose another -o") from None
    with lock:
        try:
            yield
        except KeyboardInterrupt as error:
            mark_stopped(error, kept=True)
            raise
        finally:
            path.unlink(missing_ok=True)


def _pretty(data: object) -> str:
    return json.dumps(data, sort_keys=True, indent=2)
