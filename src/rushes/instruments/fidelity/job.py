"""One system of a suite, measured against the suite's reference clip by clip."""

from __future__ import annotations

from rushes.instruments.fidelity.evaluate import evaluate_fidelity
from rushes.workers.job import Job


def measure(job: Job) -> None:
    evaluate_fidelity(job.clips, job.reference, run=job.out, **job.shared, **job.settings)
