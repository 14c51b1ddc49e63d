"""CSI and EDM, from traces and from results without traces."""

from __future__ import annotations

import json

import pytest

from rushes import measure_robustness
from rushes.core import canonical_json
from rushes.instruments.robustness import MetricsEngine
from rushes.instruments.robustness.seed.metrics import MetricComputationError
from rushes.instruments.robustness.seed.montecarlo import confidence_stability, entropy_drift, monte_carlo
from rushes.instruments.robustness.seed.results import read_results
from rushes.instruments.robustness.seed.scores import score_runs
from rushes.instruments.robustness.seed.sweep_dir import read_sweep


@pytest.mark.parametrize(
    ("confidences", "csi"),
    [
        ([0.7], 1.0),
        ([0.5, 0.5], 1.0),
        ([0.0, 1.0], 0.0),  # variance 0.25, the largest there is
        ([0.4, 0.8], 0.84),  # variance 0.04: 1 − 0.16
        ([-2.0, 2.0], 0.0),  # not confidences, but never below 0
    ],
)
def test_csi(confidences, csi):
    assert confidence_stability(confidences) == csi


def test_edm():
    assert entropy_drift([1.0, 2.5, 2.0], 2.0) == 0.5  # (1 + 0.5 + 0) / 3


def rich(values, seed):
    numbers = {(1, 1): (0.5, 2.0), (1, 2): (0.9, 2.2), (2, 1): (0.7, 1.0), (2, 2): (None, None)}
    confidence, entropy = numbers[values["x"], seed]
    if confidence is None:
        return {"output": "A"}
    if seed == 1:
        return {"output": "A", "rich_summary": {"confidence_score": confidence, "output_entropy": entropy}}
    return {"output": "A", "confidence_score": confidence, "output_entropy": entropy}


def test_from_traces_that_carry_the_numbers(make_sweep):
    sweep = read_sweep(make_sweep({"x": [1, 2]}, [1, 2], rich))
    result = monte_carlo(sweep.axes, list(score_runs(sweep)))
    (csi,), (edm,) = result.csi, result.edm
    assert csi.value_scores == {"1": 0.84, "2": 1.0}  # 0.5 and 0.9: variance 0.04
    assert csi.overall_score == 0.92
    assert (csi.value_means, csi.value_variances, csi.value_counts) == (
        {"1": 0.7, "2": 0.7},
        {"1": 0.04, "2": 0.0},
        {"1": 2, "2": 1},
    )
    assert edm.value_scores == {"1": 0.1, "2": 1.0}  # |2.0 − 2.0|, |2.2 − 2.0|; |1.0 − 2.0|
    assert edm.overall_score == 0.55


def test_traces_without_the_numbers_give_nothing(two_axis_sweep):
    sweep = read_sweep(two_axis_sweep)
    result = monte_carlo(sweep.axes, list(score_runs(sweep)))
    assert (result.csi, result.edm) == ((), ())


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, -(10**400), 1e200, -1e200, 1e308])
@pytest.mark.parametrize("key", ["confidence_score", "output_entropy"])
def test_a_number_nobody_can_reckon_with_is_left_out_and_named(make_sweep, key, number):
    """Ten to the four hundredth was a traceback, and so was the square of 1e200."""
    folder = make_sweep(
        {"x": [1, 2]}, [1, 2], lambda v, s: {"output": "A", key: number if (v["x"], s) == (2, 2) else 0.5}
    )
    assert MetricsEngine().compute(folder).esi[0].overall_score == 1.0
    (report,) = measure_robustness(folder)
    metric = (report.monte_carlo.csi or report.monte_carlo.edm)[0]
    assert metric.value_counts == {"1": 2, "2": 1}
    (remark,) = report.remarks
    assert remark.startswith(f"1 confidences or entropies are left out; first: x=2_seed=2: {key} is ")
    canonical_json(report.as_dict())  # can be written


def test_numbers_at_the_edge_are_reckoned_with(make_sweep):
    signs = {1: 1e100, 2: -1e100}
    record = lambda v, s: {"output": "A", "confidence_score": signs[s], "output_entropy": signs[s]}  # noqa: E731
    (report,) = measure_robustness(make_sweep({"x": [1]}, [1, 2], record))
    assert report.one("confidence_stability", axis="x", value=1).value == 0.0
    assert report.one("entropy_drift", axis="x", value=1).value == 1e100  # |1e100 − 1e100| and |−1e100 − 1e100|, halved


def result_row(axis, value, seed, text, confidence=None, entropy=None):
    return {
        "axis": axis,
        "value": value,
        "value_str": str(value).replace(".", "p"),
        "seed": seed,
        "text_preview": text,
        "rich_summary": {"confidence_score": confidence, "output_entropy": entropy},
    }


@pytest.fixture
def aggregate(tmp_path):
    def write(results, **extra):
        (tmp_path / "sweep_manifest.json").write_text(json.dumps({"results": results} | extra))
        return tmp_path

    return write


class TestResults:
    rows = [
        result_row("contrast", 0.9, 1, "B", 0.2, 1.5),
        result_row("brightness", 1.0, 1, "B", 0.8, 3.0),
        result_row("brightness", 0.8, 1, "A", 0.4, 2.0),
    ]

    def test_each_result_counts_for_its_axis_and_the_first_is_the_baseline(self, aggregate):
        axes = {"contrast": [0.9], "brightness": [0.8, 1.0]}
        results = read_results(aggregate(self.rows, axes=axes))
        assert [dict(score.values) for score in results.scores] == [
            {"brightness": "0p8"},
            {"brightness": "1p0"},
            {"contrast": "0p9"},
        ]
        assert [score.matches for score in results.scores] == [True, False, False]
        statistics = monte_carlo(results.axes, results.scores)
        assert statistics.edm[0].value_scores == {"0p8": 0.0, "1p0": 1.0}
        assert statistics.edm[1].value_scores == {"0p9": 0.5}

    def test_axes_may_be_left_out(self, aggregate):
        results = read_results(aggregate(self.rows))
        assert {axis: list(values) for axis, values in results.axes.items()} == {
            "brightness": ["1p0", "0p8"],
            "contrast": ["0p9"],
        }

    def test_declared_seeds_keep_their_order(self, aggregate):
        rows = [result_row("x", 1, 1, "A"), result_row("x", 1, 2, "B")]
        results = read_results(aggregate(rows, seeds=[2, 1]))
        assert (results.seeds, [score.answer for score in results.scores]) == ((2, 1), ["B", "A"])
        with pytest.raises(MetricComputationError, match="a result has seed 2, which seeds does not declare"):
            read_results(aggregate(rows, seeds=[1]))

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([], "zero runs"),
            ([result_row("../up", 1, 1, "A")], "an axis name is a letter"),
            ([result_row("x", 1, "1", "A")], "a seed is a whole number"),
            ([result_row("x", 1, 1, "")], "non-empty text_preview"),
            ([result_row("x", 1, 1, "A"), result_row("x", 1, 1, "A")], "is listed twice"),
            ([result_row("x", 1.0, 1, "A"), result_row("x", "1.0", 1, "A")], "both encode as"),
        ],
    )
    def test_what_cannot_be_right(self, aggregate, rows, message):
        with pytest.raises(MetricComputationError, match=message):
            read_results(aggregate(rows))

    def test_a_value_that_is_not_declared(self, aggregate):
        with pytest.raises(MetricComputationError, match=r"results\[0\]: x=2 is not declared"):
            read_results(aggregate([result_row("x", 2, 1, "A")], axes={"x": [1]}))
