"""`rushes doctor`: says what is here, never fails over a missing extra, fails over a broken core."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import numpy
import pytest
from typer.testing import CliRunner, Result

import rushes.cli.workbench.installation as installation
from rushes.cli.main import app
from rushes.core.machine.installing import extra_command


def rushes(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def pieces(*arguments: str) -> dict[tuple[str, str], dict[str, object]]:
    done = rushes("--json", *arguments)
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["sound"] is True
    return {(piece["kind"], piece["name"]): piece for piece in data["pieces"]}


def test_what_is_here_has_its_version(empty_cache: Path) -> None:
    found = pieces()
    assert found["core", "numpy"]["detail"] == numpy.__version__
    assert found["core", "opencv-python-headless"]["here"] is True
    assert {kind for kind, _ in found} == {"core", "extra", "models", "test tool", "machine"}


def test_missing_models_say_where_they_were_looked_for_and_how_to_get_them(empty_cache: Path) -> None:
    face = pieces()["models", "face"]
    assert face["here"] is False and str(empty_cache / "models") in str(face["detail"])
    assert face["command"] == "rushes models pull face" and "--tier 1" in str(face["unlocks"])


def test_trained_weights_say_what_they_are_for(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    found = pieces()
    assert (found["models", "i3d"]["here"], found["models", "i3d"]["command"]) == (False, "rushes models pull i3d")
    assert "FVD" in str(found["models", "i3d"]["unlocks"])
    assert "nothing yet" in str(found["models", "neuflow"]["unlocks"])
    r3d50 = found["models", "resnet-50-kinetics.pth"]
    assert r3d50["here"] is False and "put the file there yourself" in str(r3d50["unlocks"])
    monkeypatch.setenv("RUSHES_WEIGHTS", str(tmp_path))
    (tmp_path / "resnet-50-kinetics.pth").write_bytes(b"weights")
    assert pieces()["models", "resnet-50-kinetics.pth"]["here"] is True


def test_every_missing_piece_says_what_it_unlocks(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = installation._version
    monkeypatch.setattr(
        installation, "_version", lambda project: None if project == "torch" else version(project) or "1"
    )
    monkeypatch.setattr(installation.shutil, "which", lambda program: None)
    found = pieces()
    fvd = found["extra", "fvd"]
    assert (fvd["here"], fvd["command"]) == (False, extra_command("fvd")) and "torch" in str(fvd["detail"])
    assert found["test tool", "ffprobe"]["here"] is False
    for piece in found.values():
        assert piece["here"] or piece["unlocks"], piece


def test_every_extra_of_the_package_has_its_words() -> None:
    assert set(installation.requirements()) - {"", "all"} <= set(installation._EXTRAS)


def test_a_broken_core_exits_with_1_and_names_the_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> object:
        if name == "cv2":
            raise ImportError("libGL.so.1: cannot open shared object file")
        return object()

    monkeypatch.setattr(installation, "import_module", broken)
    done = rushes()
    assert done.exit_code == 1 and "Traceback" not in done.output
    assert "libGL.so.1" in done.stdout and "the core does not work" in done.stderr


def test_a_version_that_is_not_supported_breaks_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.metadata, "requires", lambda name: ["av<20,>=18", "rich>=13; extra == 'x'"])
    monkeypatch.setattr(installation, "_version", lambda project: "20.0.1")
    done = rushes()
    assert done.exit_code == 1
    said = " ".join(done.stdout.split())
    assert "av does not work: 20.0.1 is not supported; expected <20,>=18" in said
    assert "pip install --force-reinstall 'av<20,>=18'" in said


def test_packages_that_load_but_read_no_clip_are_no_sound_core(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **named: object) -> object:
        raise TypeError("open() got an unexpected keyword argument 'metadata_errors'")

    monkeypatch.setattr("rushes.media.opening.av.open", refuse)
    done = rushes()
    assert done.exit_code == 1 and "Core: 7 of 8 installed; missing: a clip" in done.stdout
    assert "unexpected keyword argument 'metadata_errors'" in " ".join(done.stdout.split())


def test_a_clip_is_measured_and_not_only_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "metrics" in str(pieces()["core", "a clip"]["detail"])

    def refuse(*given: object) -> object:
        raise TypeError("an integer is required")

    monkeypatch.setattr("rushes.instruments.clip.frames.picture_grid.FrameKernel", refuse)
    done = rushes()
    said = " ".join(done.stdout.split())
    assert (
        done.exit_code == 1 and "a clip does not work: cannot be written and measured: an integer is required" in said
    )


def test_a_metric_without_a_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushes.core import Measurement
    from rushes.instruments.clip.metrics import stillness

    monkeypatch.setattr(stillness, "longest_of", lambda definition, *given: Measurement.missing(definition, "it broke"))
    done = rushes()
    assert done.exit_code == 1
    assert "longest_freeze_ms has no value (it broke); longest_still_ms" in " ".join(done.stdout.split())


def test_without_package_data_the_core_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installation.metadata, "requires", absent)
    assert "numpy" in installation.requirements()[""]


def test_devices_come_from_the_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771 MiB'\n")
    program.chmod(0o755)
    monkeypatch.setattr(installation.shutil, "which", lambda name: str(program))
    assert installation._gpus() == ["NVIDIA H200, 143771 MiB"]
    program.write_text("#!/bin/sh\nexit 9\n")
    assert installation._gpus() == []


def test_a_cache_in_a_folder_yet_to_be_made(empty_cache: Path) -> None:
    assert pieces()["machine", "cache"]["here"] is True
    assert not empty_cache.exists(), "looking makes nothing"
