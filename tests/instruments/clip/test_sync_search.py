"""The search for the place where the mouth follows the sound: by construction. Real speakers are in tests/landmarks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.face_tracks import made_points, made_track

from rushes.core import Measurement
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics.face.mouth import AT_REST, mouth_speech_motion
from rushes.instruments.clip.metrics.face.sync_search import (
    SyncSearch,
    match_curve,
    mouth_audio_margin,
    mouth_audio_offset_ms,
    mouth_movement,
)
from rushes.instruments.clip.sound.speech import band_power, detrended, speech_sound, spread
from rushes.media import AudioTrack

FPS = 25.0
RATE = 16000


def _levels(frames: int, seed: int = 0) -> np.ndarray:
    """Something as lumpy as speech, 0 to 1, with pauses."""
    noise = np.random.default_rng(seed).random(frames + 4)
    lumps = np.convolve(noise, [0.3, 0.6, 1.0, 0.6, 0.3], mode="valid")
    return np.clip((lumps - lumps.mean()) / np.ptp(lumps) * 2, 0.0, 1.0)


def _tone(levels: np.ndarray, *, hz: float = 1000.0, loudest: float = 0.5) -> AudioTrack:
    """A tone whose power to the 0.2 follows the levels: amplitude = level ^ 2.5."""
    per_frame = int(RATE / FPS)
    at = np.arange(len(levels) * per_frame)
    amplitude = np.interp(at, np.arange(len(levels)) * per_frame + per_frame / 2, levels**2.5)
    return AudioTrack.of((loudest * amplitude * np.sin(2 * np.pi * hz * at / RATE)).astype(np.float32), RATE)


def _face(mouth: np.ndarray, audio: AudioTrack | None, **more: object) -> FaceObservation:
    """A face whose lips and jaw open by 20 px at 1; NaN is a gap."""
    points = [None if math.isnan(m) else made_points(mouth=10 + 20 * m, jaw=20 * m) for m in mouth]
    settings: dict[str, object] = {"fps": FPS, "model": "m", "audio": audio} | more
    return FaceObservation(track=made_track(points), **settings)  # type: ignore[arg-type]


def _measured(mouth: np.ndarray, audio: AudioTrack | None, **more: object) -> tuple[Measurement, ...]:
    seen = Observation(faces=_face(mouth, audio, **more))
    return mouth_audio_margin(seen), mouth_audio_offset_ms(seen), mouth_speech_motion(seen)


def test_the_running_mean_is_taken_away_and_gaps_stay() -> None:
    # Means of up to one place away: (0+3)/2, (0+3+6)/3, (3+6)/2; the gap is in no mean.
    assert detrended(np.array([0.0, 3.0, 6.0, math.nan]), reach=1) == pytest.approx(
        [-1.5, 0.0, 1.5, math.nan], nan_ok=True
    )
    assert spread(np.arange(101.0), fps=25.0) < 3.0  # a slow drift is nearly gone; its own std is 29
    assert spread(np.full(3, math.nan), fps=25.0) == 0.0
    assert spread(np.array([1.0, 2.0]), fps=100.0) == pytest.approx(0.5)  # shorter than the window: the plain std


def test_a_full_scale_tone_in_the_band_has_power_one_and_one_outside_none() -> None:
    at = np.arange(RATE) / RATE
    for hz, power in ((1000.0, 1.0), (3000.0, 1.0), (100.0, 0.0), (7000.0, 0.0)):
        middles, found = band_power(np.sin(2 * np.pi * hz * at).astype(np.float32), RATE)
        assert found == pytest.approx(power, abs=1e-4)
    # (16000 − 512) / 160 + 1 = 97 windows; the first is centred at 16 ms.
    assert len(middles) == 97 and middles[:2] == pytest.approx([0.016, 0.026])


def test_loudness_level_and_activity_per_frame() -> None:
    levels = np.array([0.0] * 25 + [1.0] * 25 + [0.0] * 25)
    found = speech_sound(_tone(levels, loudest=1.0), times_ms=None, frames=75, fps=FPS)
    assert not isinstance(found, str)
    assert found.level_db == pytest.approx(0.0, abs=0.1)
    assert found.loudness[30:45] == pytest.approx(1.0, abs=0.01) and found.loudness[:20].max() < 0.1
    # Heard from about frame 25 to 49, and 6 frames (250 ms) around that.
    assert found.active[20:54].all() and not found.active[:15].any() and not found.active[60:].any()
    assert found.variation_db > 6 and found.not_speech == ""


def test_a_mouth_that_follows_the_sound_is_in_sync() -> None:
    levels = _levels(100)
    margin, offset, motion = _measured(levels, _tone(levels))
    assert margin.value > 0.3 and margin.note == ""
    assert (offset.value, offset.note) == (0.0, "in sync")
    assert motion.value > 4 * AT_REST and motion.count > 50


@pytest.mark.parametrize("frames", [-20, -12, -8, -5, 5, 8, 12, 20])
def test_the_offset_is_found_and_said_in_words(frames: int) -> None:
    levels = _levels(150, 3)
    margin, offset, _ = _measured(np.roll(levels, -frames), _tone(levels))  # the mouth goes first: the sound is late
    assert margin.value < 0
    assert offset.value == 40.0 * frames
    words = f"sound about {abs(40 * frames)} ± 20 ms {'late' if frames > 0 else 'early'}"
    assert (margin.note, offset.note) == (words, words)


@pytest.mark.parametrize("frames", [-3, -2, 2, 4])
def test_a_few_frames_are_in_place(frames: int) -> None:
    levels = _levels(150, 4)
    margin, offset, _ = _measured(np.roll(levels, -frames), _tone(levels))  # 120 ms early to 160 ms late
    assert margin.value > 0 and (offset.value, offset.note) == (40.0 * frames, "in sync")


def test_other_peoples_sound_fits_no_better_in_place() -> None:
    margins = [_measured(_levels(125, seed), _tone(_levels(125, 50 + seed)))[0].value for seed in range(12)]
    assert sum(value is None or value < 0 for value in margins) >= 9
    assert any(value is not None and value < 0 for value in margins)


def test_a_margin_below_zero_within_its_standard_error_is_no_verdict() -> None:
    notes = [_measured(_levels(125, seed), _tone(_levels(125, 50 + seed)))[0] for seed in range(12)]
    open_ones = [one for one in notes if one.value is None]
    assert open_ones and all(one.note.startswith("unclear: −0.") and " ± 0." in one.note for one in open_ones)


def test_less_than_three_seconds_of_speech_give_no_verdict() -> None:
    levels = np.concatenate([_levels(60, 3), np.zeros(60)])
    margin, offset, motion = _measured(levels, _tone(levels))
    assert margin.value is None and offset.value is None and motion.value is not None
    assert margin.note.endswith("s of speech with the face; 3 are needed")


def test_a_small_face_is_not_judged() -> None:
    """The made face has 100 px between the eyes; a tenth of it has 10."""
    levels = _levels(150, 3)
    face = _face(levels, _tone(levels))
    small = replace(face, track=replace(face.track, points=face.track.points / 10))
    found = mouth_audio_margin(Observation(faces=small))
    assert found.value is None and found.note.startswith("the face is too small to judge")


def test_a_dead_mouth_is_one_that_rests_while_speech_is_heard() -> None:
    levels = _levels(100)
    dead = _measured(np.full(100, 0.3), _tone(levels))
    assert dead[2].value == pytest.approx(0.0, abs=1e-12)
    assert {m.note for m in dead[:2]} == {"the lips hardly move (0.0000; 0.012 is needed)"}


def test_the_mouth_is_looked_at_only_while_speech_is_heard() -> None:
    # Speech in the last of four seconds; the mouth moves only then. Over all frames it would move half as much.
    levels = np.concatenate([np.zeros(100), _levels(50, 6)])
    motion = _measured(levels, _tone(levels))[2]
    assert motion.count < 75
    assert motion.value > 1.3 * spread(_face(levels, None).track.lip_opening, fps=FPS)


def test_motion_does_not_depend_on_the_size_of_the_head() -> None:
    levels = _levels(80)
    sound = _tone(levels)
    once = _measured(levels, sound)[2].value
    larger = made_track([made_points(mouth=10 + 20 * m, jaw=20 * m, scale=3.0) for m in levels])
    face = FaceObservation(track=larger, fps=FPS, model="m", audio=sound)
    assert mouth_speech_motion(Observation(faces=face)).value == pytest.approx(once)


def _steady(frames: int) -> AudioTrack:
    return _tone(np.full(frames, 0.9))


@pytest.mark.parametrize(
    ("mouth", "audio", "more", "note"),
    [
        (_levels(60), None, {}, "the clip has no sound"),
        (_levels(60), None, {"audio_missing": "the sound could not be read"}, "the sound could not be read"),
        (_levels(60), _tone(_levels(60)), {"fps": None}, "the clip states no frame rate"),
        (np.full(60, math.nan), _tone(_levels(60)), {}, "no face in any of 60 frames"),
        (_levels(60), _tone(np.zeros(60)), {}, "the sound is silent"),
        (
            _levels(60),
            _tone(_levels(60), loudest=0.001),
            {},
            "the sound is too quiet for speech (-63 dB; -50 are needed)",
        ),
        (_levels(60), _steady(60), {}, "the sound does not rise and fall like speech (0.0 dB; it takes 6)"),
    ],
)
def test_what_cannot_be_told_is_null_with_the_reason(
    mouth: np.ndarray, audio: AudioTrack | None, more: dict[str, object], note: str
) -> None:
    measured = _measured(mouth, audio, **more)
    assert {m.value for m in measured} == {None}
    assert {m.note.split("(")[0] for m in measured} == {note.split("(")[0]}


def test_too_little_face_is_null() -> None:
    mouth = _levels(100)
    mouth[30:] = math.nan
    margin, offset, motion = _measured(mouth, _tone(_levels(100)))
    assert {margin.note, offset.note} == {"1.2 s have both a face and sound; 1.5 are needed"}
    mouth[10:] = math.nan
    assert _measured(mouth, _tone(_levels(100)))[2].note.endswith("s of speech with the face; 1 are needed")


def test_no_place_that_stands_clear_has_no_offset() -> None:
    clear = SyncSearch(margin=0.1, offset_ms=0.0, peak=0.6, rival=0.44, pairs=75)
    assert clear.is_clear
    assert not clear._replace(rival=0.46).is_clear and not clear._replace(peak=0.24, rival=-0.5).is_clear
    steps = np.tile([0.2] * 5 + [0.9] * 5, 15)  # every 400 ms looks the same
    margin, offset, _ = _measured(steps, _tone(steps))
    assert offset.value is None and offset.note.startswith("no place within a second stands clear (")
    assert margin.value is not None


def test_gaps_are_left_out_of_the_search() -> None:
    levels = _levels(120, 7)
    mouth = levels.copy()
    mouth[40:60] = math.nan
    margin, offset, _ = _measured(mouth, _tone(levels))
    assert margin.value > 0 and offset.value == 0.0 and margin.count < 101


def test_at_an_odd_rate_no_lag_lies_beyond_a_second() -> None:
    fps = 30000 / 1001
    levels = _levels(100, 8)
    face = _face(np.roll(levels, 29), _tone(levels), fps=fps)
    curve = match_curve(mouth_movement(face.track), levels, reach=29)
    assert len(curve) == 59
    found = face.sync_search
    assert isinstance(found, SyncSearch) and abs(found.offset_ms) <= 1000
