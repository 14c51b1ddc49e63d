"""The seed's result shapes as labelled measurements."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rushes.core import Measurement
from rushes.robustness.definitions import (
    CSI,
    CSI_AT_VALUE,
    DRIFT,
    DRIFT_AT_VALUE,
    DRIFT_GRADIENT,
    DRIFT_VARIANCE,
    EDM,
    EDM_AT_VALUE,
    ESI,
    ESI_AT_VALUE,
    ESI_GRADIENT,
    ESI_VARIANCE,
)
from rushes.robustness.gradients import GradientSurface
from rushes.robustness.metrics import DriftMetric, ESIMetric, MetricsResult, mean_score
from rushes.robustness.montecarlo import MonteCarloResult
from rushes.robustness.scores import RunScore
from rushes.robustness.surface import RobustnessSurface

OUTPUT = "output"
TEXT_PREVIEW = "text-preview"
NOTHING = "(empty)"
"""What a signature calls a value that encodes to nothing: its parameters need text."""
MOST_CELLS = 400
"""A grid of two axes with more cells than this is not broken down: nobody reads it, and a report would drown in it."""

Counts = Mapping[str, Mapping[str, int]]


def grid_digest(runs: Iterable[str]) -> str:
    """A short digest of the runs that were pooled, in execution order.

    >>> grid_digest(["brightness=0p8_seed=1", "brightness=1p0_seed=1"])
    '85dfbdc4f590'
    """
    return hashlib.sha256("\n".join(runs).encode()).hexdigest()[:12]


def run_counts(axes: Iterable[str], scores: Sequence[RunScore]) -> dict[str, dict[str, int]]:
    """Runs behind each value score, by axis and encoded value."""
    return {axis: Counter(score.values[axis] for score in scores if axis in score.values) for axis in axes}


def as_measurements(result: MetricsResult, *, counts: Counts, grid: str) -> tuple[Measurement, ...]:
    """`MetricsResult` as labelled rows: per axis the overall score, then the values in emitted order."""
    esi = [row for metric in result.esi for row in esi_measurements(metric, counts[metric.axis], grid=grid)]
    drift = [row for metric in result.drift for row in _drift_measurements(metric, counts[metric.axis], grid)]
    return (*esi, *drift)


def esi_measurements(
    metric: ESIMetric, counts: Mapping[str, int], *, grid: str, answer: str = OUTPUT
) -> list[Measurement]:
    """One axis's ESI as labelled rows."""
    named = {"answer": answer, "axis": metric.axis, "grid": grid}
    overall = ESI.with_params(**named)
    return [Measurement(definition=overall, value=metric.overall_score, count=sum(counts.values()))] + [
        Measurement(definition=ESI_AT_VALUE.with_params(value=_named(value), **named), value=score, count=counts[value])
        for value, score in metric.value_scores.items()
    ]


def _drift_measurements(metric: DriftMetric, counts: Mapping[str, int], grid: str) -> list[Measurement]:
    named = {"axis": metric.axis, "grid": grid}
    overall = DRIFT.with_params(**named)
    return [Measurement(definition=overall, value=metric.overall_score, count=sum(counts.values()))] + [
        Measurement(
            definition=DRIFT_AT_VALUE.with_params(value=_named(value), **named), value=score, count=counts[value]
        )
        for value, score in metric.value_scores.items()
    ]


def _named(encoded: str) -> str:
    return encoded or NOTHING


def surface_measurements(
    surface: RobustnessSurface, gradients: GradientSurface, *, grid: str
) -> tuple[Measurement, ...]:
    """Variances and steepest slopes per axis, and over all points (`axis:all`)."""
    rows: list[Measurement] = []
    for axis, slopes in zip(surface.axes, gradients.axes, strict=True):
        rows += _spread(
            axis.axis,
            grid,
            len(axis.points),
            (axis.variance_esi, axis.variance_drift, slopes.max_abs_esi_gradient, slopes.max_abs_drift_gradient),
        )
    points = sum(len(axis.points) for axis in surface.axes)
    return (
        *rows,
        *_spread(
            "all",
            grid,
            points,
            (
                surface.global_variance_esi,
                surface.global_variance_drift,
                gradients.global_max_abs_esi_gradient,
                gradients.global_max_abs_drift_gradient,
            ),
        ),
    )


def _spread(axis: str, grid: str, count: int, values: tuple[float, float, float, float]) -> list[Measurement]:
    definitions = (ESI_VARIANCE, DRIFT_VARIANCE, ESI_GRADIENT, DRIFT_GRADIENT)
    return [
        Measurement(definition=definition.with_params(axis=axis, grid=grid), value=value, count=count)
        for definition, value in zip(definitions, values, strict=True)
    ]


def monte_carlo_measurements(result: MonteCarloResult, *, grid: str) -> tuple[Measurement, ...]:
    """CSI and EDM as labelled rows; nothing where no run carries the numbers."""
    rows: list[Measurement] = []
    for metrics, overall, at_value in ((result.csi, CSI, CSI_AT_VALUE), (result.edm, EDM, EDM_AT_VALUE)):
        for metric in metrics:
            named = {"axis": metric.axis, "grid": grid}
            total = sum(metric.value_counts.values())
            rows.append(Measurement(definition=overall.with_params(**named), value=metric.overall_score, count=total))
            rows += [
                Measurement(
                    definition=at_value.with_params(value=_named(value), **named),
                    value=score,
                    count=metric.value_counts[value],
                )
                for value, score in metric.value_scores.items()
            ]
    return tuple(rows)


def cell_measurements(axes: Sequence[str], scores: Sequence[RunScore], *, grid: str) -> tuple[Measurement, ...]:
    """ESI and drift at every pair of values of every two axes, for heat charts; large grids are left out."""
    rows: list[Measurement] = []
    for one, other in ((a, b) for i, a in enumerate(axes) for b in axes[i + 1 :]):
        cells: dict[tuple[str, str], list[RunScore]] = {}
        for score in scores:
            cells.setdefault((score.values[one], score.values[other]), []).append(score)
        if len(cells) <= MOST_CELLS:
            rows += [row for cell in sorted(cells) for row in _cell(one, other, cell, cells[cell], grid)]
    return tuple(rows)


def _cell(one: str, other: str, cell: tuple[str, str], runs: Sequence[RunScore], grid: str) -> list[Measurement]:
    named = {"axis": f"{one},{other}", "grid": grid, "value": ",".join(_named(value) for value in cell)}
    esi = mean_score([float(run.matches) for run in runs])
    drift = mean_score([run.drift for run in runs if run.drift is not None])
    return [
        Measurement(definition=ESI_AT_VALUE.with_params(answer=OUTPUT, **named), value=esi, count=len(runs)),
        Measurement(definition=DRIFT_AT_VALUE.with_params(**named), value=drift, count=len(runs)),
    ]
