"""`rushes paper` in Python: everything that a row of a paper's table needs, measured into one folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.compare.paper.columns import BY_NAME, COLUMNS, Column, chosen_columns
from rushes.compare.paper.folder import FILE, Paper, Step, is_paper, read_paper
from rushes.core.errors import InputError, RunError, RushesError
from rushes.core.machine.files import LOCK, Paths, locked_folder
from rushes.core.machine.progress import Progress
from rushes.core.words.options import option
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.networks.prompts import NO_SCRIPT, Prompts
from rushes.instruments.distribution.distances.intervals import IntervalMethod
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.instruments.distribution.protocols import PROTOCOLS
from rushes.instruments.distribution.recipes import default_protocol
from rushes.instruments.fidelity import protocols as pair_protocols
from rushes.instruments.fidelity.evaluate import evaluate_fidelity
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import By, Cut, Lag, Pairing, ResizeTo
from rushes.instruments.fidelity.pairs.mismatches import mismatches
from rushes.media.find.clips import one_or_several
from rushes.present.terminal.progress import shown_progress
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import read_run
from rushes.storage.runs.ids import identity
from rushes.suite.names import set_name

if TYPE_CHECKING:
    from rushes.instruments.distribution.features.extraction import Device

FEATURES = "features"
"""Folder of the distances' features."""
NO_SYNCNET = "no SyncNet weights were given; use --syncnet-weights syncnet_v2.model"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One run to make, and the columns that hang on it."""

    step: Step
    columns: tuple[str, ...]
    measure: Callable[..., object]
    """Given `run`, the run directory."""


def measure_paper(
    gen: Path | str,
    gt: Path | str,
    *,
    out: Path | str,
    name: str = "",
    columns: str | Iterable[str] = tuple(COLUMNS),
    protocol: str | Iterable[str] = (),
    pair: By = "name",
    cut: Cut = "none",
    lag: Lag = 0,
    resize_to: ResizeTo | None = None,
    weights: Paths = (),
    models: Mapping[str, str | Path] | None = None,
    syncnet_weights: Path | str | None = None,
    audio: Path | str | None = None,
    prompts: Prompts | None = None,
    interval: IntervalMethod | None = None,
    device: Device | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    warn: Callable[[str], None] = lambda line: None,
) -> Paper:
    """Measure a generated set against its references, for a row of a paper's table.

        rushes.paper("generated/", "real/", out="paper/amber", name="Amber", columns="psnr,ssim")
        print(rushes.table("paper/amber").latex())

    Args:
        gen: the generated clips: a folder or a pattern.
        gt: their references.
        out: the folder for the runs, one per instrument.
        name: of the row; by default the folder's name.
        columns: metrics, named as in `rushes.table`; by default psnr, ssim, lpips, l1, fid-vid, fvd, csim, lmd, sync-c
            and sync-d. A column that cannot be measured is left out, and `reasons` says why.
        protocol: whose constants the numbers have, for every instrument that knows the name: "disco" for PSNR and FVD
            alike; several give several columns.
        pair: how clips and frames pair: by "name" (the default), "index" or "time".
        cut: if lengths differ: fail ("none", the default), or truncate to the "shortest".
        lag: frames that `gen` is late; 0 by default, "auto" estimates it.
        resize_to: if sizes differ, bring both to the size of "gt" or "gen"; by default that is an error.
        weights: networks of the distances, recognised by content; by default the pulled ones.
        models: files of pair metrics by group, {"lpips": FILE}; by default the pulled ones.
        syncnet_weights: SyncNet's file, for Sync.
        audio: for Sync, a sound file for every clip, or a folder with one per clip; by default each clip's own.
        prompts: for WER, a CSV file with prompt_id and script; by default there is none.
        interval: "subsampling" or "jackknife" around each distance; by default none.
        device: "cpu" or "cuda" for networks; by default "cpu" for pairs, and CUDA where it is there for distances.
        jobs: worker processes; by default one per core.
        overwrite: replace what is in the folder.
        progress: called while it works; by default a bar is shown on a terminal and in a notebook.
        warn: called with each line about what to know.

    Returns:
        A `Paper`: the runs, and `reasons` for the columns that are missing. The same call continues an interrupted
        one, and measures what has become possible since. Other columns are added to those that are there.

    Raises:
        InputError: no column can be measured; the message has every reason and what to change.
        RunError: the folder has other settings, and `overwrite` is not set.
    """
    asked = chosen_columns(columns)
    protocols = _checked([protocol] if isinstance(protocol, str) else protocol)
    _require_files(*one_or_several(weights), *(models or {}).values(), syncnet_weights, audio)
    folder = Path(out)
    with locked_folder(folder), shown_progress(progress) as shown:
        before = None if overwrite else _earlier(folder, str(gen), str(gt))
        paper = Paper(
            path=folder,
            name=name or (before.name if before else set_name(str(gen))),
            gen=str(gen),
            gt=str(gt),
            columns=tuple(dict.fromkeys([*(before.columns if before else ()), *(column.name for column in asked)])),
            runs=before.runs if before else (),
        )
        every = chosen_columns(paper.columns)
        shared: dict[str, Any] = {"jobs": jobs, "overwrite": overwrite, "progress": shown, "warn": warn}
        compare = partial(
            evaluate_fidelity,
            gen,
            gt,
            pair=pair,
            cut=cut,
            lag=lag,
            resize_to=resize_to,
            models=models,
            device=device or "cpu",
            **shared,
        )
        distance = partial(
            compare_sets,
            gen,
            gt,
            weights=weights,
            interval=interval,
            device=device,
            cache=folder / FEATURES,
            **shared,
        )
        sync = partial(evaluate_clips, gen, audio=audio, tier=2, syncnet_weights=syncnet_weights, **shared)
        pairs, reasons = _pair_jobs(every, protocols, models or {}, paper.runs, compare)
        distances = _set_jobs(every, protocols, distance)
        words = partial(evaluate_clips, gen, audio=audio, metrics=("word_error_rate",), prompts=prompts, **shared)
        clips: list[_Job] = []
        for run, measure, lacking in (
            ("clip", sync, NO_SYNCNET if syncnet_weights is None else ""),
            ("words", words, NO_SCRIPT if prompts is None else ""),
        ):
            its = [
                column for column in every if column.source == "clip" and (column.name in BY_NAME) == (run == "words")
            ]
            if lacking:
                reasons |= {column.name: lacking for column in its}
            elif its:
                step = Step(run=run, source="clip", asks=tuple(column.metric for column in its))
                clips.append(_Job(step=step, columns=tuple(column.name for column in its), measure=measure))
        pairing = Pairing(by=pair, cut=cut, lag=lag, resize_to=resize_to)
        return _carried_out(paper, [*pairs, *distances, *clips], reasons, pairing)


paper = measure_paper
"""Its name as a verb."""


def _carried_out(paper: Paper, jobs: Sequence[_Job], reasons: Mapping[str, str], pairing: Pairing) -> Paper:
    """Make the runs, one after the other; what stops one is its columns' reason, and no end of the others."""
    steps = {step.run: step for step in (*paper.runs, *(job.step for job in jobs))}
    paper = replace(paper, runs=tuple(steps.values()), reasons=dict(reasons))
    paper.write()
    found, measured = dict(reasons), False
    for job in jobs:
        folder = paper.path / job.step.run
        remove_without_values(folder)
        try:
            job.measure(run=folder)
            measured = measured or bool(job.columns)
        except RunError:
            raise
        except RushesError as error:
            remove_without_values(folder)
            why = _every_mismatch(paper, pairing) if job.step.source == "fidelity" else ""
            found |= {column: why or str(error) for column in job.columns if column not in found}
    if not measured and found:
        replace(paper, reasons=found).write()
        column = next(name for name in paper.columns if name in found)
        raise InputError(f"no column could be measured; {column}: {found[column]}")
    paper = replace(paper, reasons=found, complete=True)
    paper.write()
    return paper


