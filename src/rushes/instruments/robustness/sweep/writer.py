"""Writing a sweep directory in the known format, so that it resumes and its bytes never depend on when or how.

A run is made in a folder with a dot before its name and renamed when it is complete; a run that is there is finished.
`manifest.json` has a fixed timestamp: the format asks for one, and a real one would make no two sweeps alike.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from rushes.core.errors import RunError
from rushes.core.judge import Judge, Verdict
from rushes.core.machine.files import LOCK, exclusive_lock, replacing
from rushes.core.machine.interrupt import mark_stopped
from rushes.core.machine.provenance import file_digest
from rushes.core.words.options import option
from rushes.instruments.robustness.seed.encoding import run_directory
from rushes.instruments.robustness.seed.manifests import MANIFEST, RUNS_FAMILY
from rushes.instruments.robustness.seed.sweep_dir import FULL_GRID
from rushes.instruments.robustness.sweep.render import render
from rushes.storage.remote.address import Place
from rushes.storage.remote.transfer import local_copy

TIMESTAMP = "1970-01-01T00:00:00Z"
PIPELINE = "rushes-perturb-1"
"""Names the formulas and their order; changes when a perturbation would give other pixels."""
TRACE = "trace_pack.jsonl"
CLIP = "clip.mp4"
_STAGE = ".judging-"


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

    @property
    def stage(self) -> Path:
        """Where the judge finds the clip. The name says nothing of the perturbation: a judge must not read it there."""
        return self.runs / f"{_STAGE}{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"

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


def make_run(task: RunTask) -> bool:
    """Perturb, judge and store one run; returns whether the judge failed."""
    with _making(task):
        task.stage.mkdir()
        verdict, clip = _judged(task, task.stage / CLIP)
        if clip is not None:
            os.replace(clip, task.part / CLIP)
        return store_run(task, verdict)


@contextmanager
def _making(task: RunTask) -> Iterator[None]:
    """An empty folder to make the run in, of which nothing is left where the run is not made."""
    _remove(task.part, task.stage)
    task.part.mkdir(parents=True)
    try:
        yield
    finally:
        _remove(task.part, task.stage)


def _judged(task: RunTask, clip: Path) -> tuple[Verdict, Path | None]:
    """The verdict about a clip that is made at this path, and the clip where it is to be kept and still there."""
    with local_copy(task.source) as source:
        render(source.path, clip, task.values, seed=task.seed, clip_sha256=task.clip_sha256)
    digest = file_digest(clip) if task.keep_clip else ""
    verdict = _verdict(task, clip)
    if not task.keep_clip:
        return verdict, None
    if clip.is_symlink() or not clip.is_file() or file_digest(clip) != digest:
        remark = "the judge changed or removed its clip, so it is not kept"
        return replace(verdict, remarks=(*verdict.remarks, remark)), None
    return verdict, clip


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _verdict(task: RunTask, clip: Path) -> Verdict:
    try:
        return _usable(task.judge.judge(clip, seed=task.seed))
    except MemoryError:
        raise  # the worker knows what to do about it
    except Exception as error:  # somebody else's judge: what it raises costs its own answer
        return Verdict.failure(f"{type(error).__name__}: {error}".replace(str(clip), clip.name))


def _usable(verdict: object) -> Verdict:
    """The verdict, or a failure where somebody else's judge returned none that a trace can hold."""
    if not isinstance(verdict, Verdict):
        return Verdict.failure(f"the judge returned {type(verdict).__name__}; expected a Verdict")
    if not isinstance(verdict.output, str) or not verdict.output:
        return Verdict.failure(f"the judge's output is {verdict.output!r}; expected text that is not empty")
    return verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run that was made on another machine: what it says, and the clip where it is kept."""

    verdict: Verdict
    clip: bytes | None


def judge_on_worker(task: RunTask) -> Judged:
    """Perturb and judge one run in a temporary folder; `store_judged` writes it where the sweep is."""
    with TemporaryDirectory(prefix="rushes-sweep-") as folder:
        verdict, clip = _judged(task, Path(folder) / CLIP)
        return Judged(verdict=verdict, clip=None if clip is None else clip.read_bytes())


def store_judged(task: RunTask, judged: Judged) -> bool:
    """Store a run that `judge_on_worker` made; returns whether the judge failed."""
    with _making(task):
        if judged.clip is not None:
            (task.part / CLIP).write_bytes(judged.clip)
        return store_run(task, judged.verdict)


def store_run(task: RunTask, verdict: Verdict) -> bool:
    """Write a run's files beside a kept clip and put the folder in its place; returns whether the judge failed."""
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
    return verdict.failed


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
    store_judged(task, Judged(verdict=Verdict.failure(reason), clip=None))


def is_finished(task: RunTask, *, retry_failed: bool) -> bool:
    """Whether an earlier sweep made this run; `RunError` when it made another under the same name."""
    if not (task.folder / "manifest.json").is_file():
        return False
    try:
        before = (task.folder / "spec.json").read_text(encoding="utf-8")
        failed = json.loads((task.folder / TRACE).read_bytes()).get("status") == "error"
    except (OSError, ValueError, AttributeError):
        return False
    if before != task.spec():
        raise RunError(f"{task.folder}: {_changed(before, task)}; choose another {option('-o')} or remove the folder")
    return not (failed and retry_failed)


def _changed(before: str, task: RunTask) -> str:
    """What tells a run that is there from the one that would be made now, in words."""
    try:
        old = json.loads(before)["judge"]
    except (ValueError, LookupError, TypeError):
        old = None
    new = task.judge.describe()
    if isinstance(old, dict) and old.get("command") == new.get("command") and "files" in new:
        then: Any = old.get("files") or {}
        for name, digest in cast(dict[str, str], new["files"]).items():
            if then.get(name) != digest:
                was = f"sha256 {then[name][:12]}…" if name in then else "no digest"
                return f"was judged by another {name} ({was} then, {digest[:12]}… now)"
    return "holds a run with another clip, judge or setting"


def check_folder(folder: Path, expected: Iterable[str]) -> None:
    """Refuse a folder that holds anything but these names (and hidden files): it is not this sweep's."""
    held = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()
    strangers = sorted(held - set(expected))
    if strangers:
        raise RunError(
            f"{folder}: expected an empty folder or this sweep; it holds {strangers[0]}; choose another {option('-o')}"
        )


def clear_cut_off(runs: Path) -> None:
    """Remove what runs that were cut off left behind."""
    for path in (*runs.glob(".*_seed=*"), *runs.glob(f"{_STAGE}*")):
        shutil.rmtree(path)


def write_manifest(
    folder: Path,
    grid: Mapping[str, Sequence[float]],
    seeds: Sequence[int],
    tasks: Sequence[RunTask],
    *,
    design: str = FULL_GRID,
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
        **({"design": design} if design != FULL_GRID else {}),
    }
    with replacing(folder / MANIFEST) as out:
        out.write(_pretty(manifest))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second sweep out of the folder while this one writes."""
    busy = RunError(f"{folder}: another sweep is writing here; wait for it or choose another {option('-o')}")
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder / LOCK, busy=busy):
        try:
            yield
        except KeyboardInterrupt as error:
            mark_stopped(error, kept=True)
            raise


def _pretty(data: object) -> str:
    return json.dumps(data, sort_keys=True, indent=2)
