"""The second look for faces: tiles by hand, and a pipeline that sees nothing but squares of the right size."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.instruments.clip.faces.wide_search import SIDES, WideSearch, tiles
from rushes.vision.landmarks.face_pipeline import Face


class Near:
    """Finds a white dot where it is at least a tenth of the shorter side of the picture; counts its looks."""

    def __init__(self) -> None:
        self.looks = 0

    def observe(self, rgb: np.ndarray) -> tuple[Face, ...]:
        self.looks += 1
        rows, columns = np.nonzero(rgb[..., 0] == 255)
        if not len(rows) or np.ptp(columns) + 1 < 0.1 * max(rgb.shape[:2]):
            return ()
        box = (float(columns.min()), float(rows.min()), float(columns.max()), float(rows.max()))
        points = np.array([[box[0], box[1], 0.5]], np.float32)
        return (Face(bbox=box, score=0.9, presence=0.9, landmarks=points),)


def picture(size: int, *, left: int = 600, top: int = 300) -> np.ndarray:
    frame = np.zeros((720, 1280, 3), np.uint8)
    frame[top : top + size, left : left + size] = 255
    return frame


@pytest.mark.parametrize("share", SIDES)
@pytest.mark.parametrize("size", [(1280, 720), (720, 1280), (640, 360), (500, 500)])
def test_tiles_cover_the_frame_and_overlap_by_half(size: tuple[int, int], share: float) -> None:
    width, height = size
    covered = np.zeros((height, width), bool)
    found = list(tiles(width, height, share))
    for left, top, side in found:
        assert 0 <= left <= width - side and 0 <= top <= height - side
        covered[top : top + side, left : left + side] = True
    assert covered.all()
    steps = np.diff(sorted({left for left, _, _ in found}))
    assert (steps <= found[0][2] / 2 + 1).all()


def test_a_large_face_is_looked_at_once() -> None:
    near = Near()
    assert WideSearch(near).observe(picture(200))[0].bbox == (600.0, 300.0, 799.0, 499.0)
    assert near.looks == 1


@pytest.mark.parametrize(("size", "left"), [(90, 600), (90, 20), (90, 1180), (50, 600)])
def test_a_small_face_is_found_in_a_tile_at_its_place_in_the_frame(size: int, left: int) -> None:
    """90 px are 7 % of the width and an eighth of a tile of 720; 50 px are 4 % and an eighth of one of 396."""
    face = WideSearch(Near()).observe(picture(size, left=left))[0]
    assert face.bbox == (left, 300.0, left + size - 1.0, 299.0 + size)
    assert face.landmarks[0].tolist() == [left, 300.0, 0.5]


def test_no_face_and_a_square_frame() -> None:
    near = Near()
    assert WideSearch(near).observe(np.zeros((720, 1280, 3), np.uint8)) == ()
    assert near.looks == 1 + 3 + 18
    square = Near()
    assert WideSearch(square).observe(np.zeros((100, 100, 3), np.uint8)) == ()
    assert square.looks == 1, "its tiles are itself, or too small"
