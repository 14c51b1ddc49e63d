"""Lips, head, gaze and brows of made faces, against values worked out by hand."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from benchmarks.real_speakers import LIST, MEASURED, MORE, distances, measured, read_rows, scale
from scipy.spatial.transform import Rotation
from tests.face_tracks import made_points, made_track
from tests.instruments.clip.test_head import observed, turned
from tests.instruments.clip.test_sync_search import _levels, _tone

from rushes.core import Definition
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.faces.track import KEPT, kept_points
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.face.articulation import ARTICULATION_DISTANCE, articulation_distance
from rushes.instruments.clip.metrics.face.head import head_motion, head_pose_spread
from rushes.instruments.clip.metrics.face.lip_sync import LipSync, foretold_curve, lip_speech_fit, lip_sync_offset_ms
from rushes.instruments.clip.metrics.face.liveliness import (
    BROW_MOTION,
    GAZE_SPREAD,
    HEAD_DISTANCE,
    brow_motion,
    gaze_spread,
    head_distance,
)
from rushes.instruments.clip.metrics.face.real_speakers import HEAD, MOUTH, NAME, Spread, distance, furthest
from rushes.instruments.clip.show.tables import columns
from rushes.instruments.clip.sound.bands import BANDS, frame_bands
from rushes.media import AudioTrack
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

FPS = 25.0


# --- where the scale comes from: the recorded numbers of benchmarks/real_speakers.csv


def test_the_scale_in_the_code_is_that_of_the_recorded_speakers() -> None:
    logs = defaultdict(list)
    with LIST.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            assert re.fullmatch(r"[0-9a-f]{64}", row["sha256"]) and row["use"] in ("scale", "check")
            if row["use"] == "scale":
                logs[row["speaker"]].append([math.log(float(row[name])) for name in MEASURED])
    speakers = np.array([np.mean(each, axis=0) for each in logs.values()])
    assert f"{len(speakers)}-speakers" == NAME
    found = [tuple(spread) for spread in (MOUTH | HEAD).values()]
    assert found == [tuple(pair) for pair in np.round([speakers.mean(0), speakers.std(0, ddof=1)], 3).T.tolist()]
    assert scale(read_rows()) == MOUTH | HEAD


@pytest.mark.parametrize(("which", "definition"), [(0, ARTICULATION_DISTANCE), (1, HEAD_DISTANCE)])
def test_what_real_speakers_read_is_as_the_definition_says(which: int, definition: Definition) -> None:
    found = {use: [distances(row)[which] for row in read_rows() if row["use"] == use] for use in ("scale", "check")}
    said = {use: f"{min(values):.1f} to {max(values):.1f}" for use, values in found.items()}
    words = f"The 12 real speakers read {said['scale']}, five others in four languages {said['check']}."
    assert words in definition.edge_cases


@pytest.mark.parametrize(("name", "definition"), [("gaze", GAZE_SPREAD), ("brows", BROW_MOTION)])
def test_the_range_of_gaze_and_brows_is_the_recorded_one(name: str, definition: Definition) -> None:
    found = [float(row[name]) for row in read_rows()]
    assert f"Real speakers read {min(found):.3f} to {max(found):.3f}. " in definition.edge_cases


@pytest.mark.shared
@pytest.mark.skipif(not is_pulled(group_named("face-landmarker")), reason="rushes models pull face-landmarker")
def test_a_recording_is_measured_again_as_it_is_recorded(shared: Path) -> None:
    (row,) = (row for row in read_rows() if row["path"].endswith("bbaf2n.mpg"))
    found = measured(shared / "clips" / "face_LipNet_bbaf2n.mpg")
    assert found == pytest.approx({name: float(row[name]) for name in found}, rel=1e-3)
    assert set(found) == {*MEASURED, *MORE}


# --- what a table of a run shows

SHOWN = ("articulation_distance", "lip_sync_offset_ms", "head_distance")
HIDDEN = ("mouth_audio_margin", "mouth_audio_corr", "landmark_jitter")


def test_a_narrow_table_has_what_agrees_with_people_and_not_what_does_not() -> None:
    found = columns(METRICS[name].missing("no face") for name in (*HIDDEN, *SHOWN))
    assert {column.name: column.minor for column in found} == dict.fromkeys(SHOWN, False)


# --- by hand


def _spoken(amounts: dict[str, float], frames: int = 200) -> FaceObservation:
    """A mouth whose shapes alternate by ± these shares of the eyes' distance (100 px) while speech is heard."""
    sign = np.where(np.arange(frames) % 2, 1.0, -1.0)
    opened, wide, jaw = (100 * amounts[name] * sign for name in ("open", "wide", "jaw"))
    faces = [
        made_points(mouth=30 + float(o), wide=40 + float(w), jaw=20 + float(j))
        for o, w, j in zip(opened, wide, jaw, strict=True)
    ]
    return FaceObservation(track=made_track(faces), fps=FPS, model="m", audio=_tone(_levels(frames)))


