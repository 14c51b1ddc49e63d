"""Made-up systems, raters and metrics whose agreement is known, as run directories and ratings files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rushes.compare.agreement.human_scores import HumanScores
from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores
from rushes.core import Definition, Measurement
from rushes.core.definition import Better
from rushes.storage.runs import Entry, RunWriter, Subject

SYSTEMS = ("amber", "birch", "cedar", "dogwood")


def definition(name: str, better: Better = "higher") -> Definition:
    return Definition(
        name=name, unit="1", lowest=None, highest=None, better=better, summary="Made up.", formula="made up"
    )


def write_run(
    folder: Path, values: Mapping[str, Mapping[str, float | None]], *, better: Mapping[str, Better] | None = None
) -> Path:
    """A run of one system: by metric name, then by clip."""
    clips = list(dict.fromkeys(clip for of_clip in values.values() for clip in of_clip))
    with RunWriter(folder, instrument="clip", settings={}, inputs=clips, asked=[str(folder)]) as run:
        for clip in clips:
            numbers = []
            for name, of_clip in values.items():
                value, what = of_clip.get(clip), definition(name, (better or {}).get(name, "higher"))
                if value is None:
                    numbers.append(Measurement.missing(what, "not measured"))
                else:
                    numbers.append(Measurement(definition=what, value=value, count=1))
            subject = Subject(id=clip, kind="clip", path=f"{folder.name}/{clip}.mp4", sha256=None)
            run.add(Entry(subject=subject, measurements=tuple(numbers)))
        run.finish(clips)
    return folder


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def made_up(
    rng: np.random.Generator,
    *,
    prompts: int = 20,
    raters: int = 3,
    systems: Sequence[str] = SYSTEMS,
    quality: float = 1.0,
    metrics: Mapping[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] | None = None,
) -> tuple[MeasuredClips, HumanScores]:
    """Clips with a true quality, raters who see it through a level, an eye and noise of their own, and metrics of it.

    A metric is a function of the true quality (prompts × systems). `quality` is how far systems differ.
    """
    shape = (prompts, len(systems))
    true = rng.normal(size=(prompts, 1)) + quality * np.linspace(-1, 1, len(systems)) + rng.normal(size=shape)
    level, eye = rng.normal(scale=0.5, size=raters), rng.normal(scale=0.5, size=(raters, 1, len(systems)))
    seen = 3 + true + level[:, None, None] + eye + rng.normal(scale=0.7, size=(raters, *shape))
    rated = np.clip(np.round(seen), 1, 5)
    keys = [(system, f"p{p:03d}") for p in range(prompts) for system in systems]
    flat = rated.reshape(raters, -1)
    people = {key: {f"r{r}": float(flat[r, n]) for r in range(raters)} for n, key in enumerate(keys)}
    scores = []
    for name, of_quality in (metrics or {"good": lambda q, g: q + g.normal(size=q.shape)}).items():
        values = of_quality(true, rng).ravel()
        scores.append(MetricScores(definition=definition(name), at=(), per_clip=dict(zip(keys, values, strict=True))))
    measured = MeasuredClips(metrics=tuple(scores))
    return measured, HumanScores(source="made up", kind="mean-rating", scores={"quality": people})
