"""One system of a suite, its set measured against the suite's reference."""

from __future__ import annotations

from rushes.instruments.distribution.evaluate import compare_sets
from rushes.workers.job import Job


def measure(job: Job) -> None:
    """The features of the reference are kept for all systems."""
    compare_sets(job.clips, job.reference, run=job.out, cache=job.features, **job.shared, **job.settings)
