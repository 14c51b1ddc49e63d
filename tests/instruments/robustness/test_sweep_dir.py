"""Reading a sweep's manifest: order, families, and everything that can be wrong with it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rushes import measure_robustness
from rushes.cli.main import app
from rushes.instruments.robustness import MetricsEngine
from rushes.instruments.robustness.seed.manifests import RESULTS_FAMILY, RUNS_FAMILY, manifest_family
from rushes.instruments.robustness.seed.metrics import MetricComputationError, MissingSweepFile
from rushes.instruments.robustness.seed.sweep_dir import read_sweep


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


class TestLinks:
    @pytest.fixture
    def linked(self, make_sweep, tmp_path):
        """A sweep one of whose traces is a link to a file outside it."""
        folder = make_sweep({"x": [1, 2]}, [1], lambda v, s: {"output": "A", "justification": "b"})
        trace = folder / "runs/x=2_seed=1/trace_pack.jsonl"
        trace.rename(tmp_path / "outside.jsonl")
        trace.symlink_to(tmp_path / "outside.jsonl")
        return folder

    def test_a_link_out_of_the_sweep_is_refused_unless_asked_for(self, linked):
        for measure in (measure_robustness, MetricsEngine().compute):
            with pytest.raises(MetricComputationError, match="x=2_seed=1/trace_pack.jsonl: is a link out of the sweep"):
                measure(linked)
        (report,) = measure_robustness(linked, follow_links=True)
        assert report.one("esi", axis="x", value=None).value == 1.0

    def test_a_linked_manifest_is_refused_too(self, linked, tmp_path):
        (linked / "sweep_manifest.json").rename(tmp_path / "manifest.json")
        (linked / "sweep_manifest.json").symlink_to(tmp_path / "manifest.json")
        with pytest.raises(MetricComputationError, match="sweep_manifest.json: is a link out of the sweep"):
            measure_robustness(linked)

    def test_links_inside_and_a_link_to_the_sweep_are_fine(self, make_sweep, tmp_path):
        folder = make_sweep({"x": [1, 2]}, [1], lambda v, s: {"output": "A"})
        trace = folder / "runs/x=2_seed=1/trace_pack.jsonl"
        trace.unlink()
        trace.symlink_to("../x=1_seed=1/trace_pack.jsonl")
        (tmp_path / "also").symlink_to(folder)
        assert measure_robustness(tmp_path / "also")[0].runs == 2

    def test_the_command_says_what_to_do(self, linked, tmp_path):
        refused = CliRunner().invoke(app, ["robust", str(linked), "-o", str(tmp_path / "run")])
        assert refused.exit_code == 1 and "--follow-links" in refused.stderr and "Traceback" not in refused.output
        followed = CliRunner().invoke(app, ["robust", str(linked), "--follow-links", "-o", str(tmp_path / "run")])
        assert followed.exit_code == 0


class TestRemarks:
    def test_a_baseline_that_is_not_there(self, make_sweep, edit_manifest):
        folder = make_sweep({"x": [1, 2, 3]}, [1], lambda v, s: {"output": "A"})
        edit_manifest(folder, lambda manifest: manifest["runs"].pop(0))
        (report,) = measure_robustness(folder)
        assert report.remarks == (
            "1 of 3 runs are missing so far",
            "the declared baseline x=1_seed=1 is missing; every run is compared with x=2_seed=1 instead",
        )

    def test_a_family_nobody_knows(self, make_sweep):
        folder = make_sweep({"x": [1]}, [1], lambda v, s: {"output": "A"}, manifest_schema_family="other\x1b[2J_v9")
        (report,) = measure_robustness(folder)
        assert report.remarks == (
            "the manifest names the family 'other?[2J_v9', which is not known; read as clarity_sweep_orchestrator_v1",
        )

    def test_a_sweep_that_is_not_finished(self, make_sweep):
        folder = make_sweep({"x": [1]}, [1], lambda v, s: {"output": "A"})
        (folder / "sweep_manifest.json").unlink()
        with pytest.raises(MissingSweepFile, match="the sweep is not finished: .* run the same `rushes sweep` again"):
            measure_robustness(folder)


@pytest.mark.parametrize("value", ["\x1b[2J", "\ud800", "\u202e", "a\rb"])
def test_axis_values_reach_the_terminal_safely(make_sweep, tmp_path, value):
    folder = make_sweep({"x": ["plain", value]}, [1], lambda v, s: {"output": v["x"] + "!", "justification": v["x"]})
    printed = CliRunner().invoke(app, ["robust", str(folder), "-o", str(tmp_path / "run")])
    assert printed.exit_code == 0
    assert all(char.isprintable() or char == "\n" for char in printed.output)
