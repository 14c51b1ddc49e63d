"""The region around a detection and the way back into the frame."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushes.vision.landmarks.crop import Roi, project
from rushes.vision.landmarks.face_pipeline import Detection, region_of_interest

f = np.float32


def _detection(right_eye: tuple[float, float], left_eye: tuple[float, float]) -> Detection:
    points = np.zeros((6, 2), np.float32)
    points[:2] = right_eye, left_eye
    return Detection(0.9, (f(0.25), f(0.5), f(0.5), f(0.25)), points)


def test_region_is_one_and_a_half_boxes_with_level_eyes() -> None:
    roi = region_of_interest(_detection((0.4, 0.5), (0.6, 0.5)), 200, 100, square=False)
    assert (roi.center_x, roi.center_y, roi.width, roi.height) == (0.5, 0.625, 0.75, 0.375)
    assert roi.rotation == 0


def test_the_older_graph_squares_by_the_long_side_in_pixels() -> None:
    roi = region_of_interest(_detection((0.4, 0.5), (0.6, 0.5)), 200, 100, square=True)
    # Box 100 × 25 px → 100 × 100 px, × 1.5 = 150 px a side.
    region = roi.in_pixels(200, 100)
    assert (region.width, region.height) == pytest.approx((150, 150))


def test_rotation_follows_the_eyes_in_pixels() -> None:
    # 0.2 of 100 px across and 0.1 of 200 px down: 20 px each way, 45° clockwise on screen.
    roi = region_of_interest(_detection((0.4, 0.4), (0.6, 0.5)), 100, 200, square=True)
    assert roi.rotation == pytest.approx(math.pi / 4)


def test_an_upside_down_face_stays_within_half_a_turn() -> None:
    roi = region_of_interest(_detection((0.6, 0.5), (0.4, 0.5)), 100, 100, square=True)
    assert abs(abs(roi.rotation) - math.pi) < 1e-6


def test_project_turns_scales_and_moves() -> None:
    quarter = Roi(f(0.5), f(0.5), f(0.4), f(0.2), f(math.pi / 2))
    points = np.array([[0.5, 0.5, 0.0], [1.0, 0.5, 0.5]], np.float32)
    # The right end of the region's x axis, (0.5, 0) from its centre, turns to (0, 0.5): half a height down.
    assert project(points, quarter) == pytest.approx(np.array([[0.5, 0.5, 0.0], [0.5, 0.6, 0.2]]), abs=1e-6)
