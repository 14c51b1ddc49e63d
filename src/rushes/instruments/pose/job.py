"""One system of a suite, its poses scored against those of the suite's reference."""

from __future__ import annotations

from pathlib import Path

from rushes.core.errors import InputError
from rushes.instruments.pose.evaluate import pose_files, score_pose
from rushes.storage.remote.address import local_only
from rushes.storage.runs import subject_ids
from rushes.workers.job import Job


def measure(job: Job) -> None:
    """A run per file that both folders have, by its path below them: a suite's folder may hold such runs already."""
    local_only(job.clips, job.reference)
    predicted, truth = _files(job.clips), _files(job.reference)
    names = [name for name in predicted if name in truth]
    if not names:
        raise InputError(f"{job.clips} and {job.reference}: expected poses or clips of the same names in both")
    if lacking := [name for name in truth if name not in predicted]:
        job.warn(f"{job.clips}: {len(lacking)} of {len(truth)} poses are missing, such as {lacking[0]}")
    for done, (name, folder) in enumerate(zip(names, subject_ids(names), strict=True), 1):
        score_pose(predicted[name], truth[name], run=job.out / folder, overwrite=job.overwrite, **job.settings)
        job.progress(done, len(names), "poses")


def _files(folder: str) -> dict[str, Path]:
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: expected a folder of poses or clips; there is no such folder")
    return dict(pose_files(Path(folder)))
