"""Does the face move where the reference's does: lmd, lmd_interocular, akd, mouth_lmd, mouth_lmd_centred, and
missing_face_ratio.

Papers print these columns under few names and many formulas. `distance` and `norm` in the signature keep them apart:

lmd                LMD, F-LMD: mean Euclidean distance, in pixels (Chen et al. 2018, ATVGnet)
lmd_interocular    NME: the same over the distance of the outer eye corners, as landmark benchmarks have it (300-W)
akd                AKD of FOMM, MRAA and what follows them: their pose-evaluation code takes the mean of absolute
                   differences over all points and both coordinates (`cmp.py`), of pictures scaled to 256 × 256. The
                   papers say "average distance between key points"; for errors of equal size in every direction it
                   reads 2/π = 0.64 of the Euclidean one.
mouth_lmd          M-LMD: lips alone, where they are
mouth_lmd_centred  LMD of RAD-NeRF, ER-NeRF and what follows them: lips alone, each side's mean taken away first: a
                   moved head costs nothing
missing_face_ratio MKR's counterpart for faces: what the distances above leave out

Those codes take 68 points of dlib or FAN. Here it is the 468 of MediaPipe's mesh (the first 468 of its 478-point
model), so figures do not equal theirs, which `points` and `weights` say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, signature_params
from rushes.core.errors import InputError, MissingDependency
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import file_digest
from rushes.instruments.fidelity.metric import Observer, PairContext, PairMetric, Seen
from rushes.instruments.fidelity.metrics.identity import absence_note, mean_of_faces
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.vision.landmarks.choice import SAME_PLACE, chosen
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import group_named

if TYPE_CHECKING:
    from rushes.vision.landmarks import Face, FacePipeline

Points: TypeAlias = NDArray[np.float64]
"""N × 2: x and y in pixels."""

MESH = 468
EYE_CORNERS = (33, 263)
"""Outer corners of the right and the left eye."""
LIPS = (
    *(61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 409, 270, 269, 267, 0, 37, 39, 40, 185),
    *(78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 415, 310, 311, 312, 13, 82, 81, 80, 191),
)
"""Outer, then inner edge of the lips: MediaPipe's FACEMESH_LIPS."""
GROUPS = ("face-landmarker", "face")
"""Under whose name a model may be given; without one the pinned models of the latter are taken."""


def mean_distance(gen: Points, gt: Points) -> float:
    """Mean Euclidean distance of points that belong together.

    Formula     (1/N) Σ_i √((x_i − x'_i)² + (y_i − y'_i)²)

    >>> mean_distance(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 4.0], [1.0, 1.0]]))
    2.5
    """
    return float(np.hypot(*(gen - gt).T).mean())


def mean_difference(gen: Points, gt: Points) -> float:
    """Mean absolute difference over all points and both coordinates: FOMM's AKD.

    Formula     (1/2N) Σ_i (|x_i − x'_i| + |y_i − y'_i|)

    >>> mean_difference(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 4.0], [1.0, 1.0]]))
    1.75
    """
    return float(np.abs(gen - gt).mean())


def centred(points: Points) -> Points:
    """The points with their mean at the origin.

    >>> centred(np.array([[0.0, 0.0], [2.0, 4.0]])).tolist()
    [[-1.0, -2.0], [1.0, 2.0]]
    """
    moved: Points = points - points.mean(axis=0)
    return moved


def inter_ocular(points: Points) -> float:
    """Distance of the outer eye corners, in pixels."""
    right, left = points[list(EYE_CORNERS)]
    return float(np.hypot(*(left - right)))


def face_distances(gen: Points, gt: Points) -> dict[str, float]:
    """Every distance of one pair of faces, by series; the normalised one is NaN where the eyes fall together."""
    lips_gen, lips_gt = gen[list(LIPS)], gt[list(LIPS)]
    whole, eyes = mean_distance(gen, gt), inter_ocular(gt)
    return {
        "lmd": whole,
        "lmd_interocular": whole / eyes if eyes > 0 else math.nan,
        "akd": mean_difference(gen, gt),
        "mouth_lmd": mean_distance(lips_gen, lips_gt),
        "mouth_lmd_centred": mean_distance(centred(lips_gen), centred(lips_gt)),
    }


