"""The loops over two pictures in NumPy, operation by operation: the bytes that those in C must have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.fidelity.kernels.gaussian import _weights
from rushes.instruments.fidelity.kernels.sums import Plane, RgbSums


def in_order(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums down the columns, one row after the other, as a compiled loop adds them."""
    return np.asarray(np.add.accumulate(rows, axis=0)[-1])


def rgb_totals(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> RgbSums:
    """The same as `rgb_sums`."""
    wide = gen.astype(np.int64) - gt
    wraps = (gen - gt) ** 2
    return RgbSums(int(np.abs(wide).sum()), int((wide**2).sum()), int(wraps.sum(dtype=np.int64)), gen.size)


def block_total(gen: Plane, gt: Plane, c1: Any, c2: Any) -> float:
    """The same as the sum in `block_ssim`."""
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


def half(values: Any) -> Any:
    """The same as `halved` of scaled values."""
    height, width = values.shape
    even = np.pad(values, ((0, height % 2), (0, width % 2)), mode="edge")
    across = even[:, ::2] + even[:, 1::2]
    return (across[::2] + across[1::2]) * np.float32(0.25)


def gaussian_totals(
    gen: NDArray[Any], gt: NDArray[Any], gains: Any, shifts: Any, middle: Any, c1: Any, c2: Any
) -> tuple[float, float]:
    """The same as the sums in `gaussian_ssim`."""
    height, width = gen.shape
    found = np.empty((2, height - 10, width - 10), np.float32)
    for y in range(0, height - 10, 32):
        band = slice(y, y + 32 + 10)
        sides = zip((gen, gt), gains, shifts, strict=True)
        one, other = (side[band].astype(np.float32) * gain - shift for side, gain, shift in sides)
        found[:, y : y + 32] = of_band(one + other, one - other, middle, c1, c2)
    sums = np.zeros((2, 1, 128))
    for x in range(0, width - 10, 128):  # lane by lane in the kernel's order
        strip = found[:, :, x : x + 128].astype(np.float64)
        lanes = strip.shape[2]
        for channel in range(2):
            sums[channel, 0, :lanes] = in_order(np.concatenate([sums[channel, :, :lanes], strip[channel]]))
    return float(in_order(sums[0, 0])), float(in_order(sums[1, 0]))


def of_band(s: Any, d: Any, middle: Any, c1: Any, c2: Any) -> tuple[Any, Any]:
    """SSIM and contrast of each window, from the sums and differences of the pixels."""
    half = np.float32(0.5)
    ms, md, vs, vd = (blurred(blurred(values).T).T for values in (s, d, s * s, d * d))
    vs, vd = vs - ms * ms, vd - md * md
    contrast = ((vs - vd) * half + c2) / ((vs + vd) * half + c2)
    lit, dim = (ms + middle) * (ms + middle), md * md
    return contrast * (((lit - dim) * half + c1) / ((lit + dim) * half + c1)), contrast


def blurred(p: Any) -> Any:
    """The window's mean down the first axis, the outermost first."""
    k0, k1, k2, k3, k4, k5 = map(np.float32, _weights())
    n = len(p) - 10
    return (
        k5 * (p[:n] + p[10:])
        + k4 * (p[1 : n + 1] + p[9 : n + 9])
        + k3 * (p[2 : n + 2] + p[8 : n + 8])
        + k2 * (p[3 : n + 3] + p[7 : n + 7])
        + k1 * (p[4 : n + 4] + p[6 : n + 6])
        + k0 * p[5 : n + 5]
    )