@pytest.mark.parametrize("times", [0.25, 1.0, 4.0])
def test_a_mouth_is_as_far_away_as_its_movement_is_from_peoples(times: float) -> None:
    amounts = {name: times * spread.typical for name, spread in MOUTH.items()}
    found = articulation_distance(Observation(faces=_spoken(amounts)))
    # Alternating by ± a: 13 of the 25 frames around each have its own sign, so their mean is a / 25 on its side.
    by_hand = math.sqrt(sum((math.log(0.96 * times) / spread.deviation) ** 2 for spread in MOUTH.values()) / 3)
    assert found.value == pytest.approx(by_hand, abs=0.02)
    assert found.note == f"jaw {0.96 * times:.2g} of people's"  # of the three the one that varies least


def test_a_clip_without_speech_has_no_distance() -> None:
    face = _spoken({name: spread.typical for name, spread in MOUTH.items()})
    silent = FaceObservation(track=face.track, fps=FPS, model="m")
    assert articulation_distance(Observation(faces=silent)).note == "the clip has no sound"
    none = FaceObservation(track=made_track([None] * 50), fps=FPS, model="m", audio=face.audio)
    assert articulation_distance(Observation(faces=none)).note == "no face in any of 50 frames"


def test_distances_by_hand() -> None:
    spreads = {"a": Spread(0.0, 1.0), "b": Spread(1.0, 0.5)}
    # z of a: ln e = 1; z of b: (ln e² − 1) / 0.5 = 2. √((1 + 4) / 2).
    values = {"a": math.e, "b": math.e**2}
    assert distance(values, spreads) == pytest.approx(math.sqrt(2.5))
    assert furthest(values, spreads) == "b 2.7 of people's"
    assert Spread(0.0, 1.0).z(0.0) == pytest.approx(math.log(1e-6))


def test_the_heads_distance_is_that_of_its_two_numbers() -> None:
    face = observed(turned(Rotation.from_euler("y", 0.8 * np.arange(50.0)[:, None], degrees=True)))
    speed, spread = head_motion(face).value, head_pose_spread(face).value
    assert speed is not None and spread is not None
    by_hand = [(math.log(speed) - 2.441) / 0.611, (math.log(spread) - 1.473) / 0.877]
    assert head_distance(face).value == pytest.approx(math.sqrt((by_hand[0] ** 2 + by_hand[1] ** 2) / 2))
    still = observed(turned(Rotation.from_euler("y", np.zeros((50, 1)), degrees=True)))
    assert (head_distance(still).value or 0) > 10  # ln of a millionth: far from people
    assert head_distance(observed([None] * 50)).note == "no face in any of 50 frames"
    assert set(HEAD) == {"speed", "spread"}


def test_gaze_and_brows_by_hand() -> None:
    # Irises at 0.4 and 0.6 of the way in turn: standard deviation 0.1. Brows 20 ± 2 px over the lids, eyes 100 px
    # apart: 0.02.
    faces = [made_points(gaze=0.4 + 0.2 * (n % 2), brow=18 + 4 * (n % 2)) for n in range(30)]
    face = FaceObservation(track=made_track(faces), fps=FPS, model="m", points=478)
    assert gaze_spread(face).value == pytest.approx(0.1)
    assert brow_motion(face).value == pytest.approx(0.02)
    older = FaceObservation(track=face.track, fps=FPS, model="m", points=468)
    assert gaze_spread(older).note.startswith("the model has no irises")
    few = FaceObservation(track=made_track(faces[:10]), fps=FPS, model="m", points=478)
    assert gaze_spread(few).note == "10 frames with the face; 25 are needed"


def test_a_model_without_irises_leaves_them_out() -> None:
    points = kept_points(np.ones((468, 3), np.float32))
    assert len(points) == len(KEPT) and np.isnan(points[-2:]).all() and np.isfinite(points[:-2]).all()


# --- offset


