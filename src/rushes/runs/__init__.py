"""Run directories: write, continue, read."""

from rushes.runs.packing import Packed, pack
from rushes.runs.reader import read_run
from rushes.runs.remote.mirror import open_run
from rushes.runs.remote.mirrored_folder import mirrored_folder, pulled_folder
from rushes.runs.run import Run
from rushes.runs.subjects import Entry, Subject, subject_ids
from rushes.runs.writer import RunWriter

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
