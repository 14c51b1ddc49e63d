"""One face followed through a clip: which face, in which frames, and the points that the metrics use.

Frames are observed one by one, each on its own. Faces of successive frames are linked when their boxes overlap, the
closest overlap first; the face measured is the one seen in most frames, of equals the largest, of those the first.
A frame without that face is a gap: NaN, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rushes.vision.landmarks.choice import Box, overlap
from rushes.vision.landmarks.face_pipeline import Face

RIGHT_EYE = (33, 160, 158, 133, 153, 144)
LEFT_EYE = (362, 385, 387, 263, 373, 380)
"""Outer or inner corner, two points of the upper lid, the other corner, two of the lower lid: the order EAR needs."""
LIPS = (13, 14)
"""Middle of the inner upper and lower lip."""
OUTER_LIPS = (0, 17)
"""Middle of the upper lip's upper edge and of the lower lip's lower edge."""
JAW = (1, 152)
"""Tip of the nose and chin."""
MOUTH_CORNERS = (61, 291)
OUTER_EYE_CORNERS = (33, 263)
BROWS = ((105, 159), (334, 386))
"""Middle of each brow and of the upper lid under it."""
IRISES = (468, 473)
"""Middle of the right and of the left iris; only the 478-point model has them."""
RIGID = (1, 6, 10, 33, 133, 168, 234, 263, 362, 454)
"""Nose tip and bridge, forehead, eye corners, temples: points that neither speech nor blinking moves."""

KEPT = tuple(
    sorted(
        {*RIGHT_EYE, *LEFT_EYE, *LIPS, *OUTER_LIPS, *MOUTH_CORNERS, *JAW, *OUTER_EYE_CORNERS, *RIGID, *IRISES}
        | {point for brow in BROWS for point in brow}
    )
)
"""The landmarks a track keeps, by their number in MediaPipe's face mesh (the same in both models)."""

_COLUMN = {number: column for column, number in enumerate(KEPT)}


class Observer(Protocol):
    """What the builder needs of a face pipeline."""

    def observe(self, rgb: NDArray[np.uint8]) -> tuple[Face, ...]: ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FaceTrack:
    """The measured face, frame by frame."""

    width: int
    height: int
    face_count: NDArray[np.int64]
    """Faces seen in each frame (T)."""
    bbox: NDArray[np.float64]
    """Left, top, right, bottom of the measured face's landmarks, in pixels (T × 4); NaN where it was not seen."""
    points: NDArray[np.float64]
    """The landmarks in `KEPT`, in pixels (T × len(KEPT) × 2); NaN where the face was not seen."""
    depth: NDArray[np.float64] | None = None
    """Depth of the same landmarks on the scale of x, larger further away (T × len(KEPT)); None if not known."""
    times_ms: NDArray[np.float64] | None = None
    """Presentation time of each frame; None when frames are evenly spaced."""
    people: int = 1
    """How many different faces were followed."""

    def __len__(self) -> int:
        return len(self.face_count)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """In which frames the measured face was seen (T)."""
        return ~np.isnan(self.bbox[:, 0])

    def landmarks(self, *numbers: int) -> NDArray[np.float64]:
        """Some landmarks by their number in the face mesh (T × n × 2)."""
        return self.points[:, [_COLUMN[number] for number in numbers]]

    def in_space(self, *numbers: int) -> NDArray[np.float64]:
        """The same with their depth (T × n × 3); NaN where the depth is not known."""
        flat = self.landmarks(*numbers)
        columns = [_COLUMN[number] for number in numbers]
        depth = np.full(flat.shape[:2], np.nan) if self.depth is None else self.depth[:, columns]
        return np.concatenate([flat, depth[..., None]], axis=2)

    def distance(self, one: int, other: int) -> NDArray[np.float64]:
        """Distance of two landmarks in each frame, in pixels (T)."""
        pair = self.landmarks(one, other)
        return np.hypot(pair[:, 0, 0] - pair[:, 1, 0], pair[:, 0, 1] - pair[:, 1, 1])

    @property
    def inter_ocular(self) -> NDArray[np.float64]:
        """Distance of the outer eye corners in each frame, in pixels (T)."""
        return self.distance(*OUTER_EYE_CORNERS)

    @property
    def mouth_openness(self) -> NDArray[np.float64]:
        """Distance of the inner lips over the inter-ocular distance (T); NaN where the face was not seen."""
        return ratio(self.distance(*LIPS), self.inter_ocular)

    @property
    def lip_opening(self) -> NDArray[np.float64]:
        """Distance of the lips' outer edges over the inter-ocular distance (T): steadier than the inner ones."""
        return ratio(self.distance(*OUTER_LIPS), self.inter_ocular)

    @property
    def jaw_drop(self) -> NDArray[np.float64]:
        """Distance of nose tip and chin over the inter-ocular distance (T)."""
        return ratio(self.distance(*JAW), self.inter_ocular)

    @property
    def mouth_width(self) -> NDArray[np.float64]:
        """Distance of the mouth's corners over the inter-ocular distance (T)."""
        return ratio(self.distance(*MOUTH_CORNERS), self.inter_ocular)

    @property
    def brow_height(self) -> NDArray[np.float64]:
        """Mean distance of both brows from the upper lids over the inter-ocular distance (T)."""
        return ratio((self.distance(*BROWS[0]) + self.distance(*BROWS[1])) / 2, self.inter_ocular)

    @property
    def gaze(self) -> NDArray[np.float64]:
        """Where the irises are between the corners of the eyes, 0 the viewer's left and 1 the right, mean of both eyes
        (T); NaN where the model has no irises."""
        return (self._iris(IRISES[0], 33, 133) + self._iris(IRISES[1], 362, 263)) / 2

    def _iris(self, iris: int, left: int, right: int) -> NDArray[np.float64]:
        middle, start, end = np.moveaxis(self.landmarks(iris, left, right), 1, 0)
        across = end - start
        return ratio(((middle - start) * across).sum(axis=1), (across**2).sum(axis=1))

    @property
    def eye_aspect_ratio(self) -> NDArray[np.float64]:
        """Mean of both eyes (T): about 0.3 open, towards 0 shut; NaN where the face was not seen."""
        return (self._one_eye(RIGHT_EYE) + self._one_eye(LEFT_EYE)) / 2

    def _one_eye(self, eye: tuple[int, ...]) -> NDArray[np.float64]:
        heights = self.distance(eye[1], eye[5]) + self.distance(eye[2], eye[4])
        return ratio(heights, 2 * self.distance(eye[0], eye[3]))


