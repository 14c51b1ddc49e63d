"""Hand-made face tracks: every landmark placed, so that every value is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushes.instruments.clip.faces.track import KEPT, LEFT_EYE, RIGHT_EYE, FaceTrack

EYES = 100.0
"""Inter-ocular distance of every made face, in pixels, before scaling."""


def made_points(
    *,
    mouth: float = 10.0,
    ear: float = 0.3,
    jaw: float = 0.0,
    wide: float = 40.0,
    brow: float = 20.0,
    gaze: float = 0.5,
    dx: float = 0.0,
    dy: float = 0.0,
    scale: float = 1.0,
) -> np.ndarray:
    """`KEPT` landmarks of one face: eyes 100 px apart, lips `mouth` px apart, both eyes with this aspect ratio.

    The corners of the mouth are `wide` px apart, the brows `brow` px over the lids, the irises at this share of the
    way between the corners of the eyes.
    The outer lips are 20 px further apart than the inner ones; the chin is 60 + `jaw` px under the tip of the nose.
    """
    place = {number: (50.0, 40.0) for number in KEPT}
    for corner, eye in ((0.0, RIGHT_EYE), (80.0, LEFT_EYE)):
        # 20 px wide, lids `ear` × 20 px apart: EAR = (h + h) / (2 · 20) with h = 20 · ear.
        half = 10 * ear
        x = (corner, corner + 7, corner + 13, corner + 20, corner + 13, corner + 7)
        y = (0.0, -half, -half, 0.0, half, half)
        for number, point in zip(eye, zip(x, y, strict=True), strict=True):
            place[number] = point
    place[13], place[14] = (50.0, 60.0), (50.0, 60.0 + mouth)
    place[0], place[17] = (50.0, 50.0), (50.0, 70.0 + mouth)
    place[61], place[291] = (50 - wide / 2, 65.0), (50 + wide / 2, 65.0)
    for over, lid, x in ((105, 159, 10.0), (334, 386, 90.0)):
        place[over], place[lid] = (x, -3.0 - brow), (x, -3.0)
    place[468], place[473] = (20 * gaze, 0.0), (80 + 20 * gaze, 0.0)
    place[152] = (50.0, 100.0 + jaw)
    points = np.array([place[number] for number in KEPT])
    return points * scale + [dx, dy]


def made_track(
    faces: Sequence[np.ndarray | None],
    *,
    boxes: Sequence[tuple[float, float, float, float] | None] | None = None,
    size: tuple[int, int] = (300, 400),
    times_ms: np.ndarray | None = None,
) -> FaceTrack:
    """A track from points per frame, None for a gap; boxes are those of the points unless given."""
    points = np.full((len(faces), len(KEPT), 2), np.nan)
    bbox = np.full((len(faces), 4), np.nan)
    for frame, face in enumerate(faces):
        if face is not None:
            points[frame] = face
            bbox[frame] = (*face.min(axis=0), *face.max(axis=0))
    for frame, box in enumerate(boxes or ()):
        bbox[frame] = np.nan if box is None else box
    seen = ~np.isnan(bbox[:, 0])
    return FaceTrack(
        width=size[0],
        height=size[1],
        face_count=seen.astype(np.int64),
        bbox=bbox,
        points=points,
        times_ms=times_ms,
        people=int(seen.any()),
    )
