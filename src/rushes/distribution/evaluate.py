"""`rushes fvd` in Python: compare two sets of clips, and keep the answer as a run directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from rushes.distribution.clip_reading import crash_line
from rushes.distribution.compare import Comparison, Progress, Question, compare, need_torch, no_progress
from rushes.distribution.protocols import Side
from rushes.distribution.video_metrics import as_measurements
from rushes.runs import Entry, Subject, open_run
from rushes.workers.engine import LOCAL, Crash, Engine, connected, gpu_count, run_tasks

if TYPE_CHECKING:
    from rushes.distribution.features import ClipRow
    from rushes.distribution.sharding import RowSource, Shard

GEN_ID, GT_ID = "generated", "ground_truth"


def compare_sets(
    gen: Path | str,
    gt: Path | str,
    *,
    question: Question | None = None,
    run: Path | str | None = None,
    save_gt: Path | str | None = None,
    save_gen: Path | str | None = None,
    engine: Engine = LOCAL,
    progress: Progress = no_progress,
    say: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Distances between a generated and a ground-truth set, each a folder, glob, list file or saved statistics.

    `run` is the run directory to write. While one is written, features are cached beneath it, so that a run that was
    interrupted continues where it stopped; `question.cache` puts the cache elsewhere. `save_gt` and `save_gen` keep a
    side's statistics for the next comparison. On the engine Ray every core of the cluster computes, or every GPU where
    it has any and `question.device` does not say cpu.
    """
    with _where(engine, question or Question()) as (asked, rows):

        def answer(settled: Question) -> Comparison:
            return compare(gen, gt, settled, progress=progress, say=say, rows=rows)

        comparison = answer(asked) if run is None else _into_run(run, gen, gt, asked, answer)
    if save_gt is not None:
        comparison.save("gt", save_gt)
    if save_gen is not None:
        comparison.save("gen", save_gen)
    return comparison


@contextmanager
def _where(engine: Engine, asked: Question) -> Iterator[tuple[Question, RowSource | None]]:
    """The question with its device settled, and who computes the features; None: this process."""
    if engine.kind == "local":
        yield asked, None
        return
    need_torch()
    with connected(engine, jobs=asked.workers or None):
        device = asked.device or ("cuda" if gpu_count(engine) else "cpu")
        yield replace(asked, device=device), _row_source(engine, device, asked.workers)


def _row_source(engine: Engine, device: str, workers: int | None) -> RowSource:
    """Shards as tasks of the engine; one worker per core, or per GPU."""
    from rushes.distribution.sharding import Shard, shard_rows

    on_gpu = device != "cpu"
    jobs = None if on_gpu else workers or None

    def rows(shards: Sequence[Shard]) -> Iterator[tuple[int, tuple[ClipRow, ...]]]:
        outcomes = run_tasks(shard_rows, shards, engine=engine, jobs=jobs, needs=Shard.files, gpus=int(on_gpu))
        for position, outcome in outcomes:
            yield position, _crashed(shards[position]) if isinstance(outcome, Crash) else outcome

    return rows


def _crashed(shard: Shard) -> tuple[ClipRow, ...]:
    from rushes.distribution.features import ClipRow

    return tuple(ClipRow(None, failed=crash_line(clip)) for clip in shard.clips)


def _into_run(
    run: Path | str, gen: Path | str, gt: Path | str, asked: Question, answer: Callable[[Question], Comparison]
) -> Comparison:
    with open_run(run, instrument="distribution", settings=_settings(asked), inputs=[str(gen), str(gt)]) as writer:
        cache = writer.path / ".features"
        comparison = answer(replace(asked, cache=asked.cache or cache))
        writer.add(_entry(comparison, "gen", str(gen)))
        writer.add(_entry(comparison, "gt", str(gt)))
        writer.finish([GEN_ID, GT_ID])
        rmtree(cache, ignore_errors=True)  # only there to continue from
    return comparison


def _settings(asked: Question) -> dict[str, object]:
    """What was asked that can move a value."""
    extras = asked.extras
    return {
        "metrics": list(asked.metrics),
        "protocol": asked.protocol,
        "sample_duration": asked.sample_duration,
        "weights": [path.name for path in asked.weights],
        "precision": asked.precision,
        "interval": extras.interval,
        "extrapolate": extras.extrapolate,
        "seed": extras.seed,
        "strict": asked.strict,
    }


def _entry(comparison: Comparison, side: Side, path: str) -> Entry:
    """One side as a subject; the generated set carries the numbers."""
    sets = comparison.gen if side == "gen" else comparison.gt
    features = sets[0][1]
    facts = {
        "clips": len(features.names),
        "names": list(features.names),
        "excluded": comparison.excluded(side),
        "weights": dict(comparison.weights),
        "side": "generated" if side == "gen" else "ground truth",
    }
    subject = Subject(id=GEN_ID if side == "gen" else GT_ID, kind="set", path=path, sha256=features.sha256, facts=facts)
    return Entry(subject=subject, measurements=as_measurements(comparison) if side == "gen" else ())
