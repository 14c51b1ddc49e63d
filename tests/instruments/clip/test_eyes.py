"""eye_contrast and face_detail: faces that are drawn by hand, and a portrait whose eyes are painted over or blurred."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.faces.face_looks import EYES, SMALLEST, Look, eye_depths, face_detail_of
from rushes.instruments.clip.metrics.face.eyes import EYE_CONTRAST, FACE_DETAIL, FEWEST, eye_contrast, face_detail
from rushes.media import write_clip
from rushes.vision.landmarks.identity import as_bgr, identity_networks
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named

here = all(is_pulled(group_named(name)) for name in ("face-id", "astronaut"))
pulled = pytest.mark.skipif(not here, reason="rushes models pull face-id astronaut")
EYE, DETAIL = (one.with_params(detector_weights="d") for one in (EYE_CONTRAST, FACE_DETAIL))


def looks(*eyes: tuple[float, float] | None, detail: float | None = None) -> list[Look]:
    return [Look(frame=n, time_ms=200.0 * n, feature=np.ones(1), eyes=one, detail=detail) for n, one in enumerate(eyes)]


def test_the_fainter_eye_of_the_two() -> None:
    # Medians 0.5 and 0.2, whatever a single look says; a look at a small face says nothing.
    found = eye_contrast(EYE, looks((0.5, 0.2), None, (0.9, 0.1), (0.4, 0.9)))
    assert (found.value, found.count) == (0.2, 3)
    few = eye_contrast(EYE, looks((0.5, 0.2), (0.5, 0.2), None))
    assert few.value is None and few.note == f"a face of {SMALLEST} pixels in 2 looks; needs {FEWEST}"


def test_the_median_of_the_detail() -> None:
    assert face_detail(DETAIL, looks(None, None, None, detail=0.25)).value == 0.25
    assert face_detail(DETAIL, looks(None, None, None)).value is None


def test_an_eye_is_darker_than_the_cheek_below_it() -> None:
    face = np.full((112, 112), 160, np.float32)
    assert eye_depths(face) == (0.0, 0.0)
    (x, y), _ = EYES
    face[y - 2 : y + 3, x - 4 : x + 5] = 40  # 45 of 209 pixels: 1 − 40 / 160
    assert eye_depths(face) == (0.75, 0.0)
    assert eye_depths(0 * face) == (1.0, 1.0)  # black: nothing to divide by


def test_detail_is_what_a_blur_takes_away() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(120, 20, (112, 112)).astype(np.float32)
    slope = np.tile(np.linspace(0, 200, 112, dtype=np.float32), (112, 1))
    assert face_detail_of(noise) > 0.9 and face_detail_of(slope) < 0.06
    blurred = [face_detail_of(cv2.GaussianBlur(noise, (0, 0), sigma)) for sigma in (1, 2, 4)]
    assert blurred == sorted(blurred, reverse=True)


@pulled
def test_a_portrait_as_it_is_without_eyes_and_blurred(tmp_path: Path) -> None:
    portrait = np.ascontiguousarray(cv2.imread(str(model_path("astronaut.png")))[..., ::-1])
    (left, top, right, bottom), row = [
        (face.box, face.row) for face in identity_networks().faces(as_bgr(portrait)) if face.score > 0.8
    ][0]
    assert bottom - top > SMALLEST
    blind, soft = portrait.copy(), portrait.copy()
    for x, y in (row[4:6], row[6:8]):
        colour = portrait[int(y) + 16 : int(y) + 22, int(x) - 4 : int(x) + 5].reshape(-1, 3).mean(axis=0)
        cv2.ellipse(blind, (int(x), int(y)), (18, 11), 0, 0, 360, colour.tolist(), -1)
    area = (slice(int(top), int(bottom)), slice(int(left), int(right)))
    soft[area] = cv2.GaussianBlur(soft[area], (0, 0), (bottom - top) / 20)
    values = []
    for name, picture in (("as it is", portrait), ("blind", blind), ("soft", soft)):
        write_clip(tmp_path / f"{name}.mp4", [picture] * 20, fps=25, crf=12)
        found = evaluate_clip(tmp_path / f"{name}.mp4", metrics=["eye_contrast", "face_detail", "identity_drift"])
        assert found["eye_contrast"].count == found["identity_drift"].count == 4  # at 0, 0.2, 0.4 and 0.6 s
        assert np.isfinite(found.series["eye_contrast"]).sum() == 4
        values.append((found["eye_contrast"].value, found["face_detail"].value))
    (eyes, detail), (no_eyes, _), (_, little) = values
    assert eyes > 0.4 > 0.3 > no_eyes and detail > 0.2 > 0.15 > little
