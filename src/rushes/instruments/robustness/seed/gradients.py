"""Gradients of the robustness surface: how fast ESI and drift change from one axis value to the next.

Formula     first point f1 − f0, last f_n − f_(n−1), between (f_(i+1) − f_(i−1)) / 2; unit spacing
Unit        ratio per step along the axis
Inputs      a `RobustnessSurface`; steps follow the emitted order (by encoding), not the size of the values
Edge cases  one point: 0.0; two points: f1 − f0 at both
Rounding    8 decimals when stored
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rushes.instruments.robustness.seed.metrics import mean_score, stored_score
from rushes.instruments.robustness.seed.surface import RobustnessSurface


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientPoint:
    """The slope of ESI and drift at one value of one axis."""

    axis: str
    value: str
    d_esi: float
    d_drift: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisGradients:
    """The slopes of one axis, and their mean and largest size."""

    axis: str
    gradients: tuple[GradientPoint, ...]
    mean_abs_esi_gradient: float
    mean_abs_drift_gradient: float
    max_abs_esi_gradient: float
    max_abs_drift_gradient: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientSurface:
    """Every axis, and the same sizes over all points together."""

    axes: tuple[AxisGradients, ...]
    global_mean_abs_esi_gradient: float
    global_mean_abs_drift_gradient: float
    global_max_abs_esi_gradient: float
    global_max_abs_drift_gradient: float

    def to_dict(self) -> dict[str, object]:
        """Plain data, for JSON."""
        return asdict(self)


def gradient_surface(surface: RobustnessSurface) -> GradientSurface:
    """The slopes along every axis of a surface."""
    axes = []
    for axis in surface.axes:
        d_esi, d_drift = (slopes([getattr(point, name) for point in axis.points]) for name in ("esi", "drift"))
        points = tuple(
            GradientPoint(axis=axis.axis, value=point.value, d_esi=esi, d_drift=drift)
            for point, esi, drift in zip(axis.points, d_esi, d_drift, strict=True)
        )
        axes.append(AxisGradients(axis=axis.axis, gradients=points, **_sizes(points)))
    everywhere = _sizes([point for axis in axes for point in axis.gradients])
    return GradientSurface(axes=tuple(axes), **{f"global_{name}": value for name, value in everywhere.items()})


def _sizes(points: Sequence[GradientPoint]) -> dict[str, float]:
    """Mean and largest size of some slopes, by name."""
    esi, drift = [abs(point.d_esi) for point in points], [abs(point.d_drift) for point in points]
    return {
        "mean_abs_esi_gradient": mean_score(esi),
        "mean_abs_drift_gradient": mean_score(drift),
        "max_abs_esi_gradient": max(esi),
        "max_abs_drift_gradient": max(drift),
    }


def slopes(values: Sequence[float]) -> list[float]:
    """Finite differences with unit spacing, as stored.

    >>> slopes([0.0, 1.0, 4.0]), slopes([2.0, 5.0]), slopes([7.0])
    ([1.0, 2.0, 3.0], [3.0, 3.0], [0.0])
    """
    last = len(values) - 1
    if last == 0:
        return [0.0]
    middle = [(values[i + 1] - values[i - 1]) / 2 for i in range(1, last)]
    return [stored_score(s) for s in (values[1] - values[0], *middle, values[last] - values[last - 1])]
