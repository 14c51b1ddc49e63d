"""Faults of a face, on points made by hand: the eyes stay free, the mouth is held, the cover covers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.planting.kinds import face
from benchmarks.planting.kinds.face import Faces
from tests.planting.test_picture import moving


def mesh(shift: float, opening: float) -> np.ndarray:
    """A face 60 px wide at (60, 60): eyes at y = 40, lips at y = 80, chin at 100; the whole moved by `shift`."""
    points = np.full((468, 2), (60.0, 60.0))
    named = {33: (40, 40), 133: (52, 40), 362: (68, 40), 263: (80, 40), 168: (60, 44), 6: (60, 48), 197: (60, 54)}
    named |= {1: (60, 62), 61: (50, 80), 291: (70, 80), 0: (60, 76), 17: (60, 86), 78: (52, 80), 308: (68, 80)}
    named |= {39: (55, 77), 269: (65, 77), 181: (55, 85), 405: (65, 85), 152: (60, 100)}
    named |= {13: (60, 80 - opening / 2), 14: (60, 80 + opening / 2)}
    for index, place in named.items():
        points[index] = place
    return points + (shift, 0)


def speaking() -> tuple[face.Source, Faces]:
    """Six frames of noise; the face moves by two pixels a frame, frame 2 has the lips shut, frame 5 no face."""
    source = moving(6, size=(120, 140))
    points = np.array([mesh(2 * n, opening=0 if n == 2 else 8) for n in range(6)])
    points[5] = np.nan
    return source, Faces(points=points)


def test_a_dead_mouth_shows_the_shut_lips_wherever_the_head_is() -> None:
    source, faces = speaking()
    dead = face.dead_mouth(source, faces)
    lips = source.frames[2][80:86, 61:67].astype(int)  # at frame 2 the face stands 4 px to the right: centre (64, 80)
    for n in range(5):
        there = dead.frames[n][80:86, 57 + 2 * n : 63 + 2 * n].astype(int)
        assert np.abs(there - lips).max() <= 2, n
        assert np.array_equal(dead.frames[n][:50], source.frames[n][:50])  # the eyes are the frame's own
    assert np.array_equal(dead.frames[5], source.frames[5])


def test_a_still_portrait_is_one_frame_that_drifts() -> None:
    source, faces = speaking()
    still = face.still_portrait(source, faces)
    assert len(still.frames) == 6
    assert len({frame.tobytes() for frame in still.frames}) == 6
    inner = [frame[10:-10, 10:-10].astype(float).mean() for frame in still.frames]
    assert max(inner) - min(inner) < 1.5  # the noise behind it would move on by six columns


def test_a_lost_face_is_covered_for_so_long_in_the_middle() -> None:
    source, faces = speaking()
    source = replace(source, frames=source.frames[:5])
    faces = Faces(points=faces.points[:5])
    lost = face.lost_face(source, faces, 3 / 25)  # three frames of five: 1, 2, 3
    assert [not np.array_equal(a, b) for a, b in zip(lost.frames, source.frames, strict=True)] == [0, 1, 1, 1, 0]
    covered = lost.frames[2][40:100, 44:84]
    assert len(np.unique(covered.reshape(-1, 3), axis=0)) == 1
    assert np.array_equal(lost.frames[2][:, :20], source.frames[2][:, :20])
