"""Run directories: write, continue, read."""

from rushes.runs.ids import clip_ids as clip_ids
from rushes.runs.ids import subject_ids as subject_ids
from rushes.runs.opening import open_run as open_run
from rushes.runs.packing import Packed as Packed
from rushes.runs.packing import pack as pack
from rushes.runs.reader import read_run as read_run
from rushes.runs.remote.mirrored_folder import mirrored_folder as mirrored_folder
from rushes.runs.remote.mirrored_folder import pulled_folder as pulled_folder
from rushes.runs.run import Run as Run
from rushes.runs.run import clip_paths as clip_paths
from rushes.runs.subjects import Entry as Entry
from rushes.runs.subjects import Subject as Subject
from rushes.runs.writer import RunWriter as RunWriter
