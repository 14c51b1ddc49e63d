"""Every definition of this instrument, in the order the catalogue shows them."""

from rushes.clip.metrics import face, image, motion, syncnet, timing
from rushes.core import Definition

DEFINITIONS: tuple[Definition, ...] = (
    *timing.DEFINITIONS,
    *motion.DEFINITIONS,
    *image.DEFINITIONS,
    *face.DEFINITIONS,
    *syncnet.DEFINITIONS,
)
