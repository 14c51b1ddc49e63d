"""Run directories: write, continue, read."""

from rushes.store.mirror import open_run
from rushes.store.mirrored_folder import mirrored_folder, pulled_folder
from rushes.store.packing import Packed, pack
from rushes.store.reading import Run, read_run
from rushes.store.subjects import Entry, Subject, subject_ids
from rushes.store.writing import RunWriter

__all__ = [
    "Entry",
    "Packed",
    "Run",
    "RunWriter",
    "Subject",
    "mirrored_folder",
    "open_run",
    "pack",
    "pulled_folder",
    "read_run",
    "subject_ids",
]
