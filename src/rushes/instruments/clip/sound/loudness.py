"""Loudness by ITU-R BS.1770-4 and EBU Tech 3342, from the weighted power of every tenth of a second.

A sound is filtered as the head and the ear hear it (K weighting), squared, and added up over its channels; what is left
of a long sound is ten numbers a second, from which both readings are made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function

Array = NDArray[np.float64]

ABSOLUTE_GATE = -70.0
"""LUFS; quieter blocks are left out."""
RELATIVE_GATE = -10.0
"""LU under the mean of the blocks above the absolute gate; quieter blocks are left out."""
RANGE_GATE = -20.0
"""The same gate for the loudness range."""
BLOCK_HOPS = 4
"""A block is 400 ms, one begins every 100 ms."""
SHORT_TERM_HOPS = 30
"""Short-term loudness is that of 3 s."""
SURROUND_WEIGHT = 1.41
_OFFSET = -0.691
"""dB; makes a full-scale tone of 997 Hz in one channel read −3.01 LUFS."""
_SHELF = (1681.974450955533, 3.999843853973347, 0.7071752369554196)
"""Hz, dB and quality of the high shelf whose bilinear transform at 48 kHz has the coefficients of the table."""
_HIGH_PASS = (38.13547087602444, 0.5003270373238773)
"""Hz and quality of the high pass, likewise."""
_SHELF_MIDDLE = 0.4996667741545416
"""Power of the shelf's gain that stands at its middle, likewise."""
_TABLE_RATE = 48000


def k_weighting(rate: int) -> Array:
    """Two second-order sections, rows of b0 b1 b2 1 a1 a2, with the response that the recommendation's have at 48 kHz.

    Its high pass has the numerator 1 − 2z⁻¹ + z⁻², which lifts all by 0.04 dB at 48 kHz and by more at lower rates; the
    gain is held to that of 48 kHz.
    """
    hertz, decibels, quality = _SHELF
    tangent = math.tan(math.pi * hertz / rate)
    top = 10 ** (decibels / 20)
    middle = top**_SHELF_MIDDLE
    scale = 1 + tangent / quality + tangent**2
    shelf = [
        (top + middle * tangent / quality + tangent**2) / scale,
        2 * (tangent**2 - top) / scale,
        (top - middle * tangent / quality + tangent**2) / scale,
        1.0,
        2 * (tangent**2 - 1) / scale,
        (1 - tangent / quality + tangent**2) / scale,
    ]
    hertz, quality = _HIGH_PASS
    tangent = math.tan(math.pi * hertz / rate)
    scale = 1 + tangent / quality + tangent**2
    at_table = math.tan(math.pi * hertz / _TABLE_RATE)
    gain = (1 + at_table / quality + at_table**2) / scale
    high_pass = [gain, -2 * gain, gain, 1.0, 2 * (tangent**2 - 1) / scale, (1 - tangent / quality + tangent**2) / scale]
    return np.array([shelf, high_pass])


def filtered(sections: Array, samples: Array, state: Array) -> Array:
    """Channels × n samples after second-order sections, one after the other: direct form II, transposed.

    Formula     y = b0·x + s₁;  s₁ ← b1·x − a1·y + s₂;  s₂ ← b2·x − a2·y
    Inputs      `state`: sections × channels × 2, zeros at first, is moved on to what the next samples need

    >>> state = np.zeros((1, 1, 2))  # each sample and half of the one before
    >>> [filtered(np.array([[1.0, 0.5, 0, 1, 0, 0]]), np.array([part]), state).tolist() for part in ([2.0, 0], [4.0])]
    [[[2.0, 1.0]], [[4.0]]]
    """
    found, given = np.array(samples, np.float64, order="C"), np.ascontiguousarray(sections, np.float64)
    call = c_function("sections_filter", "float64* int64 float64* int64 int64 float64*")
    call(given.ctypes.data, len(given), found.ctypes.data, *found.shape, state.ctypes.data)
    return found


def channel_weights(names: Sequence[str]) -> list[float]:
    """Weight of each channel by its name in libav: 1.41 for the surround ones, 0 for the bass channel, else 1.

    Channels behind the listener count as surround where there are none at the sides (a 5.1 may call its pair either).

    >>> channel_weights(["FL", "FR", "FC", "LFE", "BL", "BR"])
    [1.0, 1.0, 1.0, 0.0, 1.41, 1.41]
    >>> channel_weights(["FC"]), channel_weights(["FL", "FR", "BL", "BR", "SL", "SR"])
    ([1.0], [1.0, 1.0, 1.0, 1.0, 1.41, 1.41])
    """
    surround = {"SL", "SR"} if {"SL", "SR"} & set(names) else {"BL", "BR"}
    return [0.0 if name.startswith("LFE") else SURROUND_WEIGHT if name in surround else 1.0 for name in names]


def windows(hops: Array, width: int) -> Array:
    """Mean power of every window of `width` hops, one per hop; empty where the sound is shorter."""
    if len(hops) < width:
        return np.zeros(0)
    sums: Array = np.lib.stride_tricks.sliding_window_view(hops, width).mean(axis=1)
    return sums


def lufs(power: Array | float) -> Array:
    """Loudness of a weighted power; −∞ for none."""
    with np.errstate(divide="ignore"):
        return np.asarray(_OFFSET + 10 * np.log10(power), dtype=np.float64)


def integrated(hops: Array) -> tuple[float | None, int]:
    """Loudness of the whole sound in LUFS, and the blocks behind it; None where no block is above the gates."""
    blocks = windows(hops, BLOCK_HOPS)
    heard = blocks[lufs(blocks) > ABSOLUTE_GATE]
    if not len(heard):
        return None, 0
    gate = float(lufs(float(heard.mean()))) + RELATIVE_GATE
    kept = heard[lufs(heard) > gate]
    return float(lufs(float(kept.mean()))), len(kept)


def loudness_range(hops: Array) -> tuple[float | None, int]:
    """Spread of the short-term loudness in LU, 10th to 95th percentile, and the windows behind it."""
    short = windows(hops, SHORT_TERM_HOPS)
    heard = short[lufs(short) >= ABSOLUTE_GATE]
    if not len(heard):
        return None, 0
    gate = float(lufs(float(heard.mean()))) + RANGE_GATE
    kept = np.sort(lufs(heard[lufs(heard) >= gate]))
    low, high = (kept[math.floor((len(kept) - 1) * share + 0.5)] for share in (0.10, 0.95))
    return float(high - low), len(kept)
