"""`measure_robustness`: reports, run directories, worst runs, texts that must not do harm."""

from __future__ import annotations

import json
import shutil

import pytest

from rushes import measure_robustness, read_run
from rushes.core.errors import InputError, RunError
from rushes.instruments.robustness.evaluate import find_sweeps, listed_runs
from rushes.instruments.robustness.seed.metrics import MetricComputationError, MissingSweepFile
from rushes.instruments.robustness.show.diff import shown


def test_the_reference_sweep_exactly(shared):
    expected = json.loads((shared / "golden/sweep_2axis.expected.json").read_text())
    (report,) = measure_robustness(shared / "golden/sweep_2axis")
    found = json.loads(json.dumps(report.as_dict()))
    assert {key: found[key] for key in expected} == expected


def test_a_run_directory_with_labelled_numbers(two_axis_sweep, tmp_path):
    measure_robustness(two_axis_sweep, run=tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert (run.instrument, run.status) == ("robustness", "complete")
    (subject,) = run.subjects
    assert (subject.id, subject.kind, subject.facts["runs"]) == ("sweep", "sweep", 18)
    assert subject.facts["baseline"] == {"run": "brightness=0p8_contrast=0p9_seed=42", "answer": "Normal findings"}
    assert run.one("esi", axis="brightness", value=None).value == 0.66666667
    assert run.one("esi", axis="brightness", value=1.2).value == 0.33333333


def test_the_same_bytes_each_time_and_when_asked_again(two_axis_sweep, tmp_path):
    files = ("subjects.jsonl", "measurements.jsonl")
    for name in ("one", "other", "one"):
        measure_robustness(two_axis_sweep, run=tmp_path / name)
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "other" / f).read_bytes() for f in files)


def test_a_sweep_that_changed_is_measured_anew(two_axis_sweep, tmp_path):
    measure_robustness(two_axis_sweep, run=tmp_path / "run")
    before = (tmp_path / "run/measurements.jsonl").read_bytes()
    trace = two_axis_sweep / "runs/brightness=1p0_contrast=0p9_seed=42/trace_pack.jsonl"
    trace.write_text('{"output": "changed"}')
    measure_robustness(two_axis_sweep, run=tmp_path / "run")
    assert (tmp_path / "run/measurements.jsonl").read_bytes() != before


def test_worst_runs_come_first_by_answer_then_by_drift(two_axis_sweep):
    (report,) = measure_robustness(two_axis_sweep, worst=3)
    assert [(run.run, run.matches, round(run.drift, 8)) for run in report.worst] == [
        ("brightness=1p2_contrast=1p0_seed=42", False, 0.16666667),
        ("brightness=1p2_contrast=1p0_seed=43", False, 0.16666667),
        ("brightness=1p2_contrast=1p1_seed=42", False, 0.16666667),
    ]
    assert [(part.change, part.text) for part in report.worst[0].diff] == [
        ("same", "Analysis at"),
        ("removed", "b=0.8, c=0.9"),
        ("added", "b=1.2, c=1.0"),
    ]


def test_a_steady_sweep_has_no_worst_run(make_sweep):
    (report,) = measure_robustness(make_sweep({"x": [1, 2]}, [1], lambda v, s: {"output": "A", "justification": "b"}))
    assert report.worst == ()


def test_texts_that_would_do_harm_are_made_safe(make_sweep, tmp_path):
    texts = {1: "plain", 2: "\x1b[2J\x00 \ud800 <script>" + "word " * 20_000}
    sweep = make_sweep(
        {"x": [1, 2]}, [1], lambda v, s: {"output": f"a\n{texts[v['x']]}", "justification": texts[v["x"]]}
    )
    (report,) = measure_robustness(sweep, run=tmp_path / "run")
    text = json.dumps(report.as_dict(), ensure_ascii=False)
    assert "\x1b" not in text and "\ud800" not in text
    assert len(text) < 60_000
    assert read_run(tmp_path / "run").subjects[0].facts["runs"] == 2


def test_an_unfinished_sweep_is_told(two_axis_sweep, edit_manifest):
    edit_manifest(two_axis_sweep, lambda manifest: manifest["runs"].pop())
    (report,) = measure_robustness(two_axis_sweep)
    assert (report.runs, report.declared_runs) == (17, 18)


def test_another_grid_has_other_signatures(two_axis_sweep, edit_manifest):
    (whole,) = measure_robustness(two_axis_sweep)
    edit_manifest(two_axis_sweep, lambda manifest: manifest["runs"].pop())
    (partial,) = measure_robustness(two_axis_sweep)
    assert not {m.signature for m in whole.measurements} & {m.signature for m in partial.measurements}


