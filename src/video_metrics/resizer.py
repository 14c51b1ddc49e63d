"""Image resizing utilities: the named resizers of the protocols; `pil-bicubic-squash` is the document's."""

from rushes.instruments.distribution.clips.preparation import RESIZERS as RESIZERS
from rushes.instruments.distribution.clips.preparation import prepared as prepared
from rushes.instruments.distribution.clips.preparation import resize_frames as resize_frames
from rushes.vision.normalise import normalised as normalised
