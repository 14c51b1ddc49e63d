"""The study of a suite: one run about all its systems."""

from __future__ import annotations

from rushes.study import open_service
from rushes.study.evaluate import evaluate_study
from rushes.workers.job import Job


def measure(job: Job) -> None:
    settings = dict(job.settings)
    database, study = settings.pop("db"), settings.pop("study")
    service = open_service(database)
    try:
        evaluate_study(service, study, run=job.out, overwrite=job.overwrite, **settings)
    finally:
        service.close()
