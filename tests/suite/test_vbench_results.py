"""VBench's results: its own total to the last bit, its files as runs, bad files in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.suite.imports.vbench_results import VBenchResults, import_vbench, read_vbench
from rushes.suite.imports.vbench_scores import I2V, T2V

GOLDENS = Path(__file__).parents[1] / "goldens" / "vbench_total.json"
VIDEOCRAFTER_2 = {  # VBench's leaderboard, in per cent; it gives quality 82.20, semantic 73.42, total 80.44
    "subject_consistency": 96.85,
    "background_consistency": 98.22,
    "temporal_flickering": 98.41,
    "motion_smoothness": 97.73,
    "dynamic_degree": 42.50,
    "aesthetic_quality": 63.13,
    "imaging_quality": 67.22,
    "object_class": 92.55,
    "multiple_objects": 40.66,
    "human_action": 95.00,
    "color": 92.92,
    "spatial_relationship": 35.86,
    "scene": 55.29,
    "appearance_style": 25.13,
    "temporal_style": 25.84,
    "overall_consistency": 28.23,
}


def values(results: VBenchResults) -> dict[str, float | None]:
    return {m.name.rpartition("_")[2]: m.value for m in results.summary}


def results_file(path: Path, scores: dict[str, float], *, videos: int = 2, skip: str = "") -> Path:
    def rows(name: str) -> list[dict[str, object]]:
        times = 100 if name == "imaging_quality" else 1
        paths = [f"videos/{path.stem}/a cat-{n}.mp4" for n in range(videos)]
        return [{"video_path": p, "video_results": scores[name] * times} for p in paths]

    path.write_text(json.dumps({name: [value, rows(name)] for name, value in scores.items() if name != skip}))
    return path


@pytest.mark.parametrize("case", json.loads(GOLDENS.read_text()), ids=lambda case: f"{case['total']:.6f}")
def test_equal_to_vbenchs_own_script(case: dict[str, object]) -> None:
    scores = case.pop("scores")
    assert values(VBenchResults(scores=scores)) == case  # type: ignore[arg-type]


def test_the_published_leaderboard() -> None:
    shares = {name: value / 100 for name, value in VIDEOCRAFTER_2.items()}
    found = values(VBenchResults(scores=shares))
    published = {"quality": 0.8220, "semantic": 0.7342, "total": 0.8044}
    assert found == pytest.approx(published, abs=1e-4)  # from scores rounded to a ten thousandth


def test_every_constant_is_in_the_signature() -> None:
    total = T2V.summary({})[-1]
    for part in T2V.parts:
        assert f"{part.name}_weight:{part.weight:g}" in total.signature
        for name, norm in part.norms.items():
            assert f"|{name}:{norm.low:g}..{norm.high:g}x{norm.weight:g}|" in total.signature
    assert total.signature.startswith("vbench_total|")
    assert I2V.summary({})[-1].signature.startswith("vbench_i2v_total|")


def test_a_missing_dimension_is_not_zero() -> None:
    scores = {name: 0.9 for name in T2V.dimensions if name != "color"}
    quality, semantic, total = VBenchResults(scores=scores).summary
    assert quality.value is not None and semantic.value is None
    assert total.note == "1 of 16 dimensions missing: color"


def test_into_runs_that_compare(tmp_path: Path) -> None:
    scores = {name: 0.5 + 0.02 * n for n, name in enumerate(T2V.dimensions)}
    lower = {name: value - 0.01 for name, value in scores.items()}
    one = import_vbench([results_file(tmp_path / "amber_eval_results.json", scores)], tmp_path / "runs")
    other = import_vbench([results_file(tmp_path / "birch_eval_results.json", lower)], tmp_path / "runs")
    assert [run.path.relative_to(tmp_path / "runs").as_posix() for run in one.runs] == [
        "amber/vbench",
        "amber/vbench-videos",
    ]
    whole = rushes.compare_runs(one.runs[0], other.runs[0]).find("vbench_total")[0].statistics
    assert whole.mean.value is not None and float(whole.mean.value) < 0
    videos = rushes.compare_runs(one.runs[1], other.runs[1])
    assert videos.paired == ("a_cat-0", "a_cat-1")  # by prompt and number
    assert videos.find("vbench_scene")[0].statistics.mean.value == pytest.approx(-0.01)
    # MUSIQ's single videos are on 0–100, the whole is a share: two signatures, which never meet
    single = one.runs[1].select("vbench_imaging_quality")[0]
    assert single.value == pytest.approx(100 * scores["imaging_quality"]) and "scale:100" in single.signature
    assert one.runs[0].one("vbench_imaging_quality").value == scores["imaging_quality"]
    again = import_vbench([tmp_path / "amber_eval_results.json"], tmp_path / "runs")  # the same once more is no error
    assert again.runs[0].one("vbench_total").value == one.runs[0].one("vbench_total").value


def test_one_file_per_dimension_and_the_command(tmp_path: Path) -> None:
    scores = {name: 0.7 for name in T2V.dimensions}
    files = [results_file(tmp_path / f"{n}_eval_results.json", {name: 0.7}) for n, name in enumerate(scores)]
    shown = CliRunner().invoke(
        app, ["import-scores", *map(str, files), "-o", str(tmp_path / "runs"), "--system", "amber"]
    )
    assert shown.exit_code == 0, shown.output
    expected = values(VBenchResults(scores=scores))["total"]
    assert f"amber: vbench_total {expected:.4f}" in shown.stdout
    made = CliRunner().invoke(app, ["import-scores", str(files[0]), "-o", str(tmp_path / "one"), "--json"])
    assert json.loads(made.stdout)["remarks"][0].startswith("no total score: 15 of 16 dimensions missing")


def test_image_to_video(tmp_path: Path) -> None:
    found = read_vbench([results_file(tmp_path / "x_eval_results.json", {name: 0.8 for name in I2V.dimensions})])
    assert found.suite is I2V and [m.name for m in found.summary][-1] == "vbench_i2v_total"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "expected VBench's results"),
        ('{"sharpness": [0.5, []]}', "'sharpness' is not a dimension of VBench"),
        ('{"scene": 0.5}', r"scene is \[score, \[videos\]\]"),
        ('{"scene": ["high", []]}', r"scene is \[score, \[videos\]\]"),
        ('{"scene": [55.29, []]}', "scene is 55.29, and VBench's scores are shares; is it in per cent"),
        ('{"scene": [0.5, [3]]}', "a video has video_path and video_results"),
        ('{"scene": [0.5, [{"video_path": "a", "video_results": 50}]]}', "scene of a is 50, above 1"),
        (
            '{"scene": [0.5, [{"video_path": "a", "video_results": 0}, {"video_path": "a", "video_results": 1}]]}',
            "a appears twice",
        ),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad_eval_results.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_vbench([path])


def test_a_dimension_in_two_files(tmp_path: Path) -> None:
    files = [results_file(tmp_path / f"{n}.json", {"scene": 0.5}) for n in "ab"]
    with pytest.raises(InputError, match="scene is also in another file"):
        read_vbench(files)
