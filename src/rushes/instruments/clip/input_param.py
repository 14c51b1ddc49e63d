"""What of a clip was measured: the file as it is, or its canonical form. Part of the signature of every clip number.

The two are not the same numbers, for the form is encoded again. The parameter is set here, once, for the metrics of
other packages as well; a definition does not name it itself.

raw              the file as it is
canon-2          its canonical form at its own rate, made with `--canon` or known by its mark
canon-2-30fps    the same at a rate that was asked for
canon            the form before version 2: always at 30 frames a second, so that of 25 every fifth was shown twice.
                 Found in earlier runs; no number of it compares with one of today's form
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from rushes.core import Definition, Measurement

Input: TypeAlias = str
RAW: Input = "raw"
PARAMETER = "input"


def with_input(measurement: Measurement, form: Input) -> Measurement:
    """A clip number that says what it was measured on.

    >>> from rushes.instruments.clip.metrics.motion import freeze_frame_ratio
    >>> with_input(freeze_frame_ratio([0.0, 2.0]), "canon-2").signature
    'freeze_frame_ratio|eps:1.0|input:canon-2|plane:luma|range:full|v:1'
    """
    return replace(measurement, definition=measurement.definition.add_params(input=form))


def open_input(definition: Definition) -> Definition:
    """The definition as the catalogue shows it: what is measured, each run settles."""
    return replace(definition, open_params=(*definition.open_params, PARAMETER))


def names_input(definition: Definition) -> bool:
    """Whether a definition claims the parameter for itself, which no metric may."""
    return PARAMETER in (*dict(definition.params), *definition.open_params, *definition.places)
