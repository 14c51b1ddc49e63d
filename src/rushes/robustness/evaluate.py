"""`rushes robust` in Python: measure sweeps and write a run directory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path

from rushes.core.canonical import canonical_json
from rushes.core.progress import Progress, no_progress
from rushes.core.provenance import bytes_digest, file_digest
from rushes.remote.store import is_remote
from rushes.robustness.manifests import MANIFEST, read_json_object
from rushes.robustness.measure import WORST_RUNS, SweepReport, measure_sweep
from rushes.robustness.metrics import MissingSweepFile
from rushes.runs import Entry, Subject, open_run, pulled_folder, subject_ids


def measure_robustness(
    sweeps: Path | str | Iterable[Path | str],
    *,
    run: Path | str | None = None,
    verify: bool = True,
    worst: int = WORST_RUNS,
    progress: Progress = no_progress,
) -> tuple[SweepReport, ...]:
    """ESI, drift and what rests on them; with `run`, as a run directory too.

    `sweeps` is a sweep, a folder of sweeps, or several of them. With `verify`, a run whose `manifest.json` is not the
    one that was written is an error. `worst` is how many runs to list with their changed justification.
    """
    given = listed(sweeps)
    with ExitStack() as held:
        folders = [(held.enter_context(pulled_folder(place)), _place(place)) for place in given]
        found = [(path, folder, place) for folder, place in folders for path in find_sweeps(folder)]
        total, done = listed_runs(path for path, _, _ in found), count(1)
        progress(0, total, "runs")
        reports = (
            _addressed(
                measure_sweep(path, verify=verify, worst=worst, advance=lambda: progress(next(done), total, "runs")),
                folder,
                place,
            )
            for path, folder, place in found
        )
        if run is None:
            return tuple(reports)
        ids = subject_ids([path.resolve().name for path, _, _ in found])
        settings = {"verify": verify, "worst": worst}
        made = []
        inputs = [place for _, place in folders]
        with open_run(run, instrument="robustness", settings=settings, inputs=inputs) as writer:
            for subject_id, (path, _, _), report in zip(ids, found, reports, strict=True):
                writer.add(Entry(subject=_subject(subject_id, path, report), measurements=report.measurements))
                made.append(report)
            writer.finish(ids)
        return tuple(made)


def listed(paths: Path | str | Iterable[Path | str]) -> list[Path | str]:
    """Several paths as a list; one path is a list of one."""
    return [paths] if isinstance(paths, (str, Path)) else list(paths)


def _place(sweeps: Path | str) -> str:
    return str(sweeps).rstrip("/") if is_remote(sweeps) else str(Path(sweeps))


def _addressed(report: SweepReport, folder: Path, place: str) -> SweepReport:
    """The report of a sweep that was pulled from a store, under its address."""
    return replace(report, path=str(report.path).replace(str(folder), place, 1)) if is_remote(place) else report


def default_run(sweeps: Sequence[Path | str], *, verify: bool, worst: int) -> Path:
    """Where `rushes robust` writes without -o: the same question goes to the same place."""
    question = canonical_json([*map(str, sweeps), {"verify": verify, "worst": worst}])
    return Path("runs") / f"robust-{bytes_digest(question.encode())[:8]}"


def listed_runs(sweeps: Iterable[Path]) -> int:
    """How many runs these sweeps list; nothing is checked yet."""
    manifests = (read_json_object(path / MANIFEST) for path in sweeps)
    return sum(len(runs) for manifest in manifests if isinstance(runs := manifest.get("runs"), list))


def find_sweeps(folder: Path) -> list[Path]:
    """The folder itself when it is a sweep, else the sweeps in it, by name."""
    if (folder / MANIFEST).exists():
        return [folder]
    inside = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
    if not inside:
        raise MissingSweepFile(f"{folder / MANIFEST}: expected a sweep directory; found no manifest there or one below")
    return inside


def _subject(subject_id: str, path: Path, report: SweepReport) -> Subject:
    digest = file_digest(path / MANIFEST)
    return Subject(id=subject_id, kind="sweep", path=str(report.path), sha256=digest, facts=report.facts())
