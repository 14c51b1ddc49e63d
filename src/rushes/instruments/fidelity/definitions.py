"""Every definition of this instrument: the registry's, those of installed packages among them, and the lag."""

from dataclasses import replace

from rushes.core import Definition
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.lag import LAG_FRAMES

_OPEN = tuple(Pairing().params)
"""What pairing adds to every signature; settled where a number is measured."""


def _open(definition: Definition) -> Definition:
    return replace(definition, open_params=(*definition.open_params, *_OPEN))


DEFINITIONS: tuple[Definition, ...] = (*(_open(metric.definition) for _, metric in METRICS.items()), LAG_FRAMES)