def test_verification_is_on_unless_told(two_axis_sweep):
    manifest = two_axis_sweep / "runs/brightness=1p0_contrast=0p9_seed=42/manifest.json"
    manifest.write_text(manifest.read_text().replace("2026", "2027"))
    with pytest.raises(MetricComputationError, match="hash mismatch"):
        measure_robustness(two_axis_sweep)
    assert measure_robustness(two_axis_sweep, verify=False)[0].runs == 18


def test_a_manifest_that_is_no_json_leaves_no_run_behind(make_sweep, tmp_path):
    make_sweep({"x": [1]}, [1], lambda v, s: {"output": "A"}, name="a")
    (make_sweep({"x": [1]}, [1], lambda v, s: {"output": "A"}, name="b") / "sweep_manifest.json").write_text("{")
    with pytest.raises(MetricComputationError, match="expected JSON"):
        measure_robustness(tmp_path, run=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_of_sweeps(make_sweep, tmp_path):
    for name in ("b", "a"):
        make_sweep({"x": [1]}, [1], lambda v, s: {"output": "A"}, name=name)
    assert [path.name for path in find_sweeps(tmp_path)] == ["a", "b"]
    assert listed_runs([tmp_path / "a", tmp_path / "b"]) == 2
    measure_robustness(tmp_path, run=tmp_path / "run")
    assert [subject.id for subject in read_run(tmp_path / "run").subjects] == ["a", "b", "over-clips"]


def test_several_sweeps_by_path(make_sweep, tmp_path):
    sweeps = [make_sweep({"x": [1]}, [1], lambda v, s: {"output": "A"}, name=name) for name in ("b", "a")]
    reports = measure_robustness((str(path) for path in sweeps), run=tmp_path / "run")
    assert [report.path for report in reports] == sweeps
    run = read_run(tmp_path / "run")
    assert [subject.id for subject in run.subjects if subject.kind == "sweep"] == ["b", "a"]
    assert run.info["inputs"] == [str(path) for path in sweeps]


def test_no_sweep_at_all_is_refused(tmp_path):
    with pytest.raises(InputError, match="at least one sweep directory"):
        measure_robustness([], run=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_no_sweep_here(tmp_path, name):
    with pytest.raises(MissingSweepFile, match="expected a sweep directory"):
        measure_robustness(tmp_path / name)


def test_progress_is_told_run_by_run(two_axis_sweep):
    steps = []
    measure_robustness(two_axis_sweep, progress=lambda *step: steps.append(step))
    assert steps == [(done, 18, "runs") for done in range(19)]


def test_results_without_traces(tmp_path):
    def row(value, text, confidence, entropy):
        rich = {"confidence_score": confidence, "output_entropy": entropy}
        return {"axis": "brightness", "value": value, "seed": 1, "text_preview": text, "rich_summary": rich}

    folder = tmp_path / "aggregate"
    folder.mkdir()
    manifest = {"results": [row(0.8, "A", 0.5, 1.0), row(1.0, "B", 0.9, 1.5)], "axes": {"brightness": [0.8, 1.0]}}
    (folder / "sweep_manifest.json").write_text(json.dumps(manifest))
    (report,) = measure_robustness(folder, run=tmp_path / "run")
    assert report.metrics is None
    assert report.one("esi", axis="brightness", value=None).value == 0.5
    assert report.one("entropy_drift", axis="brightness", value=1.0).value == 0.5
    assert report.select("esi", answer="text-preview") == report.select("esi") != ()
    assert report.as_dict()["metrics"] is None


def test_shown_text_is_one_printable_line():
    assert shown("a\n\tb  c") == "a b c"
    assert shown("x" * 10, 5) == "xxxx…"


def test_other_sweeps_are_refused_added_or_start_anew(two_axis_sweep, tmp_path):
    other = tmp_path / "monday" / two_axis_sweep.name
    shutil.copytree(two_axis_sweep, other)
    run = tmp_path / "run"
    measure_robustness(two_axis_sweep, run=run)
    with pytest.raises(RunError, match="Use add=True to add"):
        measure_robustness(other, run=run)
    assert [subject.id for subject in read_run(run).subjects] == ["sweep"]
    measure_robustness(other, run=run, add=True)
    assert [subject.id for subject in read_run(run).subjects] == ["sweep", "monday__sweep"]
    measure_robustness(other, run=run, overwrite=True)
    assert [subject.id for subject in read_run(run).subjects] == ["sweep"]
    assert read_run(run).subjects[0].path == str(other)
