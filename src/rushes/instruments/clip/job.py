"""One system of a suite, measured clip by clip."""

from __future__ import annotations

from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.workers.job import Job


def measure(job: Job) -> None:
    evaluate_clips(job.clips, run=job.out, **job.shared, **job.settings)
