"""Reading a sweep's manifest: order, families, and everything that can be wrong with it."""

from __future__ import annotations

import pytest

from rushes.robustness.manifests import RESULTS_FAMILY, RUNS_FAMILY, manifest_family
from rushes.robustness.metrics import MetricComputationError, MissingSweepFile
from rushes.robustness.sweep_dir import read_sweep


@pytest.fixture
def sweep_dir(make_sweep):
    return make_sweep({"b": [2.0, 1.0], "a": ["x", "y"]}, [7, 3], lambda v, s: {"output": "A"})


def test_runs_come_in_execution_order(sweep_dir, edit_manifest):
    edit_manifest(sweep_dir, lambda manifest: manifest["runs"].sort(key=lambda run: str(run)))
    sweep = read_sweep(sweep_dir)
    assert [run.directory for run in sweep.runs][:5] == [
        "a=x_b=2p0_seed=7",
        "a=x_b=2p0_seed=3",
        "a=x_b=1p0_seed=7",
        "a=x_b=1p0_seed=3",
        "a=y_b=2p0_seed=7",
    ]
    assert sweep.baseline is sweep.runs[0]
    assert sweep.declared_runs == len(sweep.runs) == 8


def test_an_unfinished_sweep_is_read_and_known_to_be_so(sweep_dir, edit_manifest):
    edit_manifest(sweep_dir, lambda manifest: manifest["runs"].pop())
    sweep = read_sweep(sweep_dir)
    assert (len(sweep.runs), sweep.declared_runs) == (7, 8)


def test_seeds_may_be_left_out(sweep_dir, edit_manifest):
    edit_manifest(sweep_dir, lambda manifest: manifest.pop("seeds"))
    assert read_sweep(sweep_dir).seeds == (7, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop("runs"), "zero runs"),
        (lambda m: m.update(runs={}), "expected runs to be a list"),
        (lambda m: m.update(runs=[3]), r"runs\[0\]: expected an object; got int"),
        (lambda m: m.pop("axes"), "missing axes"),
        (lambda m: m.update(axes={}), "missing axes"),
        (lambda m: m.update(axes=[]), "missing axes"),
        (lambda m: m["axes"].update(b=[]), "axis b: expected a list of values"),
        (lambda m: m["axes"].update(b=2.0), "axis b: expected a list of values"),
        (lambda m: m["axes"].update({"../up": [1]}), "an axis name is a letter"),
        (lambda m: m["axes"].update(b=[2.0, "2.0"]), "both encode as '2p0'"),
        (lambda m: m.update(seeds="7"), "missing seeds"),
        (lambda m: m.update(seeds=[7, 7]), "a seed is declared twice"),
        (lambda m: m.update(seeds=["../../7"]), "a seed is a whole number"),
        (lambda m: m.update(seeds=[7]), "seed 3, which seeds does not declare"),
        (lambda m: m["runs"][0].update(seed="../7"), "a seed is a whole number; got '../7'"),
        (lambda m: m["runs"][0].update(seed=True), "a seed is a whole number"),
        (lambda m: m["runs"][0].update(axis_values={"a": "x"}), "names one value for each of"),
        (lambda m: m["runs"][0].update(axis_values=None), "names one value for each of"),
        (lambda m: m["runs"][0]["axis_values"].update(b=9), "b=9, which axis b does not declare"),
        (lambda m: m["runs"].append(m["runs"][0]), "a=x_b=2p0_seed=7 is listed twice"),
        (lambda m: m.pop("runs") and m.update(manifest_schema_family="other_v9"), "got family 'other_v9'"),
    ],
)
def test_a_manifest_that_cannot_be_right(sweep_dir, edit_manifest, change, message):
    edit_manifest(sweep_dir, change)
    with pytest.raises(MetricComputationError, match=message) as caught:
        read_sweep(sweep_dir)
    assert str(sweep_dir / "sweep_manifest.json") in str(caught.value)


def test_a_manifest_that_is_not_json_names_the_place(sweep_dir):
    (sweep_dir / "sweep_manifest.json").write_text('{"axes": {},\n oops}')
    with pytest.raises(MetricComputationError, match=r"sweep_manifest\.json: expected JSON; .*line 2 column 2"):
        read_sweep(sweep_dir)


def test_a_manifest_that_is_no_object(sweep_dir):
    (sweep_dir / "sweep_manifest.json").write_text("[1]")
    with pytest.raises(MetricComputationError, match="expected a JSON object; got list"):
        read_sweep(sweep_dir)


def test_a_manifest_nested_past_all_reason(sweep_dir):
    (sweep_dir / "sweep_manifest.json").write_text("[" * 200_000)
    with pytest.raises(MetricComputationError, match="expected JSON"):
        read_sweep(sweep_dir)


def test_no_manifest(tmp_path):
    with pytest.raises(MissingSweepFile, match="found none"):
        read_sweep(tmp_path)


def test_a_manifest_that_is_a_folder(tmp_path):
    (tmp_path / "sweep_manifest.json").mkdir()
    with pytest.raises(MetricComputationError, match="cannot be read"):
        read_sweep(tmp_path)


@pytest.mark.parametrize(
    ("manifest", "family"),
    [
        ({"axes": {}, "runs": []}, RUNS_FAMILY),
        ({"axes": {}, "runs": [], "manifest_schema_family": RUNS_FAMILY}, RUNS_FAMILY),
        ({"results": []}, RESULTS_FAMILY),
        ({"axes": {}, "runs": [], "results": []}, RESULTS_FAMILY),
        ({"results": [], "manifest_schema_family": RUNS_FAMILY}, RUNS_FAMILY),
        ({"runs": [], "manifest_schema_family": RESULTS_FAMILY}, RESULTS_FAMILY),
        ({}, RUNS_FAMILY),
    ],
)
def test_families_are_told_apart(manifest, family, tmp_path):
    assert manifest_family(manifest, tmp_path) == family
