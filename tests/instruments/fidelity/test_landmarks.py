"""Landmark distances: planted points with known distances, faces that are lost, and real faces that moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rushes.core import Measurement
from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.instruments.fidelity.arrays import compare_arrays, paired_arrays
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.metrics.landmarks import (
    DISTANCES,
    EYE_CORNERS,
    LIPS,
    MESH,
    LandmarkObserver,
    centred,
    face_distances,
    inter_ocular,
    mean_difference,
    mean_distance,
    require_landmarks,
)
from rushes.vision.landmarks import Face
from rushes.vision.landmarks.face_pipeline import MIN_PRESENCE
from rushes.vision.models.pulling import pull

NAMES = (*DISTANCES, "missing_face_ratio")


def mesh(*, dx: float = 0.0, dy: float = 0.0, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    """A made-up face: points in a square of 200 px, eyes 100 px apart."""
    points = np.random.default_rng(seed).uniform(0, 200, (MESH, 2))
    points[EYE_CORNERS[0]], points[EYE_CORNERS[1]] = (50.0, 80.0), (150.0, 80.0)
    return points * scale + [dx, dy]


def test_the_two_formulas_that_are_mixed_up() -> None:
    gen, gt = np.array([[3.0, 4.0], [1.0, 1.0], [0.0, -2.0]]), np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    # distances 5, 0, 2: mean 7/3; coordinates 3 + 4 + 0 + 0 + 0 + 2 over 6: 9/6
    assert mean_distance(gen, gt) == pytest.approx(7 / 3, abs=1e-12)
    assert mean_difference(gen, gt) == pytest.approx(1.5, abs=1e-12)
    assert mean_distance(gt, gen) == mean_distance(gen, gt) and mean_difference(gt, gen) == mean_difference(gen, gt)
    # A difference along one axis alone is halved by the mean over coordinates; errors of one length in every direction
    # come to 2/π of it, as the reader is told.
    angles = np.linspace(0, 2 * math.pi, 3600, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert mean_distance(ring, ring * 0) == pytest.approx(1.0)
    assert mean_difference(ring, ring * 0) == pytest.approx(2 / math.pi, abs=1e-5)


def test_a_face_moved_by_three_and_four_pixels() -> None:
    # Every point is √(3² + 4²) = 5 px away; |3| + |4| over two coordinates is 3.5; eyes are 100 px apart; lips put in
    # one place do not differ.
    found = face_distances(mesh(dx=3, dy=4), mesh())
    assert found == pytest.approx(
        {"lmd": 5.0, "lmd_interocular": 0.05, "akd": 3.5, "mouth_lmd": 5.0, "mouth_lmd_centred": 0.0}, abs=1e-9
    )


def test_the_eyes_are_the_references_and_a_larger_picture_leaves_the_ratio_alone() -> None:
    gen, gt = mesh(seed=1), mesh()
    assert inter_ocular(gt) == 100.0
    small, large = face_distances(gen, gt), face_distances(gen * 4, gt * 4)
    for name in DISTANCES:
        assert large[name] == pytest.approx(small[name] * (1 if name == "lmd_interocular" else 4))
    wide = face_distances(mesh(scale=2), mesh())
    assert wide["lmd_interocular"] == pytest.approx(wide["lmd"] / 100)
    flat = np.zeros((MESH, 2))
    assert math.isnan(face_distances(mesh(), flat)["lmd_interocular"])


def test_an_open_mouth_moves_the_lips_alone() -> None:
    """40 lip points of 468 that drop by 10 px: 10 on the lips, 10 · 40/468 on the face; centred lips read 0, because
    all of them drop alike; with the lower half alone, 20 points by 10 px, the mean moves by 5, so each is 5 px off."""
    gen = mesh()
    gen[list(LIPS), 1] += 10
    found = face_distances(gen, mesh())
    assert (found["mouth_lmd"], found["mouth_lmd_centred"]) == pytest.approx((10.0, 0.0), abs=1e-9)
    assert found["lmd"] == pytest.approx(10 * 40 / MESH) and found["akd"] == pytest.approx(5 * 40 / MESH)
    half = mesh()
    half[list(LIPS[::2]), 1] += 10
    assert face_distances(half, mesh())["mouth_lmd_centred"] == pytest.approx(5.0)
    assert len(set(LIPS)) == 40 and centred(gen).mean() == pytest.approx(0.0)


class Planted:
    """In place of the networks: the first pixel of a frame says which faces are in it."""

    digest = "0123456789ab"

    def __init__(self, *faces: Sequence[np.ndarray]) -> None:
        self._faces = faces

    def observe(self, rgb: np.ndarray) -> tuple[Face, ...]:
        return tuple(_face(points) for points in self._faces[rgb[0, 0, 0]])


def _face(points: np.ndarray) -> Face:
    box = (*points.min(axis=0), *points.max(axis=0))
    return Face(bbox=box, score=0.9, presence=0.9, landmarks=np.pad(points, ((0, 10), (0, 1))).astype(np.float32))


def measured(pipeline: Planted, gen: Sequence[int], gt: Sequence[int]) -> dict[str, Measurement]:
    clips = (np.array(codes, np.uint8)[:, None, None, None] + np.zeros((1, 4, 4, 3), np.uint8) for codes in (gen, gt))
    observer = LandmarkObserver(pipeline)  # type: ignore[arg-type]
    for pair in paired_arrays(*clips):
        observer.add(pair)
    seen = observer.finish()
    return {name: METRICS[name].measurement(seen) for name in NAMES}


def test_frames_without_a_face_are_left_out_and_counted() -> None:
    # face 1 is 5 px from face 0; 2 is nobody. Pairs: 5 px, generated missing, reference missing, 0 px.
    found = measured(Planted([mesh()], [mesh(dx=3, dy=4)], []), gen=[1, 2, 0, 0], gt=[0, 0, 2, 0])
    assert (found["lmd"].value, found["lmd"].count) == (pytest.approx(2.5, abs=1e-4), 2)
    assert (
        found["lmd"].note == "no face in 1 of 4 frames of the generated clip; no face in 1 of 4 frames of the reference"
    )
    # Of three frames with a face in the reference one has lost it.
    assert (found["missing_face_ratio"].value, found["missing_face_ratio"].count) == (pytest.approx(1 / 3), 3)
    assert found["missing_face_ratio"].note == "no face in 1 of 4 frames of the reference"


def test_a_face_in_one_clip_only() -> None:
    one = measured(Planted([mesh()], []), gen=[1, 1], gt=[0, 0])
    assert one["lmd"].value is None and one["lmd"].note == "no face in the generated clip (2 frames looked at)"
    assert (one["missing_face_ratio"].value, one["missing_face_ratio"].note) == (1.0, "")
    other = measured(Planted([mesh()], []), gen=[0, 0], gt=[1, 1])
    for name in NAMES:
        assert other[name].value is None and other[name].note == "no face in the reference (2 frames looked at)"


def test_of_several_faces_the_references_largest_and_the_one_in_its_place() -> None:
    large, small = mesh(scale=1.2), mesh(dx=400)
    # In the generated frame the other face is the larger one: the one in the reference's place is taken all the same.
    found = measured(Planted([small, large], [large, mesh(dx=400, scale=2.0)]), gen=[1], gt=[0])
    assert found["lmd"].value == pytest.approx(0.0, abs=1e-4)
    # Nothing in its place: the largest.
    apart = measured(Planted([large], [mesh(dx=1000), mesh(dx=2000, scale=1.2)]), gen=[1], gt=[0])
    assert apart["lmd"].value == pytest.approx(2000.0, abs=1e-3)


def test_signatures_tell_the_formulas_apart() -> None:
    found = measured(Planted([mesh()]), gen=[0], gt=[0])
    assert [found[name].value for name in NAMES] == [0.0] * 6
    assert found["lmd"].signature == (
        "landmark_distance|align:none|distance:euclidean|face:largest-of-reference|mesh:mediapipe|norm:px|points:468|"
        "weights:0123456789ab|v:1"
    )
    assert "distance:l1-mean" in found["akd"].signature and "norm:interocular" in found["lmd_interocular"].signature
    assert "points:lips-40" in found["mouth_lmd"].signature and "align:centroid" in found["mouth_lmd_centred"].signature
    assert len({found[name].signature for name in NAMES}) == 6
    assert f"min_presence:{MIN_PRESENCE}" in found["missing_face_ratio"].signature


def test_models_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match=r"run: rushes models pull face$"):
        require_landmarks({})
    with pytest.raises(InputError, match=r"mine.task: no such face model"):
        require_landmarks({"face-landmarker": str(tmp_path / "mine.task")})


@pytest.fixture(scope="module")
def portrait() -> np.ndarray:
    """The astronaut's head, 256 × 256."""
    import cv2

    try:
        pull("face")
        picture = cv2.imread(str(pull("astronaut")[0]))[..., ::-1]
    except MissingDependency as missing:
        pytest.skip(str(missing))
    return np.ascontiguousarray(picture[:256, 96:352])


