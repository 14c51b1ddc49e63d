"""What of a clip was measured: the file as it is, or its canonical form. Part of the signature of every clip number.

The two are not the same numbers: of 25 frames a second the canonical form repeats every fifth, so the same clip has a
higher freeze_frame_ratio. The parameter is set here, once, for the metrics of other packages as well; a definition does
not name it itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from rushes.core import Definition, Measurement

Input: TypeAlias = Literal["raw", "canon"]
PARAMETER = "input"


def with_input(measurement: Measurement, form: Input) -> Measurement:
    """A clip number that says what it was measured on.

    >>> from rushes.instruments.clip.metrics.motion import freeze_frame_ratio
    >>> with_input(freeze_frame_ratio([0.0, 2.0]), "canon").signature
    'freeze_frame_ratio|eps:1.0|input:canon|plane:luma|range:full|v:1'
    """
    return replace(measurement, definition=measurement.definition.add_params(input=form))


def open_input(definition: Definition) -> Definition:
    """The definition as the catalogue shows it: what is measured, each run settles."""
    return replace(definition, open_params=(*definition.open_params, PARAMETER))


def names_input(definition: Definition) -> bool:
    """Whether a definition claims the parameter for itself, which no metric may."""
    return PARAMETER in (*dict(definition.params), *definition.open_params, *definition.places)
