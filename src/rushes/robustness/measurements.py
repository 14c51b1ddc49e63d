"""The seed's result shapes as labelled measurements."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Protocol, TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.robustness.definitions import (
    CSI,
    DRIFT,
    DRIFT_GRADIENT,
    DRIFT_OF_RUN,
    DRIFT_VARIANCE,
    EDM,
    ESI,
    ESI_GRADIENT,
    ESI_VARIANCE,
)
from rushes.robustness.diff import shown
from rushes.robustness.gradients import GradientSurface
from rushes.robustness.metrics import ESIMetric, MetricsResult, mean_score
from rushes.robustness.montecarlo import MonteCarloResult
from rushes.robustness.scores import RunScore
from rushes.robustness.surface import RobustnessSurface

OUTPUT = "output"
TEXT_PREVIEW = "text-preview"
MOST_CELLS = 400
"""A grid of two axes with more cells than this is not broken down: nobody reads it, and a report would drown in it."""

Axes: TypeAlias = Mapping[str, Mapping[str, object]]
"""Axis → encoded value → value, as a sweep declares them."""
Counts: TypeAlias = Mapping[str, Mapping[str, int]]


class _AxisScores(Protocol):
    """ESI, drift, CSI or EDM of one axis."""

    @property
    def axis(self) -> str: ...
    @property
    def value_scores(self) -> Mapping[str, float]: ...
    @property
    def overall_score(self) -> float: ...


def grid_digest(runs: Iterable[str]) -> str:
    """A short digest of the runs that were pooled, in execution order.

    >>> grid_digest(["brightness=0p8_seed=1", "brightness=1p0_seed=1"])
    '85dfbdc4f590'
    """
    return hashlib.sha256("\n".join(runs).encode()).hexdigest()[:12]


def run_counts(axes: Iterable[str], scores: Sequence[RunScore]) -> dict[str, dict[str, int]]:
    """Runs behind each value score, by axis and encoded value."""
    return {axis: Counter(score.values[axis] for score in scores if axis in score.values) for axis in axes}


def value_label(axes: Axes, axis: str, encoded: str) -> str:
    """What `at` calls a value: as declared, on one printable line. Values that encode apart have labels apart.

    >>> value_label({"mode": {"100A": "100%|A", "": "é"}}, "mode", "100A"), value_label({"mode": {"": "é"}}, "mode", "")
    ('100%|A', 'é')
    """
    return shown(str(axes[axis][encoded]))


def as_measurements(result: MetricsResult, *, axes: Axes, counts: Counts, grid: str) -> tuple[Measurement, ...]:
    """`MetricsResult` as labelled numbers: per axis the overall score, then the values in emitted order."""
    esi = [row for metric in result.esi for row in esi_measurements(metric, axes=axes, counts=counts, grid=grid)]
    drifts = ((metric, counts[metric.axis]) for metric in result.drift)
    definition = DRIFT.with_params(grid=grid)
    return (*esi, *(row for metric, behind in drifts for row in _axis(definition, metric, axes, behind)))


def esi_measurements(
    metric: ESIMetric, *, axes: Axes, counts: Counts, grid: str, answer: str = OUTPUT
) -> Iterator[Measurement]:
    """One axis's ESI as labelled numbers."""
    return _axis(ESI.with_params(answer=answer, grid=grid), metric, axes, counts[metric.axis])


def monte_carlo_measurements(result: MonteCarloResult, *, axes: Axes, grid: str) -> tuple[Measurement, ...]:
    """CSI and EDM as labelled numbers; nothing where no run carries what they rest on."""
    return tuple(
        row
        for definition, metrics in ((CSI, result.csi), (EDM, result.edm))
        for metric in metrics
        for row in _axis(definition.with_params(grid=grid), metric, axes, metric.value_counts)
    )


def _axis(definition: Definition, metric: _AxisScores, axes: Axes, counts: Mapping[str, int]) -> Iterator[Measurement]:
    about = (("axis", metric.axis),)
    yield Measurement(definition=definition, value=metric.overall_score, count=sum(counts.values()), at=about)
    for value, score in metric.value_scores.items():
        at = (*about, ("value", value_label(axes, metric.axis, value)))
        yield Measurement(definition=definition, value=score, count=counts[value], at=at)


def surface_measurements(
    surface: RobustnessSurface, gradients: GradientSurface, *, grid: str
) -> tuple[Measurement, ...]:
    """Variances and steepest slopes per axis, and over all points: those have no axis."""
    rows: list[Measurement] = []
    for axis, slopes in zip(surface.axes, gradients.axes, strict=True):
        steepest = (slopes.max_abs_esi_gradient, slopes.max_abs_drift_gradient)
        values = (axis.variance_esi, axis.variance_drift, *steepest)
        rows += _spread(values, (("axis", axis.axis),), len(axis.points), grid)
    steepest = (gradients.global_max_abs_esi_gradient, gradients.global_max_abs_drift_gradient)
    values = (surface.global_variance_esi, surface.global_variance_drift, *steepest)
    return (*rows, *_spread(values, (), sum(len(axis.points) for axis in surface.axes), grid))


def _spread(values: tuple[float, float, float, float], at: At, count: int, grid: str) -> list[Measurement]:
    definitions = (ESI_VARIANCE, DRIFT_VARIANCE, ESI_GRADIENT, DRIFT_GRADIENT)
    return [
        Measurement(definition=definition.with_params(grid=grid), value=value, count=count, at=at)
        for definition, value in zip(definitions, values, strict=True)
    ]


def cell_measurements(axes: Axes, scores: Sequence[RunScore], *, grid: str) -> tuple[Measurement, ...]:
    """ESI and drift at every pair of values of every two axes, for heat charts; large grids are left out."""
    rows: list[Measurement] = []
    for one, other in combinations(axes, 2):
        cells: dict[tuple[str, str], list[RunScore]] = {}
        for score in scores:
            cells.setdefault((score.values[one], score.values[other]), []).append(score)
        if len(cells) <= MOST_CELLS:
            for cell in sorted(cells):
                first, second = value_label(axes, one, cell[0]), value_label(axes, other, cell[1])
                at = (("axis_1", one), ("value_1", first), ("axis_2", other), ("value_2", second))
                rows += _cell(cells[cell], at, grid)
    return tuple(rows)


def _cell(runs: Sequence[RunScore], at: At, grid: str) -> list[Measurement]:
    esi = mean_score([float(run.matches) for run in runs])
    drift = mean_score([run.drift for run in runs if run.drift is not None])
    return [
        Measurement(definition=ESI.with_params(answer=OUTPUT, grid=grid), value=esi, count=len(runs), at=at),
        Measurement(definition=DRIFT.with_params(grid=grid), value=drift, count=len(runs), at=at),
    ]


def run_measurement(run: str, drift: float, *, grid: str) -> Measurement:
    """One run's drift."""
    return Measurement(definition=DRIFT_OF_RUN.with_params(grid=grid), value=drift, count=1, at=(("run", run),))
