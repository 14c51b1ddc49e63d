"""The robustness surface: ESI and drift at every axis value, with means and variances per axis and over all points.

Formula     mean and population variance, mean (x − mean)², of the stored value scores
Unit        ratio (means), ratio² (variances)
Inputs      a `MetricsResult`; points are the values of each axis in emitted order
Edge cases  one point: variance 0.0
Rounding    8 decimals when stored
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rushes.instruments.robustness.seed.metrics import MetricsResult, mean_score, stored_score


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfacePoint:
    """ESI and drift at one value of one axis."""

    axis: str
    value: str
    esi: float
    drift: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisSurface:
    """The points of one axis and how they spread."""

    axis: str
    points: tuple[SurfacePoint, ...]
    mean_esi: float
    mean_drift: float
    variance_esi: float
    variance_drift: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessSurface:
    """Every axis, and the same statistics over all points together."""

    axes: tuple[AxisSurface, ...]
    global_mean_esi: float
    global_mean_drift: float
    global_variance_esi: float
    global_variance_drift: float

    def to_dict(self) -> dict[str, object]:
        """Plain data, for JSON."""
        return asdict(self)


def robustness_surface(result: MetricsResult) -> RobustnessSurface:
    """The surface of a sweep's metrics."""
    axes = []
    for esi, drift in zip(result.esi, result.drift, strict=True):
        points = tuple(
            SurfacePoint(axis=esi.axis, value=value, esi=score, drift=drift.value_scores[value])
            for value, score in esi.value_scores.items()
        )
        axes.append(AxisSurface(axis=esi.axis, points=points, **_spread(points)))
    everywhere = _spread([point for axis in axes for point in axis.points])
    return RobustnessSurface(axes=tuple(axes), **{f"global_{name}": value for name, value in everywhere.items()})


def _spread(points: Sequence[SurfacePoint]) -> dict[str, float]:
    """Means and variances of some points, by name."""
    esi, drift = [point.esi for point in points], [point.drift for point in points]
    return {
        "mean_esi": mean_score(esi),
        "mean_drift": mean_score(drift),
        "variance_esi": stored_score(population_variance(esi)),
        "variance_drift": stored_score(population_variance(drift)),
    }


def population_variance(values: Sequence[float]) -> float:
    """Mean squared distance from the mean.

    >>> population_variance([0.0, 1.0])
    0.25
    """
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / len(values)
