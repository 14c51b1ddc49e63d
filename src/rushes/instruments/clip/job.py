"""One system of a suite, measured clip by clip."""

from __future__ import annotations

from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.workers.job import Job


def measure(job: Job) -> None:
    """Networks are given the suite's prompts, unless the settings name a file of their own."""
    prompts = {"prompts": job.prompts} if job.prompts and job.settings.get("networks") else {}
    evaluate_clips(job.clips, run=job.out, **(prompts | job.shared | dict(job.settings)))
