"""The minimum of a function of a few variables whose gradient is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rushes.stats.intervals import Floats

_STEPS = 2000
_TRIALS = 80
_LESS, _FLATTER = 1e-4, 0.9


def minimum(loss: Callable[[Floats], tuple[float, Floats]], start: Floats, *, flat: float = 1e-9) -> Floats:
    """Where `loss`, which gives a value and its gradient, is least.

    Formula     BFGS: p = −H g, x ← x + a p, and H ← (I − s yᵀ/yᵀs) H (I − y sᵀ/yᵀs) + s sᵀ/yᵀs, s and y the changes of
                x and of g. a is halved and doubled until the loss falls by 1e-4 of what the slope promises, and the
                slope has become flatter than 0.9 of what it was
    Ends        where no part of the gradient is larger than `flat`, or no step leads further down: at a kink, or where
                rounding hides what is left
    Reference   Nocedal and Wright 2006, chapter 6; Lewis and Overton 2013, for functions with kinks as well
    """
    x, (value, gradient) = start, loss(start)
    inverse = np.eye(len(x)) / max(1.0, float(np.linalg.norm(gradient)))
    for _ in range(_STEPS):
        if np.abs(gradient).max() <= flat:
            break
        found = _searched(loss, x, -inverse @ gradient, value, gradient)
        if found is None:
            break
        step, value, after = found
        change = after - gradient
        x, gradient = x + step, after
        curvature = float(change @ step)
        if curvature > 0.0:
            turn = np.eye(len(x)) - np.outer(step, change) / curvature
            inverse = turn @ inverse @ turn.T + np.outer(step, step) / curvature
    return x


def _searched(
    loss: Callable[[Floats], tuple[float, Floats]], x: Floats, way: Floats, value: float, gradient: Floats
) -> tuple[Floats, float, Floats] | None:
    """A step along `way`, the loss and the gradient there; None where none leads down."""
    slope, low, high, length = float(gradient @ way), 0.0, np.inf, 1.0
    for _ in range(_TRIALS):
        found, after = loss(x + length * way)
        if not found <= value + _LESS * length * slope:
            high = length
        elif float(after @ way) < _FLATTER * slope:
            low = length
        else:
            return length * way, found, after
        length = 2.0 * low if high == np.inf else (low + high) / 2.0
    return None
