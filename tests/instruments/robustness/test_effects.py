"""What one axis does by itself, and slopes by the size of the values."""

from __future__ import annotations

import pytest

from rushes import measure_robustness, read_run
from rushes.instruments.robustness.definitions.one_sweep import MOST_ANSWERS
from rushes.instruments.robustness.definitions.pools import DEFINITIONS
from rushes.instruments.robustness.measurements import OTHER_ANSWERS
from rushes.instruments.robustness.show import charts, section


@pytest.fixture
def one_that_matters(make_sweep):
    """A full grid in which `blur` alone moves the answer: at 2 and beyond it is "soft"."""

    def record(values, seed):
        soft = values["blur"] >= 2
        return {"output": "soft" if soft else "sharp", "justification": "b" if soft else "a"}

    return make_sweep({"blur": [0, 2, 10], "shift": [0, 1]}, [1, 2], record)


def test_the_grand_mean_cannot_tell_axes_apart_but_this_can(one_that_matters):
    (report,) = measure_robustness(one_that_matters)
    # The seed's numbers: every axis pools the same twelve runs, four of which answer as the baseline does.
    assert [report.one("esi", axis=axis, value=None).value for axis in ("blur", "shift")] == [0.33333333] * 2
    # By itself: along blur 1, 0, 0; along shift 1, 1.
    assert report.one("esi_one_axis", axis="blur", value=None).value == 0.33333333
    assert report.one("esi_one_axis", axis="shift", value=None).value == 1.0
    assert report.one("esi_one_axis", axis="shift", value=1).count == 2  # two seeds
    assert report.one("justification_drift_one_axis", axis="blur", value=10).value == 1.0
    ranges = {axis: report.one("esi_range", axis=axis) for axis in ("blur", "shift")}
    assert {axis: (m.value, m.note) for axis, m in ranges.items()} == {"blur": (1.0, "worst at 2"), "shift": (0.0, "")}
    assert "pool:others-at-baseline" in ranges["blur"].signature
    assert "pool:others-at-baseline" in report.one("esi_one_axis", axis="blur", value=0).signature
    table = report.effects()
    assert [row[0] for row in table.texts()] == ["blur", "shift"]
    assert table.texts()[1][-1] == "steady"


def test_one_axis_needs_no_second_table(make_sweep):
    (report,) = measure_robustness(make_sweep({"x": [1, 2]}, [1], lambda v, s: {"output": "A"}))
    assert report.effects().rows == []


def test_slopes_go_by_size_and_not_by_encoding(make_sweep):
    """Encoded order is 0, 10, 2, 5; the answer tips over between 2 and 5.

    By size, ESI is 1, 1, 0, 0: slopes 0, −½, −½, 0. By encoding it is 1, 0, 1, 0: slopes −1, 0, 0, −1.
    """
    folder = make_sweep({"x": [0, 2, 5, 10]}, [1], lambda v, s: {"output": "A" if v["x"] < 5 else "B"})
    (report,) = measure_robustness(folder)
    assert report.one("esi_gradient", axis="x").value == 1.0  # as other readers of sweeps have it
    steepest = report.one("esi_gradient_by_value", axis="x")
    assert (steepest.value, steepest.note) == (0.5, "steepest at 2")
    assert "order:by-size" in steepest.signature
    assert [row[1] for row in report.table().texts()] == ["all values", "0", "2", "5", "10"]


def test_what_answers_turn_into(one_that_matters):
    (report,) = measure_robustness(one_that_matters)
    flips = {
        (m.place["value"], m.place["from"], m.place["to"]): m.value for m in report.select("answer_flips", axis="blur")
    }
    assert flips == {("0", "sharp", "sharp"): 2, ("2", "sharp", "soft"): 2, ("10", "sharp", "soft"): 2}


def test_too_many_answers_to_tell_apart(make_sweep):
    """Thirteen other answers: twelve keep a name, and the baseline's is one of them."""
    seeds = list(range(MOST_ANSWERS + 2))
    folder = make_sweep({"x": [1, 2]}, seeds, lambda v, s: {"output": f"answer {s if v['x'] == 2 else 0}"})
    (report,) = measure_robustness(folder)
    flips = {m.place["to"]: m.value for m in report.select("answer_flips", axis="x", value=2)}
    assert flips[OTHER_ANSWERS] == 2 and flips["answer 0"] == 1 and len(flips) == MOST_ANSWERS + 1


def test_failed_runs_are_in_no_effect(make_sweep):
    error = {"status": "error", "error": "late"}
    folder = make_sweep({"x": [1, 2, 3], "y": [1, 2]}, [1], lambda v, s: error if v["x"] == 3 else {"output": "A"})
    (report,) = measure_robustness(folder)
    at = report.one("esi_one_axis", axis="x", value=3)
    assert (at.value, at.note) == (None, "the judge failed in every run here (1)")
    assert report.one("esi_range", axis="x").count == 2
    assert {m.place["value"] for m in report.select("answer_flips", axis="x")} == {"1", "2"}


def test_the_catalogue_is_complete_and_unique():
    assert len({definition.signature for definition in DEFINITIONS}) == len(DEFINITIONS)
    for definition in DEFINITIONS:
        assert definition.edge_cases and definition.reference, definition.signature


def test_a_sweep_that_moves_one_axis_at_a_time_is_told_by_its_own_numbers(one_that_matters, edit_manifest, tmp_path):
    """At its first value an axis would pool the runs of all others: shift 0 holds two soft runs of three."""

    def thin(manifest):
        moved = [run for run in manifest["runs"] if 0 in run["axis_values"].values()]
        manifest.update(runs=moved, design="one-at-a-time")

    edit_manifest(one_that_matters, thin)
    (report,) = measure_robustness(one_that_matters, run=tmp_path / "run")
    assert (report.runs, report.declared_runs, report.remarks) == (8, 8, ())
    assert report.one("esi", axis="shift", value=0).value == 0.33333333
    assert report.one("esi_one_axis", axis="shift", value=0).value == 1.0
    summary = section.summary(read_run(tmp_path / "run"))
    assert summary == "In sweep the answer holds least at blur 2, where 0% of the runs keep it."
    assert not [m for m in report.measurements if "axis_1" in m.place]
    lines, *_ = charts.charts(read_run(tmp_path / "run"))
    assert lines.title == "sweep: stability along each axis"
