"""Errors that papers report beside PCK and MPJPE: AKD and MKR, areas of PCKh, each joint's error, `_found` in space."""

from __future__ import annotations

import numpy as np
import pytest
from tests.instruments.pose.figures import walk

from rushes.core import Measurement
from rushes.core.selection import one, select
from rushes.instruments.pose import PoseBatch
from rushes.instruments.pose.files.skeletons import COCO_17, H36M_17
from rushes.instruments.pose.measurements import pose_measurements
from rushes.instruments.pose.scores.errors3d import procrustes_errors, scaled_errors
from rushes.instruments.pose.scores.normalization import parse_norms
from rushes.instruments.pose.scoring import ScoreSettings, score_batch
from rushes.instruments.pose.show.tables import joint_error_table


def measured(
    pred: np.ndarray, gt: np.ndarray, vis: np.ndarray | None = None, **asked: object
) -> tuple[Measurement, ...]:
    skeleton = H36M_17 if gt.shape[2] == 3 else COCO_17
    norms = parse_norms(["bbox-diagonal", "head-size"], skeleton)
    how = ScoreSettings(norms=norms, ks=(20,), skeleton=skeleton, **asked)  # type: ignore[arg-type]
    return pose_measurements(score_batch(PoseBatch(pred, gt, vis), how), how, columns=gt.shape[2], areas=False)


def test_akd_and_mkr_by_hand() -> None:
    gt = walk(3)
    pred = gt.copy()
    pred[0] += [3.0, 1.0]  # per axis 3 and 1: 2
    pred[1, :5] = np.nan  # 5 of 17 missing, the rest exact: 0
    pred[2] = np.nan  # nothing in common: no distance, all missing
    rows = measured(pred, gt)
    akd, mkr = one(rows, "akd"), one(rows, "mkr")
    assert (akd.value, akd.count) == (pytest.approx(1.0), 2) and "1 of 3 frames" in akd.note
    assert (mkr.value, mkr.count) == (pytest.approx((5 / 17 + 1) / 3), 3)


def test_akd_and_mkr_as_the_published_code_has_them(rng: np.random.Generator) -> None:
    """`cmp_with_missing.py` written out: −1 marks what is missing; frames without anything are left out."""
    gt, vis = walk(40), rng.integers(0, 2, (40, 17)).astype(float)
    pred = np.where(rng.random((40, 17, 1)) < 0.3, np.nan, gt + rng.normal(0, 5, gt.shape))
    vis[3], pred[5] = 0, np.nan
    scores, missing = [], []
    for p, g, v in zip(pred, gt, vis, strict=True):
        shown, found = v >= 0.5, np.isfinite(p[:, 0])
        if shown.sum():
            missing.append((shown & ~found).sum() / shown.sum())
        if (shown & found).sum():
            scores.append(np.mean(np.abs(g[shown & found] - p[shown & found])))
    rows = measured(pred, gt, vis)
    assert one(rows, "akd").value == pytest.approx(np.mean(scores), abs=1e-12)
    assert one(rows, "mkr").value == pytest.approx(np.mean(missing), abs=1e-12)


def test_each_joint_has_its_error() -> None:
    gt = walk(4)
    pred = gt.copy()
    pred[:, 9] += [3.0, 4.0]
    pred[0, 9] = np.nan
    rows = measured(pred, gt)
    wrist = one(rows, "mpjpe_found", joint="left_wrist")
    assert (wrist.value, wrist.count) == (pytest.approx(5.0), 3) and "1 of 4" in wrist.note
    assert one(rows, "mpjpe_found", joint="nose").value == 0.0
    assert one(rows, "mpjpe_found").value == pytest.approx(15 / 67)
    table = joint_error_table(rows)
    assert table.rows[9][0].text == "left_wrist" and table.rows[9][1].text == "5" and len(table.rows) == 17


def test_the_area_under_pckh() -> None:
    gt = walk(2)  # ear to ear is 52 px; off by 13 px, a quarter: right from k = 25 on
    rows = measured(gt + [13.0, 0.0], gt)
    area = one(rows, "pckh_auc")
    # 0 up to 24, 1 from 25 to 50: trapezoids ½ + 25, of 50.
    assert area.value == pytest.approx(25.5 / 50) and area.signature.startswith("pckh_auc|head:3-4|k_from:0|")
    assert len(select(rows, "pck_auc")) == 1


def test_aligned_errors_over_what_was_found(rng: np.random.Generator) -> None:
    gt = walk(5, skeleton=H36M_17, columns=3)
    pred = gt + rng.normal(0, 10, gt.shape)
    pred[1, 4] = np.nan
    pred[2, 2:] = np.nan  # two joints left: nothing to align
    rows = measured(pred, gt, unit="mm")
    assert one(rows, "pa_mpjpe").value is None and one(rows, "n_mpjpe").value is None
    for name, aligned in (("pa_mpjpe_found", procrustes_errors), ("n_mpjpe_found", scaled_errors)):
        keep = np.ones((5, 17), dtype=bool)
        keep[1, 4], keep[2] = False, False
        expected = aligned(np.nan_to_num(pred), gt, keep)[keep].mean()
        found = one(rows, name)
        assert (found.value, found.count) == (pytest.approx(expected), 67) and "18 of 85" in found.note
    whole = measured(gt * 1.5, gt, unit="mm")
    assert one(whole, "pa_mpjpe_found").value == one(whole, "pa_mpjpe").value
