"""Which face is followed: linking by overlap, the most persistent, ties, gaps."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.instruments.clip.faces.track import KEPT, FaceTrack, FaceTrackBuilder, link
from rushes.vision.landmarks.face_pipeline import Face

FRAME = np.zeros((100, 200, 3), np.uint8)
Box = tuple[float, float, float, float]


class Script:
    """Stands in for the pipeline: the faces of each frame are given."""

    def __init__(self, frames: list[list[Box]]) -> None:
        self._frames = iter(frames)

    def observe(self, rgb: np.ndarray) -> tuple[Face, ...]:
        return tuple(_face(box) for box in next(self._frames))


def _face(box: Box) -> Face:
    landmarks = np.zeros((468, 3), np.float32)
    landmarks[:, 0] = np.arange(468) + box[0]
    return Face(bbox=box, score=0.9, presence=0.9, landmarks=landmarks)


def _track(frames: list[list[Box]], times: list[float] | None = None) -> FaceTrack:
    builder = FaceTrackBuilder(Script(frames))
    for number in range(len(frames)):
        builder.add(FRAME, None if times is None else times[number])
    return builder.finish()


A, A_MOVED, B = (0.0, 0.0, 40.0, 40.0), (10.0, 0.0, 50.0, 40.0), (100.0, 0.0, 120.0, 20.0)


def test_a_single_face_with_gaps() -> None:
    track = _track([[A], [], [A_MOVED]])
    assert track.seen.tolist() == [True, False, True]
    assert track.face_count.tolist() == [1, 0, 1]
    assert track.bbox[[0, 2]].tolist() == [list(A), list(A_MOVED)]
    assert np.isnan(track.points[1]).all()
    assert (track.width, track.height, track.people) == (200, 100, 1)


def test_kept_points_are_those_of_the_mesh() -> None:
    track = _track([[A]])
    assert track.landmarks(33, 263)[0, :, 0].tolist() == [33.0, 263.0]
    assert track.points.shape == (1, len(KEPT), 2)


def test_the_most_persistent_face_wins_over_the_larger() -> None:
    track = _track([[A, B], [B], [B]])
    assert track.bbox[:, 0].tolist() == [100.0] * 3
    assert track.people == 2


def test_of_equally_persistent_faces_the_larger_wins_whatever_the_order() -> None:
    for frames in ([[A, B], [A, B]], [[B, A], [B, A]]):
        assert _track(frames).bbox[:, 0].tolist() == [0.0, 0.0]


def test_of_equals_the_first_wins() -> None:
    left, right = (0.0, 0.0, 10.0, 10.0), (50.0, 0.0, 60.0, 10.0)
    assert _track([[right, left]]).bbox[0, 0] == 50.0


def test_a_face_that_comes_back_to_its_place_is_the_same() -> None:
    assert _track([[A], [], [], [A_MOVED]]).people == 1


def test_a_face_elsewhere_is_another() -> None:
    track = _track([[A], [B], [B]])
    assert track.people == 2
    assert track.seen.tolist() == [False, True, True]


def test_links_go_to_the_closest_and_are_used_once() -> None:
    assert link([A], [A_MOVED, A]) == {1: 0}
    assert link([A, A_MOVED], [A, A_MOVED]) == {0: 0, 1: 1}
    assert link([], [A]) == {}
    assert link([A], [(40.0, 0.0, 80.0, 40.0)]) == {}  # they only touch


def test_no_frames_give_an_empty_track() -> None:
    track = _track([])
    assert len(track) == 0 and track.people == 0 and track.times_ms is None


def test_times_are_kept() -> None:
    track = _track([[A], [A]], times=[0.0, 40.0])
    assert track.times_ms is not None
    assert track.times_ms.tolist() == pytest.approx([0.0, 40.0])
