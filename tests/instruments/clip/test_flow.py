"""Optical flow readings: motion that is known, faults that are planted, and the clip they are asked for on."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from scipy import ndimage
from tests.clips import write_luma

import rushes
from rushes.core import Measurement
from rushes.instruments.clip.flow import observer as flow
from rushes.instruments.clip.metrics.flow import FLOW_ACCELERATION, of_motion, temporal_inconsistency
from rushes.instruments.clip.metrics.light import luma_alternation


def scene(frames: int, *, step: float = 1.0, jump: float = 0.0, seed: int = 0) -> list[np.ndarray]:
    """A soft texture that drifts by `step` pixels a frame, off by ±`jump` on every frame."""
    wide = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(96, 400)), 3)
    wide = 120 + 45 * wide / wide.std()
    places = [100 + step * t + jump * (-1) ** t for t in range(frames)]
    return [np.clip(ndimage.shift(wide, (0, -x), order=1)[:, :128], 0, 255).astype(np.uint8) for x in places]


def seen(frames: list[np.ndarray]) -> flow.MotionObservation:
    watch = flow.MotionWatch(_Facts())  # type: ignore[arg-type]
    for index, frame in enumerate(frames):
        watch._look(index, frame)
    found = watch.finish()
    assert isinstance(found, flow.MotionObservation)
    return found


class _Facts:
    video = None


def test_a_steady_drift_has_its_speed_and_hardly_any_error() -> None:
    found = seen(scene(8, step=2.0))
    assert np.median(found.motion) == pytest.approx(2.0, abs=0.3)
    assert np.nanmedian(found.acceleration) < 0.25 and np.median(found.backward_error) < 0.25
    assert math.isnan(found.acceleration[0]) and len(found.motion) == 7


def test_a_jerky_drift_accelerates() -> None:
    steady, jerky = (np.nanmedian(seen(scene(8, step=2.0, jump=jump)).acceleration) for jump in (0.0, 2.0))
    assert jerky > 4 * steady and jerky > 1.0


def test_frames_that_do_not_belong_together_cannot_be_explained_by_motion() -> None:
    other = [scene(1, seed=seed)[0] for seed in range(8)]
    assert np.median(seen(other).residual) > 4 * np.median(seen(scene(8)).residual)


def test_acceleration_by_hand() -> None:
    """Everything moves by (3, 4), then by (3, 0): a change of 4 over the mean motion of 5 and 3, and the floor."""
    before, now = (flow.Arrows(np.full((40, 40, 2), step, np.float32)) for step in ((3.0, 4.0), (3.0, 0.0)))
    assert (before.length, now.length) == (5.0, 3.0) and before.places[1][7, 2] == 11.0
    assert flow.acceleration(before, now) == pytest.approx(4 / (4 + flow.FLOOR))
    assert np.allclose(flow.carried(now.field, before), (3.0, 0.0))


def test_residual_by_hand() -> None:
    """No flow, one picture 10 levels brighter, no gradient: 10 / 0.5."""
    grey = np.full((40, 40), 50, np.uint8)
    assert flow.residual(grey, grey + 10, flow.Arrows(np.zeros((40, 40, 2), np.float32))) == pytest.approx(20.0)


def test_the_same_values_on_any_number_of_threads() -> None:
    frames, values = scene(4, step=3.0), []
    for threads in (1, 2, 4):
        cv2.setNumThreads(threads)
        try:
            values.append(seen(frames).acceleration.tolist())
            assert cv2.getNumThreads() == threads
        finally:
            cv2.setNumThreads(-1)
    assert values[0][1:] == values[1][1:] == values[2][1:]


def test_motion_is_asked_for_and_read_at_an_even_stride(tmp_path) -> None:
    path = write_luma(tmp_path / "a.mkv", scene(12), "gray")
    without = rushes.evaluate_clip(path)
    assert not any(m.name.startswith("flow_") for m in without.measurements)
    found = rushes.evaluate_clip(path, motion=True)
    assert found["flow_acceleration"].count == 2  # 25 frames a second: frames 0, 3, 6, 9
    looked_at = np.flatnonzero(np.isfinite(found.series["flow_motion"]))
    assert looked_at.tolist() == [3, 6, 9] and len(found.series["flow_motion"]) == 12
    light, motion = float(found["luma_alternation"].value), float(found["flow_acceleration"].value)
    assert found["temporal_inconsistency"].value == pytest.approx(math.sqrt((light + 0.5) * (motion + 0.1)))
    judged = rushes.evaluate_clip(path, profile="generated")
    assert judged["temporal_inconsistency"].value == found["temporal_inconsistency"].value


def test_what_cannot_be_followed_says_why(tmp_path) -> None:
    tiny = rushes.evaluate_clip(write_luma(tmp_path / "a.mkv", [np.zeros((16, 16), np.uint8)] * 4, "gray"), motion=True)
    assert (
        tiny["flow_residual"].value is None
        and tiny["flow_residual"].note == "frames of less than 32 pixels have no flow"
    )
    one = rushes.evaluate_clip(write_luma(tmp_path / "b.mkv", scene(1), "gray"), motion=True)
    assert one["flow_residual"].note == "fewer than two frames to follow"
    (tmp_path / "c.mp4").write_bytes(b"nothing")
    broken = rushes.evaluate_clip(tmp_path / "c.mp4", motion=True)
    assert broken["flow_residual"].value is None and broken["flow_residual"].note


def test_two_steps_make_no_inconsistency() -> None:
    none = of_motion(FLOW_ACCELERATION, None, "acceleration", "motion was not followed")
    assert none.value is None and none.note == "motion was not followed"
    light = luma_alternation([1.0, 2.0, 1.0], fps=25.0)
    assert temporal_inconsistency(light, none).note == "motion was not followed"
    half = Measurement(definition=FLOW_ACCELERATION, value=0.9, count=3)
    assert temporal_inconsistency(light, half).value == pytest.approx(math.sqrt(1.5 * 1.0))
