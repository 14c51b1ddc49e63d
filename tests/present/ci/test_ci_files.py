"""The files for pipelines: linted, checked against their schemas, and their commands run as printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import typer
from tests.clips import noise, write_luma
from tests.doc_material import gate_runs
from tests.present.ci.junit_schema import check_junit
from tests.warm_command import warm_command
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.cli.project_file import load_project_file
from rushes.media import write_clip
from rushes.vision.models.catalogue import group_named

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "ci"


def tool(name: str) -> str:
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_the_containerfile_is_clean() -> None:
    done = subprocess.run([tool("hadolint"), str(ROOT / "Containerfile")], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout, done.stdout


def test_the_containerfile_names_what_there_is() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    models = re.search(r'^ARG MODELS="(.*)"$', text, re.MULTILINE)
    assert models and [group_named(name).name for name in models[1].split()] == models[1].split()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"rushes models pull {models[1]} " in makefile, "the image has the models that make demo pulls"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    compose = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    assert "dockerfile: Containerfile" in compose and "EXTRAS: web,postgres" in compose
    assert {"all", "web", "postgres"} <= extras.keys() and re.search(r"^ARG EXTRAS=all$", text, re.MULTILINE)
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE) for word in line.split()]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert all((ROOT / word).exists() and f"!{word}" in ignored for word in copied)
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE) == ["10001"]


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("github-actions", ROOT / "action.yml"),
        ("github-workflows", EXAMPLES / "github-workflow.yml"),
        ("gitlab-ci", EXAMPLES / "gitlab-ci.yml"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_file_keeps_to_its_schema(schema: str, file: Path) -> None:
    command = [tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_image_that_installs_from_source_has_a_compiler() -> None:
    text = (EXAMPLES / "gitlab-ci.yml").read_text(encoding="utf-8")
    assert "pip install --constraint constraints.txt '.[" in text
    assert re.search(r"^  image: python:\d\.\d+-bookworm\b(?!-)", text, re.MULTILINE), "a slim image has none"


def test_the_action_hands_every_input_on_and_none_into_the_script() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    inputs = re.findall(r"^  ([a-z-]+):$", text.partition("inputs:")[2].partition("outputs:")[0], re.MULTILINE)
    assert inputs and all(f"inputs.{name}" in text for name in inputs)
    assert not [line for line in text.splitlines() if "run:" in line and "${{" in line]
    script = (EXAMPLES / "gate.sh").read_text(encoding="utf-8")
    handed = re.findall(r"^        ([A-Z_]+): \$", text, re.MULTILINE)
    assert len(handed) == 10 and all(name in script for name in handed if name != "EXTRAS")
    workflow = (EXAMPLES / "github-workflow.yml").read_text(encoding="utf-8").partition("uses: your-organisation")[2]
    given = re.findall(r"^          ([a-z-]+):", workflow.partition("upload-artifact")[0], re.MULTILINE)
    assert given and set(given) <= set(inputs)


def test_the_example_project_file_is_understood() -> None:
    project = load_project_file(typer.main.get_command(app), str(EXAMPLES / "rushes.toml"), EXAMPLES)
    assert {setting.command for setting in project.settings} == {("clip",), ("gate",), ("report",)}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """In which `rushes` is this one, and starts at once."""
    with warm_command(tmp_path_factory.mktemp("bin")) as program:
        path = f"{program.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        yield os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with clips of an old and of a blurred new model."""
    folder = tmp_path_factory.mktemp("project")
    for model, contrast in (("old", 60), ("new", 20)):
        (folder / model).mkdir()
        for number in (1, 2):
            columns = np.arange(96)[None, :, None] + number
            waves = [128 + contrast * np.sin(2 * np.pi * (columns - 3 * t) / 12) for t in range(16)]
            pictures = [np.broadcast_to(wave, (64, 96, 3)).astype(np.uint8) for wave in waves]
            write_clip(folder / model / f"take{number}.mp4", pictures, fps=25)
    return folder


