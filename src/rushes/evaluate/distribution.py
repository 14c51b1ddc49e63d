"""`rushes fvd` in Python: compare two sets of clips, and keep the answer as a run directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from rushes.distribution.comparing import Comparison, Progress, Question, compare, no_progress
from rushes.distribution.protocols import Side
from rushes.distribution.video_metrics import as_measurements
from rushes.store import Entry, Subject, open_run

GEN_ID, GT_ID = "generated", "ground_truth"


def compare_sets(
    gen: Path | str,
    gt: Path | str,
    *,
    question: Question | None = None,
    run: Path | str | None = None,
    save_gt: Path | str | None = None,
    save_gen: Path | str | None = None,
    progress: Progress = no_progress,
    say: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Distances between a generated and a ground-truth set, each a folder, glob, list file or saved statistics.

    `run` is the run directory to write. While one is written, features are cached beneath it, so that a run that was
    interrupted continues where it stopped; `question.cache` puts the cache elsewhere. `save_gt` and `save_gen` keep a
    side's statistics for the next comparison.
    """
    asked = question or Question()
    if run is None:
        comparison = compare(gen, gt, asked, progress=progress, say=say)
    else:
        comparison = _into_run(run, gen, gt, asked, progress, say)
    if save_gt is not None:
        comparison.save("gt", save_gt)
    if save_gen is not None:
        comparison.save("gen", save_gen)
    return comparison


def _into_run(
    run: Path | str, gen: Path | str, gt: Path | str, asked: Question, progress: Progress, say: Callable[[str], None]
) -> Comparison:
    with open_run(run, instrument="distribution", settings=_settings(asked), inputs=[str(gen), str(gt)]) as writer:
        cache = writer.path / ".features"
        comparison = compare(gen, gt, replace(asked, cache=asked.cache or cache), progress=progress, say=say)
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
