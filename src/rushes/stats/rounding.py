"""Many numbers as files have them."""

from __future__ import annotations

import numpy as np

from rushes.core.canonical import DECIMALS, stored_float
from rushes.stats.intervals import Floats


def stored_floats(values: Floats) -> Floats:
    """`stored_float` of many: the same bits, NaN left as it is.

    The nearest whole number of 1e-8 steps, divided, is what rounding the decimals gives, except where the steps end
    near a half or are too many to be exact: those few are rounded one by one.
    """
    steps = values * 10.0**DECIMALS
    near = np.rint(steps)
    found = near / 10.0**DECIMALS + 0.0
    unsure = (np.abs(np.abs(steps - near) - 0.5) < 1e-3) | (np.abs(steps) > 2.0**42)
    for place in np.flatnonzero(unsure):
        found[place] = stored_float(float(values[place]))
    return found
