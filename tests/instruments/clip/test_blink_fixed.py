"""Eye aspect ratio, and blinks by a fixed threshold: the seed's reading keeps its values."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from tests.face_tracks import made_points, made_track

from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.metrics.face.blink import (
    BLINK_COUNT_FIXED,
    BLINK_RATE_HZ_FIXED,
    THRESHOLDS,
    count_blinks,
    fixed_blinks,
)

blink_count, blink_rate_hz = (partial(fixed_blinks, one) for one in (BLINK_COUNT_FIXED, BLINK_RATE_HZ_FIXED))

O, S, G = 0.3, 0.1, math.nan  # open, shut, gap  # noqa: E741


def test_the_ratio_is_height_over_width_of_both_eyes() -> None:
    track = made_track([made_points(ear=0.3), None, made_points(ear=0.12, scale=2.5)])
    assert track.eye_aspect_ratio == pytest.approx([0.3, math.nan, 0.12], nan_ok=True)


@pytest.mark.parametrize(
    ("ratios", "blinks"),
    [
        ([], 0),
        ([O, O, O], 0),
        ([O, S, O, O], 0),  # one shut frame is noise
        ([O, S, S, O, O], 1),
        ([O, S, S, O, S, S, O, O], 1),  # one open frame does not end a blink
        ([O, S, S, O, O, S, S, O, O], 2),
        ([S, S, S, S], 1),  # shut throughout
        ([S, S], 1),
        ([O, S, G, S, O], 0),  # a gap parts the two shut frames
        ([S, S, G, S, S], 2),  # a gap ends a blink
        ([O, 0.2, 0.2, O], 0),  # on the threshold is open
        ([O, S, S, S, S, S, S, O], 1),
    ],
)
def test_counting(ratios: list[float], blinks: int) -> None:
    assert count_blinks(np.array(ratios), threshold=0.2) == blinks


def test_count_and_rate() -> None:
    # 8 frames seen of 10 at 20 fps = 0.4 s; one blink: 2.5 Hz.
    ears = [O, O, S, S, O, O, None, None, O, O]
    track = made_track([None if ear is None else made_points(ear=ear) for ear in ears])
    face = FaceObservation(track=track, fps=20.0, model="m")
    count, rate = blink_count(face), blink_rate_hz(face)
    assert (count.value, count.count) == (1, 8)
    assert (rate.value, rate.count) == (pytest.approx(2.5), 8)
    assert f"ear:{THRESHOLDS[468]}" in count.signature


def test_the_threshold_belongs_to_the_model() -> None:
    track = made_track([made_points(ear=ear) for ear in (O, 0.21, 0.21, O, O)])
    faces = [FaceObservation(track=track, fps=25.0, model="m", points=points) for points in (468, 478)]
    counts = [blink_count(face).value for face in faces]
    assert counts == [1, 0]


def test_no_frame_rate_and_no_face() -> None:
    face = FaceObservation(track=made_track([made_points()] * 3), model="m")
    assert blink_count(face).value == 0 and blink_rate_hz(face).note == "the clip states no frame rate"
    nobody = FaceObservation(track=made_track([None]), fps=25.0, model="m")
    assert {blink_count(nobody).note, blink_rate_hz(nobody).note} == {"no face in any of 1 frames"}