DISTANCES = ("lmd", "lmd_interocular", "akd", "mouth_lmd", "mouth_lmd_centred")


class LandmarkObserver:
    """The points of one face of either side, pair by pair."""

    def __init__(self, pipeline: FacePipeline) -> None:
        self._pipeline = pipeline
        self._rows: list[dict[str, float]] = []
        self._missing: list[float] = []
        self._without_gen = self._without_gt = 0

    def add(self, pair: FramePair) -> None:
        theirs = _chosen_face(self._pipeline.observe(pair.gt.rgb))
        ours = _chosen_face(self._pipeline.observe(pair.gen.rgb), near=theirs)
        self._without_gen += ours is None
        self._without_gt += theirs is None
        self._missing.append(math.nan if theirs is None else float(ours is None))
        self._rows.append({} if ours is None or theirs is None else face_distances(_mesh(ours), _mesh(theirs)))

    def finish(self) -> Seen:
        pairs = len(self._rows)
        series = {name: np.array([row.get(name, math.nan) for row in self._rows]) for name in DISTANCES}
        note = absence_note(pairs, gen=self._without_gen, gt=self._without_gt)
        return Seen(
            series={**series, "missing_face_ratio": np.array(self._missing)},
            params={"weights": self._pipeline.digest},
            notes={
                **dict.fromkeys(DISTANCES, note),
                "missing_face_ratio": absence_note(pairs, gen=0, gt=self._without_gt),
            },
        )


def _chosen_face(faces: tuple[Face, ...], near: Face | None = None) -> Face | None:
    index = chosen([face.bbox for face in faces], None if near is None else near.bbox)
    return None if index is None else faces[index]


def _mesh(face: Face) -> Points:
    return face.landmarks[:MESH, :2].astype(np.float64)


def watch_landmarks(context: PairContext) -> Observer:
    """Finds the faces of every pair of frames, once for all metrics of this file."""
    given = _given(context.models)
    return LandmarkObserver(_pipeline(given, "" if given is None else file_digest(given)))


@lru_cache(maxsize=2)
def _pipeline(given: str | None, stamp: str) -> FacePipeline:
    from rushes.vision.landmarks import FacePipeline

    return FacePipeline(given)


def _given(models: Mapping[str, str]) -> str | None:
    return next((models[group] for group in GROUPS if group in models), None)


def require_landmarks(models: Mapping[str, str]) -> None:
    """Raise `MissingDependency`, with the command that mends it, where models or LiteRT are not here."""
    from importlib.util import find_spec

    given = _given(models)
    if given is not None and not Path(given).is_file():
        raise InputError(f"{given}: no such face model; give a MediaPipe face_landmarker.task file")
    if given is None and not is_pulled(group_named("face")):
        raise MissingDependency(
            f"landmark distances need face models, which are not installed; run: {pull_command('face')}"
        )
    if find_spec("ai_edge_litert") is None:
        raise not_installed("landmark distances need LiteRT", extra="face")


_EDGES = (
    "A pair with no face on one side or both is left out, and the note counts them: lost faces can lower the mean, so "
    "read it beside missing_face_ratio. The networks' jitter (small, blurred or noisy faces) adds to each distance. "
    "No pair with both: no value. Of several faces the reference's largest, and in the generated frame the one in its "
    f"place (overlap ≥ {SAME_PLACE}), else the largest."
)


