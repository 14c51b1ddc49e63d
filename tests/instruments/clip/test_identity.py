"""identity_drift: planted features whose drift and change are known, the collector's looks, and swapped real faces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest

from rushes.core import Definition
from rushes.core.errors import MissingDependency
from rushes.instruments.clip import METRICS
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.faces import face_looks
from rushes.instruments.clip.faces.face_looks import Look
from rushes.instruments.clip.metrics.face.identity import (
    IDENTITY_DRIFT,
    LASTING,
    IdentityCollector,
    changes,
    drift_series,
    identity_drift,
    lasting,
    own_face,
)
from rushes.media import write_clip
from rushes.vision.landmarks.identity import FaceIdentity
from rushes.vision.models.pulling import pull

CLOSED: Definition = IDENTITY_DRIFT.with_params(weights="w", detector_weights="d")


def direction(angle: float) -> np.ndarray:
    return np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])


def looks(angles: Sequence[float | None], *, every_ms: float = 200.0, stride: int = 5) -> list[Look]:
    """A look every fifth frame; None is a look without a face."""
    return [
        Look(frame=n * stride, time_ms=n * every_ms, feature=None if angle is None else direction(angle))
        for n, angle in enumerate(angles)
    ]


def test_one_face_all_along_does_not_drift() -> None:
    found = identity_drift(CLOSED, looks([20] * 12))
    assert (found.value, found.count, found.note) == (pytest.approx(0.0, abs=1e-12), 12, "")


def test_the_drift_that_lasts() -> None:
    # First second (6 looks, 0–1000 ms) at 0°; then one look at 90° (drift 1), which is no second; value 0.
    blink = [0.0] * 6 + [90.0] + [0.0] * 5
    assert identity_drift(CLOSED, looks(blink)).value == pytest.approx(0.0, abs=1e-12)
    # Five looks at 60°: drift 1 − cos 60° = 0.5, and three of five are enough for the median.
    for count in (5, 3):
        found = identity_drift(CLOSED, looks([0.0] * 6 + [60.0] * count + [0.0] * 6))
        assert found.value == pytest.approx(0.5) and found.note == ""  # cos 60° = 0.5 is still one person
    assert identity_drift(CLOSED, looks([0.0] * 6 + [60.0] * 2 + [0.0] * 6)).value == pytest.approx(0.0, abs=1e-12)
    # A slow drift by 10° a look ends at 60°; its last five are at 20–60°, the median at 40°.
    slow = identity_drift(CLOSED, looks([0.0] * 6 + [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]))
    assert slow.value == pytest.approx(1 - math.cos(math.radians(40)))


def test_drift_is_held_against_the_first_second() -> None:
    # 0° at the start and 90° at the end of the first second: 45°; 180° half a millisecond later does not count.
    own = own_face(np.array([direction(0), direction(90), direction(180)]), [0.0, 1000.0, 1000.5])
    assert own == pytest.approx(direction(45))
    # Features that cancel out have no mean direction: the first stands.
    assert own_face(np.array([direction(0), direction(180)]), [0.0, 200.0]) == pytest.approx(direction(0))
    assert lasting([0.4]) == 0.4 and lasting([0.2, 0.4]) == pytest.approx(0.3)
    # Too few for a run of five: the median of all.
    assert lasting([0.1, 0.2, 0.9]) == 0.2


def test_another_person_is_named_with_the_frame() -> None:
    # 90° is cosine 0: another person from look 7 on, frame 35 at 1.40 s.
    found = identity_drift(CLOSED, looks([0.0] * 7 + [90.0] * 6))
    assert (found.value, found.note) == (pytest.approx(1.0), "another person from frame 35 (1.40 s)")
    # The frames between looks 6 and 7 were looked at: 31 and 32 are still the first person.
    between = [Look(frame=n, time_ms=40.0 * n, feature=direction(0.0 if n < 33 else 90.0)) for n in range(31, 35)]
    exact = identity_drift(CLOSED, looks([0.0] * 7 + [90.0] * 6), between)
    assert (exact.value, exact.note) == (found.value, "another person from frame 33 (1.32 s)")
    back = identity_drift(CLOSED, looks([0.0] * 7 + [90.0] * 6 + [0.0] * 6))
    assert back.note == "another person from frames 35 (1.40 s), 65 (2.60 s)"


@pytest.mark.parametrize(
    ("angles", "found"),
    [
        ([0.0] * 2 + [90.0] * 2, [2]),  # two looks on either side are enough
        ([0.0] + [90.0] * 5, []),  # one is not
        ([0.0] * 5 + [90.0], []),
        ([0.0] * 5 + [69.0] * 5, [5]),  # cos 69° = 0.358
        ([0.0] * 5 + [68.0] * 5, []),  # cos 68° = 0.375
        ([0.0] * 6 + [90.0] * 2 + [0.0] * 6, []),  # two looks of seven: a glitch that passes
        ([0.0, 90.0] * 6, []),  # nobody in particular on either side
        ([], []),
    ],
)
def test_where_the_person_changes(angles: list[float], found: list[int]) -> None:
    assert changes(np.array([direction(angle) for angle in angles]).reshape(-1, 2)) == found


def test_looks_without_a_face() -> None:
    found = identity_drift(CLOSED, looks([0.0, None, 0.0, None, 0.0]))
    assert (found.count, found.note) == (3, "no face in 2 of 5 frames looked at")
    none = identity_drift(CLOSED, looks([None, None]))
    assert (none.value, none.note) == (None, "no face in any of 2 frames looked at")
    one = identity_drift(CLOSED, looks([None, 0.0]))
    assert (one.value, one.note) == (None, "a face in 1 of 2 frames looked at; needs 2")
    # A swap behind a gap is named at the first look at the new face.
    gap = identity_drift(CLOSED, looks([0.0] * 5 + [None, None] + [90.0] * 5))
    assert gap.note == "another person from frame 35 (1.40 s); no face in 2 of 12 frames looked at"


def test_the_series_has_a_value_where_a_face_was_looked_at() -> None:
    seen = looks([0.0] * 6 + [None, 60.0])
    extra = [Look(frame=33, time_ms=1320.0, feature=direction(90.0)), Look(frame=34, time_ms=1360.0, feature=None)]
    series = drift_series(seen, extra, 40)
    assert len(series) == 40 and np.flatnonzero(~np.isnan(series)).tolist() == [0, 5, 10, 15, 20, 25, 33, 35]
    assert series[[0, 33, 35]] == pytest.approx([0.0, 1.0, 0.5])
    assert np.isnan(drift_series(looks([None]), [], 1)).all()


@dataclass(frozen=True)
class FakeFrame:
    index: int
    time_ms: float
    angle: int

    @property
    def luma(self) -> None:
        return None

    def rgb(self) -> np.ndarray:
        return np.full((4, 4, 3), self.angle, np.uint8)


@dataclass(frozen=True)
class FakeFace:
    box: tuple[float, float, float, float] = (0.0, 0.0, 10.0, 10.0)


class FakeNetworks:
    """The first pixel is the direction of the face; 255 is nobody."""

    digest, detector_digest = "0123456789ab", "ba9876543210"

    def __init__(self) -> None:
        self.looked = 0

    def faces(self, bgr: np.ndarray) -> tuple[FakeFace, ...]:
        self.looked += 1
        return () if bgr[0, 0, 0] == 255 else (FakeFace(),)

    def aligned(self, bgr: np.ndarray, face: FakeFace) -> np.ndarray:
        return bgr

    def of_aligned(self, aligned: np.ndarray) -> np.ndarray:
        return direction(float(aligned[0, 0, 0]))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[IdentityCollector, FakeNetworks]]:
    networks = FakeNetworks()
    monkeypatch.setattr(face_looks, "identity_networks", lambda: networks)

    def watch(angles: Sequence[int], fps: float = 25.0) -> tuple[IdentityCollector, FakeNetworks]:
        collector = IdentityCollector(None)  # type: ignore[arg-type]
        for index, angle in enumerate(angles):
            collector.add(FakeFrame(index, round(index * 1000 / fps), angle))
        return collector, networks

    return watch


@pytest.mark.parametrize("fps", [24.0, 25.0, 29.97, 30.0, 60.0])
def test_a_swap_is_named_at_its_very_frame(
    watched: Callable[..., tuple[IdentityCollector, FakeNetworks]], fps: float
) -> None:
    swap = round(1.7 * fps) + 1
    collector, networks = watched([10] * swap + [100] * round(1.5 * fps), fps)
    value = collector.finish()
    assert value.note.startswith(f"another person from frame {swap} (") and value.value == pytest.approx(1.0)
    # About five looks a second, and once every frame between two of them.
    assert networks.looked <= 5 * 3.3 + 2 + fps / 5
    assert value.signature.endswith("statistic:max-of-medians-5|weights:0123456789ab|v:1")
    series = collector.series()["identity_drift"]
    assert series[swap - 1] == pytest.approx(0.0, abs=1e-12) and series[swap] == pytest.approx(1.0)


def test_five_looks_a_second_and_no_more_where_nothing_happens(
    watched: Callable[..., tuple[IdentityCollector, FakeNetworks]],
) -> None:
    collector, networks = watched([10] * 76)  # 0–3000 ms at 25 frames a second: 0, 200, …, 3000
    assert networks.looked == 16 and collector.finish().count == 16
    assert watched([255] * 10)[0].finish().note == "no face in any of 2 frames looked at"
    assert np.isnan(watched([255])[0].series()["identity_drift"]).all()


def test_on_request_and_with_its_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    metric = METRICS["identity_drift"]
    assert metric.on_request and LASTING == 5
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match=r"run: rushes models pull face-id$"):
        evaluate_clip(_written(tmp_path, [np.zeros((32, 32, 3), np.uint8)]), metrics="identity_drift")


def _written(folder: Path, frames: Sequence[np.ndarray]) -> Path:
    path = folder / "take.mkv"
    write_clip(path, frames, fps=10, codec="ffv1", pix_fmt="bgr0")
    return path


@pytest.fixture(scope="module")
def networks() -> FaceIdentity:
    try:
        pull("face-id")
        pull("astronaut")
    except MissingDependency as missing:
        pytest.skip(str(missing))
    return FaceIdentity()


def test_a_clip_of_a_real_face(networks: FaceIdentity, tmp_path: Path) -> None:
    """A portrait that breathes for two seconds, and a black end: one person, and frames without a face."""
    whole = cv2.imread(str(pull("astronaut")[0]))[..., ::-1]
    frames = [np.ascontiguousarray(whole[n % 3 : 208 + n % 3, 112:320]) for n in range(16)]
    result = evaluate_clip(_written(tmp_path, frames + [np.zeros_like(frames[0])] * 4), metrics="identity_drift")
    found = result["identity_drift"]
    assert found.value < 0.15 and found.count == 8 and found.note == "no face in 2 of 10 frames looked at"
    assert "input:raw" in found.signature and f"weights:{networks.digest}" in found.signature
    assert np.count_nonzero(~np.isnan(result.series["identity_drift"])) == 8


@pytest.mark.shared
def test_a_swap_of_real_people(networks: FaceIdentity, shared: Path, tmp_path: Path) -> None:
    """One speaker up to frame 14 and another from 15 on, ten frames a second."""
    people = [shared / "clips" / f"face_LipNet_{name}.mpg" for name in ("bbaf2n", "swiz3n")]
    if not all(path.is_file() for path in people):
        pytest.skip("the face clips are not here")
    first, second = (_first_frames(path, 15) for path in people)
    swapped = evaluate_clip(_written(tmp_path, first + second), metrics="identity_drift")["identity_drift"]
    assert swapped.note == "another person from frame 15 (1.50 s)" and swapped.value > 0.637
    whole = evaluate_clip(_written(tmp_path, first), metrics="identity_drift")["identity_drift"]
    assert whole.note == "" and whole.value < 0.3


def _first_frames(path: Path, count: int) -> list[np.ndarray]:
    from rushes.media import ClipReader

    with ClipReader(path) as reader:
        return [frame.rgb() for frame, _ in zip(reader, range(count), strict=False)]
