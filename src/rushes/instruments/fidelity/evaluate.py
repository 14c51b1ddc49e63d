"""`rushes fidelity` in Python: two clips, or two sets of clips, into a run; resumable, the same bytes for any number
of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rushes.core import Measurement
from rushes.core.answer import Answer, told
from rushes.core.canonical import canonical_json
from rushes.core.errors import DefinitionError, InputError, RushesError
from rushes.core.machine.progress import Progress, Warn, no_progress, recorded, silent
from rushes.core.machine.provenance import bytes_digest
from rushes.core.selection import Numbers
from rushes.core.words.options import in_shell
from rushes.instruments.fidelity.devices import Precision
from rushes.instruments.fidelity.measure import score_frames
from rushes.instruments.fidelity.metric import PairContext, Series
from rushes.instruments.fidelity.pairs.clips import ClipPair, pair_sets
from rushes.instruments.fidelity.pairs.frames import By, Cut, Lag, Pairing, ResizeTo, Tally, with_pairing
from rushes.instruments.fidelity.pairs.lag import LAG_FRAMES, find_lag
from rushes.instruments.fidelity.pairs.mismatches import mismatches
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.instruments.fidelity.settings import FidelitySettings
from rushes.media.find.sequences import clip_digest
from rushes.media.find.sets import Clip
from rushes.stats.means import clip_means
from rushes.storage.remote.address import is_remote
from rushes.storage.remote.transfer import local_copy, remove_orphans
from rushes.storage.runs import Entry, Packed, Run, RunWriter, Subject, open_run, pack, read_run, subject_ids
from rushes.workers.engine import LOCAL, Crash, Engine, run_tasks
from rushes.workers.job import Job

SET = "set"
"""The id of a run's last subject: the set as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityEvaluation(Answer, Numbers):
    """What a comparison found. `done["psnr"]` is the mean over the clips, with its interval; `done.run` has each clip.

    Where protocols have several numbers of one name, `done.one("psnr", difference="uint8-wraps")` says which.
    """

    __repr__ = told

    run: Run
    measurements: tuple[Measurement, ...]
    """Means over the clips that could be compared."""

    @property
    def summary(self) -> str:
        """The means of the set, in a sentence."""
        return self.run.summary

    @property
    def notes(self) -> tuple[str, ...]:
        """Pairs that could not be compared, and what else to know."""
        return self.run.notes

    def _items(self) -> tuple[Entry, ...]:
        return self.pairs

    def _rows(self) -> Sequence[Mapping[str, object]]:
        return [row for row in self.run._rows() if row.get("kind", "pair") == "pair"]

    @property
    def pairs(self) -> tuple[Entry, ...]:
        """Every pair, in order, those that could not be compared among them."""
        return tuple(entry for entry in self.run.entries if entry.subject.kind == "pair")

    @property
    def failed(self) -> dict[str, str]:
        """Why a pair could not be compared, by its id."""
        return {e.subject.id: str(e.subject.facts["error"]) for e in self.pairs if "error" in e.subject.facts}


