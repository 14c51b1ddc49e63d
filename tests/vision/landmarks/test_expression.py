"""Blendshapes: MediaPipe's own values are the reference, on the astronaut as it is, mirrored, dark and small."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.errors import MissingDependency, WeightsError
from rushes.vision.landmarks.expression import FaceExpression
from rushes.vision.models.pulling import pull


@pytest.fixture(scope="module")
def model() -> Path:
    try:
        return pull("face-landmarker")[0]
    except MissingDependency as missing:
        pytest.skip(str(missing))


def test_blendshapes_are_mediapipe_s(model: Path, astronaut: NDArray[np.uint8]) -> None:
    golden = json.loads(Path(__file__).with_name("goldens").joinpath("expression.json").read_text(encoding="utf-8"))
    networks = FaceExpression()
    frames = {"whole": astronaut, "mirrored": astronaut[:, ::-1], "dark": astronaut // 3, "half": astronaut[::2, ::2]}
    for name, frame in frames.items():
        found, place = networks.look(np.ascontiguousarray(frame))
        assert found is not None and place is not None
        # The points differ by hundredths of a pixel between two runtimes; the shapes follow.
        assert np.abs(found - golden[name]).max() < 0.002, name
    assert networks.look(np.full((120, 160, 3), 90, np.uint8)) == (None, None)


def test_a_bundle_without_the_network_is_refused(model: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.task"
    with zipfile.ZipFile(model) as whole, zipfile.ZipFile(short, "w") as part:
        for name in ("face_detector.tflite", "face_landmarks_detector.tflite"):
            part.writestr(name, whole.read(name))
    with pytest.raises(WeightsError, match=r"face_landmarker\.task with face_blendshapes\.tflite"):
        FaceExpression(short)
