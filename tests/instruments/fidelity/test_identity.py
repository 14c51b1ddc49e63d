"""csim: planted features with known cosines, which pairs are looked at, faces on one side only, real people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest

from rushes.core import Measurement
from rushes.core.errors import MissingDependency
from rushes.instruments.fidelity.arrays import compare_arrays, paired_arrays
from rushes.instruments.fidelity.measure import Scored, score_frames
from rushes.instruments.fidelity.metric import PairContext
from rushes.instruments.fidelity.metrics import METRICS, identity
from rushes.vision.landmarks.choice import Box
from rushes.vision.models.pulling import pull

HERE: Box = (0.0, 0.0, 10.0, 10.0)
THERE: Box = (100.0, 0.0, 140.0, 40.0)


@dataclass(frozen=True)
class FakeFace:
    box: Box
    angle: float


class Planted:
    """In place of the networks: the first pixel of a frame says which faces are in it; a feature is a direction."""

    digest, detector_digest = "0123456789ab", "ba9876543210"

    def __init__(self, faces: Mapping[int, Sequence[FakeFace]]) -> None:
        self._faces = faces

    def faces(self, bgr: np.ndarray) -> tuple[FakeFace, ...]:
        return tuple(self._faces[int(bgr[0, 0, 0])])

    def aligned(self, bgr: np.ndarray, face: FakeFace) -> np.ndarray:
        return np.array([face.angle])

    def of_aligned(self, aligned: np.ndarray) -> np.ndarray:
        return np.array([np.cos(np.radians(aligned[0])), np.sin(np.radians(aligned[0]))])


def at(angle: float, box: Box = HERE) -> FakeFace:
    return FakeFace(box, angle)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Planted:
    """0, 1, 2: one face at 0, 60 and 90 degrees; 3: nobody; 4, 5: two faces, of which the larger is the other one's."""
    faces = {0: [at(0)], 1: [at(60)], 2: [at(90)], 3: [], 4: [at(0), at(90, THERE)], 5: [at(45, THERE), at(60)]}
    networks = Planted(faces)
    monkeypatch.setattr(identity, "identity_networks", lambda given: networks)
    return networks


def scored(gen: Sequence[int], gt: Sequence[int], *, fps: float | None = None, name: str = "csim") -> Scored:
    clips = (np.array(codes, np.uint8)[:, None, None, None] + np.zeros((1, 4, 4, 3), np.uint8) for codes in (gen, gt))
    context = PairContext(gen="gen", gt="gt", gen_facts=None, gt_facts=None, size=(4, 4), fps=fps)
    return score_frames(paired_arrays(*clips), context, {name: METRICS[name]})


def csim(gen: Sequence[int], gt: Sequence[int]) -> Measurement:
    return scored(gen, gt).measurements["csim"]


def test_the_cosine_of_the_two_faces(planted: Planted) -> None:
    # cos 60° = 0.5, cos 0° = 1, cos 90° = 0, and cos 30° between faces at 60° and 90°
    assert csim([1], [0]).value == pytest.approx(0.5) == csim([0], [1]).value
    assert csim([0, 2], [0, 0]).value == pytest.approx(0.5) and csim([0, 2], [0, 0]).count == 2
    assert csim([1], [2]).value == pytest.approx(np.cos(np.pi / 6))
    assert (csim([2, 2], [2, 2]).value, csim([2, 2], [2, 2]).note) == (pytest.approx(1.0), "")


def test_the_distance_of_the_two_faces(planted: Planted) -> None:
    # Between directions 60° apart 2 sin 30° = 1, 90° apart √2, equal ones 0.
    found = scored([1, 2, 0], [0, 0, 0], name="aed").measurements["aed"]
    assert (found.value, found.count) == (pytest.approx((1 + np.sqrt(2)) / 3, abs=1e-7), 3)
    assert scored([3], [0], name="aed").measurements["aed"].note.startswith("no face in the generated clip")


