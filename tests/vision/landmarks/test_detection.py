"""Anchors, score threshold, box decoding and weighted suppression, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.vision.landmarks.body_pipeline import _GRIDS
from rushes.vision.landmarks.detection import anchors, confident, decode, suppress


def test_anchor_grid() -> None:
    grid = anchors((16, 2), (8, 6))
    assert grid[:2].tolist() == [[0.03125, 0.03125]] * 2  # two anchors a cell at stride 8: (0 + 0.5) / 16
    assert grid[2].tolist() == [0.09375, 0.03125]  # next cell to the right
    assert grid[32].tolist() == [0.03125, 0.09375]  # next row: 16 cells × 2
    assert grid[512:518].tolist() == [[0.0625, 0.0625]] * 6  # six a cell at stride 16: (0 + 0.5) / 8
    # The body's: 28² × 2 + 14² × 2 + 7² × 6 = 1568 + 392 + 294.
    assert len(anchors(*_GRIDS)) == 2254


def test_a_score_on_the_threshold_is_kept() -> None:
    kept, scores = confident(np.array([0.0, -0.001, 5.0, -200.0], np.float32), 0.5)
    assert kept.tolist() == [0, 2]  # sigmoid(0) = 0.5 exactly
    assert scores == pytest.approx([0.5, 0.9933071])


def test_decode_adds_the_anchor_and_halves_the_size() -> None:
    raw = np.zeros((1, 16), np.float32)
    raw[0, :6] = [12.8, -6.4, 25.6, 51.2, 1.28, 0.0]
    row = decode(raw, np.array([[0.5, 0.5]], np.float32), size=128)[0]
    # centre (0.5 + 0.1, 0.5 − 0.05), size (0.2, 0.4): left 0.5, top 0.25, right 0.7, bottom 0.65
    assert row[:4] == pytest.approx([0.5, 0.25, 0.7, 0.65])
    assert row[4:6] == pytest.approx([0.51, 0.5])


def _rows(*boxes: tuple[float, float, float, float]) -> np.ndarray:
    rows = np.zeros((len(boxes), 16), np.float32)
    rows[:, :4] = boxes
    return rows


def test_overlapping_boxes_are_averaged_by_score() -> None:
    rows = _rows((0.0, 0.0, 0.4, 0.4), (0.1, 0.0, 0.5, 0.4), (0.6, 0.6, 0.9, 0.9))
    faces = suppress(rows, np.array([0.6, 0.9, 0.7], np.float32))
    # Boxes 0 and 1 share 0.3 × 0.4 = 0.12 of 0.20: IoU 0.6 > 0.3. Left = (0.9·0.1 + 0.6·0.0) / 1.5 = 0.06.
    assert [score for _, score in faces] == pytest.approx([0.9, 0.7])
    assert faces[0][0][:4] == pytest.approx([0.06, 0.0, 0.46, 0.4])
    assert faces[1][0][:4] == pytest.approx([0.6, 0.6, 0.9, 0.9])


def test_overlap_equal_to_the_limit_stays_apart() -> None:
    # 0…1 and 0.5…2 in x: shared 0.5 of 2.0 = 0.25 ≤ 0.3: two faces.
    assert len(suppress(_rows((0, 0, 1, 1), (0.5, 0, 2, 1)), np.array([0.9, 0.8], np.float32))) == 2


def test_boxes_of_negative_size_are_dropped_and_an_empty_one_ends_the_search() -> None:
    assert suppress(_rows((0.5, 0.5, 0.4, 0.6)), np.array([0.9], np.float32)) == []
    rows = _rows((0.5, 0.5, 0.5, 0.5), (0.0, 0.0, 0.2, 0.2))
    assert len(suppress(rows, np.array([0.9, 0.8], np.float32))) == 1
