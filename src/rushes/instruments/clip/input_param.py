"""What of a clip was measured: the file, its canonical form or a common form. Part of every clip number's signature.

These are not the same numbers: the canonical form is encoded again, the common form resampled. The parameter is set
here, once, for the metrics of other packages as well; a definition does not name it itself.

raw              the file as it is
canon-2          its canonical form at its own rate, made with `--canon` or known by its mark
canon-2-30fps    the same at a rate that was asked for
alike-1(160x120@8,2s,crop)
                 its common form, which fixes frame size, rate and length: `rushes.core.alike_form`
canon            the form before version 2: always at 30 frames a second, so that of 25 every fifth was shown twice.
                 Found in earlier runs; no number of it compares with one of today's form
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.alike_form import FIXED_FACTS, AlikeForm, form_of

Input: TypeAlias = str
RAW: Input = "raw"
PARAMETER = "input"


def with_input(measurement: Measurement, form: Input) -> Measurement:
    """A clip number that says what it was measured on.

    >>> from rushes.instruments.clip.metrics.motion import freeze_frame_ratio
    >>> with_input(freeze_frame_ratio([0.0, 2.0]), "canon-2").signature
    'freeze_frame_ratio|eps:1.0|input:canon-2|plane:luma|range:full|v:1'
    """
    return measurement.under(_labelled(measurement.definition, form))


@lru_cache(maxsize=1024)
def _labelled(definition: Definition, form: Input) -> Definition:
    """The same for every clip of a run, so it is made once."""
    return definition.add_params(input=form)


def in_form(measurement: Measurement, form: Input) -> Measurement:
    """A number of a clip's common form: it does not depend on the facts of the file that the form fixes.

    >>> from rushes.instruments.clip.metrics.motion import freeze_frame_ratio
    >>> m = in_form(freeze_frame_ratio([0.0, 2.0]), "alike-1(160x120@8,2s,crop)")
    >>> m.signature, m.definition.depends_on
    ('freeze_frame_ratio|eps:1.0|input:alike-1(160x120@8,2s,crop)|plane:luma|range:full|v:1', ('transfer', 'luma'))
    """
    found = with_input(measurement, form)
    left = tuple(fact for fact in found.definition.depends_on if fact not in FIXED_FACTS)
    return replace(found, definition=replace(found.definition, depends_on=left))


def alike_form(definition: Definition) -> AlikeForm | None:
    """The common form that a number was measured in; None for one of the clip itself."""
    return form_of(definition.param(PARAMETER) or "")


def own_numbers(measurements: Iterable[Measurement]) -> Iterator[Measurement]:
    """Without those of the clip's common form: review signals and thresholds are about the clip as it is."""
    return (m for m in measurements if alike_form(m.definition) is None)


def open_input(definition: Definition) -> Definition:
    """The definition as the catalogue shows it: what is measured, each run settles."""
    return replace(definition, open_params=(*definition.open_params, PARAMETER))


def names_input(definition: Definition) -> bool:
    """Whether a definition claims the parameter for itself, which no metric may."""
    return PARAMETER in (*dict(definition.params), *definition.open_params, *definition.places)