def test_a_real_face_that_moved(portrait: np.ndarray) -> None:
    """Shifted by 6 and 8 px with its frame around it: every point is about 10 px away, and the lips keep their shape.

    The detector's own region moves by a fraction of a pixel with the shift, and the mesh with it: within 0.8 px.
    """
    moved = np.roll(portrait, (8, 6), axis=(0, 1))
    found = compare_arrays(moved, portrait, metrics=NAMES)
    assert found["lmd"].value == pytest.approx(10.0, abs=0.8) and found["akd"].value == pytest.approx(7.0, abs=0.6)
    assert found["mouth_lmd_centred"].value < 0.8 < 8 < found["mouth_lmd"].value
    assert found["missing_face_ratio"].value == 0.0
    same = compare_arrays(portrait, portrait, metrics=NAMES)
    assert [same[name].value for name in NAMES] == [0.0] * 6
    none = compare_arrays(np.zeros_like(portrait), portrait, metrics=NAMES)
    assert none["akd"].value is None and none["missing_face_ratio"].value == 1.0


def test_noise_moves_the_points_more_and_more(portrait: np.ndarray) -> None:
    grain = np.random.default_rng(0).normal(size=portrait.shape)
    values = []
    for sigma in (5, 15, 30):
        noisy = np.clip(portrait + sigma * grain, 0, 255).astype(np.uint8)
        values.append(compare_arrays(noisy, portrait, metrics="lmd")["lmd"].value)
    assert values == sorted(values) and values[0] > 0


def test_a_damaged_model_is_one_line(portrait: np.ndarray, tmp_path: Path) -> None:
    broken = tmp_path / "broken.task"
    broken.write_bytes(b"no zip")
    with pytest.raises(WeightsError, match=r"broken.task: expected MediaPipe's face_landmarker.task"):
        compare_arrays(portrait, portrait, metrics="lmd", models={"face": str(broken)})