def _distance(
    summary: str,
    formula: str,
    reference: str,
    *,
    distance: str = "euclidean",
    norm: str = "px",
    points: str = "468",
    align: str = "none",
) -> Definition:
    pixels = norm == "px"
    return Definition(
        name="landmark_distance",
        unit="px" if pixels else "ratio",
        lowest=0,
        highest=None,
        better="lower",
        summary=summary,
        formula=f"mean over pairs of frames with a face on both sides of {formula}"
        + ("; in pixels of the compared pictures" if pixels else ""),
        edge_cases=_EDGES,
        reference=reference,
        params=signature_params(
            distance=distance,
            norm=norm,
            points=points,
            align=align,
            mesh="mediapipe",
            face="largest-of-reference",
        ),
        open_params=("weights",),
        depends_on=("frame_size",),
    )


_EUCLIDEAN = "(1/N) Σ_i ‖g_i − r_i‖₂ over N points g of the generated, r of the reference face"
LMD = _distance(
    "How far the face's landmarks lie from the reference's.",
    _EUCLIDEAN,
    "LMD as in Chen et al. 2018 (there the 68 points of dlib)",
)
LMD_INTEROCULAR = _distance(
    "How far the face's landmarks lie from the reference's, over the distance of its eyes.",
    f"{_EUCLIDEAN}, divided by the distance of the reference's outer eye corners in that frame",
    "the normalised mean error of 300-W (Sagonas et al. 2013), between two clips",
    norm="interocular",
)
AKD = _distance(
    "How far the coordinates of the face's landmarks lie from the reference's, as FOMM's evaluation code has it.",
    "(1/2N) Σ_i (|x_i − x'_i| + |y_i − y'_i|): absolute differences of the coordinates, no Euclidean distance",
    "AKD of Siarohin et al. 2019 (FOMM): cmp.py of their pose-evaluation, there 68 points of FAN at 256 × 256",
    distance="l1-mean",
)
MOUTH_LMD = _distance(
    "How far the lips' landmarks lie from the reference's.",
    f"{_EUCLIDEAN}, of the 40 points of the lips",
    "M-LMD as in Chen et al. 2019 (ATVGnet; there dlib's 20 points)",
    points="lips-40",
)
MOUTH_LMD_CENTRED = _distance(
    "How far the lips' landmarks lie from the reference's once both mouths are put in one place: their shape alone.",
    f"{_EUCLIDEAN}, of the 40 points of the lips, each side's mean point taken away before",
    "LMD of RAD-NeRF (Tang et al. 2022) and ER-NeRF (Li et al. 2023; there 20 points of dlib or FAN)",
    points="lips-40",
    align="centroid",
)
MISSING_FACE_RATIO = Definition(
    name="missing_face_ratio",
    unit="ratio",
    lowest=0,
    highest=1,
    better="lower",
    summary="Share of the frames with a face in the reference that have none in the generated clip.",
    formula="#(face in the reference and none in the generated frame) / #(face in the reference)",
    edge_cases="No face in the reference: no value. A face in the generated clip alone is not counted.",
    reference="after MKR of Siarohin et al. 2019 (FOMM), which counts key points of bodies",
    params=signature_params(detector="mediapipe-short-range", min_score=0.5, min_presence=0.5),
    open_params=("weights",),
    depends_on=("frame_size",),
)


def _metric(definition: Definition, label: str, series: str, *, span: float) -> PairMetric:
    return PairMetric.with_lane(
        definition,
        label,
        watch_landmarks,
        (0.0, span),
        series=series,
        pool=mean_of_faces,
        require=require_landmarks,
    )


LMD_METRIC = _metric(LMD, "LMD", "lmd", span=10.0)
LMD_INTEROCULAR_METRIC = _metric(LMD_INTEROCULAR, "LMD / eyes", "lmd_interocular", span=0.1)
AKD_METRIC = _metric(AKD, "AKD", "akd", span=10.0)
MOUTH_LMD_METRIC = _metric(MOUTH_LMD, "M-LMD", "mouth_lmd", span=10.0)
MOUTH_LMD_CENTRED_METRIC = _metric(MOUTH_LMD_CENTRED, "M-LMD centred", "mouth_lmd_centred", span=10.0)
MISSING_FACE_RATIO_METRIC = _metric(MISSING_FACE_RATIO, "face missing", "missing_face_ratio", span=1.0)
