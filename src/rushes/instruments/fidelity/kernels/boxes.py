"""SSIM under a plain 7 × 7 window with sample covariances: what scikit-image computes when nothing else is asked of it.

(2 μa μb + C1)(2 σab + C2) / ((μa² + μb² + C1)(σa² + σb² + C2))     μ = Σ / 49   σ² = (Σa² − (Σa)² / 49) / 48
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function, in_rows

WINDOW = 7
_CONSTANTS = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def box_ssim(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> float | None:
    """Mean over the windows that lie in two 8-bit pictures of one shape; None where none does."""
    height, width = gen.shape
    if min(height, width) < WINDOW:
        return None
    (one, line), (other, other_line) = in_rows(gen), in_rows(gt)
    room, sums = np.zeros((4, width), np.int32), np.zeros(width - WINDOW + 1)
    sides = one.ctypes.data, line, other.ctypes.data, other_line
    pointers = "uint8* int64 uint8* int64 int64 int64 float64 float64 int32* float64*"
    call = c_function("box_ssim", pointers, "float64")
    total = call(*sides, height, width, *_CONSTANTS, room.ctypes.data, sums.ctypes.data)
    return float(total / ((height - WINDOW + 1) * (width - WINDOW + 1)))
