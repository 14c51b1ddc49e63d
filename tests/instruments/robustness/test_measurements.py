"""Labelled rows: every number of a sweep with its signature and count."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from rushes.core import canonical_json, difference
from rushes.core.selection import one
from rushes.instruments.robustness.definitions.one_sweep import DEFINITIONS
from rushes.instruments.robustness.measurements import (
    as_measurements,
    cell_measurements,
    grid_digest,
    monte_carlo_measurements,
    run_counts,
    run_measurement,
    surface_measurements,
)
from rushes.instruments.robustness.seed.encoding import encode_value, run_directory
from rushes.instruments.robustness.seed.gradients import gradient_surface
from rushes.instruments.robustness.seed.metrics_engine import metrics_result
from rushes.instruments.robustness.seed.montecarlo import monte_carlo
from rushes.instruments.robustness.seed.scores import RunScore, score_runs
from rushes.instruments.robustness.seed.surface import robustness_surface
from rushes.instruments.robustness.seed.sweep_dir import read_sweep


def scored(folder):
    sweep = read_sweep(folder)
    return sweep, list(score_runs(sweep))


def labelled(sweep, scores):
    result = metrics_result(sweep.axes, scores)
    return as_measurements(result, axes=sweep.axes, counts=run_counts(sweep.axes, scores), grid="abc")


def test_every_score_of_the_result_is_a_number_at_its_place(two_axis_sweep):
    numbers = labelled(*scored(two_axis_sweep))
    assert len(numbers) == 2 * 2 * (1 + 3)  # two metrics, two axes, one overall and three values each
    at_value = one(numbers, "esi", axis="brightness", value=1.2)
    assert (at_value.value, at_value.count) == (0.33333333, 6)
    assert at_value.signature == (
        "esi|aggregate:mean-of-values|answer:output|baseline:first-run|grid:abc|match:exact|pool:other-axes-and-seeds"
        "|runs:answered|v:1"
    )
    overall = one(numbers, "justification_drift", axis="contrast", value=None)
    assert (overall.value, overall.count) == (0.11111111, 18)
    assert overall.signature == (
        "justification_drift|aggregate:mean-of-values|baseline:first-run|distance:levenshtein-characters"
        "|grid:abc|normaliser:longer-text|pool:other-axes-and-seeds|runs:answered|v:1"
    )
    assert len({m.definition for m in numbers}) == 2


def test_two_values_of_an_axis_and_two_axes_compare(two_axis_sweep):
    numbers = labelled(*scored(two_axis_sweep))
    low, high = (one(numbers, "esi", axis="brightness", value=value) for value in (1.0, 1.2))
    assert difference(low, high).stored_value == 0.66666667
    axes = [one(numbers, "esi", axis=axis, value=None) for axis in ("brightness", "contrast")]
    assert difference(*axes).place == {"axis": "brightness − contrast"}


def test_the_surface_as_numbers(two_axis_sweep):
    sweep, scores = scored(two_axis_sweep)
    surface = robustness_surface(metrics_result(sweep.axes, scores))
    numbers = surface_measurements(surface, gradient_surface(surface), grid="abc")
    assert one(numbers, "esi_variance", axis="brightness").value == 0.07407407
    assert one(numbers, "esi_gradient", axis="contrast").value == 0.33333334
    assert one(numbers, "esi_gradient", axis=None).value == 0.66666667
    assert one(numbers, "justification_drift_variance", axis=None).value == 0.00154321
    assert one(numbers, "esi_variance", axis=None).count == 6


def test_an_axis_called_all_is_not_all_axes(make_sweep):
    sweep, scores = scored(make_sweep({"all": [1, 2], "b": [1, 2]}, [1], lambda v, s: {"output": str(v["all"])}))
    surface = robustness_surface(metrics_result(sweep.axes, scores))
    numbers = surface_measurements(surface, gradient_surface(surface), grid="abc")
    # value scores: all 1, 0 (variance 1/4); b ½, ½ (0); over all four points 1, 0, ½, ½: mean ½, variance ⅛
    values = [one(numbers, "esi_variance", axis=axis).value for axis in ("all", "b", None)]
    assert values == [0.25, 0.0, 0.125]


def test_cells_of_two_axes(two_axis_sweep):
    sweep, scores = scored(two_axis_sweep)
    numbers = cell_measurements(sweep.axes, scores, grid="abc")
    assert len(numbers) == 2 * 9
    cell = {"axis_1": "brightness", "value_1": 1.2, "axis_2": "contrast", "value_2": 1.1}
    esi, drift = one(numbers, "esi", **cell), one(numbers, "justification_drift", **cell)
    assert (esi.value, esi.count) == (0.0, 2)
    assert (drift.value, drift.count) == (0.16666667, 2)  # four of 24 characters
    assert one((*labelled(sweep, scores), *numbers), "esi", axis="brightness", value=1.2).value == 0.33333333


def test_a_grid_too_large_to_read_is_not_broken_down(make_sweep, monkeypatch):
    monkeypatch.setattr("rushes.instruments.robustness.measurements.MOST_CELLS", 3)
    sweep, scores = scored(make_sweep({"a": [1, 2], "b": [1, 2]}, [1], lambda v, s: {"output": "A"}))
    assert cell_measurements(sweep.axes, scores, grid="abc") == ()


def test_statistics_as_rows(make_sweep):
    sweep, scores = scored(
        make_sweep({"x": [1]}, [1, 2], lambda v, s: {"output": "A", "confidence_score": s - 1, "output_entropy": s})
    )
    rows = monte_carlo_measurements(monte_carlo(sweep.axes, scores), axes=sweep.axes, grid="abc")
    assert [(row.definition.name, row.value, row.count) for row in rows] == [
        ("confidence_stability", 0.0, 2),
        ("confidence_stability", 0.0, 2),
        ("entropy_drift", 0.5, 2),
        ("entropy_drift", 0.5, 2),
    ]


def test_a_value_that_encodes_to_nothing_keeps_its_name(make_sweep):
    sweep, scores = scored(make_sweep({"x": ["é"], "y": ["", "a"]}, [1], lambda v, s: {"output": "A"}))
    numbers = labelled(sweep, scores)
    assert one(numbers, "esi", axis="x", value="é").count == 2
    assert one(numbers, "esi", axis="y", value="").count == 1


values = st.one_of(
    st.text(max_size=12), st.sampled_from(["100%|A", "a,b", "grid:abc", "a\nb", "", "esi|v:1", "\ud800"])
)
names = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,8}", fullmatch=True)
axes = st.dictionaries(names, st.lists(values, min_size=1, max_size=3, unique_by=encode_value), min_size=1, max_size=3)


@given(axes, st.sampled_from(["A", "B"]))
def test_no_axis_value_or_run_is_ever_in_a_signature(declared, other):
    """Whatever the names: the definitions are the catalogue's, and every number has a place of its own."""
    encoded = {axis: {encode_value(value): value for value in found} for axis, found in sorted(declared.items())}
    points = [dict(zip(encoded, point, strict=True)) for point in product(*encoded.values())]
    scores = [
        RunScore(values=point, matches=not n or other == "A", drift=0.5, confidence=0.5, entropy=1.0)
        for n, point in enumerate(points)
    ]
    result = metrics_result(encoded, scores)
    surface = robustness_surface(result)
    numbers = (
        *as_measurements(result, axes=encoded, counts=run_counts(encoded, scores), grid="g"),
        *surface_measurements(surface, gradient_surface(surface), grid="g"),
        *monte_carlo_measurements(monte_carlo(encoded, scores), axes=encoded, grid="g"),
        *cell_measurements(encoded, scores, grid="g"),
        *(run_measurement(run_directory(point, 1), 0.5, grid="g") for point in points),
    )
    settled = {
        d.with_params(**{"answer": "output", "grid": "g"} if d.name == "esi" else {"grid": "g"}) for d in DEFINITIONS
    }
    assert {m.definition for m in numbers} <= settled
    assert len({(m.signature, m.at) for m in numbers}) == len(numbers)
    for m in numbers:
        canonical_json(m.as_dict()).encode()  # can be written, whatever the text
        assert m.name not in {"esi", "justification_drift"} or m.place.keys() & {"axis", "axis_1", "run"}


def test_other_runs_are_another_grid():
    assert grid_digest(["a", "b"]) != grid_digest(["b", "a"]) != grid_digest(["b"])


def test_definitions_are_complete_and_their_signatures_unique():
    assert len({definition.signature for definition in DEFINITIONS}) == len(DEFINITIONS)
    for definition in DEFINITIONS:
        assert definition.edge_cases and definition.reference, definition.signature
