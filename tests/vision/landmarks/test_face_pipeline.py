"""The pipeline on real pixels: stateless, deterministic, honest about bad files."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.errors import InputError, WeightsError
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.landmarks import FacePipeline

Pixels = NDArray[np.uint8]


def _bytes(pipeline: FacePipeline, frame: Pixels) -> bytes:
    return b"".join(face.landmarks.tobytes() for face in pipeline.observe(frame))


def test_the_astronaut_has_one_face(pipeline: FacePipeline, astronaut: Pixels) -> None:
    (face,) = pipeline.observe(astronaut)
    left, top, right, bottom = face.bbox
    assert (170 < left < 190) and (60 < top < 80) and (265 < right < 280) and (165 < bottom < 185)
    assert face.landmarks.shape == (468, 3)
    assert face.score > 0.9 and face.presence > 0.9


def test_nothing_is_remembered_between_frames(pipeline: FacePipeline, astronaut: Pixels) -> None:
    alone = _bytes(pipeline, astronaut)
    pipeline.observe(astronaut[:, ::-1])
    pipeline.observe(np.zeros((64, 64, 3), np.uint8))
    assert _bytes(pipeline, astronaut) == alone


def test_the_same_bytes_for_any_thread_count_and_pipeline(pipeline: FacePipeline, astronaut: Pixels) -> None:
    before = cv2.getNumThreads()
    try:
        cv2.setNumThreads(4)
        assert _bytes(FacePipeline(threads=4), astronaut) == _bytes(pipeline, astronaut)
    finally:
        cv2.setNumThreads(before)


def test_the_same_bytes_in_another_process(pipeline: FacePipeline, astronaut: Pixels, tmp_path: Path) -> None:
    np.save(tmp_path / "frame.npy", astronaut)
    code = (
        "import sys, numpy, hashlib; from rushes.vision.landmarks import FacePipeline; "
        "faces = FacePipeline().observe(numpy.load(sys.argv[1])); "
        "print(hashlib.sha256(b''.join(f.landmarks.tobytes() for f in faces)).hexdigest())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "frame.npy")]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    assert done.stdout.strip() == bytes_digest(_bytes(pipeline, astronaut))
    assert done.stderr == ""  # LiteRT's greeting is kept off the terminal


def test_two_faces_come_best_score_first(pipeline: FacePipeline, astronaut: Pixels) -> None:
    pair = np.concatenate([astronaut[:300, 100:400], astronaut[:300, 100:400][:, ::-1]], axis=1)
    faces = pipeline.observe(pair)
    assert len(faces) == 2
    assert faces[0].score >= faces[1].score
    assert sorted(face.bbox[0] > 300 for face in faces) == [False, True]


def test_no_more_faces_than_asked(face_models: tuple[Path, ...], astronaut: Pixels) -> None:
    pair = np.concatenate([astronaut[:300, 100:400]] * 2, axis=1)
    assert len(FacePipeline(max_faces=1).observe(pair)) == 1


def test_a_mirrored_frame_gives_a_mirrored_face(pipeline: FacePipeline, astronaut: Pixels) -> None:
    (face,), (mirrored,) = pipeline.observe(astronaut), pipeline.observe(astronaut[:, ::-1])
    # Landmark 33 (right eye's outer corner) takes the place of 263 (the left eye's). The net is not quite symmetric.
    assert abs((512 - mirrored.landmarks[33, 0]) - face.landmarks[263, 0]) < 3
    assert abs(mirrored.landmarks[33, 1] - face.landmarks[263, 1]) < 3


def test_a_cropped_frame_gives_the_face_moved(pipeline: FacePipeline, astronaut: Pixels) -> None:
    (face,) = pipeline.observe(astronaut)
    (cropped,) = pipeline.observe(astronaut[20:360, 60:400])
    apart = np.linalg.norm(cropped.landmarks[:, :2] + [60, 20] - face.landmarks[:, :2], axis=1)
    assert apart.mean() < 2


@pytest.mark.parametrize("shape", [(16, 16, 3), (1, 1, 3), (1, 400, 3), (900, 3, 3)])
def test_frames_too_small_for_a_face_have_none(pipeline: FacePipeline, shape: tuple[int, ...]) -> None:
    assert pipeline.observe(np.full(shape, 128, np.uint8)) == ()


@pytest.mark.parametrize(
    "frame",
    [
        np.zeros((10, 10), np.uint8),
        np.zeros((10, 10, 4), np.uint8),
        np.zeros((10, 10, 3), np.float32),
        np.zeros((0, 10, 3), np.uint8),
    ],
)
def test_what_is_not_a_frame_is_refused(pipeline: FacePipeline, frame: NDArray[np.uint8]) -> None:
    with pytest.raises(InputError, match="a frame"):
        pipeline.observe(frame)


def test_a_file_that_is_no_bundle_says_what_was_wanted_and_got(tmp_path: Path) -> None:
    path = tmp_path / "x.task"
    path.write_bytes(b"not a model")
    with pytest.raises(WeightsError, match=f"64184e229b26.*{bytes_digest(b'not a model')[:12]}"):
        FacePipeline(path)


def test_a_bundle_without_networks_or_with_broken_ones_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.task"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("something_else.tflite", b"x")
    with pytest.raises(WeightsError, match="face_detector.tflite"):
        FacePipeline(path)
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("face_detector.tflite", b"x" * 100)
        bundle.writestr("face_landmarks_detector.tflite", b"x" * 100)
    with pytest.raises(WeightsError, match="expected a TensorFlow Lite model"):
        FacePipeline(path)


def test_a_network_in_the_wrong_place_is_refused(tmp_path: Path, face_models: tuple[Path, ...]) -> None:
    path = tmp_path / "x.task"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("face_detector.tflite", face_models[1].read_bytes())
        bundle.writestr("face_landmarks_detector.tflite", face_models[0].read_bytes())
    with pytest.raises(WeightsError, match=r"expected one float32 input of \(1, 128, 128, 3\)"):
        FacePipeline(path)


def test_a_truncated_bundle_is_refused(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.task"
    path.write_bytes((shared / "models" / "face_landmarker.task").read_bytes()[:1_000_000])
    with pytest.raises(WeightsError, match="does not open as one"):
        FacePipeline(path)


def test_a_missing_bundle_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such face model"):
        FacePipeline(tmp_path / "gone.task")
