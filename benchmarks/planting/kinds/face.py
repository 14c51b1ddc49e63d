"""Faults of a face: a dead mouth, covered, melting, blurred, without eyes, or another person's. Landmarks say where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.vision.landmarks import FacePipeline

from ..source import Pixels, Source
from .structure import remapped, rng_of, sized_like, smooth_field

# Points of the 468-point mesh that do not move with the mouth: corners of the eyes, bridge and tip of the nose.
_RIGID = (33, 133, 362, 263, 168, 6, 197, 1)
_LIPS = (61, 291, 0, 17, 13, 14, 39, 269, 181, 405, 78, 308)
_CHIN = 152
_INNER_UPPER, _INNER_LOWER = 13, 14
_DRIFT_PX = 2.0
_DRIFT_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Faces:
    """The clip's largest face in every frame: N × 468 × 2 points, NaN where there is none."""

    points: NDArray[np.float64]

    @property
    def present(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.points[:, 0, 0])


def find_faces(source: Source, pipeline: FacePipeline) -> Faces:
    """Look at every frame."""
    rows = np.full((len(source.frames), 468, 2), np.nan)
    for n, frame in enumerate(source.frames):
        faces = [face for face in pipeline.observe(frame) if face.presence >= 0.5]
        if faces:
            largest = max(faces, key=lambda face: (face.bbox[2] - face.bbox[0]) * (face.bbox[3] - face.bbox[1]))
            rows[n] = largest.landmarks[:468, :2]
    return Faces(points=rows)


def dead_mouth(source: Source, faces: Faces) -> Source:
    """The mouth and chin of the frame with the most closed lips, moved along with the head, laid over every frame.

    The patch follows the eyes and nose by a similarity transform and has a soft edge: the head moves and the eyes
    blink, the mouth stays shut while the sound goes on.
    """
    here = np.flatnonzero(faces.present)
    gaps = [_opening(faces.points[n]) for n in here]
    still = int(here[int(np.argmin(gaps))])
    mask = _mouth_mask(faces.points[still], source.frames[still].shape)
    changed = {
        int(n): _laid_over(source.frames[n], source.frames[still], mask, faces.points[still], faces.points[n])
        for n in here
    }
    return source.changed(changed)


def still_portrait(source: Source, faces: Faces) -> Source:
    """One frame of the clip for its whole length, drifting by two pixels to and fro: a picture, not a speaker."""
    still = source.frames[int(np.flatnonzero(faces.present)[0])]
    return replace(source, frames=[_drifted(still, n / float(source.fps)) for n in range(len(source.frames))])


def _drifted(frame: Pixels, seconds: float) -> Pixels:
    angle = 2 * np.pi * seconds / _DRIFT_S
    move = np.array([[1, 0, _DRIFT_PX * np.sin(angle)], [0, 1, _DRIFT_PX * np.cos(angle)]])
    return _warped(frame, move)


