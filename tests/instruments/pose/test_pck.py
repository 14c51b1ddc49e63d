"""PCK beyond the vectors: the boundary, the labels, the curve, what cannot be made."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from tests.instruments.pose.vectors import HIPS, L_HIP, R_HIP, THREE_GT, THREE_PRED, frame

from rushes.core.errors import DefinitionError, InputError
from rushes.instruments.pose import (
    AbsolutePixels,
    BoundingBoxDiagonal,
    HeadSize,
    PoseAccuracy,
    PoseBatch,
    PoseFrame,
    TorsoDiameter,
    TorsoOrBoundingBox,
    accuracy_report,
    mpjpe,
    pck_at,
)
from rushes.instruments.pose.files.batch import CHUNK_FRAMES
from rushes.instruments.pose.scores.pck import CURVE_TOP, pck_definition
from rushes.instruments.pose.seed.accuracy import stack_frames, tally_batch


def pixels(error: float, *, torso: float = 200.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One pose in whole pixels: hips `torso` apart and exact, the nose off by `error`."""
    gt = np.zeros((17, 2))
    gt[0], gt[11], gt[12] = (0, 50), (100, 400), (100 + torso, 400)
    pred, vis = gt.copy(), np.zeros(17)
    pred[0, 0] += error
    vis[[0, 11, 12]] = 2
    return pred, gt, vis


def test_an_error_equal_to_the_tolerance_is_correct() -> None:
    # torso 200, k 20: τ = 20·200/100 = 40 exactly.
    assert pck_at(*pixels(40.0), 20, TorsoDiameter()) == (3, 3, 1.0)
    assert pck_at(*pixels(np.nextafter(40.0, 41.0)), 20, TorsoDiameter())[0] == 2


def test_whole_pixel_boundaries_are_exact_for_every_k() -> None:
    # (k/100)·100 would give 28.999999999999996 at k = 29 and lose the joint; k·100/100 does not.
    for k in range(1, 101):
        assert pck_at(*pixels(float(k), torso=100.0), k, TorsoDiameter())[0] == 3, k


def test_there_is_no_epsilon() -> None:
    # Hips typed as 0.4 and 0.6 are 0.19999999999999996 apart in fp64, so τ@20 is a hair under 0.04, and an error of
    # 0.04 typed as 0.54 − 0.5 (0.040000000000000036) is outside. Decimals in binary, not a rule of ours.
    gt = HIPS | {0: (0.5, 0.1)}
    f = frame(gt, gt | {0: (0.54, 0.1)})
    assert pck_at(f.pred, f.gt, f.visibility, 20, TorsoDiameter()) == (2, 3, 2 / 3)


def test_labels() -> None:
    norms = [TorsoDiameter(), BoundingBoxDiagonal(), AbsolutePixels(0.08), AbsolutePixels(50), TorsoOrBoundingBox()]
    assert [n.label() for n in norms] == [
        "torso-diameter",
        "bbox-diagonal",
        "absolute-px(0.08)",
        "absolute-px(50)",
        "torso-or-bbox",
    ]
    assert HeadSize(3, 4).label() == "head-size(3-4)"


def test_torso_never_falls_back() -> None:
    # One hip invisible: torso-diameter scores nothing; torso-or-bbox uses the box, under its own label.
    f = frame(THREE_GT, THREE_PRED)
    vis = f.visibility.copy()
    vis[R_HIP] = 0.4
    assert pck_at(f.pred, f.gt, vis, 20, TorsoDiameter()) == (0, 0, 0.0)
    assert TorsoDiameter().tolerance(f.gt, vis, 20) is None
    # Box of (0.5,0.1) (0.5,0.3) (0.4,0.9): 0.1 × 0.8, diagonal 0.806, τ@20 0.161: all three.
    assert pck_at(f.pred, f.gt, vis, 20, TorsoOrBoundingBox()) == (3, 3, 1.0)
    assert pck_at(f.pred, f.gt, f.visibility, 20, TorsoOrBoundingBox()) == (2, 4, 0.5)


def test_a_pose_without_hips_in_it_is_unscoreable_by_torso() -> None:
    assert pck_at([[0, 0]], [[0, 0]], [2], 20, TorsoDiameter()) == (0, 0, 0.0)


@pytest.mark.parametrize("threshold", [0.0, -1.0, np.nan, np.inf])
def test_an_absolute_threshold_must_be_positive_and_finite(threshold: float) -> None:
    f = frame(HIPS)
    assert pck_at(f.pred, f.gt, f.visibility, 20, AbsolutePixels(threshold)) == (0, 0, 0.0)


