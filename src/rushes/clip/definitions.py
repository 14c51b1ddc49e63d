"""Every definition of this instrument, in the order the catalogue shows them."""

from rushes.core import Definition

DEFINITIONS: tuple[Definition, ...] = ()