def ratio(values: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """values / by; NaN where `by` is zero, as in a gap: a face without width is not measured."""
    found: NDArray[np.float64] = np.divide(values, by, out=np.full_like(values, np.nan), where=by > 0)
    return found


@dataclass(slots=True)
class _Person:
    """One face followed so far: frame numbers and what was seen in them."""

    last: Box
    frames: list[int] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    points: list[NDArray[np.float64]] = field(default_factory=list)

    def add(self, frame: int, face: Face) -> None:
        self.last = face.bbox
        self.frames.append(frame)
        self.boxes.append(face.bbox)
        self.points.append(kept_points(face.landmarks))

    @property
    def mean_area(self) -> float:
        boxes = np.array(self.boxes)
        return float(np.mean((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])))


def kept_points(landmarks: NDArray[np.float32]) -> NDArray[np.float64]:
    """The landmarks in `KEPT` of one face (len(KEPT) × 3); NaN for the irises that a model does not have."""
    found = np.full((len(KEPT), 3), np.nan)
    there = [number for number in KEPT if number < len(landmarks)]
    found[: len(there)] = landmarks[there]
    return found


class FaceTrackBuilder:
    """Builds a `FaceTrack` from frames given in presentation order."""

    def __init__(self, pipeline: Observer) -> None:
        self._pipeline = pipeline
        self._people: list[_Person] = []
        self._counts: list[int] = []
        self._times: list[float | None] = []
        self._size = (0, 0)

    def add(self, rgb: NDArray[np.uint8], time_ms: float | None = None) -> None:
        """Observe the next frame (H × W × 3 uint8 RGB)."""
        if not self._counts:
            self._size = (rgb.shape[1], rgb.shape[0])
        faces = self._pipeline.observe(rgb)
        frame = len(self._counts)
        known = link([person.last for person in self._people], [face.bbox for face in faces])
        for number, face in enumerate(faces):
            if number not in known:
                self._people.append(_Person(face.bbox))
            self._people[known.get(number, -1)].add(frame, face)
        self._counts.append(len(faces))
        self._times.append(time_ms)

    def finish(self) -> FaceTrack:
        """The track of the most persistent face over all frames given."""
        length = len(self._counts)
        bbox = np.full((length, 4), np.nan)
        points = np.full((length, len(KEPT), 3), np.nan)
        if self._people:
            chosen = max(self._people, key=lambda person: (len(person.frames), person.mean_area))
            bbox[chosen.frames] = chosen.boxes
            points[chosen.frames] = chosen.points
        timed = all(time is not None for time in self._times) and length > 0
        return FaceTrack(
            width=self._size[0],
            height=self._size[1],
            face_count=np.array(self._counts, np.int64),
            bbox=bbox,
            points=points[..., :2],
            depth=points[..., 2],
            times_ms=np.array(self._times, np.float64) if timed else None,
            people=len(self._people),
        )


def link(known: list[Box], new: list[Box]) -> dict[int, int]:
    """Which known face each new box continues: the largest overlap first, each used once; no overlap, no link.

    >>> link([(0, 0, 10, 10), (100, 0, 110, 10)], [(101, 0, 111, 10), (50, 50, 60, 60), (1, 0, 11, 10)])
    {0: 1, 2: 0}
    """
    pairs = [(-overlap(k, n), ki, ni) for ki, k in enumerate(known) for ni, n in enumerate(new)]
    links: dict[int, int] = {}
    for shared, ki, ni in sorted(pairs):
        if shared and ni not in links and ki not in links.values():
            links[ni] = ki
    return dict(sorted(links.items()))
