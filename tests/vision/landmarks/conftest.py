"""The face models and the astronaut, fetched once; suites that need them are skipped where they cannot be had."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.errors import MissingDependency
from rushes.vision.landmarks import Face, FacePipeline
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


_SEEN: dict[tuple[str, int, bytes], tuple[Face, ...]] = {}


@pytest.fixture(scope="module")
def remembered_faces() -> Iterator[None]:
    """The networks look at each picture once: for suites about what is made of their points, clip after clip."""
    look = FacePipeline.observe

    def observe(pipeline: FacePipeline, rgb: NDArray[np.uint8]) -> tuple[Face, ...]:
        picture = hashlib.sha256(f"{rgb.shape}".encode() + np.ascontiguousarray(rgb).data).digest()
        key = pipeline.digest, pipeline.max_faces, picture
        if key not in _SEEN:
            _SEEN[key] = look(pipeline, rgb)
        return _SEEN[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FacePipeline, "observe", observe)
        yield


@pytest.fixture(scope="session")
def astronaut() -> NDArray[np.uint8]:
    """scikit-image's portrait: 512 × 512 × 3, RGB."""
    picture = cv2.imread(str(_pulled("astronaut")[0]))
    return np.ascontiguousarray(picture[..., ::-1])
