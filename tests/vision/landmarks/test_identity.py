"""Who a face is: OpenCV's own comparison as the oracle, laws on a portrait, files that are missing or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.media import ClipReader
from rushes.vision.landmarks.choice import SAME_PLACE, chosen, overlap
from rushes.vision.landmarks.identity import (
    DETECTOR_FILE,
    DETECTOR_SIDE,
    RECOGNISER_FILE,
    SAME_PERSON,
    FaceIdentity,
    LocatedFace,
    cosine,
    require_identity,
)
from rushes.vision.models.cache import model_path
from rushes.vision.models.pulling import pull

Pixels = NDArray[np.uint8]
PEOPLE = ("face_LipNet_bbaf2n.mpg", "face_LipNet_lwbsza.mpg", "face_LipNet_swiz3n.mpg", "face_LivePortrait_d12.mp4")


@pytest.fixture(scope="module")
def networks() -> FaceIdentity:
    try:
        pull("face-id")
    except MissingDependency as missing:
        pytest.skip(str(missing))
    return FaceIdentity()


@pytest.fixture(scope="module")
def portrait(astronaut: Pixels) -> Pixels:
    """The astronaut, BGR."""
    return np.ascontiguousarray(astronaut[..., ::-1])


def only(networks: FaceIdentity, bgr: Pixels) -> LocatedFace:
    (face,) = networks.faces(bgr)
    return face


def feature(networks: FaceIdentity, bgr: Pixels) -> NDArray[np.float64]:
    return networks.of_aligned(networks.aligned(bgr, only(networks, bgr)))


def test_the_place_decides_before_the_size() -> None:
    # near overlaps the first by 50 of 150: a third; the second is larger and elsewhere.
    boxes = [(0.0, 0.0, 10.0, 10.0), (100.0, 0.0, 140.0, 40.0)]
    near = (0.0, 5.0, 10.0, 15.0)
    assert overlap(boxes[0], near) == pytest.approx(50 / 150)
    assert (chosen(boxes), chosen(boxes, near), chosen([]), chosen([], near)) == (1, 0, None, None)
    # The boundary: 3 of 10 is enough, less is not.
    assert overlap((0, 0, 10, 1), (0, 0, 3, 1)) == SAME_PLACE
    assert chosen([(0, 0, 3, 1), (20, 0, 40, 1)], (0, 0, 10, 1)) == 0
    assert chosen([(0, 0, 2.9, 1), (20, 0, 40, 1)], (0, 0, 10, 1)) == 1
    assert overlap((0, 0, 0, 0), (0, 0, 0, 0)) == 0.0 and chosen([(0, 0, 1, 1), (5, 0, 6, 1)]) == 0


def test_the_face_is_found_where_it_is(networks: FaceIdentity, portrait: Pixels) -> None:
    left, top, right, bottom = only(networks, portrait).box
    assert 160 < left < right < 290 and 50 < top < bottom < 220  # by eye: the face is about 175–270 × 65–200
    large = cv2.resize(portrait, None, fx=3, fy=3, interpolation=cv2.INTER_LINEAR)
    assert max(large.shape) > DETECTOR_SIDE
    assert np.allclose(np.array(only(networks, large).box) / 3, (left, top, right, bottom), atol=4)
    assert networks.faces(np.zeros((64, 64, 3), np.uint8)) == () == networks.faces(np.zeros((1, 1, 3), np.uint8))
    both = np.hstack([portrait, portrait])
    assert len(networks.faces(both)) == 2


def test_opencvs_own_cosine(networks: FaceIdentity, portrait: Pixels) -> None:
    """`FaceRecognizerSF.match` on features that OpenCV made from the same rows."""
    theirs = cv2.FaceRecognizerSF.create(str(model_path(RECOGNISER_FILE)), "")
    other = np.ascontiguousarray(portrait[:, ::-1])
    raw = [theirs.feature(theirs.alignCrop(p, only(networks, p).row)).copy() for p in (portrait, other)]
    told = theirs.match(raw[0], raw[1], cv2.FaceRecognizerSF_FR_COSINE)
    ours = cosine(feature(networks, portrait), feature(networks, other))
    assert ours == pytest.approx(told, abs=1e-6) and SAME_PERSON < ours < 1


def test_one_face_is_itself_wherever_it_stands_and_less_so_in_noise(networks: FaceIdentity, portrait: Pixels) -> None:
    own = feature(networks, portrait)
    assert len(own) == 128 and own @ own == pytest.approx(1.0) and cosine(own, own) == pytest.approx(1.0)
    assert np.array_equal(own, feature(networks, portrait.copy()))
    assert cosine(own, feature(networks, np.roll(portrait, 40, axis=1))) > 0.9
    grain = np.random.default_rng(0).normal(size=portrait.shape)
    alike = []
    for sigma in (0, 15, 40, 80):
        noisy = np.clip(portrait + sigma * grain, 0, 255).astype(np.uint8)
        alike.append(cosine(own, networks.of_aligned(networks.aligned(noisy, only(networks, portrait)))))
    assert alike == sorted(alike, reverse=True) and alike[0] > alike[-1]


def test_threads_do_not_change_a_bit(networks: FaceIdentity, portrait: Pixels) -> None:
    before, found = cv2.getNumThreads(), []
    try:
        for threads in (1, 2):
            cv2.setNumThreads(threads)
            found.append((only(networks, portrait).row, feature(networks, portrait)))
    finally:
        cv2.setNumThreads(before)
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


def _frames(path: Path, count: int, *, every: int) -> Iterator[Pixels]:
    with ClipReader(path) as reader:
        for frame in reader:
            if frame.index % every == 0:
                yield frame.bgr()
            if frame.index == (count - 1) * every:
                return


@pytest.mark.shared
def test_the_same_person_is_nearer_than_any_other(networks: FaceIdentity, shared: Path) -> None:
    """Four people, three frames each, a second and more apart."""
    clips = [shared / "clips" / name for name in PEOPLE]
    if not all(clip.is_file() for clip in clips):
        pytest.skip("the face clips are not here")
    people = [[feature(networks, bgr) for bgr in _frames(clip, 3, every=30)] for clip in clips]
    same = [cosine(a, b) for person in people for i, a in enumerate(person) for b in person[:i]]
    other = [
        cosine(a, b) for i, person in enumerate(people) for stranger in people[:i] for a in person for b in stranger
    ]
    assert len(same) == 12 and len(other) == 54
    assert min(same) > SAME_PERSON > max(other)


def test_networks_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    with pytest.raises(MissingDependency, match=r"run: rushes models pull face-id$"):
        require_identity()
    with pytest.raises(MissingDependency, match=r"run: rushes models pull face-id$"):
        FaceIdentity()
    with pytest.raises(InputError, match=rf"{DETECTOR_FILE}: no such face network"):
        require_identity({"face-id": str(tmp_path)})


def test_files_of_the_users_own(networks: FaceIdentity, portrait: Pixels, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine.onnx: no such face network; give an ONNX file"):
        FaceIdentity(tmp_path / "mine.onnx")
    (tmp_path / "mine.onnx").write_bytes(b"no network")
    with pytest.raises(WeightsError, match=r"mine.onnx: expected an ONNX face network; OpenCV says: "):
        FaceIdentity(tmp_path / "mine.onnx")
    for name in (DETECTOR_FILE, RECOGNISER_FILE):
        (tmp_path / name).symlink_to(model_path(name))
    given = FaceIdentity(tmp_path)
    assert (given.digest, given.detector_digest) == (networks.digest, networks.detector_digest)
    assert (given.digest, given.detector_digest) == ("0ba9fbfa01b5", "8f2383e4dd3c")
    # A network of another kind is found out when it is given its first face.
    with pytest.raises(WeightsError, match=r"expected a face network like SFace"):
        detector = FaceIdentity(tmp_path / DETECTOR_FILE)
        detector.of_aligned(detector.aligned(portrait, only(detector, portrait)))


def test_loading_says_nothing(networks: FaceIdentity, capfd: pytest.CaptureFixture[str]) -> None:
    FaceIdentity()
    assert capfd.readouterr() == ("", "")