def test_an_infinite_box_scores_nothing_rather_than_everything() -> None:
    gt = np.zeros((17, 2))
    gt[11], gt[12] = (-1.7e308, 0), (1.7e308, 0)
    vis = np.zeros(17)
    vis[[11, 12]] = 1
    for norm in (TorsoDiameter(), BoundingBoxDiagonal()):
        assert pck_at(gt + 5, gt, vis, 20, norm) == (0, 0, 0.0)


def test_a_truth_without_a_place_does_not_stretch_the_box_and_is_wrong() -> None:
    f = frame(HIPS | {0: (np.nan, 0.1), 5: (np.inf, 0.2)})
    # The hips alone make the box: 0.2 × 0, scoreable; they are exact, the other two cannot be.
    assert pck_at(f.pred, f.gt, f.visibility, 20, BoundingBoxDiagonal()) == (2, 4, 0.5)


def test_huge_coordinates_do_not_overflow() -> None:
    # 3-4-5 at 1e200: squares overflow, the distance does not. Torso 1e201, τ@50 = 5e200: the nose is on the edge.
    gt = np.zeros((17, 2))
    gt[11], gt[12] = (0, 0), (1e201, 0)
    pred, vis = gt.copy(), np.zeros(17)
    pred[0] = (3e200, 4e200)
    vis[[0, 11, 12]] = 2
    assert pck_at(pred, gt, vis, 50, TorsoDiameter()) == (3, 3, 1.0)
    assert mpjpe(pred, gt, vis) == pytest.approx(5e200 / 3, rel=1e-12)


def test_pckh_uses_the_head() -> None:
    # ears 40 apart: τ@50 = 20. Errors: nose 20 (on), left hip 21 (out), ears 0.
    gt = np.zeros((17, 2))
    gt[0], gt[3], gt[4], gt[11] = (100, 100), (80, 100), (120, 100), (100, 300)
    pred, vis = gt.copy(), np.zeros(17)
    pred[0, 1] += 20
    pred[11, 0] += 21
    vis[[0, 3, 4, 11]] = 2
    assert pck_at(pred, gt, vis, 50, HeadSize(3, 4)) == (3, 4, 0.75)
    assert pck_definition(50, HeadSize(3, 4)).signature == "pckh|head:3-4|k:50|v:2"
    vis[3] = 0
    assert pck_at(pred, gt, vis, 50, HeadSize(3, 4)) == (0, 0, 0.0)
    assert pck_at([[0, 0]], [[0, 0]], [2], 50, HeadSize(3, 4)) == (0, 0, 0.0)


def test_an_unlabelled_pck_cannot_be_made() -> None:
    f = frame(HIPS)
    for norm in (None, "torso-diameter", 0.5):
        with pytest.raises(DefinitionError, match="needs its normalisation"):
            pck_at(f.pred, f.gt, f.visibility, 20, norm)  # type: ignore[arg-type]
        with pytest.raises(DefinitionError, match="needs its normalisation"):
            accuracy_report([f], [20], norm)  # type: ignore[arg-type]
        with pytest.raises(DefinitionError, match="needs its normalisation"):
            PoseAccuracy({20: 1.0}, 0.0, norm, 17, 1)  # type: ignore[arg-type]
        with pytest.raises(DefinitionError, match="needs its normalisation"):
            pck_definition(20, norm)  # type: ignore[arg-type]


def test_results_are_frozen_and_have_the_seed_s_fields() -> None:
    report = accuracy_report([frame(HIPS)], [50, 20, 20], TorsoDiameter())
    assert [f.name for f in fields(report)] == ["pck_at", "mpjpe", "normalization", "n_keypoints", "n_frames"]
    assert list(report.pck_at) == [20, 50]
    with pytest.raises(FrozenInstanceError):
        report.normalization = BoundingBoxDiagonal()  # type: ignore[misc]
    with pytest.raises(TypeError):
        report.pck_at[20] = 0.0  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        frame(HIPS).gt = np.zeros((17, 2))  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(report)) == report
    assert report.summary() == "PCK@20=1.000 PCK@50=1.000 (torso-diameter, 17 key points, 1 frame) MPJPE=0.0000"


@pytest.mark.parametrize("k", [-1, 2.5, True, "20"])
def test_k_is_a_whole_percentage(k: object) -> None:
    f = frame(HIPS)
    with pytest.raises(InputError, match="whole percentage"):
        pck_at(f.pred, f.gt, f.visibility, k, TorsoDiameter())  # type: ignore[arg-type]


