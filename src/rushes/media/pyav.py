"""What differs between the versions of PyAV that Rushes works with: 18 and 19, by the bounds of `pyproject.toml`.

Up to 18 PyAV hands out rates and time bases as `Fraction`, None where nothing is stated. From 19 on they are
`av.AVRational`: two 32-bit integers whose products are rounded, with 0/1, 0/0 and 1/0 for what is not stated.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av

MAJOR = int(av.__version__.partition(".")[0])

LENIENT: dict[str, Any] = {"metadata_errors": "replace"} if MAJOR < 19 else {}
"""Options of `av.open` under which a tag that is not UTF-8 does not make a file unreadable. 19 reads every tag."""


def ratio(value: Fraction | None) -> Fraction | None:
    """A number of PyAV's (19 has `AVRational`, which is read alike), exactly; None where the file does not state it.

    >>> ratio(Fraction(30000, 1001)), ratio(Fraction(0)), ratio(None)
    (Fraction(30000, 1001), None, None)
    """
    return Fraction(value.numerator, value.denominator) if value else None
