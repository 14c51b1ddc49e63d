"""Blinks against the clip's own open eye, by hand; real eyes are in tests/vision/landmarks/test_real_faces.py."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from tests.face_tracks import made_points, made_track

from rushes.instruments.clip.bundle import by_name
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.face.blink import (
    BLINK_COUNT,
    BLINK_COUNT_FIXED,
    BLINK_RATE_HZ,
    blinks,
    find_blinks,
    fixed_blinks,
    open_share,
    tremble,
)

blink_count, blink_rate_hz = (partial(blinks, one) for one in (BLINK_COUNT, BLINK_RATE_HZ))
fixed_count = partial(fixed_blinks, BLINK_COUNT_FIXED)

FPS = 25.0
G = math.nan


def _face(ears: list[float | None], *, fps: float | None = FPS, points: int = 468) -> FaceObservation:
    track = made_track([None if ear is None else made_points(ear=ear) for ear in ears])
    return FaceObservation(track=track, fps=fps, model="m", points=points)


def _eyes(opened: float, dips: dict[int, float], *, frames: int = 60) -> list[float | None]:
    """Eyes open by `opened`, and by another share of it in some frames."""
    return [opened * dips.get(frame, 1.0) for frame in range(frames)]


@pytest.mark.parametrize("opened", [0.4, 0.3, 0.2, 0.12])
def test_a_blink_looks_alike_in_wide_and_narrow_eyes(opened: float) -> None:
    blink = dict.fromkeys((20, 21, 22), 0.6)
    assert blink_count(_face(_eyes(opened, blink))).value == 1
    assert blink_count(_face(_eyes(opened, {}))).value == 0


def test_narrow_eyes_are_not_shut_where_the_fixed_threshold_says_so() -> None:
    face = _face([0.2] * 30 + [0.24] * 3 + [0.2] * 30)
    assert (blink_count(face).value, fixed_count(face).value) == (0, 2)


def test_a_wide_eye_blinks_above_the_fixed_threshold() -> None:
    face = _face(_eyes(0.4, dict.fromkeys((20, 21, 22), 0.7)))  # bottoms out at 0.28
    assert (blink_count(face).value, fixed_count(face).value) == (1, 0)


@pytest.mark.parametrize(
    ("shares", "found"),
    [
        ([], []),
        ([1, 1, 1], []),
        ([1, 0.7, 1, 1], []),  # one frame of 40 ms is less than 50
        ([1, 0.7, 0.7, 1], [(1, 2)]),
        ([1, 0.8, 0.8, 1], []),  # on the threshold is not shut
        ([1, 0.7, 0.84, 0.7, 1], [(1, 3)]),  # not open again in between
        ([1, 0.7, 0.7, 0.86, 0.7, 0.7, 1], [(1, 2), (4, 5)]),
        ([1, 0.7, 0.7, G, 0.7, 0.7, 1], [(1, 2), (4, 5)]),  # a gap ends a blink
        ([0.7, 0.7, 1, 1], [(0, 1)]),  # shut at the start: the lids rise at once
        ([1, 1, 0.7, 0.7], [(2, 3)]),  # shut at the end: they fall at once
        ([0.7] * 9, []),  # shut throughout: nothing to see
        ([1] + [0.84] * 6 + [0.7, 0.7] + [0.84] * 6 + [1], []),  # lids that take 280 ms either way narrow, not blink
        ([1] + [0.84] * 4 + [0.7, 0.7] + [0.84] * 6 + [1], [(5, 6)]),  # 200 ms is still quick
    ],
)
def test_finding(shares: list[float], found: list[tuple[int, int]]) -> None:
    assert find_blinks(np.array(shares, float), fps=FPS, shut=0.8, opened=0.86) == found


def test_how_long_a_dip_lasts_goes_by_time_not_frames() -> None:
    # 50 ms are one frame at 15 fps, two at 25 and 30, three at 60.
    for fps, least in ((15.0, 1), (25.0, 2), (30.0, 2), (60.0, 3)):
        for frames in range(1, 4):
            shares = np.array([1.0, 1.0, *([0.5] * frames), 1.0, 1.0])
            assert len(find_blinks(shares, fps=fps, shut=0.8, opened=0.86)) == (frames >= least)


def test_the_open_eye_is_the_80th_percentile_within_a_second() -> None:
    # At 1 fps the window is three frames: of (0.1, 0.2, 0.3) the 80th percentile is 0.2 + 0.6 · 0.1 = 0.26.
    shares = open_share(np.array([0.1, 0.2, 0.3, G]), fps=1.0)
    assert shares == pytest.approx([0.1 / 0.18, 0.2 / 0.26, 0.3 / 0.28, G], nan_ok=True)
    assert np.isnan(open_share(np.zeros(3), fps=25.0)).all()


def test_the_tremble_is_the_typical_step_over_the_typical_value() -> None:
    # Steps 0.02, 0.02, (gap), 0.1: median 0.02; median of the ratios 0.3.
    assert tremble(np.array([0.28, 0.3, 0.32, G, 0.3, 0.4])) == pytest.approx(1.4826 * 0.02 / 0.3)
    assert tremble(np.array([0.3, G, 0.3])) == 0.0
    assert tremble(np.zeros(4)) == math.inf


def test_eyes_that_tremble_like_blinks_cannot_be_told() -> None:
    measured = blink_count(_face([0.3, 0.33] * 30))
    assert measured.value is None
    assert measured.note == "the eyes are too noisy to measure: their opening changes by 14% from frame to frame"
    assert blink_rate_hz(_face([0.3, 0.33] * 30)).value is None


def test_count_rate_and_where() -> None:
    # 60 frames seen of 70 at 25 fps = 2.4 s; blinks at frames 20 and 40.
    ears = _eyes(0.3, dict.fromkeys((20, 21, 40, 41), 0.6)) + [None] * 10
    count, rate = blink_count(_face(ears)), blink_rate_hz(_face(ears))
    assert (count.value, count.count, count.note) == (2, 60, "at 0.8, 1.6 s")
    assert rate.value == pytest.approx(2 / 2.4)
    many = _eyes(0.3, {frame: 0.6 for start in range(10, 90, 10) for frame in (start, start + 1)}, frames=100)
    assert blink_count(_face(many)).note == "at 0.4, 0.8, 1.2, 1.6, 2.0, 2.4 s and 2 more"


def test_the_model_decides_how_far_a_lid_falls() -> None:
    ears = _eyes(0.3, dict.fromkeys((20, 21), 0.7))
    assert [blink_count(_face(ears, points=points)).value for points in (468, 478)] == [1, 0]
    assert "shut:0.8|" in blink_count(_face(ears)).signature


@pytest.mark.parametrize(
    ("ears", "fps", "note"),
    [
        ([None] * 4, FPS, "no face in any of 4 frames"),
        ([0.3] * 40, None, "the clip states no frame rate"),
        ([0.3] * 24, FPS, "the eyes are seen for 1.0 s; 1 is needed"),
        ([0.3] * 2 + [None] * 60, FPS, "the eyes are seen for 0.1 s; 1 is needed"),
    ],
)
def test_reasons_for_no_count(ears: list[float | None], fps: float | None, note: str) -> None:
    for metric in (blink_count, blink_rate_hz):
        measured = metric(_face(ears, fps=fps))
        assert (measured.value, measured.note) == (None, note)


def test_the_bundle_takes_this_reading_and_the_fixed_one_is_beside_it() -> None:
    seen = Observation(faces=_face(_eyes(0.4, dict.fromkeys((20, 21, 22), 0.7))))
    measured = [m.measure(seen) for name, m in METRICS.items() if name.startswith("blink") and m.measure is not None]
    assert [m.name for m in measured] == ["blink_count", "blink_rate_hz"] * 2
    assert [by_name(measured)[name].signature for name in ("blink_count", "blink_rate_hz")] == [
        measured[0].signature,
        measured[1].signature,
    ]
    assert measured[0].value == 1 and measured[2].value == 0