def _every_mismatch(paper: Paper, pairing: Pairing) -> str:
    """Everything that keeps the pairs apart and the one command line that settles it; "" where that is not why."""
    found = mismatches(paper.gen, paper.gt, pairing)
    if not found:
        return ""
    columns = () if paper.columns == tuple(COLUMNS) else ("--columns", ",".join(paper.columns))
    return f"{found.text}; run: {found.command(paper.gen, paper.gt, paper.path, *columns)}"


def remove_without_values(folder: Path) -> None:
    """Take a run away that holds no value: what failed never stands in the way of trying it in another way."""
    if not (folder / "run.json").is_file():
        return
    try:
        run = read_run(folder)
    except RunError:
        return
    if run.status == "complete" and all(m.value is None for entry in run.entries for m in entry.measurements):
        shutil.rmtree(folder)


def _pair_jobs(
    columns: Sequence[Column],
    protocols: Sequence[str],
    models: Mapping[str, str | Path],
    planned: Sequence[Step],
    compare: Callable[..., object],
) -> tuple[list[_Job], dict[str, str]]:
    """Runs of fidelity, and why a column cannot be measured now.

    Metrics whose models came later get a run of their own, so that what an earlier call measured is kept.
    """
    names = {column.name: _pair_metrics(column, protocols) for column in columns if column.source == "fidelity"}
    reasons = {column: why for column, metrics in names.items() if (why := _not_here(metrics, models))}
    left = list(dict.fromkeys(name for column, found in names.items() if column not in reasons for name in found))
    steps = []
    for step in (step for step in planned if step.source == "fidelity" and set(step.asks) & set(left)):
        steps.append(step)
        left = [name for name in left if name not in step.asks]
    if left:
        number = 1 + sum(step.source == "fidelity" for step in planned)
        folder = "fidelity" if number == 1 else f"fidelity-{number}"
        steps.append(Step(run=folder, source="fidelity", asks=tuple(left)))
    jobs = [
        _Job(
            step=step,
            columns=tuple(column for column, found in names.items() if set(found) & set(step.asks)),
            measure=partial(compare, metrics=list(step.asks)),
        )
        for step in steps
    ]
    return jobs, reasons


