"""Run directories: write, continue, read."""

from rushes.store.packing import Packed, pack
from rushes.store.reading import Run, read_run
from rushes.store.subjects import Entry, Subject, subject_ids
from rushes.store.writing import RunWriter

__all__ = ["Entry", "Packed", "Run", "RunWriter", "Subject", "pack", "read_run", "subject_ids"]
