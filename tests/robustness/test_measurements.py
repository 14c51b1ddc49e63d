"""Labelled rows: every number of a sweep with its signature and count."""

from __future__ import annotations

from rushes.robustness.definitions import DEFINITIONS
from rushes.robustness.gradients import gradient_surface
from rushes.robustness.measurements import (
    as_measurements,
    cell_measurements,
    grid_digest,
    monte_carlo_measurements,
    run_counts,
    surface_measurements,
)
from rushes.robustness.metrics_engine import metrics_result
from rushes.robustness.montecarlo import monte_carlo
from rushes.robustness.scores import score_runs
from rushes.robustness.surface import robustness_surface
from rushes.robustness.sweep_dir import read_sweep


def scored(folder):
    sweep = read_sweep(folder)
    return sweep, list(score_runs(sweep))


def test_every_score_of_the_result_is_a_row(two_axis_sweep):
    sweep, scores = scored(two_axis_sweep)
    rows = as_measurements(metrics_result(sweep.axes, scores), counts=run_counts(sweep.axes, scores), grid="abc")
    assert len(rows) == 2 * 2 * (1 + 3)  # two metrics, two axes, one overall and three values each
    by_signature = {row.signature: row for row in rows}
    row = by_signature[
        "esi|answer:output|axis:brightness|baseline:first-run|grid:abc|match:exact|pool:other-axes-and-seeds|value:1p2|v:1"
    ]
    assert (row.value, row.count) == (0.33333333, 6)
    overall = by_signature[
        "justification_drift|aggregate:mean-of-values|axis:contrast|baseline:first-run|distance:levenshtein-characters"
        "|grid:abc|normaliser:longer-text|pool:other-axes-and-seeds|v:1"
    ]
    assert (overall.value, overall.count) == (0.11111111, 18)


def test_the_surface_as_rows(two_axis_sweep):
    sweep, scores = scored(two_axis_sweep)
    surface = robustness_surface(metrics_result(sweep.axes, scores))
    rows = surface_measurements(surface, gradient_surface(surface), grid="abc")
    found = {(row.definition.name, dict(row.definition.params)["axis"]): row for row in rows}
    assert found["esi_variance", "brightness"].value == 0.07407407
    assert found["esi_gradient", "contrast"].value == 0.33333334
    assert found["esi_gradient", "all"].value == 0.66666667
    assert (found["justification_drift_variance", "all"].value, found["esi_variance", "all"].count) == (0.00154321, 6)


def test_cells_of_two_axes(two_axis_sweep):
    sweep, scores = scored(two_axis_sweep)
    rows = cell_measurements(list(sweep.axes), scores, grid="abc")
    assert len(rows) == 2 * 9
    found = {
        (row.definition.name, dict(row.definition.params)["value"]): (row.value, row.count)
        for row in rows
        if dict(row.definition.params)["axis"] == "brightness,contrast"
    }
    assert found["esi", "1p2,1p1"] == (0.0, 2)
    assert found["justification_drift", "1p2,1p1"] == (0.16666667, 2)  # four of 24 characters


def test_a_grid_too_large_to_read_is_not_broken_down(make_sweep, monkeypatch):
    monkeypatch.setattr("rushes.robustness.measurements.MOST_CELLS", 3)
    sweep, scores = scored(make_sweep({"a": [1, 2], "b": [1, 2]}, [1], lambda v, s: {"output": "A"}))
    assert cell_measurements(list(sweep.axes), scores, grid="abc") == ()


def test_statistics_as_rows(make_sweep):
    sweep, scores = scored(
        make_sweep({"x": [1]}, [1, 2], lambda v, s: {"output": "A", "confidence_score": s - 1, "output_entropy": s})
    )
    rows = monte_carlo_measurements(monte_carlo(sweep.axes, scores), grid="abc")
    assert [(row.definition.name, row.value, row.count) for row in rows] == [
        ("confidence_stability", 0.0, 2),
        ("confidence_stability", 0.0, 2),
        ("entropy_drift", 0.5, 2),
        ("entropy_drift", 0.5, 2),
    ]


def test_a_value_that_encodes_to_nothing_has_a_name(make_sweep):
    sweep, scores = scored(make_sweep({"x": ["é"]}, [1], lambda v, s: {"output": "A"}))
    rows = as_measurements(metrics_result(sweep.axes, scores), counts=run_counts(sweep.axes, scores), grid="abc")
    assert dict(rows[1].definition.params)["value"] == "(empty)"


def test_other_runs_are_another_grid():
    assert grid_digest(["a", "b"]) != grid_digest(["b", "a"]) != grid_digest(["b"])


def test_definitions_are_complete_and_their_signatures_unique():
    assert len({definition.signature for definition in DEFINITIONS}) == len(DEFINITIONS)
    for definition in DEFINITIONS:
        assert definition.edge_cases and definition.reference, definition.signature
