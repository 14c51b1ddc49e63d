"""`--network` at the command line, in a suite and in `rushes metrics`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clips import noise
from tests.instruments.clip.networks.test_networks import PROMPT, colour
from tests.vision.networks import small_networks as small
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.storage.runs import read_run
from rushes.suite.folder import run_suite

pytest.importorskip("onnxruntime")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clips").mkdir()
    colour(tmp_path / "clips" / "a.mkv", noise(4, size=(8, 8), channels=3))
    small.quality(tmp_path), small.two_towers(tmp_path)
    (tmp_path / "prompts.csv").write_text(f'prompt_id,prompt_text\na,"{PROMPT}"\n')
    return tmp_path


def test_networks_and_prompts_at_the_command_line(folder: Path) -> None:
    asked = ["clip", "clips", "--network", "quality.toml", "--network", "clip.toml", "--prompts", "prompts.csv"]
    done = CliRunner().invoke(app, [*asked, "-o", "run", "--json"])
    assert done.exit_code == 0, done.output
    (clip,) = json.loads(done.stdout)["clips"]
    values = {m["signature"].partition("|")[0]: m["value"] for m in clip["measurements"]}
    assert {"tiny_quality", "tiny_clip_alignment", "tiny_clip_consistency"} <= {k for k, v in values.items() if v}
    shown = CliRunner().invoke(app, ["clip", "clips", "--network", "quality.toml", "-o", "other"])
    assert shown.exit_code == 0 and "tiny quality" in shown.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--network", "nowhere.toml"],
            "nowhere.toml: cannot be read as a network's manifest (No such file or directory)",
        ),
        (["--prompts", "prompts.csv"], "prompts need a text-image network"),
        (["--network", "clip.toml", "--prompts", "nowhere.csv"], "nowhere.csv: cannot be read as prompts"),
    ],
)
def test_bad_input_is_one_line(folder: Path, options: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["clip", "clips", "-o", "run", *options])
    assert done.exit_code == 1 and said in done.stderr and done.stderr.count("\n") == 1


def test_metrics_shows_the_definitions_of_a_network(folder: Path) -> None:
    done = CliRunner().invoke(app, ["metrics", "--network", "clip.toml", "--json"])
    names = [one["name"] for one in json.loads(done.stdout)]
    assert names == ["tiny_clip_alignment", "tiny_clip_consistency"]
    one = CliRunner().invoke(app, ["metrics", "tiny_quality", "--network", "quality.toml"])
    assert "opinion score" in one.stdout and "higher is better" in one.stdout


def test_a_manifest_is_written_by_name(folder: Path) -> None:
    listed = json.loads(CliRunner().invoke(app, ["models", "networks", "--json"]).stdout)
    assert {"clip_vit_b32", "dinov2_vits14"} <= {one["name"] for one in listed}
    done = CliRunner().invoke(app, ["models", "networks", "dino_vits16", "-o", "brought", "--json"])
    assert Path(json.loads(done.stdout)["path"]).read_text().startswith("# DINO")


def test_a_suite_gives_networks_its_own_prompts(folder: Path) -> None:
    Path("suite.toml").write_text(
        '[systems]\namber = "clips"\n[prompts]\nfile = "prompts.csv"\n[instruments.clip]\nnetworks = ["clip.toml"]\n'
    )
    done = run_suite("suite.toml", "out")
    assert not done.failed, done.failed
    run = read_run("out/amber/clip")
    (value,) = [m for m in run.entries[0].measurements if m.name == "tiny_clip_alignment"]
    assert value.value is not None and run.subjects[0].facts["prompt"] == PROMPT
