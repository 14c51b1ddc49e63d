"""A judge that fails gives no answer: nothing is made of it but a failure rate and a reason."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rushes import measure_robustness, read_run
from rushes.cli.main import app
from rushes.instruments.robustness import MetricsEngine
from rushes.instruments.robustness.seed.metrics import MetricComputationError
from rushes.instruments.robustness.show import charts, section

ERROR = {"status": "error", "error": "exit code 1: no model"}
OLD_ERROR = {"status": "error", "output": "judge-error", "justification": "exit code 1: no model"}
"""As sweeps before this wrote it: with an output of its own."""


def failing(where, error=ERROR):
    """Records: "A" everywhere but where the judge fails."""
    return lambda values, seed: error if where(values, seed) else {"output": "A", "justification": "because"}


@pytest.mark.parametrize("error", [ERROR, OLD_ERROR])
def test_a_judge_that_always_fails_is_not_steady(make_sweep, tmp_path, error):
    """It gave ESI 1 and drift 0, and the headline that the answer holds at every value."""
    folder = make_sweep({"x": [1, 2], "y": [1, 2]}, [1], failing(lambda v, s: True, error))
    (report,) = measure_robustness(folder, run=tmp_path / "run")
    stability = [m for m in report.measurements if m.name != "judge_failure_rate"]
    assert {m.name for m in stability} == {"esi", "justification_drift"}
    assert all(m.value is None and "baseline run" in m.note and "no model" in m.note for m in stability)
    assert {m.value for m in report.select("judge_failure_rate")} == {1.0}
    assert (report.metrics, report.surface, report.gradients, report.worst) == (None, None, None, ())
    assert (report.failed_runs, report.baseline_answer) == (4, None)
    stored = read_run(tmp_path / "run")
    assert section.summary(stored) == "sweep has no result: the judge failed in the baseline run."
    assert ("Reason", "4 ×: exit code 1: no model") in section.facts(stored)
    printed = CliRunner().invoke(app, ["robust", str(folder), "-o", str(tmp_path / "again")])
    assert printed.exit_code == 0
    assert "1" not in [cell for line in printed.stdout.splitlines() for cell in line.split()[2:3]]
    assert "the judge failed in 4 of 4 runs" in printed.stderr


def test_the_charts_of_a_failed_sweep(make_sweep, tmp_path):
    pytest.importorskip("altair")
    measure_robustness(make_sweep({"x": [1, 2]}, [1], failing(lambda v, s: True)), run=tmp_path / "run")
    assert charts.charts(read_run(tmp_path / "run")) == ()


def test_failed_runs_are_left_out_of_the_pool(make_sweep, tmp_path):
    """x=2: one of two runs answers, and it answers "A"; x=3: none does."""
    fails = {(2, 1), (3, 1), (3, 2)}
    folder = make_sweep({"x": [1, 2, 3]}, [1, 2], failing(lambda v, s: (v["x"], s) in fails))
    (report,) = measure_robustness(folder, run=tmp_path / "run")
    at = {value: report.one("esi", axis="x", value=value) for value in (1, 2, 3)}
    assert [(m.value, m.count) for m in at.values()] == [(1.0, 2), (1.0, 1), (None, 0)]
    assert at[2].note == "the judge failed in 1 of 2 runs, which are left out"
    assert at[3].note == "the judge failed in every run here (2)"
    overall = report.one("justification_drift", axis="x", value=None)
    assert (overall.value, overall.count) == (0.0, 3)
    assert overall.note == "the judge failed in 3 of 6 runs, which are left out; no run answers at 1 of 3 values"
    assert [report.one("judge_failure_rate", axis="x", value=v).value for v in (1, 2, 3)] == [0.0, 0.5, 1.0]
    assert report.one("judge_failure_rate", axis=None).value == 0.5
    summary = section.summary(read_run(tmp_path / "run"))
    assert summary == "In sweep the answer holds wherever the judge answered; the judge failed in 3 of 6 runs."
    assert report.table().header == ("axis", "value", "ESI ↑", "drift ↓", "failed ↓", "runs")


def test_a_failed_baseline_says_nothing_of_any_axis(make_sweep):
    """Every run but the first answers; nothing is moved on to the second."""
    folder = make_sweep({"x": [1, 2], "y": [1, 2]}, [1], failing(lambda v, s: v == {"x": 1, "y": 1}))
    (report,) = measure_robustness(folder)
    assert {m.value for m in report.select("esi")} == {None}
    assert report.one("judge_failure_rate", axis=None).value == 0.25
    assert "the judge failed in the baseline run" in report.remarks[-1]


def test_the_seeds_engine_keeps_to_its_words(make_sweep):
    """An error record has no output, so the last record cannot be read; one with an output is taken at its word."""
    with pytest.raises(MetricComputationError, match=r"No valid 'output'.*the judge failed here \(exit code 1"):
        MetricsEngine().compute(make_sweep({"x": [1, 2]}, [1], failing(lambda v, s: v["x"] == 2), name="new"))
    old = make_sweep({"x": [1, 2]}, [1], failing(lambda v, s: v["x"] == 2, OLD_ERROR), name="old")
    assert MetricsEngine().compute(old).esi[0].value_scores == {"1": 1.0, "2": 0.0}
    (report,) = measure_robustness(old)
    assert report.metrics.esi[0].value_scores == {"1": 1.0}


def test_a_sweep_without_failures_has_the_seeds_numbers(two_axis_sweep):
    (report,) = measure_robustness(two_axis_sweep)
    assert report.metrics == MetricsEngine().compute(two_axis_sweep)
    assert "failed" not in " ".join(report.table().header)


def test_failures_are_plain_data(make_sweep):
    (report,) = measure_robustness(make_sweep({"x": [1, 2]}, [1], failing(lambda v, s: v["x"] == 2)))
    data = json.loads(json.dumps(report.as_dict()))
    assert data["failures"] == [["exit code 1: no model", 1]]
    assert data["remarks"] == ["the judge failed in 1 of 2 runs, which are left out; most often: exit code 1: no model"]
