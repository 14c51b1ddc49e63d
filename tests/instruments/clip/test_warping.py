"""Warping error and motion magnitude: sums by hand and by scipy, shifts and flicker that are known, and the clips."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from scipy import ndimage
from tests.clips import write_luma

import rushes
from rushes.core.errors import MissingDependency
from rushes.instruments.clip.flow import dense_flow as following
from rushes.instruments.clip.flow.dense_flow import DIS, RAFT, FollowedSteps, Follower, Following, dis_flows
from rushes.instruments.clip.flow.warp_sums import warp_sums
from rushes.instruments.clip.metrics import METRICS, warping
from rushes.instruments.clip.metrics.warping import MOTION_MAGNITUDE, MOTION_MAGNITUDE_PX, motion_magnitude, speed
from rushes.instruments.clip.show.timeline import clip_timeline
from rushes.media import ClipReader, write_clip

EVERY = ("warping_error", "warping_error_l1", "motion_magnitude", "motion_magnitude_px")
STILL = np.zeros((40, 48, 2), np.float32)


class _Frame:
    """A frame of a clip that is not a file."""

    def __init__(self, index: int, picture: np.ndarray, *, step_ms: float = 40.0) -> None:
        self.index, self.time_ms, self._picture = index, index * step_ms, picture

    def rgb(self) -> np.ndarray:
        return self._picture


class _Facts:
    video = None


def followed(pictures: list[np.ndarray], follower: Follower = DIS) -> FollowedSteps:
    found = Following(_Facts(), follower)  # type: ignore[arg-type]
    for index, picture in enumerate(pictures):
        found.add(_Frame(index, picture))  # type: ignore[arg-type]
    seen = found.finish()
    assert isinstance(seen, FollowedSteps)
    return seen


def texture(seed: int = 0, size: tuple[int, int] = (160, 192)) -> np.ndarray:
    """A soft coloured texture between 50 and 200 levels or so."""
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(*size, 3)), (2, 2, 0))
    return np.clip(np.rint(125 + 25 * noise / noise.std()), 30, 220).astype(np.uint8)


def shifted(picture: np.ndarray, dx: int, dy: int, *, half: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two cuts of a picture, the second with everything moved by (dx, dy); in half pixels where halved by area.

    Averages of 2 × 2 pixels that begin one pixel later are the picture moved by exactly half of one.
    """
    edge = 16
    height, width = ((side - 2 * edge) // 2 * 2 for side in picture.shape[:2])

    def cut(x: int, y: int) -> np.ndarray:
        found = picture[edge - y : edge - y + height, edge - x : edge - x + width]
        if half:
            found = cv2.resize(found, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
        return np.ascontiguousarray(found)

    return cut(0, 0), cut(dx, dy)


def test_sums_by_hand() -> None:
    """No motion, 10 levels brighter: every pixel is seen, 3 · 10² and 3 · 10 each."""
    one = np.full((40, 48, 3), 50, np.uint8)
    assert warp_sums(one, one + 10, STILL, STILL) == (3 * 100 * 1920, 3 * 10 * 1920, 1920)
    assert warp_sums(one + 10, one, STILL, STILL) == (3 * 100 * 1920, 3 * 10 * 1920, 1920)  # bytes do not wrap


def test_half_a_pixel_is_read_between_two() -> None:
    """Columns of 0, 10, 20 … read half a pixel to the right: 5 more, but for the last, which repeats the edge."""
    ramp = np.repeat(np.arange(0, 480, 10)[None, :, None], 40, 0).repeat(3, 2)
    one = (ramp // 2).astype(np.uint8)
    there = np.full((40, 48, 2), (0.5, 0), np.float32)
    assert warp_sums(one, one, there, -there) == (3 * 40 * 47 * 2.5**2, 3 * 40 * 47 * 2.5, 1920)


@pytest.mark.parametrize(("miss", "seen"), [(0.710, True), (0.711, False)])
def test_a_way_back_that_misses_by_more_than_half_a_square_pixel_is_not_seen(miss: float, seen: bool) -> None:
    """|B|² > 0.01 |B|² + 0.5 from |B| = √(0.5 / 0.99) = 0.7107 on; where there is motion, the bound is wider."""
    one = texture(size=(40, 48))
    back = np.full((40, 48, 2), (miss, 0), np.float32)
    assert warp_sums(one, one, STILL, back).seen == (1920 if seen else 0)
    far = np.full((40, 48, 2), (10.0, 0), np.float32)
    there_and_back = {miss: warp_sums(one, one, far, -far + np.float32([miss, 0])).seen for miss in (1.4, 1.7)}
    assert there_and_back == {1.4: 1920, 1.7: 0}  # 1.96 < 0.01 (100 + 74.0) + 0.5 = 2.24; 2.89 > 2.19


def test_the_edge_of_a_motion_is_not_seen() -> None:
    """The right half moves by 1: the column of 40 before it has |∇F|² = 1. A ramp of 0.04 px, 0.0016, is no edge."""
    one = texture(size=(40, 48))
    there = STILL.copy()
    there[:, 24:, 0] = 1.0
    assert warp_sums(one, one, there, -there).seen == 1920 - 40
    ramp = STILL + np.arange(48, dtype=np.float32)[:, None] * np.float32([0.04, 0])
    assert warp_sums(one, one, ramp, -ramp).seen == 1920


def test_sums_as_scipy_finds_them() -> None:
    """Lai's formula restated on scipy's bilinear reader, on a smooth random flow that leaves the picture at places."""
    rng = np.random.default_rng(2)
    one, other = texture(3), texture(4)
    shape = one.shape[:2]
    there, back = (
        (30 * ndimage.gaussian_filter(rng.normal(size=(*shape, 2)), (9, 9, 0)) + way).astype(np.float32)
        for way in ((2.0, -1.0), (-2.0, 1.0))
    )
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    places = [rows + there[..., 1].astype(np.float64), columns + there[..., 0].astype(np.float64)]

    def read(plane: np.ndarray) -> np.ndarray:
        return ndimage.map_coordinates(plane.astype(np.float64), places, order=1, mode="nearest")

    returned = np.stack([read(back[..., axis]) for axis in (0, 1)], -1)
    miss, moved = ((there + returned) ** 2).sum(-1), (there.astype(np.float64) ** 2).sum(-1)
    flow = there.astype(np.float64)
    right, down = np.diff(flow, axis=1, append=flow[:, -1:]), np.diff(flow, axis=0, append=flow[-1:])
    edge = (right**2 + down**2).sum(-1)
    hidden = (miss > 0.01 * (moved + (returned**2).sum(-1)) + 0.5) | (edge > 0.01 * moved + 0.002)
    difference = (np.stack([read(other[..., c]) for c in range(3)], -1) - one)[~hidden]
    assert 0.05 < hidden.mean() < 0.95
    squared, absolute, seen = warp_sums(one, other, there, back)
    assert seen == (~hidden).sum()
    assert squared == pytest.approx((difference**2).sum(), rel=1e-9)
    assert absolute == pytest.approx(np.abs(difference).sum(), rel=1e-9)


@pytest.mark.parametrize(("dx", "dy", "half"), [(1, 0, False), (5, -3, False), (1, 0, True), (3, -5, True)])
def test_a_known_shift_is_found(dx: int, dy: int, half: bool) -> None:
    _check_shift(texture(size=(300, 340)), dx, dy, half=half)


def test_a_known_shift_of_a_real_picture_is_found(shared: Path) -> None:
    """A tenth frame of a speaker: whole and half pixels, at most 0.05 px off on the mean of its pixels."""
    for name in ("face_LipNet_lwbsza.mpg", "face_LipNet_bbaf2n.mpg"):
        picture = _frame(shared / "clips" / name, 10)
        for dx, dy, half in ((1, 0, False), (8, 5, False), (1, 0, True), (0, 1, True), (3, -5, True)):
            _check_shift(picture, dx, dy, half=half)


def _check_shift(picture: np.ndarray, dx: int, dy: int, *, half: bool) -> None:
    one, other = shifted(picture, dx, dy, half=half)
    way = np.array([dx, dy]) / (2 if half else 1)
    for flow, expected in zip(dis_flows(one, other), (way, -way), strict=True):
        inside = flow[24:-24, 24:-24] - expected
        assert np.hypot(inside[..., 0], inside[..., 1]).mean() < 0.05
    seen = followed([one, other])
    assert seen.motion_px[0] == pytest.approx(np.hypot(*way), abs=0.25)  # the border, where things come in, too


def test_a_still_clip_is_perfect() -> None:
    seen = followed([texture()] * 3)
    assert seen.squared.tolist() == [0, 0] and seen.absolute.tolist() == [0, 0] and seen.motion_px.tolist() == [0, 0]


@pytest.mark.parametrize("levels", [2, 8])
def test_a_flicker_is_recovered(levels: int) -> None:
    """A still picture, `levels` brighter and darker in turn: 2 · levels from frame to frame."""
    picture = texture(1)
    frames = [(picture.astype(int) + levels * (-1) ** t).astype(np.uint8) for t in range(3)]
    seen = followed(frames)
    assert np.sqrt(seen.squared.mean()) == pytest.approx(2 * levels / 255, rel=0.02)
    assert seen.absolute.mean() == pytest.approx(2 * levels / 255, rel=0.02)


def test_a_flicker_in_a_moving_picture_is_recovered(shared: Path) -> None:
    """Real frames and ±5 levels: what is added to the mean square is (10 / 255)²."""
    path = shared / "clips" / "other_torchcodec_nasa_13013.mp4"
    frames = [np.rint(_frame(path, index) * 0.8 + 25).astype(int) for index in range(4)]
    plain = followed([frame.astype(np.uint8) for frame in frames])
    flickers = followed([(frame + 5 * (-1) ** t).astype(np.uint8) for t, frame in enumerate(frames)])
    assert np.sqrt(flickers.squared.mean() - plain.squared.mean()) == pytest.approx(10 / 255, rel=0.02)


def test_more_noise_reads_higher() -> None:
    rng, picture = np.random.default_rng(0), texture(size=(96, 96))
    errors = []
    for sigma in (0, 2, 6, 18):
        frames = [np.clip(picture + sigma * rng.normal(size=picture.shape), 0, 255).astype(np.uint8) for _ in range(3)]
        errors.append(float(followed(frames).squared.mean()))
    assert errors == sorted(errors) and errors[0] == 0


def test_motion_in_pixels_and_in_diagonals() -> None:
    """Steps of 5 and 15 px of 300 × 400, diagonal 500, in 40 ms each: 10 px a frame; 20 / 500 / 0.08 s = 0.5."""
    nothing = np.zeros(2)
    seen = FollowedSteps(
        frames=np.array([1, 2]),
        motion_px=np.array([5.0, 15.0]),
        time_ms=np.array([40.0, 40.0]),
        diagonal_px=500.0,
        squared=nothing,
        absolute=nothing,
        seen=nothing,
    )
    assert motion_magnitude(MOTION_MAGNITUDE_PX, seen).value == 10.0
    assert motion_magnitude(MOTION_MAGNITUDE, seen).value == pytest.approx(0.5)
    assert speed(seen).tolist() == pytest.approx([0.25, 0.75])


def test_frames_without_times_have_no_speed() -> None:
    one, zero = np.ones(1), np.zeros(1)
    seen = FollowedSteps(
        frames=np.array([1]), motion_px=one, time_ms=zero, diagonal_px=500.0, squared=zero, absolute=zero, seen=one
    )
    assert motion_magnitude(MOTION_MAGNITUDE, seen).note == "the frames have no times of their own"
    assert np.isnan(speed(seen)).all()


def test_a_large_picture_is_reduced_and_its_motion_scaled_back() -> None:
    """600 × 640 to 256 × 273: 9 px there are 3.84 here, and 9 again in the number."""
    wide = cv2.resize(texture(5), (700, 640), interpolation=cv2.INTER_CUBIC)
    seen = followed([wide[20:620, 20:660], wide[20:620, 29:669]])
    assert seen.motion_px[0] == pytest.approx(9.0, abs=0.5) and seen.diagonal_px == pytest.approx(np.hypot(600, 640))


def test_pairs_at_a_rate_are_neighbours_all_the_same() -> None:
    """Two pairs a second of a clip at 25 frames a second: frames 0 and 1, 13 and 14, 26 and 27."""
    looked: list[tuple[int, int]] = []

    def flows(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        looked.append((int(one[0, 0, 0]), int(other[0, 0, 0])))
        return np.zeros((40, 48, 2), np.float32), np.zeros((40, 48, 2), np.float32)

    class Facts:
        class video:
            fps = 25.0

    found = Following(Facts(), Follower(name="none", flows=flows, rate=2.0, smallest=32))  # type: ignore[arg-type]
    for index in range(28):
        found.add(_Frame(index, np.full((40, 48, 3), index, np.uint8)))  # type: ignore[arg-type]
    seen = found.finish()
    assert looked == [(0, 1), (13, 14), (26, 27)]
    assert isinstance(seen, FollowedSteps) and seen.frames.tolist() == [1, 14, 27]


def test_a_clip_is_followed_once_for_all_its_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _clip(tmp_path / "a.mkv")
    calls = []
    counted = Follower(name="DIS", flows=lambda *pair: calls.append(1) or dis_flows(*pair), rate=None, smallest=32)  # type: ignore[func-returns-value]
    monkeypatch.setitem(warping._FOLLOWERS, "dis", counted)  # type: ignore[arg-type]
    found = rushes.evaluate_clip(path, metrics=EVERY)
    assert len(calls) == 4
    values = {m.definition.signature: m for m in found.measurements if m.name in EVERY}
    assert len(values) == 4 and all(m.count == 4 and m.value for m in values.values())
    assert not following._UNDER_WAY


def test_the_same_clip_the_same_bytes(tmp_path: Path) -> None:
    path = _clip(tmp_path / "a.mkv")
    one, again = (rushes.evaluate_clip(path, metrics=names) for names in (EVERY, EVERY[::-1]))
    for name in EVERY:
        assert one.series[name].tobytes() == again.series[name].tobytes()
        assert len(one.series[name]) == 5 and np.isnan(one.series[name][0])
    assert [m.value for m in one.measurements] == [m.value for m in again.measurements]
    timeline = clip_timeline(one.measurements, one.series)
    assert timeline is not None
    labels = [lane["label"] for lane in timeline["lanes"]]  # type: ignore[attr-defined]
    assert "Warping error" in labels and "Speed" in labels


def test_what_cannot_be_followed_says_why(tmp_path: Path) -> None:
    tiny = write_luma(tmp_path / "tiny.mkv", [np.zeros((16, 16), np.uint8)] * 3, "gray")
    single = write_clip(tmp_path / "single.mkv", [texture()], codec="ffv1", pix_fmt="bgr0")
    small, alone = "frames of less than 32 pixels have no DIS flow", "fewer than two frames to follow"
    for path, why in ((tiny, small), (single, alone)):
        found = rushes.evaluate_clip(path, metrics=EVERY)
        assert {found[name].note for name in ("warping_error", "motion_magnitude")} == {why}
    (tmp_path / "broken.mp4").write_bytes(b"nothing")
    broken = rushes.evaluate_clip(tmp_path / "broken.mp4", metrics="warping_error")
    assert broken["warping_error"].value is None and broken["warping_error"].note


def test_pictures_with_nothing_in_common_have_no_error_to_tell() -> None:
    lost = np.full((40, 48, 2), (3.0, 0), np.float32)
    nowhere = Follower(name="lost", flows=lambda *_: (lost, lost), rate=None, smallest=32)
    seen = followed([texture(size=(40, 48))] * 2, nowhere)
    assert np.isnan(seen.squared).all()
    value = warping.warping_error(warping.WARPING_ERROR, seen.squared, seen.seen)
    assert value.value is None and "no pixel could be followed" in value.note


@pytest.mark.parametrize(
    ("shares", "note"), [((0.6, 0.4), ""), ((0.6, 0.2), "only 40% of the pixels could be followed")]
)
def test_a_note_says_where_little_could_be_followed(shares: tuple[float, float], note: str) -> None:
    value = warping.warping_error(warping.WARPING_ERROR, np.array([0.1, 0.3]), np.array(shares))
    assert value.value == pytest.approx(0.2) and value.note == note


def test_the_same_flow_on_any_number_of_threads() -> None:
    one, other = shifted(texture(9), 3, 1, half=True)
    found = []
    for threads in (1, 2, 4):
        cv2.setNumThreads(threads)
        try:
            found.append(b"".join(flow.tobytes() for flow in dis_flows(one, other)))
            assert cv2.getNumThreads() == threads
        finally:
            cv2.setNumThreads(-1)
    assert len(set(found)) == 1


def test_raft_is_asked_for_by_name_and_needs_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    pytest.importorskip("torch")
    for name in ("warping_error_raft", "warping_error_l1_raft", "motion_magnitude_raft", "motion_magnitude_px_raft"):
        assert METRICS[name].on_request and METRICS[name].definition.param("flow") == "raft-things"
        with pytest.raises(MissingDependency, match="rushes models pull raft"):
            METRICS[name].require()


def test_raft_and_dis_agree_on_a_clip(tmp_path: Path) -> None:
    try:
        warping.require_raft()
    except MissingDependency as error:
        pytest.skip(str(error))
    one, other = shifted(texture(6, size=(164, 170)), 3, 2, half=False)
    dis, raft = followed([one, other]), followed([one, other], RAFT)
    assert raft.motion_px[0] == pytest.approx(np.hypot(3, 2), abs=0.3)
    assert raft.motion_px[0] == pytest.approx(dis.motion_px[0], abs=0.3)
    tiny = Following(_Facts(), RAFT)  # type: ignore[arg-type]
    for index in range(2):
        tiny.add(_Frame(index, texture(size=(64, 64))))  # type: ignore[arg-type]
    assert tiny.finish() == "frames of less than 128 pixels have no RAFT flow"


def _clip(path: Path) -> Path:
    """Five frames of a drifting texture, lossless."""
    wide = texture(8, size=(96, 128))
    return write_clip(path, [wide[:, 2 * t : 2 * t + 112] for t in range(5)], codec="ffv1", pix_fmt="bgr0")


def _frame(path: Path, index: int) -> np.ndarray:
    with ClipReader(path) as reader:
        return next(frame.rgb() for frame in reader if frame.index == index)
