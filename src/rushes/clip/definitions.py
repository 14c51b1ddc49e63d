"""Every definition of this instrument, in the order the catalogue shows them."""

from rushes.clip import image, motion, timing
from rushes.core import Definition

DEFINITIONS: tuple[Definition, ...] = (*timing.DEFINITIONS, *motion.DEFINITIONS, *image.DEFINITIONS)
