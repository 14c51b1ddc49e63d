"""The loops over two pictures in NumPy, operation by operation: the bytes that those in C must have."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def gaussian_totals(gen: NDArray[Any], gt: NDArray[Any], gains: Any, shifts: Any, told: Any) -> tuple[float, float]:
    """The same as the sums in `gaussian_ssim`, of its `constants`."""
    sides = zip((gen, gt), gains, shifts, strict=True)
    one, other = (side.astype(np.float32) * gain - shift for side, gain, shift in sides)
    ssim, contrast = of_windows(one + other, one - other, told)
    return in_the_loops_order(ssim), in_the_loops_order(contrast)


def in_the_loops_order(found: NDArray[np.float32]) -> float:
    """Bands of 8 rows, two by two; strips of 16 equal parts side by side, columns of a part one after the other."""
    rows, columns = found.shape
    strips = -(-columns // 512)
    segment = -(-columns // (16 * strips))
    whole = np.zeros((-(-rows // 8) * 8, strips * 16 * segment), np.float32)
    whole[:rows, :columns] = found
    bands = whole.reshape(-1, 8, strips, 16, segment)
    for _ in range(3):
        bands = bands[:, ::2] + bands[:, 1::2]
    return float(in_order(in_order(bands[:, 0].transpose(1, 0, 3, 2).reshape(-1, 16).astype(np.float64))))


def of_windows(s: Any, d: Any, told: Any) -> tuple[Any, Any]:
    """SSIM and contrast of each window, from the sums and differences of the pixels."""
    middle, c1, c2, *weights = told
    ms, md, vs, vd = (blurred(blurred(values.T, weights).T, weights) for values in (s, d, s * s, d * d))
    vs, vd = fused(-ms, ms, vs) + c2, fused(-md, md, vd)
    lit, dim = (ms + middle) * (ms + middle), md * md
    return (lit - dim + c1) * (vs - vd) / ((lit + dim + c1) * (vs + vd)), (vs - vd) / (vs + vd)


def blurred(p: Any, weights: Any) -> Any:
    """The window's mean down the first axis, the outermost first and the middle before the two beside it."""
    n = len(p) - 10
    total = weights[5] * (p[:n] + p[10:])
    for place in (4, 3, 0, 2, 1):
        pair = p[5 - place : n + 5 - place] + p[5 + place : n + 5 + place] if place else p[5 : n + 5]
        total = fused(pair, weights[place], total)
    return total


def fused(a: Any, b: Any, c: Any) -> Any:
    """a · b + c of 32-bit floats with one rounding, by Python's fractions where doubles are not exact."""
    product, other = np.float64(1) * a * b, np.float64(1) * c
    total = product + other
    part = total - product
    lost = (product - (total - part)) + (other - part)
    rounded = total.astype(np.float32)
    for place in zip(*np.nonzero(lost), strict=True):
        rounded[place] = _nearest(Fraction(product[place]) + Fraction(other[place]), rounded[place])
    return rounded


def _nearest(exact: Fraction, close: np.float32) -> np.float32:
    """Of the float and its neighbours the one nearest to a number, the even one of two."""
    floats = [np.nextafter(close, np.float32(way)) for way in (-np.inf, np.inf)] + [close]
    return min(floats, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.int32)) % 2))
