"""The face models and the astronaut, fetched once; suites that need them are skipped where they cannot be had."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.remembered_faces import remembered_faces  # noqa: F401

from rushes.core.errors import MissingDependency
from rushes.vision.landmarks import FacePipeline
from rushes.vision.models.pulling import pull


def _pulled(group: str) -> tuple[Path, ...]:
    try:
        return pull(group)
    except MissingDependency as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def face_models() -> tuple[Path, ...]:
    return _pulled("face")


@pytest.fixture(scope="session")
def pipeline(face_models: tuple[Path, ...]) -> FacePipeline:
    return FacePipeline()


@pytest.fixture(scope="session")
def astronaut() -> NDArray[np.uint8]:
    """scikit-image's portrait: 512 × 512 × 3, RGB."""
    picture = cv2.imread(str(_pulled("astronaut")[0]))
    return np.ascontiguousarray(picture[..., ::-1])
