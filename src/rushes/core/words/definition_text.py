"""Definitions and values as plain text, the same words on the terminal, in the docs and on the pages."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.core import Definition, Measurement
from rushes.core.definition import MEDIUM_FACTS
from rushes.core.errors import DefinitionError
from rushes.core.words.number_text import fixed_text, number_text

_DIRECTION = {"higher": "higher is better", "lower": "lower is better", "neither": "neither direction is better"}


def range_text(definition: Definition) -> str:
    """ "0 to 1", "0 and up", "any".

    >>> from rushes.core import Definition
    >>> d = dict(name="x", unit="1", better="lower", summary="s", formula="f")
    >>> [range_text(Definition(lowest=a, highest=b, **d)) for a, b in ((0, 1.0), (0, None), (None, None), (None, 2.5))]
    ['0 to 1', '0 and up', 'any', 'up to 2.5']
    """
    low, high = definition.lowest, definition.highest
    if low is None and high is None:
        return "any"
    if high is None:
        return f"{low:g} and up"
    return f"up to {high:g}" if low is None else f"{low:g} to {high:g}"


def direction_text(definition: Definition) -> str:
    return _DIRECTION[definition.better]


def moved_by(definition: Definition) -> list[tuple[str, str]]:
    """What moves the value besides what it is for: (head, words), where there is any.

    >>> from rushes.core import Definition
    >>> d = dict(name="x", unit="1", lowest=0, highest=None, better="higher", summary="s", formula="f")
    >>> moved_by(Definition(depends_on=("frame_size", "fps"), raised_by=("noise", "ringing"), **d))
    [('Depends on', 'frame size, frame rate'), ('Raised by', 'noise; ringing')]
    """
    facts = [
        ("Depends on", ", ".join(MEDIUM_FACTS[fact] for fact in definition.depends_on)),
        ("Raised by", "; ".join(definition.raised_by)),
        ("Lowered by", "; ".join(definition.lowered_by)),
    ]
    return [(head, words) for head, words in facts if words]


def definition_lines(
    definition: Definition, *, also_called: Sequence[str] = (), family: str = "", package: str = ""
) -> list[str]:
    """The whole definition, one fact a line."""
    facts = [
        ("", definition.summary),
        ("Also called", ", ".join(also_called)),
        ("Family", family),
        ("Package", package),
        ("Formula", definition.formula),
        ("Unit", definition.unit),
        ("Range", range_text(definition)),
        ("Direction", direction_text(definition)),
        *moved_by(definition),
        ("Settings", ", ".join(f"{key} = {value}" for key, value in definition.params)),
        ("Set per run", ", ".join(definition.open_params)),
        ("Edge cases", definition.edge_cases),
        ("Reference", definition.reference),
    ]
    lines = [definition.signature] + [f"  {name:<12}{text}".rstrip() for name, text in facts if text]
    return lines + [f"  {'v' + str(n):<12}{why}" for n, why in enumerate(definition.history, 1)]


def value_text(measurement: Measurement, *, digits: int | None = None) -> str:
    """The value for people, as `number_text` has it: "0.3333", "250", "yes"; "–" where there is none.

    `digits` asks for so many decimals instead, where a column or a form needs them.

    >>> from rushes.core import Definition
    >>> d = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
    >>> [value_text(Measurement(definition=d, value=v, count=1, note="n")) for v in (1 / 3, 250, True, None, 12345.678)]
    ['0.3333', '250', 'yes', '–', '12346']
    """
    if not isinstance(measurement, Measurement):
        raise DefinitionError(f"only a measurement can be shown; got {measurement!r}")
    value = measurement.value
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if digits is not None:
        return fixed_text(value, digits)
    return number_text(value, unit=measurement.definition.unit)


def ends_text(measurement: Measurement) -> str:
    """Both ends of its interval, "980 to 1020"; "" where there is none."""
    found, unit = measurement.interval, measurement.definition.unit
    return "" if found is None else f"{number_text(found.low, unit=unit)} to {number_text(found.high, unit=unit)}"
