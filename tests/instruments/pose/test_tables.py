"""The tables of a pair, and that terminal, report and JSON show the same cells."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.figures import walk
from typer.testing import CliRunner

from rushes import read_run
from rushes.cli.main import app
from rushes.core import Measurement
from rushes.instruments.pose import score_pose
from rushes.instruments.pose.show.section import grids
from rushes.instruments.pose.show.tables import error_table, joint_table, pck_table, pose_tables


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Measurement, ...]:
    """Every joint 6 px to the right; the nose far off in one frame of four; no ear is ever seen."""
    gt = walk(4)
    pred, vis = gt + [6.0, 0.0], np.ones((4, 17))
    pred[0, 0] += 500
    vis[:, [3, 4]] = 0
    np.savez(tmp_path / "pred.npz", keypoints=pred)
    np.savez(tmp_path / "gt.npz", keypoints=gt, visibility=vis)
    monkeypatch.chdir(tmp_path)
    return score_pose("pred.npz", "gt.npz", norms=["bbox-diagonal", "head-size"], ks=(5, 20), run="run").measurements


def test_one_row_per_normalisation(scored: tuple[Measurement, ...]) -> None:
    table = pck_table(scored)
    assert tuple(table.header) == ("normalisation", "PCK@5", "PCK@20", "key points", "signature")
    # 15 joints in 4 frames, one of them wrong; no ear is seen, so the head has no size.
    right = f"{59 / 60:.4f}"
    assert table.texts() == [
        ["bbox-diagonal", right, right, "60", "pck|k:K|norm:bbox-diagonal|v:2"],
        ["head-size(3-4)", "–", "–", "0", "pckh|head:3-4|k:K|v:2"],
    ]
    assert table.rows[0][2].signature == "pck|k:20|norm:bbox-diagonal|v:2"


def test_what_stands_beside_pck(scored: tuple[Measurement, ...]) -> None:
    rows = {row[0].text: row for row in error_table(scored).rows}
    assert list(rows)[:2] == ["mpjpe ↓", "mpjpe_found ↓"] and list(rows)[-2:] == [
        "pck_auc (bbox-diagonal) ↑",
        "pckh_auc (head 3-4) ↑",
    ]
    assert rows["mpjpe ↓"][4].text == rows["mpjpe ↓"][1].signature == "mpjpe|dims:2|unit:as-given|v:2"
    assert not any(name.startswith("pck ") or "joint left" in name for name in rows)


def test_namesakes_say_what_tells_them_apart(scored: tuple[Measurement, ...], tmp_path: Path) -> None:
    both = score_pose("pred.npz", "gt.npz", norms="all", run=tmp_path / "both").measurements
    names = [row[0].text for row in error_table(both).rows]
    assert names[-2:] == ["pck_auc (torso-diameter) ↑", "pck_auc (bbox-diagonal) ↑"]


def test_one_row_per_joint(scored: tuple[Measurement, ...]) -> None:
    table = joint_table(scored)
    assert table.title == "PCK@20 of each joint" and tuple(table.header) == ("joint", "bbox-diagonal", "head-size(3-4)")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["nose"] == ["0.7500", "–"] and rows["left_ear"] == ["–", "–"] and rows["left_knee"] == ["1", "–"]
    assert joint_table(()).rows == []


def test_terminal_report_and_json_show_the_same_cells(scored: tuple[Measurement, ...]) -> None:
    run = read_run("run")
    stored = grids(run)
    assert [table.texts() for table in stored] == [table.texts() for table in pose_tables(scored)]
    assert stored[0].title == "pred: PCK by normalisation"
    asked = ["pose", "pred.npz", "gt.npz", "--norm", "bbox-diagonal", "head-size", "--k", "5", "20", "-o", "run", "-v"]
    printed = CliRunner().invoke(app, asked).stdout
    for row in pck_table(scored).texts():
        assert any(line.split() == row for line in printed.splitlines()), row
    values = [line.split() for line in printed.splitlines()]
    assert any(words[:3] == ["mpjpe", "↓", error_table(scored).texts()[0][1]] for words in values)
    data = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert data["measurements"] == [m.as_dict() for m in scored]
