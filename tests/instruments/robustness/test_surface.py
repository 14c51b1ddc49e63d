"""The robustness surface and its gradients."""

from __future__ import annotations

import json

import pytest

from rushes.instruments.robustness import MetricsEngine
from rushes.instruments.robustness.seed.gradients import gradient_surface, slopes
from rushes.instruments.robustness.seed.metrics import DriftMetric, ESIMetric, MetricsResult
from rushes.instruments.robustness.seed.surface import population_variance, robustness_surface


def result(**scores):
    """A result whose ESI and drift are the same numbers, by axis."""
    esi = tuple(ESIMetric(axis=a, value_scores=dict(s), overall_score=0.0) for a, s in sorted(scores.items()))
    drift = tuple(DriftMetric(axis=m.axis, value_scores=m.value_scores, overall_score=0.0) for m in esi)
    return MetricsResult(esi=esi, drift=drift)


def test_the_reference_sweep_exactly(shared):
    expected = json.loads((shared / "golden/sweep_2axis.expected.json").read_text())
    surface = robustness_surface(MetricsEngine().compute(shared / "golden/sweep_2axis"))
    assert json.loads(json.dumps(surface.to_dict())) == expected["robustness_surface"]
    assert json.loads(json.dumps(gradient_surface(surface).to_dict())) == expected["gradient_surface"]


def test_the_two_axis_sweep_by_hand(two_axis_sweep):
    surface = robustness_surface(MetricsEngine().compute(two_axis_sweep))
    # Points 2/3, 1, 1/3 per axis: mean 2/3, population variance (0 + 1/9 + 1/9) / 3 = 2/27 = 0.07407407.
    assert (surface.axes[0].mean_esi, surface.axes[0].variance_esi) == (0.66666667, 0.07407407)
    assert (surface.global_mean_esi, surface.global_variance_esi) == (0.66666667, 0.07407407)
    gradients = gradient_surface(surface)
    # Brightness: 1 − 2/3, (1/3 − 2/3) / 2, 1/3 − 1. The largest size is 2/3.
    assert [point.d_esi for point in gradients.axes[0].gradients] == [0.33333333, -0.16666667, -0.66666667]
    assert gradients.axes[0].max_abs_esi_gradient == gradients.global_max_abs_esi_gradient == 0.66666667


def test_statistics_per_axis_and_over_all_points():
    surface = robustness_surface(result(a={"1": 0.0, "2": 1.0}, b={"1": 1.0}))
    assert [(axis.mean_esi, axis.variance_esi) for axis in surface.axes] == [(0.5, 0.25), (1.0, 0.0)]
    # All points 0, 1, 1: mean 2/3, variance (4/9 + 1/9 + 1/9) / 3 = 2/9.
    assert (surface.global_mean_drift, surface.global_variance_drift) == (0.66666667, 0.22222222)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.4], [0.0]),
        ([0.2, 0.5], [0.3, 0.3]),
        ([0.0, 1.0, 4.0], [1.0, 2.0, 3.0]),
        ([1.0, 1.0, 0.0, 0.0], [0.0, -0.5, -0.5, 0.0]),
    ],
)
def test_slopes(values, expected):
    assert slopes(values) == expected


def test_gradient_sizes():
    gradients = gradient_surface(robustness_surface(result(a={"1": 0.0, "2": 1.0, "3": 0.0}, b={"1": 0.3})))
    assert [point.d_esi for point in gradients.axes[0].gradients] == [1.0, 0.0, -1.0]
    assert gradients.axes[0].mean_abs_drift_gradient == 0.66666667
    assert gradients.global_mean_abs_esi_gradient == 0.5  # (1 + 0 + 1 + 0) / 4


def test_variance_is_the_populations():
    assert population_variance([1.0, 2.0, 3.0, 4.0]) == 1.25
