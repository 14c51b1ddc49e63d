"""Two files to their numbers, for the tests of metrics."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from av.video.frame import VideoFrame

from rushes.instruments.fidelity.measure import Scored, score_frames
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.media.find.sets import Clip


def score(gen: Path, gt: Path, *names: str) -> Scored:
    """The metrics of these names over two clips."""
    with open_pair(Clip("clip", (gen,)), Clip("clip", (gt,)), Pairing()) as opened:
        return score_frames(opened.frames, opened.context, {name: METRICS[name] for name in names})


def planar(pix_fmt: str, planes: list[np.ndarray]) -> VideoFrame:
    """A frame of a planar or grey format whose planes hold exactly these codes."""
    height, width = planes[0].shape
    frame = VideoFrame(width, height, pix_fmt)
    for plane, codes in zip(frame.planes, planes, strict=True):
        kind = np.dtype(codes.dtype).newbyteorder("<")
        rows = np.frombuffer(memoryview(plane), kind).reshape(-1, plane.line_size // kind.itemsize)
        rows[: codes.shape[0], : codes.shape[1]] = codes
    return frame


def random_planes(rng: np.random.Generator, pix_fmt: str, size: tuple[int, int]) -> list[np.ndarray]:
    """Random codes for every plane of a format."""
    form = VideoFrame(*size, pix_fmt).format
    found = []
    for component in form.components:
        kind = np.uint8 if component.bits == 8 else np.uint16
        found.append(rng.integers(0, 1 << component.bits, (component.height, component.width)).astype(kind))
    return found


def disturbed(rng: np.random.Generator, planes: list[np.ndarray], bits: int, strength: int) -> list[np.ndarray]:
    """The same codes with noise of up to `strength` either way."""
    top = (1 << bits) - 1
    return [
        np.clip(plane.astype(np.int64) + rng.integers(-strength, strength + 1, plane.shape), 0, top).astype(plane.dtype)
        for plane in planes
    ]


def tid2013(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A pair of TID2013 with published values, generated first.

    They are in the wheel of pyiqa 0.1.16 (`ResultsCalibra`), unpacked where RUSHES_PYIQA says.
    """
    import cv2

    folder = Path(os.environ.get("RUSHES_PYIQA", "/nonexistent")) / "ResultsCalibra"
    if not folder.is_dir():
        pytest.skip("the pairs of TID2013 are not here: unpack pyiqa's wheel and set RUSHES_PYIQA to its folder")
    gen, gt = (cv2.imread(str(folder / side / f"{name}.bmp"))[..., ::-1].copy() for side in ("dist_dir", "ref_dir"))
    return gen, gt