def test_what_is_foretold_peaks_at_the_true_lag() -> None:
    rng = np.random.default_rng(3)
    sound = rng.normal(size=(300, 4))
    mouth = np.stack([sound @ [1.0, -2.0, 0.5, 0.0], sound @ [0.0, 1.0, 1.0, 1.0]], 1)
    late = np.full_like(mouth, np.nan)
    late[3:] = mouth[:-3]
    curve = foretold_curve(late, sound, reach=8)
    # One frame of context on either side reaches from lag 2 to 4; nothing is foretold anywhere else.
    assert curve[10:13].min() > 0.95
    assert np.abs(np.delete(curve, [10, 11, 12])).max() < 0.35
    assert np.isnan(foretold_curve(late[:30], sound[:30], reach=2)).all()


@pytest.mark.parametrize("late", [0, 6, -8])
def test_the_offset_has_sign_and_size(late: int) -> None:
    levels = _levels(260, seed=5)
    heard = np.roll(levels, late)
    faces = [made_points(mouth=10 + 20 * float(m), jaw=20 * float(m)) for m in levels]
    face = FaceObservation(track=made_track(faces), fps=FPS, model="m", audio=_tone(heard))
    found = lip_sync_offset_ms(Observation(faces=face))
    assert found.value == pytest.approx(40.0 * late, abs=40.0)
    words = {0: "in sync", 6: "late", -8: "early"}[late]
    assert words in found.note


def test_another_sound_has_no_clear_place() -> None:
    faces = [made_points(mouth=10 + 20 * float(m), jaw=20 * float(m)) for m in _levels(260, seed=5)]
    face = FaceObservation(track=made_track(faces), fps=FPS, model="m", audio=_tone(_levels(260, seed=99)))
    found = lip_sync_offset_ms(Observation(faces=face))
    assert found.value is None and found.note.startswith("no place within a second is clear")
    peaks = ((0.19, 0.0), (0.3, 0.15))
    assert [LipSync(0.0, *peak, 100, in_place=0.19, seconds=4.0).is_clear for peak in peaks] == [False, True]


def _speaking(late: int = 0, *, words: int = 5, frames: int = 260) -> FaceObservation:
    """Lips that speak the words of seed 5, with the sound of some words, this many frames late."""
    faces = [made_points(mouth=10 + 20 * float(m), jaw=20 * float(m)) for m in _levels(frames, seed=5)]
    heard = np.roll(_levels(frames, seed=words), late)
    return FaceObservation(track=made_track(faces), fps=FPS, model="m", audio=_tone(heard))


def _fit(face: FaceObservation) -> float:
    value = lip_speech_fit(Observation(faces=face)).value
    assert value is not None
    return float(value)


def test_lips_fit_their_own_words_and_nobody_elses() -> None:
    own = _fit(_speaking())
    assert own > 1.5
    assert all(_fit(_speaking(words=seed)) < 0.5 for seed in (31, 57, 99))
    # Three frames late are 120 ms, inside; 480 ms are not: the sound then fits elsewhere.
    assert _fit(_speaking(3)) == pytest.approx(own, abs=0.2) and _fit(_speaking(12)) < 0.5
    assert lip_speech_fit(Observation(faces=_speaking(frames=60))).value is None


def test_the_fit_grows_with_the_root_of_the_length() -> None:
    # 0.25 · √16 = 1; the same match over four times as long says twice as much.
    found = [LipSync(0.0, 0.3, 0.1, 100, in_place=0.25, seconds=seconds).fit for seconds in (16.0, 64.0)]
    assert found == [1.0, 2.0]
    face = _speaking()
    sync = face.lip_sync
    assert not isinstance(sync, str) and sync.seconds == pytest.approx(260 / FPS) and sync.in_place <= sync.peak
    assert _fit(face) == pytest.approx(sync.in_place * math.sqrt(260 / FPS))


def test_bands_of_a_tone_are_loudest_where_it_is() -> None:
    tone = np.sin(2 * np.pi * 300 * np.arange(16000) / 16000).astype(np.float32)
    bands = frame_bands(tone, np.arange(30) / FPS, FPS)
    assert bands.shape == (30, BANDS)
    # 12 bands over 45.25 mels: middles at 3.48, 6.96 …; 300 Hz are 4.5 mels, nearest to the first.
    assert set(bands[:24].argmax(axis=1)) == {0}
    assert np.isnan(bands[26:]).all()  # the sound lasts 25 frames
    assert np.isnan(frame_bands(tone[:100], np.arange(3) / FPS, FPS)).all()
    assert AudioTrack.of(tone, 16000).rate == 16000
