"""Run directories: write, continue, read."""

from rushes.storage.mirrors.staging import mirrored_folder as mirrored_folder
from rushes.storage.mirrors.staging import pulled_folder as pulled_folder
from rushes.storage.runs.ids import clip_ids as clip_ids
from rushes.storage.runs.ids import subject_ids as subject_ids
from rushes.storage.runs.opening import open_run as open_run
from rushes.storage.runs.packing import Packed as Packed
from rushes.storage.runs.packing import pack as pack
from rushes.storage.runs.reader import read_run as read_run
from rushes.storage.runs.run import Run as Run
from rushes.storage.runs.run import clip_paths as clip_paths
from rushes.storage.runs.subjects import Entry as Entry
from rushes.storage.runs.subjects import Subject as Subject
from rushes.storage.runs.writer import RunWriter as RunWriter
