"""The pose figures: what they draw, in words, and the same bytes every time."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.figures import walk

from rushes import read_run, score_pose
from rushes.instruments.pose import TorsoDiameter
from rushes.instruments.pose.files.skeletons import SKELETONS
from rushes.instruments.pose.show.charts import charts
from rushes.present.charts.figure import Figure


def drawn(
    folder: Path, pred: np.ndarray, gt: np.ndarray, norms: str = "torso-diameter", **asked: object
) -> tuple[Figure, ...]:
    np.save(folder / "pred.npy", pred)
    np.save(folder / "gt.npy", gt)
    done = score_pose(folder / "pred.npy", folder / "gt.npy", norms=norms, run=folder / "run", **asked)  # type: ignore[arg-type]
    return charts(read_run(done.run))


def words(figure: Figure) -> str:
    return " ".join(text for text in ElementTree.fromstring(figure.svg).itertext() if text.strip())


@pytest.mark.parametrize("name", SKELETONS)
def test_curves_and_body(tmp_path: Path, name: str) -> None:
    """One normalisation is a panel of its own; all of them, and the same bytes again, are drawn for COCO's joints."""
    skeleton, norms = SKELETONS[name], "all" if name == "coco-17" else "torso-diameter"
    gt = walk(20, skeleton=skeleton)
    pred = gt.copy()
    pred[:10, skeleton.joints.index("left_knee")] += 300
    curves, body = drawn(tmp_path, pred, gt, norms, skeleton=name)
    assert curves.title == "pred: PCK against k" and "its line is flat" in curves.caption
    torso = TorsoDiameter.of(skeleton).label()
    asked = [torso, "bbox-diagonal", "absolute-px(10)"] if norms == "all" else [torso]
    assert all(norm in words(curves) for norm in asked)
    assert f"Lowest under {torso}: left knee, 0.5000." in body.caption
    assert words(body).count("0.50") >= len(asked)  # the knee in every panel
    assert body.title == "pred: PCK@20 of each joint"
    if norms == "all":
        assert charts(read_run(tmp_path / "run")) == (curves, body)


def test_a_skeleton_without_a_drawing_gets_bars(tmp_path: Path) -> None:
    gt = walk(5)[:, :12]
    curves, body = drawn(tmp_path, gt, gt, hips=(5, 6))
    assert "joint_7" in words(body) and "PCK" in words(curves)


def test_nothing_scored_is_said(tmp_path: Path) -> None:
    gt = np.full((3, 17, 2), np.nan)
    _, body = drawn(tmp_path, walk(3), gt)
    assert "No joint could be scored." in body.caption
