"""SSIM over blocks of 8 × 8 pixels, 4 apart, as ffmpeg's and x264's code has it: integer sums, floats of 32 bits.

    fs1 = Σ a   fs2 = Σ b   fss = Σ a² + b²   fs12 = Σ ab          over the 64 pixels of a block
    C1 = ⌊.01² · peak² · 64 + .5⌋   C2 = ⌊.03² · peak² · 64 · 63 + .5⌋
    vars = 64 fss − fs1² − fs2²     covar = 64 fs12 − fs1 fs2
    (2 fs1 fs2 + C1)(2 covar + C2) / ((fs1² + fs2² + C1)(vars + C2))

Rows and columns past the last multiple of 4 are left out.
"""

from __future__ import annotations

import numpy as np

from rushes.instruments.fidelity.kernels.sums import Plane
from rushes.native import c_function, in_rows

SMALLEST = 8
"""Pixels of the shorter side below which there is no block."""


def block_ssim(gen: Plane, gt: Plane, peak: int) -> float | None:
    """Mean over the blocks of two planes of one shape and depth; None where no block fits."""
    height, width = gen.shape
    if min(height, width) < SMALLEST:
        return None
    c1 = int(0.01 * 0.01 * peak * peak * 64 + 0.5)
    c2 = int(0.03 * 0.03 * peak * peak * 64 * 63 + 0.5)
    (one, line), (other, other_line) = in_rows(gen), in_rows(gt)
    columns = width // 4
    room, sums = np.empty(24 * columns, np.int32 if gen.dtype == np.uint8 else np.int64), np.zeros(columns)
    call = c_function(
        f"block_ssim_{8 * one.itemsize}", "void* int64 void* int64 int64 int64 int64 int64 void* float64*", "float64"
    )
    sides = one.ctypes.data, line, other.ctypes.data, other_line
    total = call(*sides, height // 4, columns, c1, c2, room.ctypes.data, sums.ctypes.data)
    return float(total / ((height // 4 - 1) * (columns - 1)))