def test_pairs_without_a_face_are_left_out_and_counted(planted: Planted) -> None:
    found = csim([1, 3, 1, 3], [0, 0, 3, 3])
    assert (found.value, found.count) == (pytest.approx(0.5), 1)
    assert found.note == "no face in 2 of 4 frames of the generated clip; no face in 2 of 4 frames of the reference"


@pytest.mark.parametrize(
    ("gen", "gt", "note"),
    [
        ([3, 3], [0, 0], "no face in the generated clip (2 frames looked at)"),
        ([0, 0], [3, 3], "no face in the reference (2 frames looked at)"),
        ([0, 3], [3, 0], "no face in 1 of 2 frames of the generated clip; no face in 1 of 2 frames of the reference"),
    ],
)
def test_a_face_in_one_clip_only(planted: Planted, gen: list[int], gt: list[int], note: str) -> None:
    found = csim(gen, gt)
    assert (found.value, found.count, found.note) == (None, 0, note)


def test_of_several_faces_the_references_largest_and_the_one_in_its_place(planted: Planted) -> None:
    # The reference's largest is THERE at 90°; the generated frame has 45° in that place: cos 45°.
    assert csim([5], [4]).value == pytest.approx(np.cos(np.pi / 4))
    # The reference has one face, HERE at 0°; of two the one in that place is taken (60°), not the larger (45°).
    assert csim([5], [0]).value == pytest.approx(0.5)


def test_five_pairs_a_second_are_looked_at(planted: Planted) -> None:
    """At 25 pairs a second every fifth: 0 of 0–4, then 5, then 10. Here they are 60°, 0° and nobody."""
    gen = [1, 2, 2, 2, 2, 0, 2, 2, 2, 2, 3]
    found = scored(gen, [0] * 11, fps=25.0)
    value = found.measurements["csim"]
    assert (value.value, value.count) == (pytest.approx(0.75), 2)
    assert value.note == "no face in 1 of 3 frames of the generated clip"
    assert np.flatnonzero(~np.isnan(found.series["csim"])).tolist() == [0, 5] and len(found.series["csim"]) == 11
    every = scored(gen, [0] * 11, fps=25.0, name="csim_all").measurements["csim_all"]
    assert (every.value, every.count) == (pytest.approx(1.5 / 10), 10)
    assert "|rate:5|" in value.signature and every.signature == value.signature.replace("rate:5", "rate:all")
    # Pictures without times are all looked at, and the signature says so.
    assert csim(gen, [0] * 11).signature == every.signature


def test_the_signature(planted: Planted) -> None:
    assert csim([0], [0]).signature == (
        "identity_similarity|align:five-points-112|color:rgb-8bit|detector:yunet|detector_side:640|"
        "detector_weights:ba9876543210|face:largest-of-reference|min_score:0.6|network:sface|rate:all|"
        "weights:0123456789ab|v:1"
    )


def test_networks_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    picture = np.zeros((8, 8, 3), np.uint8)
    with pytest.raises(MissingDependency, match=r"run: rushes models pull face-id$"):
        compare_arrays(picture, picture, metrics="csim")


@pytest.fixture(scope="module")
def portrait() -> np.ndarray:
    """The astronaut's head, 224 × 224."""
    try:
        pull("face-id")
        picture = cv2.imread(str(pull("astronaut")[0]))[..., ::-1]
    except MissingDependency as missing:
        pytest.skip(str(missing))
    return np.ascontiguousarray(picture[:224, 112:336])


def test_a_real_face(portrait: np.ndarray) -> None:
    same = compare_arrays(portrait, portrait, metrics="csim")["csim"]
    assert same.value == pytest.approx(1.0, abs=1e-9) and "weights:0ba9fbfa01b5" in same.signature
    worse = []
    for quality in (60, 10, 3):
        coded = cv2.imdecode(cv2.imencode(".jpg", portrait, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)
        worse.append(compare_arrays(coded, portrait, metrics="csim")["csim"].value)
    assert 1 > worse[0] > worse[1] > worse[2]
    lost = compare_arrays(np.zeros_like(portrait), portrait, metrics="csim")["csim"]
    assert lost.value is None and lost.note == "no face in the generated clip (1 frame looked at)"
