"""The seed's table, row by row, and every golden vector; the arithmetic stands above each assert."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.vectors import HIPS, L_HIP, L_SHOULDER, NOSE, R_HIP, THREE_GT, THREE_PRED, Points, frame

from rushes.instruments.pose import (
    AbsolutePixels,
    BoundingBoxDiagonal,
    PoseFrame,
    TorsoDiameter,
    accuracy_report,
    mpjpe,
    pck_at,
)
from rushes.instruments.pose.scores.normalization import PckNormalization

TORSO, BBOX = TorsoDiameter(), BoundingBoxDiagonal()


def pck(f: PoseFrame, k: int, norm: PckNormalization) -> tuple[int, int, float]:
    return pck_at(f.pred, f.gt, f.visibility, k, norm)


def test_perfect_prediction() -> None:
    # pred = gt: every distance is 0, within any positive tolerance; 3 visible joints. MPJPE = 0/3.
    f = frame(HIPS | {L_SHOULDER: (0.35, 0.35)})
    for norm in (TORSO, BBOX, AbsolutePixels(0.01)):
        assert pck(f, 20, norm) == (3, 3, 1.0)
    assert mpjpe(f.pred, f.gt, f.visibility) == 0.0


def test_all_just_outside() -> None:
    # hips 0.4 and 0.6: torso 0.20, τ@20 = 0.04. Every joint is off by 0.05 > 0.04.
    gt = HIPS | {L_SHOULDER: (0.5, 0.5)}
    f = frame(gt, {L_SHOULDER: (0.55, 0.5), L_HIP: (0.45, 0.5), R_HIP: (0.65, 0.5)})
    assert pck(f, 20, TORSO) == (0, 3, 0.0)


def test_half_in_half_out() -> None:
    # torso 0.20, τ@20 = 0.04: nose and left hip exact, shoulder and right hip off by 0.05. 2 of 4.
    gt = HIPS | {NOSE: (0.5, 0.2), L_SHOULDER: (0.5, 0.5)}
    f = frame(gt, gt | {L_SHOULDER: (0.55, 0.5), R_HIP: (0.65, 0.5)})
    assert pck(f, 20, TORSO) == (2, 4, 0.5)


def test_three_normalizations_key_proof() -> None:
    # nose off by 0.06, shoulder by 0.10, hips exact.
    # torso 0.20 → τ@20 0.040: hips only, 2 of 4.
    # box 0.20 × 0.80, diagonal √0.68 = 0.8246 → τ@20 0.165: all four.
    # absolute 0.08: nose (0.06) and hips, not the shoulder (0.10): 3 of 4.
    f = frame(THREE_GT, THREE_PRED)
    assert pck(f, 20, TORSO) == (2, 4, 0.5)
    assert pck(f, 20, BBOX) == (4, 4, 1.0)
    assert pck(f, 20, AbsolutePixels(0.08)) == (3, 4, 0.75)
    assert BBOX.tolerance(f.gt, f.visibility, 20) == pytest.approx(0.2 * math.sqrt(0.68), abs=1e-15)
    assert TORSO.tolerance(f.gt, f.visibility, 20) == pytest.approx(0.04, abs=1e-15)


@pytest.mark.parametrize("k", [5, 99])
def test_absolute_ignores_k(k: int) -> None:
    # shoulder off by 0.03 ≤ 0.05, hips exact, whatever k is.
    gt = HIPS | {L_SHOULDER: (0.5, 0.5)}
    assert pck(frame(gt, gt | {L_SHOULDER: (0.53, 0.5)}), k, AbsolutePixels(0.05)) == (3, 3, 1.0)


def test_mpjpe_2d() -> None:
    # (3, 4) → 5, exact → 0; (5 + 0) / 2.
    assert mpjpe([[3, 4], [1, 1]], [[0, 0], [1, 1]], [2, 2]) == 2.5


def test_mpjpe_3d() -> None:
    # √(1 + 4 + 4) = 3.
    assert mpjpe([[1, 2, 2]], [[0, 0, 0]], [2]) == 3.0


def test_mpjpe_excludes_invisible() -> None:
    # the joint off by 100 is invisible: only (3, 4) → 5 counts.
    assert mpjpe([[3, 4], [100, 0]], [[0, 0], [0, 0]], [2, 0]) == 5.0


def test_zero_torso_is_unscoreable() -> None:
    # both hips at (0.5, 0.5): torso 0, box 0, neither above 1e-6. Not a false perfect.
    f = frame({L_HIP: (0.5, 0.5), R_HIP: (0.5, 0.5)})
    assert pck(f, 20, TORSO) == (0, 0, 0.0)
    assert pck(f, 20, BBOX) == (0, 0, 0.0)


def test_no_visible_keypoints() -> None:
    f = PoseFrame(frame(HIPS).pred, frame(HIPS).gt, np.zeros(17))
    assert pck(f, 20, TORSO) == pck(f, 20, BBOX) == pck(f, 20, AbsolutePixels(1)) == (0, 0, 0.0)
    assert mpjpe(f.pred, f.gt, f.visibility) == 0.0


def test_nan_coordinate_counts_as_wrong() -> None:
    # 3 visible, one of them predicted at NaN: 2 of 3. The mean of something with NaN is NaN.
    gt = HIPS | {L_SHOULDER: (0.5, 0.5)}
    f = frame(gt, gt | {L_SHOULDER: (math.nan, 0.5)})
    assert pck(f, 20, TORSO) == (2, 3, 2 / 3)
    assert math.isnan(mpjpe(f.pred, f.gt, f.visibility))


def test_report_micro_average() -> None:
    # frame 1 exact (2 of 2); frame 2 both hips off by 0.05: wrong at τ@20 = 0.04, right at τ@50 = 0.10.
    # PCK@20 = (2 + 0) / 4, PCK@50 = (2 + 2) / 4, MPJPE = (0 + 0 + 0.05 + 0.05) / 4 = 0.025.
    report = accuracy_report([frame(HIPS), frame(HIPS, {L_HIP: (0.45, 0.5), R_HIP: (0.65, 0.5)})], [20, 50], TORSO)
    assert dict(report.pck_at) == {20: 0.5, 50: 1.0}
    assert report.mpjpe == pytest.approx(0.025, abs=1e-15)
    assert (report.n_frames, report.n_keypoints, report.normalization) == (2, 17, TORSO)


def test_report_of_nothing_is_zero() -> None:
    report = accuracy_report([], [20], BBOX)
    assert dict(report.pck_at) == {20: 0.0}
    assert (report.mpjpe, report.n_frames, report.n_keypoints) == (0.0, 0, 0)


def test_bbox_is_at_least_torso() -> None:
    # errors .05, .08, .02, .02; torso 0.20 → τ 0.04: 2 of 4. Box 0.2 × 0.8 → τ 0.165: 4 of 4.
    gt = {NOSE: (0.5, 0.1), L_SHOULDER: (0.5, 0.4), L_HIP: (0.4, 0.9), R_HIP: (0.6, 0.9)}
    f = frame(gt, {NOSE: (0.55, 0.1), L_SHOULDER: (0.58, 0.4), L_HIP: (0.42, 0.9), R_HIP: (0.62, 0.9)})
    assert pck(f, 20, TORSO) == (2, 4, 0.5)
    assert pck(f, 20, BBOX) == (4, 4, 1.0)


def test_the_reference_file_agrees(shared: Path) -> None:
    """Every case of the reference file, read as data: nothing in it is left out."""
    cases = json.loads((shared / "golden" / "pck_vectors.json").read_text())["cases"]
    assert [_check(case) for case in cases] == [True] * 14


def _points(raw: dict[str, list[float]]) -> Points:
    return {int(joint): (float(x), float(y)) for joint, (x, y) in raw.items()}


def _norm(name: str) -> PckNormalization:
    named: dict[str, PckNormalization] = {"torso": TORSO, "bbox": BBOX}
    return named[name] if name in named else AbsolutePixels(float(name.removeprefix("abs(").removesuffix(")")))


def _frame(raw: dict[str, object]) -> PoseFrame:
    if "vis" in raw:
        return PoseFrame(raw["pred"], raw["gt"], raw["vis"])  # type: ignore[arg-type]
    gt = _points(raw["gt"])  # type: ignore[arg-type]
    whole = frame(gt, gt if raw["pred"] == "=gt" else _points(raw["pred"]))  # type: ignore[arg-type]
    return PoseFrame(whole.pred, whole.gt, np.zeros(17)) if raw.get("visible") == [] else whole


def _check(case: dict[str, object]) -> bool:
    expect = case["expect"]
    if "frames" in case:
        frames = [_frame(raw) for raw in case["frames"]]  # type: ignore[attr-defined]
        report = accuracy_report(frames, case["ks"], _norm(str(case["norm"])))  # type: ignore[arg-type]
        got = {"pck": {str(k): v for k, v in report.pck_at.items()}, "mpjpe": report.mpjpe}
        got |= {"n_frames": report.n_frames, "n_keypoints": report.n_keypoints}
        return all(got[key] == value for key, value in expect.items())  # type: ignore[attr-defined]
    f = _frame(case)
    if isinstance(expect, str):  # the ordering case, in words
        return pck(f, 20, TORSO) == (2, 4, 0.5) and pck(f, 20, BBOX) == (4, 4, 1.0)
    ks = case.get("k", 20)
    for name, value in expect.items():  # type: ignore[attr-defined]
        if name == "mpjpe":
            error = mpjpe(f.pred, f.gt, f.visibility)
            ok = math.isnan(error) if value == "NaN" else error == value
        else:
            found = [pck(f, k, _norm(name)) for k in (ks if isinstance(ks, list) else [ks])]  # type: ignore[list-item]
            ok = all(got[:2] == tuple(value[:2]) and abs(got[2] - value[2]) < 1e-7 for got in found)
        if not ok:
            return False
    return True
