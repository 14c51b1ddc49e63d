"""How a sweep names its runs: the directory-safe encoding of axis values, and what it refuses.

A run's directory is not stored in the manifest but rebuilt from its axis values and its seed, so two values that encode
alike would share a directory. That is reported, never guessed at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from rushes.instruments.robustness.seed.metrics import MetricComputationError

_AXIS_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*", re.ASCII)
_UNSAFE = re.compile(r"[^a-zA-Z0-9_]")
_LONGEST_NUMBER = 300


def encode_value(value: object) -> str:
    """The value as part of a directory name: "." is p, "-" is m, anything but letters, digits and _ is dropped.

    >>> [encode_value(v) for v in (0.8, -0.25, -1, "high quality", 1e-05, True, "é", "../../etc")]
    ['0p8', 'm0p25', 'm1', 'highquality', '1em05', 'True', '', 'ppppetc']
    """
    return _UNSAFE.sub("", str(value).replace(".", "p").replace("-", "m"))


def value_order(values: Mapping[str, object]) -> list[str]:
    """The encodings of an axis's values (encoding → value), numbers by size; where one is no number, as declared.

    The seed emits them by encoding, where 10 comes before 2; tables, charts and slopes "by value" follow this order.

    >>> value_order({"10": 10, "2": 2, "0p5": 0.5}), value_order({"low": "low", "2": 2})
    (['0p5', '2', '10'], ['low', '2'])
    """
    try:
        return sorted(values, key=lambda encoded: _size(values[encoded]))
    except ValueError:
        return list(values)


def _size(value: object) -> float:
    if len(str(value)) > _LONGEST_NUMBER:
        raise ValueError("too long to be a number anybody swept")
    size = float(str(value))
    if not math.isfinite(size):
        raise ValueError("no size")
    return size


def run_directory(axis_values: Mapping[str, object], seed: int) -> str:
    """A run's directory name: `name=value` by sorted axis name, then the seed, joined with "_".

    >>> run_directory({"contrast": 1.0, "brightness": 0.8}, 42)
    'brightness=0p8_contrast=1p0_seed=42'
    """
    segments = [f"{name}={encode_value(axis_values[name])}" for name in sorted(axis_values)]
    return "_".join([*segments, f"seed={seed}"])


def check_axis_name(name: object, where: str) -> str:
    """The name, when it is letters, digits and _ after a first letter; anything else could leave the directory."""
    if not isinstance(name, str) or not _AXIS_NAME.fullmatch(name):
        raise MetricComputationError(
            f"{where}: an axis name is a letter followed by letters, digits and _; got {name!r}; rename the axis"
        )
    return name


def check_collisions(axis: str, values: Iterable[object], where: str) -> dict[str, object]:
    """The values by encoding, in declared order; `MetricComputationError` where two of them encode alike."""
    by_encoding: dict[str, object] = {}
    for value in values:
        encoded = encode_value(value)
        if encoded in by_encoding:
            raise MetricComputationError(
                f"{where}: axis {axis}: the values {by_encoding[encoded]!r} and {value!r} both encode as {encoded!r}, "
                "so their runs share a directory; give them different names"
            )
        by_encoding[encoded] = value
    return by_encoding
