"""`rushes pose` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.vectors import THREE_GT, THREE_PRED, frame
from typer.testing import CliRunner, Result

from rushes.cli.main import app


@pytest.fixture
def proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    f = frame(THREE_GT, THREE_PRED)
    np.savez(tmp_path / "pred.npz", keypoints=f.pred[None])
    np.savez(tmp_path / "gt.npz", keypoints=f.gt[None], visibility=f.visibility[None])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def rushes(*args: str) -> Result:
    return CliRunner().invoke(app, ["pose", *args])


def test_the_three_way_table(proof: Path) -> None:
    done = rushes("pred.npz", "gt.npz", "--norm", "all", "--px", "0.08", "--k", "20", "-o", "run", "-v")
    assert done.exit_code == 0, done.output
    rows = {line.split()[0]: line.split()[1:4] for line in done.stdout.splitlines() if "|norm:" in line and "K" in line}
    assert rows["torso-diameter"] == ["0.5000", "4", "pck|k:K|norm:torso-diameter|v:2"]
    assert rows["bbox-diagonal"] == ["1", "4", "pck|k:K|norm:bbox-diagonal|v:2"]
    assert rows["absolute-px(0.08)"] == ["0.7500", "4", "pck|k:K|norm:absolute-px(0.08)|v:2"]
    assert done.stdout.splitlines()[-1] == "run"


def test_several_values_after_one_option_and_options_first(proof: Path) -> None:
    done = rushes("--norm", "torso-diameter", "head-size", "--k", "5", "10", "20,50", "pred.npz", "gt.npz", "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    signatures = [m["signature"] for m in data["measurements"]]
    assert "pck|k:50|norm:torso-diameter|v:2" in signatures and "pckh|head:3-4|k:5|v:2" in signatures
    assert not any("norm:bbox" in s for s in signatures)
    assert data["frames"] == 1 and data["matched_by"] == "order" and Path(data["run"]).is_dir()


def test_unscoreable_shows_a_dash_and_why(proof: Path) -> None:
    done = rushes("pred.npz", "gt.npz", "--norm", "head-size", "--k", "50")
    assert done.exit_code == 0
    assert next(line for line in done.stdout.splitlines() if line.startswith("head-size")).split()[1:3] == ["–", "0"]
    assert "Note: pckh head-size(3-4): 1 of 1 frames not scoreable: a head joint is not visible" in done.stderr


def test_a_pck_needs_its_normalisation(proof: Path) -> None:
    done = rushes("pred.npz", "gt.npz")
    assert done.exit_code == 2 and "--norm" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("--k", "x"),
        ("--hips", "11"),
        ("--head", "a,b"),
        ("--columns", "zyx"),
        ("--root", "neck"),
        ("--duplicates", "maybe"),
        ("--unmatched", "no"),
        ("--dims", "4"),
    ],
)
def test_usage_errors_exit_2(proof: Path, args: tuple[str, ...]) -> None:
    assert rushes("pred.npz", "gt.npz", "--norm", "all", *args).exit_code == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nix.npz", "gt.npz", "--norm", "all"), "nix.npz: there is no such file"),
        (("pred.npz", "gt.npz", "--norm", "torso"), "no normalisation is called 'torso'"),
        (("pred.npz", "gt.npz", "--norm", "all", "--skeleton", "h36m"), "no skeleton is called"),
    ],
)
def test_bad_input_is_one_line_and_exit_1(proof: Path, args: tuple[str, ...], message: str) -> None:
    done = rushes(*args)
    assert done.exit_code == 1 and message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and done.stdout == ""


def test_help_has_examples_for_both() -> None:
    for args in (("--help",), ("score", "--help"), ("extract", "--help")):
        done = rushes(*args)
        assert done.exit_code == 0 and "Example: rushes pose" in done.stdout


def test_extract_of_nothing(proof: Path) -> None:
    done = rushes("extract", "none.mp4")
    assert done.exit_code == 1 and "none.mp4: no such file" in done.stderr
