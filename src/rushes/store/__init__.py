"""Run directories: write, continue, read."""

from rushes.store.reading import Run, read_run
from rushes.store.subjects import Entry, Subject, subject_ids
from rushes.store.writing import RunWriter

__all__ = ["Entry", "Run", "RunWriter", "Subject", "read_run", "subject_ids"]
