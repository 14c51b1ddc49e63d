"""Normalisations by the names people type, and one that another package adds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.installed import installed
from tests.instruments.pose.figures import walk
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.instruments.pose import NORMALIZATIONS, BoundingBoxDiagonal, PckNormalization, pck_at, score_pose
from rushes.instruments.pose.files.skeletons import COCO_17, MEDIAPIPE_33, indexed_skeleton
from rushes.instruments.pose.scores.normalization import norm_spellings, parse_norms


def test_normalisations_by_name() -> None:
    norms = parse_norms(["all", "torso-or-bbox", "head-size", "torso-diameter"], MEDIAPIPE_33, px=4)
    assert [n.label() for n in norms] == [
        "torso-diameter(23-24)",
        "bbox-diagonal",
        "absolute-px(4)",
        "torso-or-bbox(23-24)",
        "head-size(7-8)",
    ]
    assert norms[0].left_hip == 23  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torso", "no normalisation is called 'torso'. Did you mean `torso-diameter`"),
        ("absolute-px", "above 0"),
        ("absolute-px=0", "above 0"),
        ("absolute-px=x", "above 0"),
        ("absolute-px=inf", "above 0"),
        ("head-size", "give head=…"),
        ("bbox-diagonal=3", "bbox-diagonal takes no argument; got '3'"),
    ],
)
def test_normalisations_that_are_none(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_norms([name], indexed_skeleton(20, (3, 4)))


def test_one_name_is_a_name_and_not_letters() -> None:
    assert parse_norms("bbox-diagonal", COCO_17) == (BoundingBoxDiagonal(),)


SHOULDERS = """
import numpy as np

from rushes.instruments.pose import PckNormalization
from rushes.instruments.pose.scores.geometry import joint_distances


class ShoulderWidth(PckNormalization):
    name = "shoulder-width"
    unscoreable = "a shoulder is not visible"

    def extents(self, gt, visible):
        both = visible[:, 5] & visible[:, 6]
        return np.where(both, joint_distances(gt[:, 5], gt[:, 6], columns=2), np.nan)
"""


@pytest.fixture
def shoulder_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PckNormalization:
    """An installed package of one file, which names its normalisation in its entry points."""
    points = {"shoulder-width": "shoulders:ShoulderWidth"}
    site = installed(tmp_path / "site", "shoulders", "rushes.normalizations", **points)
    (site / "shoulders.py").write_text(SHOULDERS)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(NORMALIZATIONS, "_loaded", {})
    return NORMALIZATIONS["shoulder-width"]()


def test_another_package_s_normalisation_scores_in_python_and_on_the_command_line(
    shoulder_width: PckNormalization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Shoulders 112 apart (0.56 · 200) in x: τ@20 = 22.4. The nose is off by 22 in half the frames and by 23 in half.
    gt = walk(4)
    gt[:, 5, 0], gt[:, 6, 0] = 312.0, 200.0
    gt[:, 5, 1] = gt[:, 6, 1] = 144.0
    pred = gt.copy()
    pred[:2, 0, 0] += 22.0
    pred[2:, 0, 0] += 23.0
    vis = np.zeros((4, 17))
    vis[:, [0, 5, 6]] = 2.0
    assert pck_at(pred[0], gt[0], vis[0], 20, shoulder_width) == (3, 3, 1.0)
    assert pck_at(pred[3], gt[3], vis[3], 20, shoulder_width) == (2, 3, 2 / 3)
    assert "shoulder-width" in norm_spellings()
    vis[3, 5] = 0.0
    np.savez(tmp_path / "pred.npz", keypoints=pred)
    np.savez(tmp_path / "gt.npz", keypoints=gt, visibility=vis)
    monkeypatch.chdir(tmp_path)
    done = score_pose("pred.npz", "gt.npz", norms="shoulder-width", ks=20, run="run")
    found = done.one("pck", norm="shoulder-width")
    # Frames 0 to 2: 3 + 3 + 2 of 9; frame 3 has no shoulder to measure by.
    assert (found.signature, found.value, found.count) == ("pck|k:20|norm:shoulder-width|v:2", 8 / 9, 9)
    assert found.note == "1 of 4 frames not scoreable: a shoulder is not visible"
    assert done.one("pck_auc").value is not None and len([m for m in done.select("pck") if m.at]) == 17
    command = ["pose", "--norm", "bbox-diagonal", "shoulder-width", "pred.npz", "gt.npz", "--k", "20", "--json"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    rows = {row["signature"]: row["value"] for row in json.loads(shown.stdout)["measurements"] if "at" not in row}
    assert rows["pck|k:20|norm:shoulder-width|v:2"] == pytest.approx(8 / 9, abs=1e-8)
    assert "pck|k:20|norm:bbox-diagonal|v:2" in rows
