"""`rushes fvd` and `rushes models make-random` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.runs import read_run

runner = CliRunner()


def call(*words: object, code: int = 0) -> Any:
    result = runner.invoke(app, ["fvd", *map(str, words)])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def test_json_alone_on_stdout(sets: Path, random_weights: dict[str, Path], averages: list[Any]) -> None:
    result = call(
        sets / "gen",
        sets / "gt",
        "--metric",
        "fvd",
        "kvd",
        "--weights",
        *random_weights.values(),
        "--json",
        "--workers",
        0,
    )
    answer = json.loads(result.stdout)
    assert [m["signature"].partition("|")[0] for m in answer["measurements"]] == ["fvd", "kvd"]
    first = answer["measurements"][0]
    assert first["count"] == 10 and "interval" not in first
    assert "random weights: this number compares only with itself" in first["note"]


def test_a_run_directory_with_its_path_last(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    words = [sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--workers", 0, "-o", tmp_path / "run"]
    result = call(*words, "--save-stats", tmp_path / "gt.npz")
    assert result.stdout.splitlines()[-1] == str(tmp_path / "run")
    assert "weights:random-seed0" in result.stdout and "note: random weights" in result.stdout
    run = read_run(tmp_path / "run")
    assert run.status == "complete" and [s.id for s in run.subjects] == ["generated", "ground_truth"]
    assert run.subjects[0].facts["clips"] == 5 and run.measurements["generated"][0].definition.name == "fvd"
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["measurements.jsonl", "run.json", "subjects.jsonl"]
    assert (tmp_path / "gt.npz").exists()


def test_runs_have_the_same_bytes_for_any_workers(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    for workers in (0, 2):
        call(
            sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--workers", workers,
            "--interval", "jackknife", "-o", tmp_path / str(workers),
        )  # fmt: skip
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_an_interrupted_run_continues(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushes.distribution.cache import RecipeCache

    words = [sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--workers", 0, "-o", tmp_path / "run"]
    put = RecipeCache.put

    def stopping(self: Any, clip: Any, *features: Any) -> None:
        put(self, clip, *features)
        if clip.name == "take9.mp4":  # the third
            raise KeyboardInterrupt

    monkeypatch.setattr(RecipeCache, "put", stopping)
    call(*words, code=130)
    assert read_run(tmp_path / "run").status == "interrupted"
    monkeypatch.setattr(RecipeCache, "put", put)
    done = averages[0].segments
    averages.clear()
    call(*words)
    assert done >= 6 and averages[0].segments <= 9 - 6  # the first three clips, six segments, were kept
    assert not (tmp_path / "run" / ".features").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--metric", "psnr"], 2, "coverage, prdc; got 'psnr'"),
        (["--protocol", "x"], 2, "'x' is not one of 'genhoi', 'disco'"),
        (["--backbone", "vgg"], 2, "expected i3d or r3d50; got 'vgg'"),
        (["--backbone", "r3d50", "--protocol", "cd-fvd"], 1, "does not define fvd on r3d50; these do: genhoi, disco"),
        (["--protocol", "cd-fvd", "--metric", "fid-vid"], 1, "does not define fid-vid"),
        (["--interval", "bootstrap"], 2, "'bootstrap' is not one of 'subsampling', 'jackknife'"),
        (["--device", "tpu"], 2, "'tpu' is not one of 'cpu', 'cuda'"),
        (["--save-stats", "x.txt"], 2, "ending in .npz"),
        (["--extrapolate"], 1, "extrapolation needs more clips than features"),
        (["--weights", "gone.pt"], 1, "gone.pt: expected a weights file"),
    ],
)
def test_one_clear_line_for_bad_options(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], words: list[str], code: int, message: str
) -> None:
    known = [] if "--weights" in words else ["--weights", str(random_weights["i3d"])]
    result = call(sets / "gen", sets / "gt", "--workers", 0, *known, *words, code=code)
    assert message in " ".join(result.output.replace("│", " ").split())
    assert "Traceback" not in result.output


def test_a_clip_left_out_is_named(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    folder = tmp_path / "gen"
    folder.mkdir()
    for path in (sets / "gen").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "broken.mp4").write_bytes(b"x")
    (folder / "notes.md").write_text("x")
    words = [folder, sets / "gt", "--weights", random_weights["i3d"], "--workers", 0]
    result = call(*words)
    assert "left out of the generated set" in result.stderr and "broken.mp4" in result.stderr
    assert "1 files are no clips and were ignored, notes.md among them" in result.stderr
    assert "broken.mp4" in call(*words, "--strict", code=1).stderr


def test_make_random(tmp_path: Path) -> None:
    words = ["models", "make-random", "i3d", "--seed", "7", "-o", str(tmp_path / "w.pt")]
    assert json.loads(runner.invoke(app, [*words, "--json"]).stdout)["label"] == "random-seed7"
    assert runner.invoke(app, words).stdout.splitlines()[-1] == str(tmp_path / "w.pt")
    result = runner.invoke(app, ["models", "make-random", "vgg", "-o", "x"])
    assert result.exit_code == 2 and "expected i3d or r3d50" in " ".join(result.output.split())