def evaluate_fidelity(
    gen: str | Path,
    gt: str | Path,
    *,
    protocol: str | Sequence[str] = (),
    metrics: str | Iterable[str] = (),
    pair: By = "name",
    cut: Cut = "none",
    lag: Lag = 0,
    resize_to: ResizeTo | None = None,
    models: Mapping[str, str | Path] | None = None,
    device: str = "cpu",
    precision: Precision | None = None,
    run: Path | str | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory_mb: int | None = None,
    engine: Engine = LOCAL,
    overwrite: bool = False,
    progress: Progress = no_progress,
    warn: Warn = silent,
) -> FidelityEvaluation:
    """Compare generated clips with their references: per frame, per clip, and as a set with intervals over clips.

        done = rushes.fidelity("out/", "truth/", metrics=["psnr", "lpips"])
        done.summary, done["psnr"].value, done.to_pandas()

    Args:
        gen, gt: a clip, a folder (glob, list file) of clips, a folder of pictures, or of such folders.
        protocol: one or several of `PROTOCOLS`; wang2004 by default, unless `metrics` are named.
        metrics: metrics by name, alone or beside a protocol: "psnr", "ssim", "lpips", "vmaf", "csim" ….
        pair: "name" (the default: clips by name, frames by index, at one rate), "index" (clips in order, frames by
            index) or "time" (clips by name, frames that are shown together).
        cut: if lengths differ, "none" (the default) fails and "shortest" truncates to the shorter.
        lag: frame offset of `gen`; 0 by default, "auto" estimates it.
        resize_to: if sizes differ, bring both to the size of "gt" or "gen"; by default such a pair fails.
        models: files in place of pulled ones, by group: {"lpips": "alex.pth"}.
        device: where networks run, "cpu" by default.
        precision: of LPIPS on a GPU: "tf32" (the default), "fp16" or "fp32". It is in the signature.
        run: the run directory; by default `runs/fidelity-<digest of the question>`, which the same call continues.
        jobs, timeout, memory_mb, engine: how many pairs at a time, and the limits of each; see `rushes.clips`.
        overwrite: replace a run of something else.
        progress, warn: called while it works; the lines that `warn` gets are in `notes` too.

    Returns:
        A `FidelityEvaluation`: the means with their intervals, and every pair. A pair that cannot be compared (no
        partner, other size, damaged) is a row with its reason. A pair that was finished earlier, with the same content
        and settings, is not measured again.

    Raises:
        InputError: no pair can be compared; a run that was not there before is not left behind.
    """
    pairing = Pairing(by=pair, cut=cut, lag=lag, resize_to=resize_to)
    settings = FidelitySettings.load(
        protocol=protocol, metrics=metrics, pairing=pairing, models=models, device=device, precision=precision
    )
    found = pair_sets(gen, gt, by=pair)
    lines: list[str] = []
    tell = recorded(lines, warn)
    for remark in found.remarks:
        tell(remark)
    *ids, set_id = subject_ids([*(each.name for each in found.pairs), SET])
    stored = settings.as_dict() | {"gt": str(gt)}
    question = bytes_digest(canonical_json([stored, str(gen)]).encode())[:8]
    target = Path("runs") / f"fidelity-{question}" if run is None else run
    inputs = [str(clip.files[0]) for each in found.pairs if (clip := each.gen or each.gt) is not None]
    with open_run(
        target, instrument="fidelity", settings=stored, inputs=inputs, asked=[str(gen)], overwrite=overwrite
    ) as writer:
        tasks = [_Task(subject_id=i, pair=each, settings=settings) for i, each in zip(ids, found.pairs, strict=True)]
        todo = [task for task in tasks if not _is_finished(writer, task)]
        done = len(tasks) - len(todo)
        progress(done, len(tasks), "pairs")
        outcomes = run_tasks(
            _work,
            todo,
            engine=engine,
            jobs=jobs,
            timeout=timeout,
            memory_mb=memory_mb,
            needs=_Task.files,
        )
        for finished, (position, outcome) in enumerate(outcomes, done + 1):
            failed = _failed(todo[position], outcome.reason, given_up=True) if isinstance(outcome, Crash) else outcome
            writer.add(failed)
            progress(finished, len(tasks), "pairs")
        entries = [writer.entry(subject_id) for subject_id in ids]
        if reasons := _none_compared(entries):
            writer.discard()
            raise InputError(_why_none(reasons, str(gen), str(gt), pairing))
        writer.add(_set_entry(set_id, str(gen), str(gt), entries))
        writer.finish([*ids, set_id])
    remove_orphans()
    for remark, names in _remarks(entries).items():
        tell(f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {remark}")
    result = replace(read_run(target), remarks=tuple(lines))
    return FidelityEvaluation(run=result, measurements=result.measurements[set_id])


fidelity = evaluate_fidelity
"""Its name as a verb."""


def _none_compared(entries: Sequence[Entry]) -> list[str]:
    """Why each pair could not be compared, where none could; else []."""
    failed = [str(entry.subject.facts["error"]) for entry in entries if "error" in entry.subject.facts]
    return failed if len(failed) == len(entries) else []


def _why_none(failed: Sequence[str], gen: str, gt: str, pairing: Pairing) -> str:
    """Everything in which the pairs differ, and the options that settle it; else the first pair's reason."""
    if differ := mismatches(gen, gt, pairing):
        return f"{differ.text}; give {' and '.join(differ.asked)}"
    several = "" if len(failed) == 1 else f"none of the {len(failed)} pairs could be compared; the first: "
    return f"{several}{failed[0]}"


def measure(job: Job) -> None:
    """One system of a suite, measured against the suite's reference clip by clip."""
    evaluate_fidelity(job.clips, job.reference, run=job.out, **job.shared, **job.settings)


def _remarks(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """What a reader must know of the pairs: the ids of those it is true of."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        told = entry.subject.facts.get("remarks")
        for remark in told if isinstance(told, list) else ():
            found.setdefault(str(remark), []).append(entry.subject.id)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One pair to compare; travels to a worker process."""

    subject_id: str
    pair: ClipPair
    settings: FidelitySettings

    def files(self) -> tuple[str | None, ...]:
        """What a worker reads for it."""
        clips = (clip for clip in (self.pair.gen, self.pair.gt) if clip is not None)
        return (*(str(file) for clip in clips for file in clip.files), *(path for _, path in self.settings.models))


def _work(task: _Task) -> Packed:
    if task.pair.gen is None or task.pair.gt is None:
        return _failed(task, task.pair.missing)
    try:
        with in_shell(), ExitStack() as stack:  # a stored reason reads the same, whoever asked
            gen, gt = (_at_hand(clip, stack) for clip in (task.pair.gen, task.pair.gt))
            return _compared(task, gen, gt)
    except DefinitionError as error:  # damaged clips gave a number that cannot be: their own row, not the batch's end
        return _failed(task, f"gave an impossible value ({error})", given_up=True)
    except RushesError as error:
        return _failed(task, str(error))


def _at_hand(clip: Clip, stack: ExitStack) -> Clip:
    """The clip with its files on this machine, as copies where they are objects of a store."""
    return replace(clip, files=tuple(stack.enter_context(local_copy(file)).path for file in clip.files))


def _compared(task: _Task, gen: Clip, gt: Clip) -> Packed:
    settings = task.settings
    pairing = settings.pairing
    found = find_lag(gen, gt) if pairing.lag == "auto" else None
    lag = pairing.lag if isinstance(pairing.lag, int) else int(found.value or 0) if found is not None else 0
    models, device, precision = dict(settings.models), settings.device, settings.precision
    with open_pair(gen, gt, pairing, lag=lag, models=models, device=device, precision=precision) as opened:
        scored = score_frames(opened.frames, opened.context, settings.chosen)
        context, tally, remarks = opened.context, opened.tally, opened.remarks
    values = [with_pairing(measurement, pairing.params) for measurement in scored.measurements.values()]
    assert task.pair.gt is not None
    reference = {"path": _path(task.pair.gt), "sha256": clip_digest(gt)}
    facts = _facts(context, tally, lag, remarks) | {"reference": reference}
    subject = _subject(task, facts, clip_digest(gen))
    series: dict[str, Series] = dict(scored.series)
    if context.fps:
        series["time_ms"] = np.arange(tally.pairs, dtype=np.float64) * 1000.0 / context.fps
    return pack(Entry(subject=subject, measurements=(*values, *([found] if found else [])), series=series))


def _facts(context: PairContext, tally: Tally, lag: int, remarks: Sequence[str]) -> dict[str, object]:
    width, height = context.size
    media = context.gen_facts.plain() if context.gen_facts else {"video": {"width": width, "height": height}}
    facts: dict[str, object] = {"media": media, "frames": tally.pairs, "size": [width, height]}
    if context.gt_facts:
        facts["reference_media"] = context.gt_facts.plain()
    if remarks:
        facts["remarks"] = list(remarks)
    if tally.gen_over or tally.gt_over:
        facts["left_over"] = {"gen": tally.gen_over, "gt": tally.gt_over}
    return facts | ({"lag": lag} if lag else {}) | ({"fps": round(context.fps, 6)} if context.fps else {})


def _subject(task: _Task, facts: Mapping[str, object], sha256: str | None = None) -> Subject:
    clip = task.pair.gen or task.pair.gt
    assert clip is not None
    return Subject(id=task.subject_id, kind="pair", path=_path(clip), sha256=sha256, facts=facts)


def _path(clip: Clip) -> str:
    """The file, or the folder of the pictures, as the user gave it."""
    first = clip.files[0]
    return str(first.parent) if clip.is_sequence and isinstance(first, Path) else str(first)


def _failed(task: _Task, why: str, *, given_up: bool = False) -> Packed:
    """A pair without numbers: every value missing, with the reason."""
    facts: dict[str, object] = {"error": why} | ({"given_up": True} if given_up else {})
    if task.pair.gen is not None and task.pair.gt is not None:
        facts["reference"] = {"path": _path(task.pair.gt), "sha256": None}
    how = task.settings.pairing.params
    values = [with_pairing(metric.missing(why), how) for metric in task.settings.chosen.values()]
    return pack(Entry(subject=_subject(task, facts), measurements=tuple(values)))


def _is_finished(writer: RunWriter, task: _Task) -> bool:
    """Whether an earlier run compared this very content under this id."""
    row = writer.finished(task.subject_id)
    facts = row.get("facts") if row is not None else None
    if row is None or not isinstance(facts, dict) or "error" in facts:
        return False  # what failed is tried again: the reason may be gone
    reference = facts.get("reference")
    clips = (task.pair.gen, task.pair.gt)
    if any(clip is None or is_remote(str(clip.files[0])) for clip in clips) or not isinstance(reference, dict):
        return False
    try:
        return [row.get("sha256"), reference.get("sha256")] == [clip_digest(clip) for clip in clips if clip is not None]
    except InputError:
        return False


def _set_entry(subject_id: str, gen: str, gt: str, entries: Sequence[Entry]) -> Entry:
    """The set as a subject: the mean of every number over the clips, with its interval."""
    scored = [entry for entry in entries if "error" not in entry.subject.facts]
    numbers = [m for entry in entries for m in entry.measurements if m.definition != LAG_FRAMES]
    facts = {"gt": gt, "pairs": len(entries), "scored": len(scored)}
    return Entry(
        subject=Subject(id=subject_id, kind="set", path=gen, sha256=None, facts=facts),
        measurements=clip_means(numbers),
    )
