"""Jitter, mouth energy and presence on hand-made tracks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.face_tracks import made_points, made_track

from rushes.core import Measurement
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.faces.track import FaceTrack
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.face.presence import (
    face_bbox_jitter,
    face_present_ratio,
    landmark_jitter,
    longest_face_gap_ms,
    mouth_open_energy,
)
from rushes.media import AudioTrack

MODEL = "0123456789ab"
NAMES = [
    "face_present_ratio",
    "face_bbox_jitter",
    "landmark_jitter",
    "mouth_open_energy",
    "mouth_audio_corr",
    "blink_count",
    "blink_rate_hz",
    "blink_count",
    "blink_rate_hz",
    "mouth_audio_lag",
    "mouth_audio_null_mean",
    "mouth_audio_null_share",
    "mouth_audio_margin",
    "mouth_audio_offset_ms",
    "lip_sync_offset_ms",
    "lip_speech_fit",
    "mouth_speech_motion",
    "articulation_distance",
    "longest_face_gap_ms",
    "head_motion",
    "head_pose_spread",
    "head_distance",
    "gaze_spread",
    "brow_motion",
]


def face(track: FaceTrack, **more: object) -> FaceObservation:
    return FaceObservation(track=track, model=MODEL, **more)  # type: ignore[arg-type]


def tier1(seen: FaceObservation) -> list[Measurement]:
    """Every tier-1 value of a clip of which only the face is known."""
    metrics = [METRICS[name] for name in METRICS if METRICS[name].tier == 1]
    return [metric.measure(Observation(faces=seen)) for metric in metrics if metric.measure is not None]


def _still(frames: int, *, gaps: tuple[int, ...] = ()) -> FaceTrack:
    return made_track([None if frame in gaps else made_points() for frame in range(frames)])


def test_definitions_are_in_the_bundles_order() -> None:
    assert [metric.definition.name for _, metric in METRICS.items() if metric.tier == 1] == NAMES


@pytest.mark.parametrize(("frames", "gaps", "value"), [(4, (), 1.0), (4, (1, 3), 0.5), (4, (0, 1, 2, 3), 0.0)])
def test_presence_is_frames_with_a_face_over_frames(frames: int, gaps: tuple[int, ...], value: float) -> None:
    measured = face_present_ratio(face(_still(frames, gaps=gaps)))
    assert (measured.value, measured.count) == (value, frames)
    assert f"model:{MODEL}" in measured.signature


def test_presence_of_no_frames_is_missing() -> None:
    measured = face_present_ratio(face(_still(0)))
    assert (measured.value, measured.note) == (None, "the clip has no frames")


@pytest.mark.parametrize(
    ("gaps", "value", "note"),
    [
        ((), 0.0, ""),
        ((3,), 100.0, "0.3–0.4 s"),
        ((0, 1, 2), 300.0, "0.0–0.3 s"),  # at the start
        ((7, 8, 9), 300.0, "0.7–1.0 s"),  # at the end: the last frame lasts 1 / fps
        ((1, 4, 5, 8), 200.0, "0.4–0.6 s, the longest of 3 gaps"),
        ((1, 2, 6, 7), 200.0, "0.1–0.3 s, the longest of 2 gaps"),  # of equals the first
        (tuple(range(10)), 1000.0, "0.0–1.0 s"),
    ],
)
def test_the_longest_gap_and_where_it_is(gaps: tuple[int, ...], value: float, note: str) -> None:
    measured = longest_face_gap_ms(face(_still(10, gaps=gaps), fps=10.0))
    assert (measured.value, measured.count, measured.note) == (pytest.approx(value), 10, note)


def test_a_gap_is_as_long_as_its_frames_stand() -> None:
    # Frames at 0, 100, 500 and 600 ms; the face is away in the second: from 100 ms to 500 ms.
    track = made_track(
        [made_points(), None, made_points(), made_points()], times_ms=np.array([0.0, 100.0, 500.0, 600.0])
    )
    measured = longest_face_gap_ms(face(track, fps=10.0))
    assert (measured.value, measured.note) == (pytest.approx(400.0), "0.1–0.5 s")


def test_another_face_in_its_place_is_no_gap_and_no_frame_rate_no_length() -> None:
    track = _still(4, gaps=(1,))
    other = FaceTrack(width=300, height=400, face_count=np.ones(4, np.int64), bbox=track.bbox, points=track.points)
    assert longest_face_gap_ms(face(other, fps=10.0)).value == 0.0
    assert longest_face_gap_ms(face(track)).note == "the clip states no frame rate"
    assert longest_face_gap_ms(face(_still(0), fps=10.0)).note == "the clip has no frames"


def test_bbox_jitter_adds_centre_and_size_over_the_diagonal() -> None:
    # Frame 300 × 400: diagonal 500. Step 1: centre moves (3, 4) = 5, size stays. Step 2: left edge −6, bottom +8:
    # centre moves (−3, 4) = 5, size grows (6, 8) = 10. Mean of 5/500 and 15/500 = 0.02.
    boxes = [(0.0, 0.0, 10.0, 10.0), (3.0, 4.0, 13.0, 14.0), (-3.0, 4.0, 13.0, 22.0)]
    measured = face_bbox_jitter(face(made_track([made_points()] * 3, boxes=boxes)))
    assert measured.value == pytest.approx(0.02, abs=1e-15)
    assert measured.count == 2


def test_bbox_jitter_never_bridges_a_gap() -> None:
    boxes = [(0.0, 0.0, 10.0, 10.0), None, (90.0, 0.0, 100.0, 10.0), (93.0, 4.0, 103.0, 14.0)]
    faces = [made_points(), None, made_points(), made_points()]
    measured = face_bbox_jitter(face(made_track(faces, boxes=boxes)))
    assert measured.value == pytest.approx(5 / 500)
    assert measured.count == 1


def test_landmark_jitter_is_in_inter_ocular_distances() -> None:
    # Every point moves (3, 4) = 5 px, then (0, 2) = 2 px; eyes are 100 px apart: (0.05 + 0.02) / 2.
    faces = [made_points(), made_points(dx=3, dy=4), made_points(dx=3, dy=6)]
    measured = landmark_jitter(face(made_track(faces)))
    assert measured.value == pytest.approx(0.035, abs=1e-15)
    assert measured.count == 2


def test_landmark_jitter_does_not_depend_on_scale_or_direction_of_time() -> None:
    faces = [made_points(dx=x, scale=s) for x, s in ((0, 1.0), (2, 1.1), (5, 0.9), (5, 1.0))]
    once = landmark_jitter(face(made_track(faces))).value
    larger = landmark_jitter(face(made_track([face * 3 for face in faces]))).value
    backwards = landmark_jitter(face(made_track(faces[::-1]))).value
    assert once == pytest.approx(larger) == pytest.approx(backwards)


def test_landmark_jitter_ignores_mouth_and_lids() -> None:
    faces = [made_points(mouth=mouth, ear=ear) for mouth, ear in ((0, 0.3), (40, 0.1), (5, 0.4))]
    assert landmark_jitter(face(made_track(faces))).value == 0.0


def test_more_shake_is_more_jitter() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(30, *made_points().shape))
    values = [
        landmark_jitter(face(made_track([made_points() + size * n for n in noise]))).value
        for size in (0.0, 0.5, 1.0, 2.0)
    ]
    assert values == sorted(values) and values[0] == 0.0


def test_a_still_face_has_no_jitter_and_a_dead_mouth() -> None:
    track = _still(5)
    for metric in (face_bbox_jitter, landmark_jitter, mouth_open_energy):
        assert metric(face(track)).value == 0.0


def test_mouth_energy_is_the_population_variance_of_openness() -> None:
    # Openness 0.1, 0.3, gap, 0.2 → mean 0.2, variance (0.01 + 0.01 + 0) / 3.
    faces = [made_points(mouth=10), made_points(mouth=30), None, made_points(mouth=20, scale=2.0)]
    track = made_track(faces)
    assert track.mouth_openness == pytest.approx([0.1, 0.3, math.nan, 0.2], nan_ok=True)
    measured = mouth_open_energy(face(track))
    assert measured.value == pytest.approx(0.02 / 3)
    assert measured.count == 3


def test_one_frame_has_no_energy_and_no_jitter() -> None:
    track = _still(3, gaps=(1, 2))
    assert mouth_open_energy(face(track)).note == "fewer than two frames show the face"
    assert landmark_jitter(face(track)).note == "no two successive frames show the face"


def test_a_face_without_width_is_a_gap_not_an_infinity() -> None:
    flat = np.zeros_like(made_points())
    measured = landmark_jitter(face(made_track([flat, flat, made_points()])))
    assert measured.count == 1 and math.isfinite(float(measured.value or 0))
    assert np.isnan(made_track([flat]).mouth_openness).all()


def test_no_face_at_all_is_null_with_the_reason() -> None:
    measured = tier1(face(_still(4, gaps=(0, 1, 2, 3)), fps=25.0))
    assert [m.definition.name for m in measured] == NAMES
    assert measured[0].value == 0.0
    gap = next(m for m in measured if m.name == "longest_face_gap_ms")
    assert {(m.value, m.note) for m in measured[1:] if m is not gap} == {(None, "no face in any of 4 frames")}
    assert (gap.value, gap.note) == (160.0, "0.0–0.2 s")  # 4 frames at 25 fps: all of it is a gap


def test_missing_tier_names_the_reason_everywhere() -> None:
    measured = [METRICS[name].missing("run: rushes models pull face") for name in NAMES]
    assert [m.definition.name for m in measured] == NAMES and "model:none" in measured[0].signature
    assert {(m.value, m.count, m.note) for m in measured} == {(None, 0, "run: rushes models pull face")}


def test_several_people_are_visible_in_the_note() -> None:
    track = _still(10, gaps=(4,))
    crowd = FaceTrack(
        width=300, height=400, face_count=track.face_count, bbox=track.bbox, points=track.points, people=3
    )
    notes = {m.note for m in tier1(face(crowd, fps=25.0)) if m.value == 0.0}
    assert "3 faces followed; the one seen most is measured, in 9 of 10 frames" in notes


def test_series_have_one_row_a_frame_and_gaps() -> None:
    sound = AudioTrack.of(np.full(16000, 0.5, np.float32), 16000)
    series = face(_still(25, gaps=(3,)), audio=sound, fps=25.0).series()
    assert {name: values.shape for name, values in series.items()} == {
        "face_count": (25,),
        "face_bbox": (25, 4),
        "face_landmarks": (25, 10, 2),
        "mouth_openness": (25,),
        "eye_aspect_ratio": (25,),
        "head_speed": (25,),
        "audio_envelope": (25,),
    }
    assert np.isnan(series["mouth_openness"]).tolist() == [frame == 3 for frame in range(25)]
    assert "audio_envelope" not in face(_still(25), fps=25.0).series()
