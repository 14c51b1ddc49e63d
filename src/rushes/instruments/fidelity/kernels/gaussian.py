"""SSIM under a Gaussian window of 11 × 11 pixels, σ 1.5, where the whole window lies in the picture.

With s = a + b and d = a − b, and every mean taken under the window,

    2 μa μb = (μs² − μd²) / 2      μa² + μb² = (μs² + μd²) / 2
    2 σab   = (σs² − σd²) / 2      σa² + σb² = (σs² + σd²) / 2

so four means do for five. It is also the more exact way in 32-bit floats: what rounding adds to σs² it adds above and
below the line, and σd² is small wherever two pictures are alike. Pixels are held as their distance from the middle of
the scale, for the same reason. Against 64-bit arithmetic a picture's mean is off by 1e-7 at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.core.definition import Setting
from rushes.instruments.fidelity.kernels.rows import in_order, is_warm, packed, pays
from rushes.media.numba_cache import compiled, kernel

WINDOW = 11
SIGMA = 1.5
HOW: Mapping[str, Setting] = {
    "precision": "float32",
    "sigma": SIGMA,
    "window": f"gaussian-{WINDOW}",
    "windows": "valid",
}
"""What signatures say about the window."""
_STRIP, _WIDE = 128, 144
"""Windows side by side in one tile, and the pixels under them: 128 + 10, rounded up to whole vectors."""
_BAND, _TALL = 22, 32
"""The same from top to bottom. A tile's four channels take 74 kB: they stay in the second cache."""


class Scaled(NamedTuple):
    """Two pictures of one shape, and how their stored values become comparable: value · gain − shift."""

    gen: NDArray[Any]
    gt: NDArray[Any]
    gains: tuple[float, float] = (1.0, 1.0)
    shifts: tuple[float, float] = (128.0, 128.0)
    """Of the scaled values: where the middle of the scale lies."""
    middle: float = 128.0
    """What the values lack once they are shifted: black is at −middle."""
    peak: float = 255.0
    """White less black, L of the formula."""


class Similarity(NamedTuple):
    """Means over the windows of two pictures."""

    ssim: float
    contrast: float
    """SSIM without its term of the means: contrast and structure."""


def gaussian_ssim(pair: Scaled, *, k1: float = 0.01, k2: float = 0.03) -> Similarity:
    """SSIM of two pictures of at least 11 × 11 pixels."""
    height, width = pair.gen.shape
    single = np.float32
    gains, shifts = (tuple(map(single, values)) for values in (pair.gains, pair.shifts))
    constants = single(2 * pair.middle), single((k1 * pair.peak) ** 2), single((k2 * pair.peak) ** 2)
    if pays(pair.gen.size):
        planes = packed(pair.gen), packed(pair.gt)
        total, contrast = _kernel()(*planes, height, width, gains, shifts, *constants, _weights())
    else:
        total, contrast = _plain_totals(pair.gen, pair.gt, gains, shifts, *constants)
    windows = (height - WINDOW + 1) * (width - WINDOW + 1)
    return Similarity(total / windows, contrast / windows)


def halved(pair: Scaled) -> Scaled:
    """Both pictures at half the size: means of 2 × 2 pixels; the last row or column counts twice where it is alone."""
    height, width = pair.gen.shape
    sides = zip((pair.gen, pair.gt), pair.gains, pair.shifts, strict=True)
    scaled = ((values, np.float32(gain), np.float32(shift)) for values, gain, shift in sides)
    if is_warm():
        gen, gt = (_halve()(packed(values), height, width, gain, shift) for values, gain, shift in scaled)
    else:
        gen, gt = (_plain_half(values.astype(np.float32) * gain - shift) for values, gain, shift in scaled)
    return Scaled(gen, gt, (1.0, 1.0), (0.0, 0.0), pair.middle, pair.peak)


def _plain_half(values: Any) -> Any:
    """The same as `_halved`, in numpy."""
    height, width = values.shape
    even = np.pad(values, ((0, height % 2), (0, width % 2)), mode="edge")
    across = even[:, ::2] + even[:, 1::2]
    return (across[::2] + across[1::2]) * np.float32(0.25)


