"""What LPIPS adds to a network: how pictures are scaled, and what each layer's difference counts for."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Span: TypeAlias = Literal["-1..1", "0..1"]
"""What 0 and 255 become before they are scaled. LPIPS was trained with the first; some code feeds it the second."""

SHIFT = (-0.030, -0.088, -0.188)
SCALE = (0.458, 0.448, 0.450)
"""Per channel: (value − SHIFT) / SCALE goes into the network."""
EPS = 1e-10
"""Added to the length of a pixel's features before they are divided by it."""


def scaling(span: Span) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Factor and offset, per channel, that take eight-bit values to what the network is given."""
    factor, offset = (2.0 / 255.0, -1.0) if span == "-1..1" else (1.0 / 255.0, 0.0)
    scale = np.array(SCALE)
    return (factor / scale).astype(np.float32), ((offset - np.array(SHIFT)) / scale).astype(np.float32)


def spread_weights(small: int, large: int) -> NDArray[np.float64]:
    """What each of `small` rows counts for in the mean of the map that was enlarged to `large` rows.

    Bilinear, with pixel centres aligned and the border repeated (torch's `align_corners=False`): the mean over the
    enlarged map is this weighted mean of the small one, so that it is never made.

    >>> [float(weight) for weight in spread_weights(2, 4)]
    [0.5, 0.5]
    """
    at = np.maximum((np.arange(large) + 0.5) * small / large - 0.5, 0.0)
    lower = np.minimum(at.astype(np.int64), small - 1)
    upper = np.minimum(lower + 1, small - 1)
    weights = np.zeros(small)
    np.add.at(weights, lower, 1.0 - (at - lower))
    np.add.at(weights, upper, at - lower)
    return weights / large
