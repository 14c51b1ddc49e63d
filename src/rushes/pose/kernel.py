"""The inner loop over many frames, compiled: every distance once, compared and summed while it is in a register.

Compiled by numba on first use and kept in its cache. `rushes.pose.tally` says the same in numpy, which is what small
batches and anything with NaN, infinite or overflowing values take; a test holds the two equal.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.media.numba_cache import compiled
from rushes.pose.geometry import Flags, Floats

WORTH_COMPILING = 2048
"""Frames from which a piece goes to the compiled loop: below, numpy is done before numba is even imported."""


class Sums(NamedTuple):
    """What the loop adds up over one piece."""

    correct: NDArray[np.int64]
    """tolerances × joints."""
    total: NDArray[np.int64]
    """normalisations × joints: visible joints of scoreable frames."""
    errors: Floats
    """Per joint, over visible joints."""
    seen: NDArray[np.int64]


def count_frames(
    pred: Floats, gt: Floats, visible: Flags, *, tolerances: Floats, scoreable: Flags, columns: int
) -> Sums | None:
    """Counts and sums of one piece; None where a visible distance is not finite, which the loop does not handle.

    Inputs      poses frames × joints × columns; tolerances frames × (normalisations · ks), NaN where not scoreable;
                scoreable frames × normalisations; `columns` is how many coordinates the error sums use
    """
    joints = pred.shape[1]
    found = Sums(
        np.zeros((tolerances.shape[1], joints), np.int64),
        np.zeros((scoreable.shape[1], joints), np.int64),
        np.zeros(joints),
        np.zeros(joints, np.int64),
    )
    arrays = [np.ascontiguousarray(array) for array in (pred, gt, visible, tolerances, scoreable)]
    _compiled()(*arrays, columns, *found)
    return found if np.isfinite(found.errors).all() else None


@cache
def _compiled() -> Any:
    return compiled(_loop, error_model="numpy")


def _loop(
    pred: Any, gt: Any, visible: Any, tolerances: Any, scoreable: Any, columns: Any,
    correct: Any, total: Any, errors: Any, seen: Any,
) -> None:  # fmt: skip
    frames, joints = visible.shape
    flat, full = np.empty(joints), np.empty(joints)
    for i in range(frames):
        for j in range(joints):
            dx = pred[i, j, 0] - gt[i, j, 0]
            dy = pred[i, j, 1] - gt[i, j, 1]
            full[j] = dx * dx + dy * dy
            flat[j] = math.sqrt(full[j])
        if columns == 3:
            for j in range(joints):
                dz = pred[i, j, 2] - gt[i, j, 2]
                full[j] = math.sqrt(full[j] + dz * dz)
        else:
            full[:] = flat
        # Choices between values, not branches: visibility is too irregular to be predicted.
        for j in range(joints):
            errors[j] += full[j] if visible[i, j] else 0.0
            seen[j] += visible[i, j]
            flat[j] = flat[j] if visible[i, j] else np.inf  # never within a tolerance
        for m in range(tolerances.shape[1]):
            tolerance = tolerances[i, m]
            for j in range(joints):
                correct[m, j] += flat[j] <= tolerance
        for q in range(scoreable.shape[1]):
            if scoreable[i, q]:
                for j in range(joints):
                    total[q, j] += visible[i, j]
