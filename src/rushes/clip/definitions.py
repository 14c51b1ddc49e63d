"""Every definition of this instrument, in the registry's order: those of installed packages are among them."""

from rushes.clip.inputs import open_input
from rushes.clip.metrics import METRICS, known
from rushes.core import Definition

DEFINITIONS: tuple[Definition, ...] = tuple(
    open_input(metric.definition) for metric in map(known, METRICS) if metric is not None
)
