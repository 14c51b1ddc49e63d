"""What the face networks see in a picture, kept for every later look at the same picture."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.vision.landmarks import Face, FacePipeline

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
