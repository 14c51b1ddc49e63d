"""SSIM over blocks of 8 × 8 pixels, 4 apart, as ffmpeg's and x264's code has it: integer sums, floats of 32 bits.

    fs1 = Σ a   fs2 = Σ b   fss = Σ a² + b²   fs12 = Σ ab          over the 64 pixels of a block
    C1 = ⌊.01² · peak² · 64 + .5⌋   C2 = ⌊.03² · peak² · 64 · 63 + .5⌋
    vars = 64 fss − fs1² − fs2²     covar = 64 fs12 − fs1 fs2
    (2 fs1 fs2 + C1)(2 covar + C2) / ((fs1² + fs2² + C1)(vars + C2))

Rows and columns past the last multiple of 4 are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rushes.instruments.fidelity.kernels.rows import Plane, in_order, packed, pays
from rushes.media.numba_cache import kernel

SMALLEST = 8
"""Pixels of the shorter side below which there is no block."""


def block_ssim(gen: Plane, gt: Plane, peak: int) -> float | None:
    """Mean over the blocks of two planes of one shape and depth; None where no block fits."""
    height, width = gen.shape
    if min(height, width) < SMALLEST:
        return None
    c1 = int(0.01 * 0.01 * peak * peak * 64 + 0.5)
    c2 = int(0.03 * 0.03 * peak * peak * 64 * 63 + 0.5)
    kind = np.int32 if gen.dtype == np.uint8 else np.int64
    if pays(gen.size):
        work = np.zeros((4, 4 * (width // 4)), kind)
        total = _kernel()(packed(gen), packed(gt), height // 4, width // 4, kind(c1), kind(c2), work)
    else:
        total = _plain_total(gen, gt, kind(c1), kind(c2))
    return float(total / ((height // 4 - 1) * (width // 4 - 1)))


def _plain_total(gen: Plane, gt: Plane, c1: Any, c2: Any) -> float:
    """The same as `_block_ssim`, in numpy."""
    kind = type(c1)
    rows, columns = gen.shape[0] // 4, gen.shape[1] // 4
    a, b = (plane[: 4 * rows, : 4 * columns].astype(kind) for plane in (gen, gt))
    shape = rows, 4, columns, 4
    fours = [values.reshape(shape).sum(axis=(1, 3), dtype=kind) for values in (a, b, a * a + b * b, a * b)]
    fs1, fs2, fss, fs12 = (four[:-1, :-1] + four[:-1, 1:] + four[1:, :-1] + four[1:, 1:] for four in fours)
    squares, product = fs1 * fs1 + fs2 * fs2, fs1 * fs2
    variances, covariance = kind(64) * fss - squares, kind(64) * fs12 - product
    single = np.float32
    top = (kind(2) * product + c1).astype(single) * (kind(2) * covariance + c2).astype(single)
    found = top / ((squares + c1).astype(single) * (variances + c2).astype(single))
    return float(in_order(in_order(found.astype(np.float64))))


def _block_ssim(a: Any, b: Any, rows: Any, columns: Any, c1: Any, c2: Any, work: Any) -> Any:
    kind = work.dtype.type
    blocks = np.zeros((2, 4, columns), work.dtype)
    found = np.zeros(columns, np.float32)
    sums = np.zeros(columns, np.float64)
    for row in range(rows):
        # one sum a column over the four rows of a block, then over its four columns
        work[:] = 0
        for k in range(4):
            line, other = a[4 * row + k], b[4 * row + k]
            for j in range(4 * columns):
                x, y = kind(line[j]), kind(other[j])
                work[0, j] += x
                work[1, j] += y
                work[2, j] += kind(x * x) + kind(y * y)
                work[3, j] += x * y
        new, old = blocks[row % 2], blocks[1 - row % 2]
        for c in range(4):
            for i in range(columns):
                new[c, i] = work[c, 4 * i] + work[c, 4 * i + 1] + work[c, 4 * i + 2] + work[c, 4 * i + 3]
        if row == 0:
            continue
        for i in range(columns - 1):
            fs1 = kind(old[0, i] + old[0, i + 1] + new[0, i] + new[0, i + 1])
            fs2 = kind(old[1, i] + old[1, i + 1] + new[1, i] + new[1, i + 1])
            fss = kind(old[2, i] + old[2, i + 1] + new[2, i] + new[2, i + 1])
            fs12 = kind(old[3, i] + old[3, i + 1] + new[3, i] + new[3, i + 1])
            squares = kind(kind(fs1 * fs1) + kind(fs2 * fs2))
            variances = kind(kind(kind(64) * fss) - squares)
            product = kind(fs1 * fs2)
            covariance = kind(kind(kind(64) * fs12) - product)
            top = np.float32(kind(kind(2) * product + c1)) * np.float32(kind(kind(2) * covariance + c2))
            found[i] = top / (np.float32(kind(squares + c1)) * np.float32(kind(variances + c2)))
        for i in range(columns - 1):
            sums[i] += found[i]
    total = 0.0
    for i in range(columns):
        total += sums[i]
    return total


_kernel = kernel(_block_ssim, error_model="numpy")