@cache
def _weights() -> tuple[np.float32, ...]:
    """The window's weights from its middle outwards; they and their mirror image sum to 1."""
    side = np.exp(-(np.arange(WINDOW // 2 + 1) ** 2) / (2 * SIGMA**2))
    return tuple((side / (side[0] + 2 * side[1:].sum())).astype(np.float32))


def _plain_totals(
    gen: NDArray[Any], gt: NDArray[Any], gains: Any, shifts: Any, middle: Any, c1: Any, c2: Any
) -> tuple[float, float]:
    """The same as `_gaussian_ssim`, in numpy; a band at a time, so that it stays in the caches."""
    height, width = gen.shape
    found = np.empty((2, height - 10, width - 10), np.float32)
    for y in range(0, height - 10, _TALL):
        band = slice(y, y + _TALL + 10)
        sides = zip((gen, gt), gains, shifts, strict=True)
        one, other = (side[band].astype(np.float32) * gain - shift for side, gain, shift in sides)
        found[:, y : y + _TALL] = _of_band(one + other, one - other, middle, c1, c2)
    sums = np.zeros((2, 1, _STRIP))
    for x in range(0, width - 10, _STRIP):  # lane by lane in the kernel's order
        strip = found[:, :, x : x + _STRIP].astype(np.float64)
        lanes = strip.shape[2]
        for channel in range(2):
            sums[channel, 0, :lanes] = in_order(np.concatenate([sums[channel, :, :lanes], strip[channel]]))
    return float(in_order(sums[0, 0])), float(in_order(sums[1, 0]))


def _of_band(s: Any, d: Any, middle: Any, c1: Any, c2: Any) -> tuple[Any, Any]:
    """SSIM and contrast of each window, from the sums and differences of the pixels."""
    half = np.float32(0.5)
    ms, md, vs, vd = (_blurred(_blurred(values).T).T for values in (s, d, s * s, d * d))
    vs, vd = vs - ms * ms, vd - md * md
    contrast = ((vs - vd) * half + c2) / ((vs + vd) * half + c2)
    lit, dim = (ms + middle) * (ms + middle), md * md
    return contrast * (((lit - dim) * half + c1) / ((lit + dim) * half + c1)), contrast


def _blurred(p: Any) -> Any:
    """The window's mean down the first axis, the outermost first."""
    k0, k1, k2, k3, k4, k5 = _weights()
    n = len(p) - 10
    return (
        k5 * (p[:n] + p[10:])
        + k4 * (p[1 : n + 1] + p[9 : n + 9])
        + k3 * (p[2 : n + 2] + p[8 : n + 8])
        + k2 * (p[3 : n + 3] + p[7 : n + 7])
        + k1 * (p[4 : n + 4] + p[6 : n + 6])
        + k0 * p[5 : n + 5]
    )


@cache
def _kernel() -> Any:
    global _weighed
    _weighed = compiled(_under_window, error_model="numpy", forceinline=True)
    return compiled(_gaussian_ssim, error_model="numpy")


def _gaussian_ssim(
    a: Any,
    b: Any,
    height: Any,
    width: Any,
    gains: Any,
    shifts: Any,
    middle: Any,
    c1: Any,
    c2: Any,
    k: Any,
) -> Any:
    # One array for all channels, of a size known to the compiler, and loops of fixed length: all of them vectorise.
    # What lies past the picture's edge is left over from before, and is not summed.
    p = np.zeros((4, _TALL, _WIDE), np.float32)
    v = np.zeros((4, _WIDE), np.float32)
    found = np.zeros((2, _STRIP), np.float32)
    sums = np.zeros((2, _STRIP), np.float64)
    half = np.float32(0.5)
    gain_a, gain_b = gains
    shift_a, shift_b = shifts
    k0, k1, k2, k3, k4, k5 = k
    for x in range(0, width - 10, _STRIP):
        across = min(_STRIP, width - 10 - x)
        for y in range(0, height - 10, _BAND):
            down = min(_BAND, height - 10 - y)
            for i in range(down + 10):
                line, against = a[y + i, x:], b[y + i, x:]
                for j in range(across + 10):
                    one = np.float32(line[j]) * gain_a - shift_a
                    other = np.float32(against[j]) * gain_b - shift_b
                    s = one + other
                    d = one - other
                    p[0, i, j] = s
                    p[1, i, j] = d
                    p[2, i, j] = s * s
                    p[3, i, j] = d * d
            for i in range(down):
                for c in range(4):
                    for j in range(_WIDE):
                        v[c, j] = (
                            k5 * (p[c, i, j] + p[c, i + 10, j])
                            + k4 * (p[c, i + 1, j] + p[c, i + 9, j])
                            + k3 * (p[c, i + 2, j] + p[c, i + 8, j])
                            + k2 * (p[c, i + 3, j] + p[c, i + 7, j])
                            + k1 * (p[c, i + 4, j] + p[c, i + 6, j])
                            + k0 * p[c, i + 5, j]
                        )
                for j in range(_STRIP):
                    ms, md = _weighed(v[0], j, k), _weighed(v[1], j, k)
                    vs, vd = _weighed(v[2], j, k) - ms * ms, _weighed(v[3], j, k) - md * md
                    contrast = ((vs - vd) * half + c2) / ((vs + vd) * half + c2)
                    lit = (ms + middle) * (ms + middle)
                    dim = md * md
                    found[0, j] = contrast * (((lit - dim) * half + c1) / ((lit + dim) * half + c1))
                    found[1, j] = contrast
                for c in range(2):
                    for j in range(across):
                        sums[c, j] += found[c, j]
    total = 0.0
    contrasts = 0.0
    for j in range(_STRIP):
        total += sums[0, j]
        contrasts += sums[1, j]
    return total, contrasts


def _under_window(v: Any, j: Any, k: Any) -> Any:
    """The window's mean over eleven values from the j-th on, the outermost first."""
    return (
        k[5] * (v[j] + v[j + 10])
        + k[4] * (v[j + 1] + v[j + 9])
        + k[3] * (v[j + 2] + v[j + 8])
        + k[2] * (v[j + 3] + v[j + 7])
        + k[1] * (v[j + 4] + v[j + 6])
        + k[0] * v[j + 5]
    )


_weighed: Any = _under_window
"""The same, compiled before the kernel that names it."""


def _halved(values: Any, height: Any, width: Any, gain: Any, shift: Any) -> Any:
    rows, columns = (height + 1) // 2, (width + 1) // 2
    result = np.empty((rows, columns), np.float32)
    quarter = np.float32(0.25)
    for i in range(rows):
        upper, lower = values[2 * i], values[min(2 * i + 1, height - 1)]
        for j in range(width // 2):
            one = (np.float32(upper[2 * j]) * gain - shift) + (np.float32(upper[2 * j + 1]) * gain - shift)
            two = (np.float32(lower[2 * j]) * gain - shift) + (np.float32(lower[2 * j + 1]) * gain - shift)
            result[i, j] = (one + two) * quarter
        if width % 2:
            one = np.float32(upper[width - 1]) * gain - shift
            two = np.float32(lower[width - 1]) * gain - shift
            result[i, columns - 1] = ((one + one) + (two + two)) * quarter
    return result


_halve = kernel(_halved)
