"""Landmarks against MediaPipe's own, kept as goldens (see tests/oracle)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.media import ClipReader
from rushes.vision.landmarks import FacePipeline

TESTS = Path(__file__).parents[2]
MEAN_PX, MAX_PX = 0.05, 1.0
EVERY = 20


def _frames_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("oracle_frames", TESTS / "oracle" / "frames.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _points(pipeline: FacePipeline, frame: NDArray[np.uint8]) -> NDArray[np.float32]:
    faces = pipeline.observe(frame)
    return faces[0].landmarks[:, :2] if faces else np.zeros((0, 2), np.float32)


def _check(found: NDArray[np.float32], wanted: NDArray[np.float32], where: str) -> None:
    assert len(found) == len(wanted), f"{where}: presence differs"
    if len(wanted):
        apart = np.linalg.norm(found - wanted, axis=1)
        assert apart.mean() <= MEAN_PX, where
        assert apart.max() <= MAX_PX, where


@pytest.fixture(scope="module")
def full_pipeline(shared: Path) -> FacePipeline:
    return FacePipeline(shared / "models" / "face_landmarker.task")


def test_astronaut_468(pipeline: FacePipeline, astronaut: NDArray[np.uint8]) -> None:
    golden = np.load(TESTS / "goldens" / "face_astronaut.npz")
    for name, frame in _frames_module().variants(astronaut).items():
        _check(_points(pipeline, frame), golden[f"{name}.468"], name)


def test_astronaut_478(full_pipeline: FacePipeline, astronaut: NDArray[np.uint8]) -> None:
    golden = np.load(TESTS / "goldens" / "face_astronaut.npz")
    for name, frame in _frames_module().variants(astronaut).items():
        _check(_points(full_pipeline, frame), golden[f"{name}.478"], name)


def test_the_goldens_hold_faces_and_their_absence() -> None:
    golden = np.load(TESTS / "goldens" / "face_astronaut.npz")
    counts = {name: len(golden[name]) for name in golden.files}
    assert {counts[f"{name}.468"] for name in ("no_face", "tiny_16")} == {0}
    assert sum(count == 468 for count in counts.values()) == 16
    assert sum(count == 478 for count in counts.values()) == 16


CLIPS = ("face_LipNet_bbaf2n", "face_LipNet_lwbsza", "face_LipNet_swiz3n", "face_LivePortrait_d12")


@pytest.mark.shared
@pytest.mark.parametrize("name", CLIPS)
def test_clips_468(name: str, pipeline: FacePipeline, shared: Path) -> None:
    _check_clip(name, pipeline, shared)


@pytest.mark.shared
@pytest.mark.parametrize("name", CLIPS[::3])
def test_clips_478(name: str, full_pipeline: FacePipeline, shared: Path) -> None:
    _check_clip(name, full_pipeline, shared)


def _check_clip(name: str, pipeline: FacePipeline, shared: Path) -> None:
    golden = np.load(TESTS / "goldens" / "face_clips.npz")
    key = f"{name}.{pipeline.layout.points}"
    (path,) = (shared / "clips").glob(f"{name}.*")
    present = []
    with ClipReader(path) as reader:
        for frame in reader:
            found = _points(pipeline, frame.rgb())
            present.append(len(found) > 0)
            if frame.index % EVERY == 0:
                _check(found, golden[f"{key}.points"][frame.index // EVERY] / np.float32(100), f"{key} {frame.index}")
    assert np.array_equal(np.packbits(present), golden[f"{key}.present"])
