"""`MetricsEngine`: baseline, ESI, drift, order, determinism, and what it refuses."""

from __future__ import annotations

import dataclasses
import json

import pytest

from rushes.core import canonical_json
from rushes.instruments.robustness import MetricComputationError, MetricsEngine

# Two axes, nine corners, two seeds; the baseline is b=0.8, c=0.9 and answers "Normal findings".
# Answers: "Minor opacity" at (0.8, 1.1), (1.2, 1.0), (1.2, 1.1): ESI(b=0.8) = 4/6, ESI(b=1.0) = 6/6, ESI(b=1.2) = 2/6.
# Justifications "Analysis at b=0.8, c=0.9" have 24 characters; one or two digits differ from the baseline's:
# b=0.8: c=0.9 none, c=1.0 both digits of c (2), c=1.1 both (2): (0 + 2 + 2) / 3 / 24 = 0.05555556
# b=1.0: two digits more everywhere: (2 + 4 + 4) / 3 / 24 = 0.13888889; b=1.2 the same.
EXPECTED = {
    "esi": [
        {
            "axis": "brightness",
            "value_scores": {"0p8": 0.66666667, "1p0": 1.0, "1p2": 0.33333333},
            "overall_score": 0.66666667,
        },
        {
            "axis": "contrast",
            "value_scores": {"0p9": 1.0, "1p0": 0.66666667, "1p1": 0.33333333},
            "overall_score": 0.66666667,
        },
    ],
    "drift": [
        {
            "axis": "brightness",
            "value_scores": {"0p8": 0.05555556, "1p0": 0.13888889, "1p2": 0.13888889},
            "overall_score": 0.11111111,
        },
        {
            "axis": "contrast",
            "value_scores": {"0p9": 0.05555556, "1p0": 0.13888889, "1p1": 0.13888889},
            "overall_score": 0.11111111,
        },
    ],
}


def plain(result):
    return json.loads(json.dumps(dataclasses.asdict(result)))


def one_axis(make_sweep, outputs, *, justifications=None, seeds=(42,), axis="brightness"):
    """A sweep over one axis; outputs by (value, seed) or by value."""

    def record(values, seed):
        value = values[axis]
        found = {"output": outputs.get((value, seed), outputs.get(value))}
        if justifications and value in justifications:
            found["justification"] = justifications[value]
        return found

    values = list(dict.fromkeys(key[0] if isinstance(key, tuple) else key for key in outputs))
    return make_sweep({axis: values}, list(seeds), record)


def test_two_axes_by_hand(two_axis_sweep):
    assert plain(MetricsEngine().compute(two_axis_sweep)) == EXPECTED


def test_the_reference_sweep_exactly(shared):
    expected = json.loads((shared / "golden/sweep_2axis.expected.json").read_text())["metrics"]
    result = dataclasses.asdict(MetricsEngine().compute(shared / "golden/sweep_2axis"))
    assert json.dumps(result) == json.dumps({key: tuple(value) for key, value in expected.items()})


class TestBaseline:
    def test_is_the_first_run(self, make_sweep):
        sweep = one_axis(make_sweep, {0.8: "A", 1.0: "B", 1.2: "C"})
        assert MetricsEngine().compute(sweep).esi[0].value_scores == {"0p8": 1.0, "1p0": 0.0, "1p2": 0.0}

    def test_values_come_in_declared_order_not_sorted(self, make_sweep):
        sweep = one_axis(make_sweep, {1.2: "A", 0.8: "B"})
        assert MetricsEngine().compute(sweep).esi[0].value_scores == {"0p8": 0.0, "1p2": 1.0}

    def test_no_value_is_taken_for_the_unchanged_one(self, make_sweep):
        sweep = one_axis(make_sweep, {0.5: "odd", 1.0: "usual", 1.5: "usual"})
        assert MetricsEngine().compute(sweep).esi[0].value_scores["1p0"] == 0.0

    def test_does_not_depend_on_how_the_manifest_lists_its_runs(self, two_axis_sweep, edit_manifest):
        before = MetricsEngine().compute(two_axis_sweep)
        edit_manifest(two_axis_sweep, lambda manifest: manifest["runs"].reverse())
        assert MetricsEngine().compute(two_axis_sweep) == before

    def test_axes_are_alphabetical_and_the_last_varies_fastest(self, make_sweep):
        # Declared b before a: the baseline is a=1, b=5; the second run is a=1, b=6.
        sweep = make_sweep({"b": [5, 6], "a": [1, 2]}, [1], lambda v, s: {"output": f"{v['a']}{v['b']}"})
        result = MetricsEngine().compute(sweep)
        assert [metric.value_scores for metric in result.esi] == [{"1": 0.5, "2": 0.0}, {"5": 0.5, "6": 0.0}]

    def test_seeds_come_in_declared_order(self, make_sweep):
        sweep = one_axis(make_sweep, {(1.0, 9): "A", (1.0, 2): "B"}, seeds=(9, 2))
        assert MetricsEngine().compute(sweep).esi[0].value_scores == {"1p0": 0.5}
        assert json.loads((sweep / "sweep_manifest.json").read_text())["seeds"] == [9, 2]