def lost_face(source: Source, faces: Faces, seconds: float) -> Source:
    """The face is covered for so long in the middle of the clip, in the mean colour of the picture."""
    count = round(seconds * float(source.fps))
    first = max(0, (len(source.frames) - count) // 2)
    span = range(first, min(len(source.frames), first + count))
    return source.changed({n: _covered(source.frames[n], faces.points[n]) for n in span if faces.present[n]})


def _covered(frame: Pixels, points: NDArray[np.float64]) -> Pixels:
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    width, height = right - left, bottom - top
    out = frame.copy()
    rows = slice(max(0, int(top - 0.6 * height)), int(bottom + 0.3 * height))
    columns = slice(max(0, int(left - 0.4 * width)), int(right + 0.4 * width))
    out[rows, columns] = frame.reshape(-1, 3).mean(axis=0).astype(np.uint8)
    return out


def _box(points: NDArray[np.float64], shape: Sequence[int]) -> tuple[slice, slice]:
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    rows = slice(max(0, int(top)), min(shape[0], int(bottom) + 1))
    return rows, slice(max(0, int(left)), min(shape[1], int(right) + 1))


def _over(source: Source, faces: Faces, change: Callable[[Pixels, int], Pixels], first: int = 0) -> Source:
    """The face of every frame from `first` on changed inside its box."""
    changed = {}
    for n in range(first, len(source.frames)):
        if faces.present[n]:
            out = source.frames[n].copy()
            area = _box(faces.points[n], out.shape)
            if out[area].size:
                out[area] = change(out[area], n)
                changed[n] = out
    return source.changed(changed)


def static_face(source: Source, faces: Faces, part: str) -> Source:
    """Noise over the mouth, over the whole face from the middle on, or over it all the time."""
    rng = rng_of(source, "static")

    def noise(area: Pixels, n: int) -> Pixels:
        out = area.copy()
        rows = slice(len(area) * 5 // 8, None) if part == "mouth" else slice(None)
        out[rows] = rng.integers(0, 256, out[rows].shape, dtype=np.uint8)
        return out

    return _over(source, faces, noise, len(source.frames) // 2 if part == "second half" else 0)


def melting_face(source: Source, faces: Faces, share: float) -> Source:
    """The face runs, by `share` of its height at the end."""
    rng, count = rng_of(source, "melting face"), len(source.frames)
    fields = [smooth_field(rng, (256, 256), 3) for _ in "xy"]

    def melted(area: Pixels, n: int) -> Pixels:
        height, width = area.shape[:2]
        by = np.float32(share * height * n / count)
        dx, dy = (cv2.resize(field, (width, height)) * by for field in fields)
        return remapped(area, dx, dy)

    return _over(source, faces, melted)


def blurred_face(source: Source, faces: Faces, part: float) -> Source:
    """The face is blurred with sigma = its height / `part`."""
    return _over(source, faces, lambda area, n: cv2.GaussianBlur(area, (0, 0), max(0.5, len(area) / part)))


def painted_eyes(source: Source, faces: Faces, eyes: str) -> Source:
    """The colour of the cheek over one eye, both from the middle on, or both all the time."""
    rings = {"one eye": ((33, 133),), "second half": ((33, 133), (362, 263)), "both eyes": ((33, 133), (362, 263))}
    first = len(source.frames) // 2 if eyes == "second half" else 0
    changed = {}
    for n in range(first, len(source.frames)):
        if faces.present[n]:
            changed[n] = _painted(source.frames[n], faces.points[n], rings[eyes])
    return source.changed(changed)


def _painted(frame: Pixels, points: NDArray[np.float64], corners: Sequence[tuple[int, int]]) -> Pixels:
    out = frame.copy()
    x, y = (int(v) for v in points[50])
    skin = frame[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3].reshape(-1, 3)
    colour = [int(v) for v in skin.mean(axis=0)] if len(skin) else [128, 128, 128]
    for a, b in corners:
        centre = (points[a] + points[b]) / 2
        half = np.linalg.norm(points[a] - points[b]) * 0.75
        cv2.ellipse(out, tuple(int(v) for v in centre), (int(half), int(half * 0.6)), 0, 0, 360, colour, -1)
    return out


def another_person(source: Source, other: Source, seconds: float) -> Source:
    """Another speaker's picture from the middle on, after a dissolve of so many seconds; the sound stays."""
    middle, length = len(source.frames) // 2, max(1, round(seconds * float(source.fps)))

    def mixed(n: int) -> Pixels:
        weight = min(1.0, (n - middle + 1) / length)
        at = min(len(other.frames) - 1, round(n / float(source.fps) * float(other.fps))) if other.frames else 0
        return cv2.addWeighted(source.frames[n], 1 - weight, sized_like(other.frames[at], source.frames[n]), weight, 0)

    return source.changed({n: mixed(n) for n in range(middle, len(source.frames))})


def _opening(points: NDArray[np.float64]) -> float:
    """Distance of the inner lips over the distance of the outer corners of the eyes."""
    apart = np.linalg.norm(points[_INNER_UPPER] - points[_INNER_LOWER])
    return float(apart / np.linalg.norm(points[33] - points[263]))


def _mouth_mask(points: NDArray[np.float64], shape: Sequence[int]) -> NDArray[np.float32]:
    """1 over lips and chin, falling to 0 within a soft edge."""
    area = points[[*_LIPS, _CHIN]]
    centre = area.mean(axis=0)
    hull = cv2.convexHull((centre + (area - centre) * 1.35).astype(np.float32)).astype(np.int32)
    mask = np.zeros(tuple(shape[:2]), np.float32)
    cv2.fillConvexPoly(mask, hull, 1.0)
    eyes = float(np.linalg.norm(points[33] - points[263]))
    return cv2.GaussianBlur(mask, (0, 0), max(1.0, eyes / 15))


def _laid_over(
    frame: Pixels, still: Pixels, mask: NDArray[np.float32], was: NDArray[np.float64], now: NDArray[np.float64]
) -> Pixels:
    move = _similarity(was[list(_RIGID)], now[list(_RIGID)])
    patch, weight = _warped(still, move), _warped(mask, move)[..., None]
    return np.clip(patch * weight + frame * (1 - weight) + 0.5, 0, 255).astype(np.uint8)


def _similarity(was: NDArray[np.float64], now: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least-squares turn, scale and shift of points (Umeyama, in the plane: one complex factor)."""
    a, b = was[:, 0] + 1j * was[:, 1], now[:, 0] + 1j * now[:, 1]
    factor = np.vdot(a - a.mean(), b - b.mean()) / np.vdot(a - a.mean(), a - a.mean())
    shift = b.mean() - factor * a.mean()
    return np.array([[factor.real, -factor.imag, shift.real], [factor.imag, factor.real, shift.imag]])


def _warped(picture: NDArray, move: NDArray[np.float64]) -> NDArray:  # type: ignore[type-arg]
    size = (picture.shape[1], picture.shape[0])
    return cv2.warpAffine(picture, move, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