def gate(folder: Path, environment: dict[str, str], **asked: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(EXAMPLES / "gate.sh")]
    return subprocess.run(command, cwd=folder, env=environment | asked, capture_output=True, text=True)


def test_the_gate_script_on_runs(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gate_runs()
    step = {"GITHUB_STEP_SUMMARY": str(tmp_path / "step.md"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    runs = {"CANDIDATE": "runs/int4", "BASELINE": "runs/full", "REPEATS": "runs/full-seed2\nruns/full-seed3\n"}
    done = gate(tmp_path, environment, **runs, **step, METRICS="psnr\nssim:1%")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "::error title=rushes gate::psnr: worse" in done.stderr
    assert (tmp_path / "output").read_text() == "report=rushes-ci/compare.html\nanswer=fails\n"
    assert (tmp_path / "step.md").read_text(encoding="utf-8").startswith("### ❌ The gate does not hold: 2 metrics")
    check_junit((tmp_path / "rushes-ci" / "gate.xml").read_text(encoding="utf-8"))
    assert sorted(path.name for path in (tmp_path / "rushes-ci").iterdir()) == ["compare.html", "gate.xml"]


@pytest.mark.soak
def test_the_gate_script_from_clips_to_a_page(project: Path, environment: dict[str, str]) -> None:
    folder = project
    step = {"GITHUB_STEP_SUMMARY": str(folder / "step.md"), "GITHUB_OUTPUT": str(folder / "output")}
    done = gate(folder, environment, CANDIDATE="new", BASELINE="old", METRICS="blur_score:5", **step)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "::error title=rushes gate::blur_score (statistic mean): worse" in done.stderr
    assert (folder / "output").read_text() == "report=rushes-ci/compare.html\nanswer=fails\n"
    headings = re.findall(r"^### (.*)$", (folder / "step.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [line.partition(":")[0] for line in headings] == ["✅ The gate holds", "❌ The gate does not hold"]
    for name in ("clips", "gate"):
        check_junit((folder / "rushes-ci" / f"{name}.xml").read_text(encoding="utf-8"))
    assert (folder / "rushes-ci" / "compare.html").is_file()
    (folder / "runs").mkdir()
    for run, model in (("candidate", "new"), ("baseline", "old")):
        shutil.copytree(folder / "rushes-ci" / run, folder / "runs" / model)


def test_the_gate_script_from_clips_with_references(environment: dict[str, str], tmp_path: Path) -> None:
    """As in the examples for GitHub and GitLab: folders all the way, and the candidate's contrast is too low."""
    for folder, contrast in (("references", 60), ("seed1", 58), ("seed2", 57), ("new", 40)):
        (tmp_path / folder).mkdir()
        for number in range(6):
            columns = np.arange(96)[None, :, None] + number
            waves = [128 + contrast * np.sin(2 * np.pi * (columns - 3 * t) / 12) for t in range(4)]
            pictures = [np.broadcast_to(wave, (64, 96, 3)).astype(np.uint8) for wave in waves]
            write_clip(tmp_path / folder / f"p{number}.mp4", pictures, fps=25)
    folders = {"BASELINE": "seed1", "REPEATS": "seed2\n", "REFERENCES": "references", "METRICS": "psnr:0.5"}
    done = gate(tmp_path, environment, CANDIDATE="new", **folders)
    assert done.returncode == 3 and "psnr  worse" in done.stdout, done.stdout + done.stderr
    written = sorted(path.name for path in (tmp_path / "rushes-ci").iterdir() if path.is_dir())
    assert written == ["baseline-fidelity", "candidate", "candidate-fidelity", "repeat1-fidelity"]
    same = gate(tmp_path, environment, CANDIDATE="seed1", **folders)
    assert same.returncode == 0 and "gate: holds" in same.stdout, same.stdout + same.stderr


@pytest.mark.soak
def test_the_example_of_a_test_suite(project: Path, environment: dict[str, str]) -> None:
    """Its gate fails, as it should: the new model is blurred."""
    folder = project
    if not (folder / "runs").is_dir():
        pytest.skip("needs the runs that the gate script makes, in the test before")
    shutil.copy(EXAMPLES / "test_model.py", folder)
    plugin = ("-p", "rushes.integrations.pytest_plugin")
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider"]
    alone = environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([*command, "test_model.py"], cwd=folder, env=alone, capture_output=True, text=True)
    assert "1 failed, 2 passed" in done.stdout and "blur_score (statistic mean): worse" in done.stdout, done.stdout


def test_the_hook_refuses_a_video_that_does_not_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    fields = dict(line.split(": ", 1) for line in hook.replace("- id", "  id").splitlines())
    assert {key.strip() for key in fields} == {
        "id", "name", "description", "entry", "language", "files", "require_serial",
    }  # fmt: skip
    assert re.search(fields["  files"], "a/b.mp4") and not re.search(fields["  files"], "a/b.mp4.txt")
    assert "- id: rushes-clip" in (EXAMPLES / "pre-commit-config.yaml").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    write_luma(Path("take1.mkv"), noise(12), "gray")
    Path("bad.mp4").write_bytes(b"no video")
    program, *words = shlex.split(fields["  entry"])
    done = CliRunner().invoke(app, [*words, "take1.mkv", "bad.mp4"])
    assert program == "rushes" and done.exit_code == 3 and "1 of 2 clips" in done.stderr, done.output


STRICT = 'name = "strict"\n[reject]\nblur_score = { below = 1e9 }\n'
"""Under which every clip is a reject, and under `general` none of these is."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clip that moves, one that does not decode, and a run of each: `good` and `rejects`."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "clips").mkdir()
    write_luma(folder / "clips" / "take1.mkv", noise(12), "gray")
    (folder / "bad.mp4").write_bytes(b"no video")
    (folder / "strict.toml").write_text(STRICT)
    for run, clips in (("good", "clips"), ("rejects", "bad.mp4")):
        done = CliRunner().invoke(app, ["clip", str(folder / clips), "-o", str(folder / run)])
        assert done.exit_code == 0, done.output
    return folder


def test_rejects_of_a_run_do_not_hold(measured: Path, environment: dict[str, str], tmp_path: Path) -> None:
    done = gate(tmp_path, environment, CANDIDATE=str(measured / "rejects"))
    assert done.returncode == 3 and "gate: fails" in done.stdout, done.stdout + done.stderr
    assert "--fail-on reject: 1 of 1 clips is rejected" in done.stderr
    check_junit((tmp_path / "rushes-ci" / "clips.xml").read_text(encoding="utf-8"))
    assert gate(tmp_path, environment, CANDIDATE=str(measured / "rejects"), FAIL_ON="none").returncode == 0


@pytest.mark.parametrize("candidate", ["good", "clips"])
def test_the_project_s_profile_holds_in_the_gate_script(
    measured: Path, environment: dict[str, str], tmp_path: Path, candidate: str
) -> None:
    shutil.copy(measured / "strict.toml", tmp_path)
    (tmp_path / "rushes.toml").write_text('[clip]\nprofile = "./strict.toml"\n')
    done = gate(tmp_path, environment, CANDIDATE=str(measured / candidate))
    assert done.returncode == 3 and "gate: fails" in done.stdout, done.stdout + done.stderr
    given = gate(tmp_path, environment, CANDIDATE=str(measured / candidate), PROFILE="general")
    assert given.returncode == 0, "what was given wins: " + given.stdout + given.stderr


def test_the_project_s_fail_on_holds_in_the_gate_script(
    measured: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "flags.toml").write_text(STRICT.replace("reject", "flagged"))
    (tmp_path / "rushes.toml").write_text('[clip]\nprofile = "./flags.toml"\nfail-on = "flagged"\n')
    assert gate(tmp_path, environment, CANDIDATE=str(measured / "good")).returncode == 3
    assert gate(tmp_path, environment, CANDIDATE=str(measured / "good"), FAIL_ON="reject").returncode == 0
