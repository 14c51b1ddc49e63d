"""Video data loaders: the clips of a folder, their frames, and the segments that a network is given."""

from rushes.instruments.distribution.clips.reading import Task as Task
from rushes.instruments.distribution.clips.reading import clip_frames as clip_frames
from rushes.instruments.distribution.clips.reading import clip_segments as clip_segments
from rushes.media.find.sets import Clip as Clip
from rushes.media.find.sets import ClipSet as ClipSet
from rushes.media.find.sets import read_set as read_set
