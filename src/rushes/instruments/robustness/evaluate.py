"""`rushes robust` in Python: measure sweeps and write a run directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.instruments.robustness.measure import WORST_RUNS, SweepReport, measure_sweep
from rushes.instruments.robustness.measurements import with_null
from rushes.instruments.robustness.pooling import JudgeComparison, PooledReport, compare_judges, pool_sweeps
from rushes.instruments.robustness.seed.manifests import MANIFEST, read_json_object
from rushes.instruments.robustness.seed.metrics import MissingSweepFile, NullJustification
from rushes.instruments.robustness.sweep.recorded import recorded_sweeps
from rushes.media.find.clips import one_or_several
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Subject, clip_ids, open_run, pulled_folder, read_run

POOLED_ID = "over-clips"
COMPARISON_ID = "first-against-second"


class Robustness(tuple[SweepReport, ...]):
    """What sweeps say, each by itself; and several together, and against another judge's."""

    pooled: PooledReport | None = None
    comparison: JudgeComparison | None = None


def measure_robustness(
    sweeps: Path | str | Iterable[Path | str],
    *,
    run: Path | str | None = None,
    against: Path | str | Iterable[Path | str] | None = None,
    verify: bool = True,
    worst: int = WORST_RUNS,
    follow_links: bool = False,
    null_justification: NullJustification = "empty",
    add: bool = False,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Robustness:
    """Does a judge's answer survive small changes of the clip? Stability (ESI) and drift of its words, over sweeps.

        rushes.robust("sweep").summary

    Args:
        sweeps: a sweep, a folder of sweeps, a judge's run with planted degradations, or several of them.
        run: also write a run directory; by default none is written.
        against: the same clips swept with another judge: the two are compared.
        verify: check each run's manifest against its hash; a remark says where a sweep has none.
        worst: how many of the worst runs to list with their changed justification; 5 by default.
        follow_links: read files that a link leads to outside its sweep; by default that is an error.
        null_justification: a justification that is null is "empty" text (the default), or the "text" None; signatures
            say which.
        add: put these sweeps into the run beside those that are in it.
        overwrite: replace a run of other sweeps.
        progress: called while it works.

    Returns:
        `Robustness`: the numbers, the worst runs, and for several sweeps of the same axes the numbers over all clips
        (`pooled`); with `against`, the `comparison` of both judges.

    Raises:
        InputError: no sweep was named.
        MetricComputationError: a sweep cannot be measured, or a manifest is not the one that was written.
        RunError: the run has other sweeps, and neither `add` nor `overwrite` is set.
    """
    places, others = one_or_several(sweeps), [] if against is None else one_or_several(against)
    if not places:
        raise InputError("expected at least one sweep directory; got none")
    with ExitStack() as held:
        located = [sweep for place in places for sweep in _located(place, held)]
        theirs = [sweep for place in others for sweep in _located(place, held)]
        runs = listed_runs((path for path, _ in (*located, *theirs)), follow_links=follow_links)
        done = count(1)
        progress(0, runs, "runs")
        measure = partial(
            measure_sweep,
            verify=verify,
            worst=worst,
            follow_links=follow_links,
            null_justification=null_justification,
            advance=lambda: progress(next(done), runs, "runs"),
        )
        found = Robustness(replace(measure(path), path=name) for path, name in located)
        found.pooled = None if add else pool_sweeps(found)
        rivals = [replace(measure(path), path=name) for path, name in theirs]
        found.comparison = compare_judges(found, rivals) if rivals else None
        for part in ("pooled", "comparison"):
            if (report := getattr(found, part)) is not None:
                setattr(found, part, replace(report, measurements=with_null(report.measurements, null_justification)))
        if run is not None:
            given = [_text(place) for place in (*places, *others)]
            question = _settings(
                verify=verify, worst=worst, against=list(map(_text, others)), null_justification=null_justification
            )
            with open_run(
                run, instrument="robustness", settings=question, inputs=given, asked=given, add=add, overwrite=overwrite
            ) as writer:
                folders = [path.resolve().name for path, _ in located]
                ids = clip_ids([str(name) for _, name in located], folders, known=writer.paths)
                entries = [
                    Entry(subject=_subject(subject_id, path, report), measurements=report.measurements)
                    for subject_id, (path, _), report in zip(ids, located, found, strict=True)
                ]
                entries += _together(found, given, set(ids))
                for entry in entries:
                    writer.add(entry)
                writer.finish([entry.subject.id for entry in entries])
        return found


robust = measure_robustness
"""Its name as a verb."""


def _together(outcome: Robustness, given: Sequence[str], taken: set[str]) -> Iterator[Entry]:
    """What is said of several sweeps together, as subjects of their own."""
    for name, part in ((POOLED_ID, outcome.pooled), (COMPARISON_ID, outcome.comparison)):
        if part is not None:
            subject_id = next(free for n in count() if (free := name + f"-{n}" * bool(n)) not in taken)
            subject = Subject(id=subject_id, kind="set", path=given[0], sha256=None, facts=part.facts())
            yield Entry(subject=subject, measurements=part.measurements)


def _located(place: Path | str, held: ExitStack) -> list[tuple[Path, Path | str]]:
    """The sweeps at a place: where each can be read, and what a user calls it."""
    folder = held.enter_context(pulled_folder(place))
    if (folder / "run.json").is_file():
        made = Path(held.enter_context(TemporaryDirectory(prefix="rushes-sweep-")))
        return list(recorded_sweeps(read_run(folder), made))
    if not is_remote(place):
        return [(path, path) for path in find_sweeps(folder)]
    return [(path, str(path).replace(str(folder), _text(place), 1)) for path in find_sweeps(folder)]


def _text(place: Path | str) -> str:
    return str(place).rstrip("/") if is_remote(place) else str(Path(place))


def default_run(
    sweeps: Sequence[Path | str],
    *,
    verify: bool,
    worst: int,
    against: Sequence[str] = (),
    null_justification: NullJustification = "empty",
) -> Path:
    """Where `rushes robust` writes without -o: the same question goes to the same place."""
    settings = _settings(verify=verify, worst=worst, against=list(against), null_justification=null_justification)
    question = canonical_json([*map(str, sweeps), settings])
    return Path("runs") / f"robust-{bytes_digest(question.encode())[:8]}"


def _settings(*, against: Sequence[str], null_justification: NullJustification, **more: object) -> dict[str, object]:
    null = {"null_justification": null_justification} if null_justification != "empty" else {}
    return more | ({"against": against} if against else {}) | null


def listed_runs(sweeps: Iterable[Path], *, follow_links: bool = False) -> int:
    """How many runs these sweeps list; nothing is checked yet."""
    manifests = (read_json_object(path / MANIFEST, inside=None if follow_links else path) for path in sweeps)
    return sum(len(runs) for manifest in manifests if isinstance(runs := manifest.get("runs"), list))


def find_sweeps(folder: Path) -> list[Path]:
    """The folder itself when it is a sweep, else the sweeps in it, by name."""
    if (folder / MANIFEST).exists():
        return [folder]
    inside = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
    if not inside and (folder / "runs").is_dir():
        raise MissingSweepFile(
            f"{folder / MANIFEST}: the sweep is not finished: it has runs but no manifest; run the same "
            "`rushes sweep` again to continue it"
        )
    if not inside:
        raise MissingSweepFile(
            f"{folder / MANIFEST}: expected a sweep directory; found no manifest there or in a folder below"
        )
    return inside


def _subject(subject_id: str, path: Path, report: SweepReport) -> Subject:
    digest = file_digest(path / MANIFEST)
    return Subject(id=subject_id, kind="sweep", path=str(report.path), sha256=digest, facts=report.facts())
