"""`rushes sweep` and `rushes robust` as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def sweep_dir(clip, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "sweep"
    result = run("sweep", clip, "--axis", "gaussian_blur=0,5", "--seeds", "1,2", "-o", folder, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == str(folder)
    return folder


@pytest.mark.parametrize("verb", ["sweep", "robust"])
def test_help_has_an_example(verb):
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert f"Example: rushes {verb}" in result.output


def test_a_second_sweep_keeps_everything(clip, sweep_dir):
    result = run("sweep", clip, "--axis", "gaussian_blur=0,5", "--seeds", "1,2", "-o", sweep_dir, "--jobs", 1, "--json")
    assert json.loads(result.stdout) == {"sweeps": [str(sweep_dir)], "runs": 4, "kept": 4, "failed": 0}


def test_robust_prints_a_table_with_signatures_and_the_run_last(sweep_dir, tmp_path):
    result = run("robust", sweep_dir, "-o", tmp_path / "run", "-v")
    assert result.exit_code == 0
    assert "gaussian_blur  5.0" in result.stdout
    assert result.stdout.count("  esi|aggregate:mean-of-values|answer:output|baseline:first-run|grid:") == 1
    assert result.stdout.splitlines()[-1] == str(tmp_path / "run")
    assert (tmp_path / "run/measurements.jsonl").exists()


def test_robust_json_alone_on_stdout(sweep_dir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = json.loads(run("robust", sweep_dir, "--json").stdout)
    assert data["metrics"]["esi"][0]["axis"] == "gaussian_blur"
    assert data["run"].startswith("runs/robust-")
    assert (tmp_path / data["run"] / "run.json").exists()


def test_several_sweeps_in_one_folder(sweep_dir, tmp_path):
    data = json.loads(run("robust", sweep_dir.parent, "-o", tmp_path / "run", "--json").stdout)
    assert data["metrics"]["esi"][0]["axis"] == "gaussian_blur"  # one below: still that one


def test_a_changed_manifest_stops_robust_unless_told(sweep_dir, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(sweep_dir, copy)
    (copy / "runs/gaussian_blur=0p0_seed=1/manifest.json").write_text('{"run_id": "other"}')
    result = run("robust", copy, "-o", tmp_path / "run")
    assert result.exit_code == 1
    assert "hash mismatch" in result.stderr and "--no-verify" in result.stderr
    assert run("robust", copy, "-o", tmp_path / "run2", "--no-verify").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--axis", "blur=1"], "Did you mean `gaussian_blur"),
        (["--axis", "crf"], "an axis reads name=value"),
        (["--axis", "crf=20", "--seeds", "x"], "seeds are whole numbers"),
        (["--axis", "crf=20", "--command", "no-such-program {clip}"], "no such program"),
        (["--axis", "crf=20", "--command", "true {clip}", "--judge", "openai:m"], "not both"),
        (
            ["--axis", "crf=20", "--judge", "gemini"],
            "no judge is called 'gemini'; expected one of bundle, command, openai",
        ),
        (["--axis", "crf=20", "--judge", "openai:m"], "--question TEXT"),
        (["--axis", "crf=20", "--judge", "openai:m", "--question", "q", "--base-url", "file:///x"], "reads http"),
    ],
)
def test_bad_input_is_one_line_and_exit_1(clip, tmp_path, arguments, message):
    result = run("sweep", clip, "-o", tmp_path / "s", *arguments)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1 and message in result.stderr
    assert not (tmp_path / "s").exists()


def test_no_such_sweep_is_one_line(tmp_path):
    result = run("robust", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1 and "sweep_manifest.json" in result.stderr


def test_usage_is_exit_2(clip):
    assert run("sweep", clip).exit_code == 2


def test_a_users_judge(clip, tmp_path):
    script = tmp_path / "judge.py"
    script.write_text("import json, sys; print(json.dumps({'output': 'fine', 'justification': sys.argv[1][-8:]}))")
    command = f"{sys.executable} {script} {{clip}}"
    result = run("sweep", clip, "--axis", "fps=10,25", "-o", tmp_path / "s", "--command", command, "--jobs", 1)
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "s/runs/fps=10p0_seed=1/trace_pack.jsonl").read_text())
    assert (record["output"], record["justification"]) == ("fine", "clip.mp4")


def test_the_bundle_under_a_profile_of_its_own(clip, tmp_path):
    for name, options in (("a", ["--judge", "bundle:talking-head"]), ("b", ["--profile", "talking-head"])):
        result = run("sweep", clip, "--axis", "crf=20", "-o", tmp_path / name, "--jobs", 1, *options)
        assert result.exit_code == 0, result.output
    specs = [json.loads((tmp_path / name / "runs/crf=20_seed=1/spec.json").read_text()) for name in ("a", "b")]
    assert specs[0] == specs[1]
    assert specs[0]["judge"]["profile"] == "talking-head"


PLUGIN = """
from dataclasses import dataclass

from rushes.core.judge import Judge, Verdict
from rushes.core.errors import InputError


@dataclass(frozen=True)
class Coin(Judge):
    side: str
    question: str

    @classmethod
    def from_options(cls, argument, options):
        return cls(side=argument, question=options.question)

    def check(self):
        if self.side not in ("heads", "tails"):
            raise InputError(f"a coin shows heads or tails; got {self.side!r}")

    def describe(self):
        return {"kind": "coin", "side": self.side}

    def judge(self, clip, *, seed):
        if seed == 2:
            raise LookupError(f"{clip} rolled away")
        return Verdict(output=self.side, justification=self.question)
"""


@pytest.fixture
def coin(tmp_path):
    """A package with a judge, as installed; returns how to run `rushes` beside it."""
    site = tmp_path / "site"
    (site / "coin-1.0.dist-info").mkdir(parents=True)
    (site / "coin.py").write_text(PLUGIN)
    (site / "coin-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: coin\nVersion: 1.0\n")
    (site / "coin-1.0.dist-info/entry_points.txt").write_text("[rushes.judges]\ncoin = coin:Coin\n")
    path = os.pathsep.join([str(site), *sys.path])

    def rushes(*arguments):
        command = [sys.executable, "-m", "rushes", *map(str, arguments)]
        return subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)

    return rushes


def test_a_judge_of_another_package(clip, tmp_path, coin):
    asked = ("sweep", clip, "--axis", "crf=20", "--seeds", "1,2", "--jobs", 1, "-o", tmp_path / "s")
    wrong = coin(*asked, "--judge", "coin:edge")
    assert (wrong.returncode, wrong.stderr) == (1, "rushes: a coin shows heads or tails; got 'edge'\n")
    done = coin(*asked, "--judge", "coin:heads", "--question", "fair?", "--json")
    assert json.loads(done.stdout)["failed"] == 1, done.stderr
    runs = tmp_path / "s/runs"
    records = [json.loads((runs / f"crf=20_seed={seed}/trace_pack.jsonl").read_text()) for seed in (1, 2)]
    assert (records[0]["output"], records[0]["justification"]) == ("heads", "fair?")
    assert (records[1].get("output"), records[1]["error"]) == (None, "LookupError: clip.mp4 rolled away")
    assert json.loads((runs / "crf=20_seed=1/spec.json").read_text())["judge"] == {"kind": "coin", "side": "heads"}
