"""Head motion on made tracks: heads that turn by known angles, against closed forms and SciPy's rotations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.face_tracks import made_points, made_track

from rushes.core import Measurement
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.faces.track import KEPT, FaceTrack
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.face.head import angles, head_motion, head_pose_spread, rotations

FPS = 25.0
HEAD = np.random.default_rng(7).normal(scale=(40.0, 50.0, 30.0), size=(len(KEPT), 3))
"""A rigid head of its own, in pixels, centred anywhere."""


def turned(rotations: Rotation, *, scale: float = 1.0, shift: tuple[float, float] = (150.0, 200.0)) -> list[np.ndarray]:
    """The head in each of these poses."""
    return [scale * one.apply(HEAD) + [*shift, 0.0] for one in rotations]


def observed(
    heads: list[np.ndarray | None], *, fps: float = FPS, times_ms: np.ndarray | None = None
) -> FaceObservation:
    flat = made_track([None if head is None else head[:, :2] for head in heads], times_ms=times_ms)
    depth = np.array([np.full(len(KEPT), np.nan) if head is None else head[:, 2] for head in heads])
    track = FaceTrack(
        width=300,
        height=400,
        face_count=flat.face_count,
        bbox=flat.bbox,
        points=flat.points,
        depth=depth.reshape(len(heads), len(KEPT)),
        times_ms=times_ms,
    )
    return FaceObservation(track=track, model="0123456789ab", fps=fps)


def both(heads: list[np.ndarray | None], **more: object) -> tuple[Measurement, Measurement]:
    face = observed(heads, **more)  # type: ignore[arg-type]
    return head_motion(face), head_pose_spread(face)


def yaw(degrees: np.ndarray) -> Rotation:
    return Rotation.from_euler("y", degrees[:, None], degrees=True)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_steady_turn_reads_its_speed_about_any_axis(axis: str) -> None:
    # 0.8 degrees a frame at 25 fps are 20 degrees/s. Averaging over ±2 frames (±100 ms) keeps a steady turn's angles.
    # Uniform over 46 poses 0.8 apart: RMS from the middle = 0.8 · sqrt((46² − 1) / 12).
    motion, spread = both(turned(Rotation.from_euler(axis, 0.8 * np.arange(50.0)[:, None], degrees=True)))
    assert motion.value == pytest.approx(20.0, abs=1e-9)
    assert motion.count == 50 - 2 * 2 - 2 * 2
    assert spread.value == pytest.approx(0.8 * math.sqrt((46**2 - 1) / 12), abs=1e-9)
    assert spread.count == 46


def test_a_turn_about_a_slanted_axis_reads_the_angle_not_its_parts() -> None:
    axis = np.array([1.0, 2.0, 2.0]) / 3
    motion, _ = both(turned(Rotation.from_rotvec(np.radians(np.arange(40.0))[:, None] * axis)))
    assert motion.value == pytest.approx(25.0, abs=1e-9)


def test_a_shake_of_the_head_reads_the_mean_of_its_speed() -> None:
    # A sin(ωt), ω = 2π·0.5 Hz. Averaging over ±2 frames turns A into A·D, D = (1 + 2cos u + 2cos 2u) / 5, u = ω / 25;
    # the turn from t − 2 to t + 2 is 2 A D sin(2u) |cos ωt|, over 4 / 25 s. (A is small: averaging points is averaging
    # angles to the second order.)
    size, u = 0.5, 2 * math.pi * 0.5 / FPS
    motion, spread = both(turned(yaw(size * np.sin(u * np.arange(108)))))
    flat = (1 + 2 * math.cos(u) + 2 * math.cos(2 * u)) / 5
    moments = np.abs(np.cos(u * np.arange(4, 104)))
    assert motion.value == pytest.approx(2 * size * flat * math.sin(2 * u) / (4 / FPS) * moments.mean(), rel=1e-4)
    assert spread.value == pytest.approx(np.std(size * flat * np.sin(u * np.arange(2, 106))), rel=1e-4)


def test_shifts_and_zooms_are_no_turn() -> None:
    heads: list[np.ndarray | None] = []
    for t in range(30):
        heads += turned(Rotation.identity(1), scale=1 + 0.02 * t, shift=(150 + 3 * t, 200 - 2 * t))
    motion, spread = both(heads)
    assert motion.value == pytest.approx(0.0, abs=1e-9) and spread.value == pytest.approx(0.0, abs=1e-9)


def test_a_larger_face_reads_the_same_and_so_does_time_backwards() -> None:
    poses = Rotation.from_rotvec(np.cumsum(np.random.default_rng(2).normal(scale=0.01, size=(40, 3)), axis=0))
    once, larger = both(turned(poses)), both(turned(poses, scale=3.0))
    backwards = both(turned(poses)[::-1])
    for one in (0, 1):
        assert once[one].value == pytest.approx(larger[one].value) == pytest.approx(backwards[one].value)


def test_the_tremble_of_a_still_head_is_averaged_away() -> None:
    """Noise of 0.3 px on a face whose eyes are 70 px apart, as a network places its points."""
    rng = np.random.default_rng(5)
    still = [head + rng.normal(scale=0.3, size=head.shape) for head in turned(Rotation.identity(100), scale=0.7)]
    shape = np.array(still) - np.array(still).mean(axis=1, keepdims=True)
    raw = angles(np.swapaxes(rotations(shape)[:-1], 1, 2) @ rotations(shape)[1:]).mean() * FPS
    motion, _ = both(list(still))
    assert float(motion.value or 0) < raw / 5 < 3.0
    lively, _ = both(turned(yaw(0.8 * np.arange(50)), scale=0.7))
    assert float(motion.value or 0) < float(lively.value or 0) / 15


def test_a_gap_is_never_bridged() -> None:
    # The head jumps by 60 degrees while it is away; within each stretch it is still.
    heads: list[np.ndarray | None] = [*turned(yaw(np.zeros(20))), None, *turned(yaw(np.full(20, 60.0)))]
    motion, spread = both(heads)
    assert motion.value == pytest.approx(0.0, abs=1e-9)
    assert motion.count == 2 * (20 - 8)
    assert spread.value == pytest.approx(30.0, abs=1e-9)  # half at −30, half at +30 of the mean


def test_speed_goes_by_the_frames_times() -> None:
    # Every frame 40 ms, but for one that stays 80 ms: the turn around it is taken over 200 ms, not 160.
    times = 40.0 * np.arange(30)
    times[15:] += 40.0
    motion, _ = both(turned(yaw(times / 1000 * 10)), times_ms=times)
    assert motion.value == pytest.approx(10.0, rel=0.01)


def test_low_frame_rates_take_the_next_frames() -> None:
    # At 8 fps ±100 ms is one frame: the turn from one frame to the next but one.
    motion, _ = both(turned(yaw(2.0 * np.arange(12))), fps=8.0)
    assert motion.value == pytest.approx(16.0, abs=1e-9) and motion.count == 12 - 2 - 2


@pytest.mark.parametrize(
    ("heads", "fps", "why"),
    [
        ([], FPS, "the clip has no frames"),
        ([None] * 12, FPS, "no face in any of 12 frames"),
        (turned(yaw(np.zeros(4))), FPS, "the face is never seen for {} ms without a gap"),
        (turned(yaw(np.zeros(20))), None, "the clip states no frame rate"),
    ],
)
def test_what_cannot_be_measured_says_why(heads: list[np.ndarray | None], fps: float | None, why: str) -> None:
    motion, spread = both(heads, fps=fps)
    assert (motion.value, motion.note) == (None, why.format(400))
    assert (spread.value, spread.note) == (None, why.format(200))


def test_points_without_depth_have_no_pose() -> None:
    face = FaceObservation(track=made_track([made_points()] * 20), model="x", fps=FPS)
    assert head_motion(face).note == "the track has no depth of the landmarks"


def test_rotations_are_scipys() -> None:
    """`Rotation.align_vectors` is SciPy's own solution of the same problem, shapes not quite rigid."""
    rng = np.random.default_rng(11)
    shapes = np.array([one.apply(HEAD) for one in Rotation.random(6, random_state=3)])
    shapes = shapes + rng.normal(scale=4.0, size=shapes.shape)
    shapes -= shapes.mean(axis=1, keepdims=True)
    ours = rotations(shapes)
    theirs = np.array([Rotation.align_vectors(shape, shapes[0])[0].as_matrix() for shape in shapes])
    assert ours == pytest.approx(theirs, abs=1e-9)
    assert angles(ours) == pytest.approx(np.degrees(Rotation.from_matrix(theirs).magnitude()), abs=1e-6)


def test_it_has_no_better_side_and_a_line_on_the_timeline() -> None:
    for name in ("head_motion", "head_pose_spread"):
        assert METRICS[name].definition.better == "neither" and METRICS[name].tier == 1
    lane = METRICS["head_motion"].lane
    face = observed(list(turned(yaw(0.8 * np.arange(50)))))
    assert lane is not None and lane.traces[0].series in face.series()
    series = face.series()["head_speed"]
    assert np.nanmean(series) == pytest.approx(20.0) and np.isnan(series[[0, 3, 46, 49]]).all()
