"""One system of a suite: its clips swept, and the sweeps measured."""

from __future__ import annotations

from typing import Any

from rushes.instruments.robustness.evaluate import measure_robustness
from rushes.instruments.robustness.sweep.evaluate import sweep_clips
from rushes.media.find.clips import search_clips
from rushes.storage.runs import clip_ids
from rushes.workers.job import Job


def measure(job: Job) -> None:
    """The sweeps lie beside the run, a folder per clip: `robustness-sweeps/p001`."""
    sweeps = job.out.with_name(f"{job.out.name}-sweeps")
    found = search_clips(job.clips)
    single = len(found.clips) == 1  # which would else be the folder itself, and lose the clip's name
    out = sweeps / clip_ids([str(found.clips[0])], found.names)[0] if single else sweeps
    engine: dict[str, Any] = {"jobs": job.jobs, "engine": job.engine, "progress": job.progress, "warn": job.warn}
    sweep_clips(job.clips, out=out, **engine, **job.settings)
    measure_robustness(sweeps, run=job.out, overwrite=job.overwrite)