def test_shapes_that_do_not_fit_say_so() -> None:
    with pytest.raises(InputError, match="2 or 3 coordinates"):
        pck_at([[1, 2, 3, 4]], [[1, 2, 3, 4]], [1], 20, TorsoDiameter())
    with pytest.raises(InputError, match="1 frames × 2 joints, gt 1 × 1"):
        pck_at([[0, 0], [1, 1]], [[0, 0]], [1], 20, TorsoDiameter())
    with pytest.raises(InputError, match="visibility"):
        pck_at([[0, 0]], [[0, 0]], [1, 1], 20, TorsoDiameter())
    with pytest.raises(InputError, match="holds numbers"):
        mpjpe([["a", "b"]], [[0, 0]], [1])
    with pytest.raises(InputError, match="2 visibilities; got 1"):
        TorsoDiameter().tolerance([[0, 0], [1, 1]], [1], 20)
    with pytest.raises(InputError, match="a pose is joints"):
        TorsoDiameter().tolerance([1, 2], [1], 20)
    with pytest.raises(InputError, match="frame 1"):
        stack_frames([frame(HIPS), PoseFrame([[0, 0]], [[0, 0]], [1])])


def test_the_curve_is_the_same_as_one_k_at_a_time(rng: np.random.Generator) -> None:
    gt = rng.integers(0, 60, (300, 17, 2)).astype(float)  # whole numbers: many errors fall exactly on a tolerance
    pred = gt + rng.integers(-20, 21, gt.shape)
    pred[::7, 3] = np.nan
    vis = rng.integers(0, 3, gt.shape[:2])
    ks = list(range(CURVE_TOP + 1))
    norms = [TorsoDiameter(), BoundingBoxDiagonal(), AbsolutePixels(5)]
    for found in tally_batch(PoseBatch(pred, gt, vis), ks=ks, norms=norms, curve=True).pck:
        assert found.curve_ratios() == found.ratios()


def test_area_under_the_curve() -> None:
    # Torso 100, nose off by 25 → correct from k = 25 on; both hips exact at every k. PCK = 2/3 below 25, 1 from 25.
    # Trapezoids of width 1: 24 steps of 2/3, one from 2/3 to 1 (5/6), 25 of 1 → (16 + 5/6 + 25) / 50.
    pred, gt, vis = pixels(25.0, torso=100.0)
    batch = PoseBatch(pred[None], gt[None], vis[None])
    (found,) = tally_batch(batch, ks=[20], norms=[TorsoDiameter()], curve=True).pck
    assert found.area() == pytest.approx((16 + 5 / 6 + 25) / 50, abs=1e-15)


def test_pieces_add_up_to_the_whole(rng: np.random.Generator) -> None:
    n = 2 * CHUNK_FRAMES + 100
    gt = rng.random((n, 17, 2))
    pred, vis = gt + rng.normal(0, 0.1, gt.shape), rng.random((n, 17))
    norms = [TorsoDiameter(), BoundingBoxDiagonal(), AbsolutePixels(0.05)]
    whole = accuracy_report(PoseBatch(pred, gt, vis), [5, 20], norms[0])
    one_by_one = [PoseFrame(*each) for each in zip(pred, gt, vis, strict=True)]
    assert accuracy_report(one_by_one, [5, 20], norms[0]) == whole
    assert accuracy_report(iter(one_by_one), [5, 20], norms[0]).mpjpe == whole.mpjpe
    parts = [
        tally_batch(PoseBatch(pred[a:b], gt[a:b], vis[a:b]), ks=[5, 20], norms=norms)
        for a, b in ((0, CHUNK_FRAMES), (CHUNK_FRAMES, n))
    ]
    merged, straight = parts[0] + parts[1], tally_batch(PoseBatch(pred, gt, vis), ks=[5, 20], norms=norms)
    assert merged.errors == straight.errors
    for one, other in zip(merged.pck, straight.pck, strict=True):
        assert (one.correct == other.correct).all() and (one.total == other.total).all()
        assert one.scored_frames == other.scored_frames


def test_pck_uses_x_and_y_only_and_mpjpe_what_both_have() -> None:
    gt = np.array([[0.0, 0, 0], [10, 0, 0]])
    pred = np.array([[0.0, 0, 99], [10, 0, 99]])
    norm = TorsoDiameter(0, 1)
    assert pck_at(pred, gt, [1, 1], 20, norm) == (2, 2, 1.0)
    assert mpjpe(pred, gt, [1, 1]) == 99.0
    assert mpjpe(pred[:, :2], gt, [1, 1]) == 0.0


def test_swapped_hips_measure_the_same_torso() -> None:
    f = frame(THREE_GT, THREE_PRED)
    assert pck_at(f.pred, f.gt, f.visibility, 20, TorsoDiameter(R_HIP, L_HIP)) == (2, 4, 0.5)