class TestESI:
    def test_all_match(self, make_sweep):
        sweep = one_axis(make_sweep, {0.8: "same", 1.0: "same"}, seeds=(1, 2))
        assert MetricsEngine().compute(sweep).esi[0].overall_score == 1.0

    def test_share_of_seeds(self, make_sweep):
        sweep = one_axis(make_sweep, {(1.0, 1): "A", (1.0, 2): "A", (1.0, 3): "B"}, seeds=(1, 2, 3))
        metric = MetricsEngine().compute(sweep).esi[0]
        assert (metric.value_scores, metric.overall_score) == ({"1p0": 0.66666667}, 0.66666667)

    def test_answers_compare_exactly(self, make_sweep):
        sweep = one_axis(make_sweep, {1: "Yes", 2: "yes", 3: "Yes "})
        assert MetricsEngine().compute(sweep).esi[0].value_scores == {"1": 1.0, "2": 0.0, "3": 0.0}

    def test_overall_is_the_mean_of_rounded_scores(self, make_sweep):
        # 1/3, 1/3 and 1 at three values: (0.33333333 + 0.33333333 + 1) / 3 = 0.55555555333…, stored 0.55555555;
        # from unrounded thirds it would be 0.55555556.
        outputs = {(v, s): "A" if s == 1 or v == 1 else "B" for v in (1, 2, 3) for s in (1, 2, 3)}
        sweep = one_axis(make_sweep, outputs, seeds=(1, 2, 3))
        assert MetricsEngine().compute(sweep).esi[0].overall_score == 0.55555555

    def test_every_answer_differs_but_the_baseline(self, make_sweep):
        sweep = one_axis(make_sweep, {0.8: "A", 1.0: "B"})
        assert MetricsEngine().compute(sweep).esi[0].overall_score == 0.5


class TestDrift:
    @pytest.mark.parametrize(
        ("before", "after", "drift"),
        [
            ("Because X", "Because X", 0.0),
            ("ab", "cd", 1.0),
            ("hello", "hallo", 0.2),
            ("abc", "abd", 0.33333333),
            ("café", "cafe", 0.25),
            ("", "Because", 1.0),
            ("", "", 0.0),
            (["a", "b"], "['a', 'c']", 0.1),  # made text first: one of ten characters differs
        ],
    )
    def test_over_the_longer_text(self, make_sweep, before, after, drift):
        sweep = one_axis(make_sweep, {0.8: "A", 1.0: "A"}, justifications={0.8: before, 1.0: after})
        assert MetricsEngine().compute(sweep).drift[0].value_scores == {"0p8": 0.0, "1p0": drift}

    def test_missing_is_empty(self, make_sweep):
        sweep = one_axis(make_sweep, {0.8: "A", 1.0: "A"}, justifications={1.0: "Because"})
        assert MetricsEngine().compute(sweep).drift[0].value_scores["1p0"] == 1.0

    def test_mean_over_seeds_then_over_values(self, make_sweep):
        texts = {(1, 1): "aaaa", (1, 2): "aaab", (2, 1): "bbbb", (2, 2): "bbbb"}
        sweep = make_sweep({"x": [1, 2]}, [1, 2], lambda v, s: {"output": "A", "justification": texts[v["x"], s]})
        metric = MetricsEngine().compute(sweep).drift[0]
        assert metric.value_scores == {"1": 0.125, "2": 1.0}  # (0 + 1/4) / 2 and (1 + 1) / 2
        assert metric.overall_score == 0.5625


class TestOrderAndDeterminism:
    def test_axes_by_name_values_by_encoding(self, make_sweep):
        sweep = make_sweep({"zebra": [10, 9, -1], "alpha": [1]}, [1], lambda v, s: {"output": "A"})
        result = MetricsEngine().compute(sweep)
        assert [metric.axis for metric in result.esi] == [metric.axis for metric in result.drift] == ["alpha", "zebra"]
        assert list(result.esi[1].value_scores) == ["10", "9", "m1"]

    def test_twice_gives_equal_objects_and_equal_bytes(self, two_axis_sweep):
        one, other = MetricsEngine().compute(two_axis_sweep), MetricsEngine().compute(str(two_axis_sweep))
        assert one == other
        assert canonical_json(dataclasses.asdict(one)) == canonical_json(dataclasses.asdict(other))
        assert repr(one) == repr(other)

    def test_nothing_is_written(self, two_axis_sweep):
        before = {path: path.stat().st_mtime_ns for path in two_axis_sweep.rglob("*")}
        MetricsEngine().compute(two_axis_sweep)
        assert {path: path.stat().st_mtime_ns for path in two_axis_sweep.rglob("*")} == before


class TestRefusals:
    def test_no_manifest(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"sweep_manifest\.json"):
            MetricsEngine().compute(tmp_path)

    def test_zero_runs(self, two_axis_sweep, edit_manifest):
        edit_manifest(two_axis_sweep, lambda manifest: manifest.update(runs=[]))
        with pytest.raises(MetricComputationError, match="zero runs"):
            MetricsEngine().compute(two_axis_sweep)

    def test_no_trace(self, two_axis_sweep):
        (two_axis_sweep / "runs/brightness=1p0_contrast=1p0_seed=42/trace_pack.jsonl").unlink()
        with pytest.raises(FileNotFoundError, match=r"brightness=1p0_contrast=1p0_seed=42/trace_pack\.jsonl"):
            MetricsEngine().compute(two_axis_sweep)

    def test_no_answer_names_the_trace(self, make_sweep):
        sweep = make_sweep({"x": [1]}, [1], lambda v, s: {"event": "done"})
        with pytest.raises(MetricComputationError, match=r"x=1_seed=1/trace_pack\.jsonl: No valid"):
            MetricsEngine().compute(sweep)

    def test_results_without_traces(self, tmp_path):
        (tmp_path / "sweep_manifest.json").write_text('{"results": [], "axes": {"x": [1]}}')
        with pytest.raises(MetricComputationError, match="has results but no traces"):
            MetricsEngine().compute(tmp_path)