def _pair_metrics(column: Column, protocols: Sequence[str]) -> list[str]:
    """The metrics behind a column: those of the protocols that have any, else the one of its own name."""
    named = [name for each in protocols if each in pair_protocols.PROTOCOLS for name in _of_protocol(each, column)]
    return list(dict.fromkeys(named)) or [column.asks]


def _of_protocol(protocol: str, column: Column) -> list[str]:
    metrics = {name: METRICS[name] for name in pair_protocols.protocol(protocol).metrics}
    return [name for name, m in metrics.items() if column.takes(name, m.label) and column.fits(m.definition)]


def _not_here(metrics: Sequence[str], models: Mapping[str, str | Path]) -> str:
    """Why a metric cannot run here, with the command that mends it; "" where all can."""
    given = {group: str(path) for group, path in models.items()}
    try:
        for name in metrics:
            METRICS[name].require(given)
    except RushesError as error:
        return str(error)
    return ""


def _set_jobs(columns: Sequence[Column], protocols: Sequence[str], distance: Callable[..., object]) -> list[_Job]:
    """A run for each distance under each protocol: weights that are missing for one leave the others alone."""
    jobs = []
    for column in (column for column in columns if column.source == "distribution"):
        own = default_protocol(column.metric)  # type: ignore[arg-type]
        for protocol in [name for name in protocols if name in PROTOCOLS] or [own]:
            below = column.metric if protocol == own else f"{column.metric}-{protocol}"
            step = Step(run=f"distribution/{below}", source="distribution", asks=(column.metric,))
            measure = partial(distance, metrics=column.metric, protocol=protocol)
            jobs.append(_Job(step=step, columns=(column.name,), measure=measure))
    return jobs


def _checked(names: Iterable[str]) -> list[str]:
    """Names of protocols that an instrument knows; `InputError` with the nearest ones."""
    every = [*pair_protocols.PROTOCOLS, *PROTOCOLS]
    found = list(names)
    for name in found:
        if name not in every:
            raise InputError(f"no protocol is called {name!r}{did_you_mean(name, every)}")
    return found


def _require_files(*given: Path | str | None) -> None:
    """A file that was named must be there: a misspelt name is no reason for a dash."""
    for path in given:
        if path is not None and not is_remote(path) and not Path(path).exists():
            raise InputError(f"{path}: no such file")


def _earlier(folder: Path, gen: str, gt: str) -> Paper | None:
    """What an earlier call left in the folder; `RunError` where that was about other sets."""
    if not is_paper(folder):
        strangers = sorted(path.name for path in folder.iterdir() if path.name != LOCK)
        if strangers:
            raise RunError(f"{folder}: expected an empty folder or one of rushes paper; it holds {strangers[0]}")
        return None
    paper = read_paper(folder)
    if [identity(paper.gen), identity(paper.gt)] != [identity(gen), identity(gt)]:
        raise RunError(
            f"{folder / FILE}: is about {paper.gen} against {paper.gt}; not {gen} against {gt}; "
            f"choose another {option('-o')}, or use {option('--overwrite')} to replace it"
        )
    return paper
