"""SSIM under a plain 7 × 7 window with sample covariances: what scikit-image computes when nothing else is asked of it.

(2 μa μb + C1)(2 σab + C2) / ((μa² + μb² + C1)(σa² + σb² + C2))     μ = Σ / 49   σ² = (Σa² − (Σa)² / 49) / 48
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.media.numba_cache import kernel

WINDOW = 7


def box_ssim(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> float | None:
    """Mean over the windows that lie in two 8-bit pictures of one shape; None where none does."""
    height, width = gen.shape
    if min(height, width) < WINDOW:
        return None
    total = _kernel()(np.ascontiguousarray(gen), np.ascontiguousarray(gt))
    return float(total / ((height - WINDOW + 1) * (width - WINDOW + 1)))


def _box_ssim(a: Any, b: Any) -> Any:
    height, width = a.shape
    columns = np.zeros((4, width), np.int32)
    """Σ a, Σ b, Σ a² + b² and Σ ab over the seven rows of a window, a column each."""
    sums = np.zeros(width - 6, np.float64)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    area, norm = 49.0, 49.0 * 48.0
    for i in range(height):
        for row, sign in ((i, np.int32(1)), (i - 7, np.int32(-1))):  # the one that comes in, the one that goes out
            for j in range(width if row >= 0 else 0):
                x, y = np.int32(a[row, j]), np.int32(b[row, j])
                columns[0, j] += sign * x
                columns[1, j] += sign * y
                columns[2, j] += sign * (x * x + y * y)
                columns[3, j] += sign * (x * y)
        if i < 6:
            continue
        for j in range(width - 6):
            sa, sb, ss, sab = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
            for k in range(7):
                sa = np.int32(sa + columns[0, j + k])
                sb = np.int32(sb + columns[1, j + k])
                ss = np.int32(ss + columns[2, j + k])
                sab = np.int32(sab + columns[3, j + k])
            fa, fb = np.float64(sa), np.float64(sb)
            covariance = (area * np.float64(sab) - fa * fb) / norm
            variances = (area * np.float64(ss) - fa * fa - fb * fb) / norm
            ma, mb = fa / area, fb / area
            top = (2.0 * ma * mb + c1) * (2.0 * covariance + c2)
            sums[j] += top / ((ma * ma + mb * mb + c1) * (variances + c2))
    total = 0.0
    for j in range(width - 6):
        total += sums[j]
    return total


_kernel = kernel(_box_ssim, error_model="numpy")
