"""Envelope, correlation, lag and the null beside them."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from rushes.core import Measurement
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.face.sync import best_lag, envelope, mouth_sync, null_values, pearson
from rushes.media import AudioTrack

NAMES = ("mouth_audio_corr", "mouth_audio_lag", "mouth_audio_null_mean", "mouth_audio_null_share")


def mouth_audio_measurements(mouth: np.ndarray, loud: np.ndarray) -> list[Measurement]:
    """The four numbers of this mouth and sound."""
    seen = SimpleNamespace(faces=SimpleNamespace(model="m", choice="", sync=mouth_sync(mouth, loud)))
    metrics = [METRICS[name] for name in NAMES]
    return [metric.measure(seen) for metric in metrics if metric.measure is not None]


def _speech(frames: int, seed: int = 0) -> np.ndarray:
    """Something as lumpy as speech: smoothed noise, positive."""
    noise = np.random.default_rng(seed).random(frames + 4)
    return np.convolve(noise, [0.2, 0.6, 1.0, 0.6, 0.2], mode="valid") + 0.1


def _sound(levels: list[float], *, per_frame: int = 640) -> AudioTrack:
    """±level square wave in each frame: RMS = level exactly."""
    signs = np.where(np.arange(per_frame) % 2, 1.0, -1.0)
    return AudioTrack.of(np.concatenate([signs * level for level in levels]).astype(np.float32), 16000)


def _envelope(sound: AudioTrack | None, frames: int, fps: float | None = 25.0) -> np.ndarray:
    found = envelope(sound, times_ms=None, frames=frames, fps=fps)
    assert isinstance(found, np.ndarray)
    return found


def test_envelope_is_rms_per_frame() -> None:
    assert _envelope(_sound([0.5, 0.0, 0.25]), 3) == pytest.approx([0.5, 0.0, 0.25])


def test_frames_past_the_sound_are_gaps_never_zeros() -> None:
    found = _envelope(_sound([0.5, 0.5]), 4)
    assert found == pytest.approx([0.5, 0.5, math.nan, math.nan], nan_ok=True)


def test_half_a_window_is_enough_and_less_is_not() -> None:
    sound = _sound([0.5, 0.5])
    enough = AudioTrack.of(sound.samples[: 640 + 320], 16000)
    less = AudioTrack.of(sound.samples[: 640 + 319], 16000)
    assert np.isfinite(_envelope(enough, 2)).tolist() == [True, True]
    assert np.isfinite(_envelope(less, 2)).tolist() == [True, False]


def test_sound_longer_than_the_picture_is_cut_off() -> None:
    assert len(_envelope(_sound([0.5] * 50), 10)) == 10


def test_uneven_frames_take_the_sound_they_last_for() -> None:
    # Frames at 0, 80 and 120 ms: 80 ms of (0.6, 0.8) → RMS √((0.36 + 0.64) / 2); then 0.25; the last lasts 1 / fps.
    found = envelope(_sound([0.6, 0.8, 0.25, 0.5]), times_ms=np.array([0.0, 80.0, 120.0]), frames=3, fps=25.0)
    assert found == pytest.approx([math.sqrt(0.5), 0.25, 0.5])


@pytest.mark.parametrize(
    ("sound", "fps", "reason"),
    [
        (None, 25.0, "the clip has no sound"),
        (AudioTrack.of(np.zeros(0, np.float32), 16000), 25.0, "the clip has no sound"),
        (_sound([0.5]), None, "the clip states no frame rate"),
    ],
)
def test_reasons_for_no_envelope(sound: AudioTrack | None, fps: float | None, reason: str) -> None:
    assert envelope(sound, times_ms=None, frames=5, fps=fps) == reason


def test_pearson_by_hand() -> None:
    # x − mean = (−1, 0, 1), y − mean = (−1, −1, 2): Σxy = 3, Σx² = 2, Σy² = 6 → 3 / √12.
    value, pairs = pearson(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 3.0]))
    assert (value, pairs) == (pytest.approx(3 / math.sqrt(12)), 3)
    assert pearson(np.array([1.0, math.nan, 2.0]), np.array([2.0, 9.0, 1.0])) == (-1.0, 2)
    assert pearson(np.array([1.0, 1.0]), np.array([1.0, 2.0])) == (None, 2)


@pytest.mark.parametrize("lag", range(-3, 4))
def test_every_lag_is_recovered_exactly(lag: int) -> None:
    loud = _speech(60)
    mouth = np.full(60, math.nan)
    start, stop = max(lag, 0), min(60, 60 + lag)
    mouth[start:stop] = 2 * loud[start - lag : stop - lag] + 1
    best = best_lag(mouth, loud)
    assert best is not None
    assert (best.value, best.lag, best.pairs) == (pytest.approx(1.0), lag, 60 - abs(lag))


def test_of_equal_lags_the_nearest_to_zero_wins() -> None:
    loud = np.tile([0.0, 1.0], 20)  # period 2: lags −2, 0, 2 are all perfect
    best = best_lag(loud, loud)
    assert best is not None and best.lag == 0
    best = best_lag(np.roll(loud, 1), loud)
    assert best is not None and best.lag == -1


def test_gaps_leave_pairs_out() -> None:
    loud = _speech(40)
    mouth = loud.copy()
    mouth[10:20] = math.nan
    best = best_lag(mouth, loud)
    assert best is not None
    assert (best.lag, best.pairs, best.value) == (0, 30, pytest.approx(1.0))


def test_measurements_of_a_mouth_that_follows() -> None:
    loud = _speech(75)
    corr, lag, null_mean, null_share = mouth_audio_measurements(loud, loud)
    assert (corr.value, corr.count) == (pytest.approx(1.0), 75)
    assert lag.value == 0
    # Shifts 7…68 of 75 frames: 62 of them; none can line the sound up with itself.
    assert (null_share.value, null_share.count) == (0.0, 62)
    assert null_mean.value is not None and 0 < null_mean.value < 0.7


def test_luck_shows_in_the_null() -> None:
    # Unrelated speech: the best of seven lags is well above zero, and so is what shifts reach.
    shares = []
    for seed in range(8):
        corr, _, null_mean, share = mouth_audio_measurements(_speech(75, seed), _speech(75, 100 + seed))
        assert null_mean.value is not None and null_mean.value > 0.05
        shares.append(share.value)
    assert max(shares) > 0.3  # somewhere, most shifts do as well as the true place


def test_a_mouth_shifted_past_the_search_does_worse_than_in_sync() -> None:
    loud = _speech(75, 5)
    in_sync = mouth_audio_measurements(loud, loud)
    late = mouth_audio_measurements(np.roll(loud, 5), loud)
    assert late[0].value < in_sync[0].value
    assert late[3].value > in_sync[3].value  # some shift lines them up again: the null gives it away


def test_the_null_is_the_same_every_time_and_bounded() -> None:
    mouth, loud = _speech(1000, 1), _speech(1000, 2)
    assert np.array_equal(null_values(mouth, loud), null_values(mouth, loud))
    assert len(null_values(mouth, loud)) == 200


@pytest.mark.parametrize(
    ("mouth", "loud", "note"),
    [
        (np.ones(30), _speech(30), "the mouth does not move"),
        (_speech(30), np.zeros(30), "the sound is silent"),
        (_speech(30), np.full(30, 0.5), "the sound has no loudness that varies"),
        (_speech(9), _speech(9), "9 frames have both a face and sound; 10 are needed"),
    ],
)
def test_reasons_for_no_correlation(mouth: np.ndarray, loud: np.ndarray, note: str) -> None:
    measured = mouth_audio_measurements(mouth, loud)
    assert {(m.value, m.note) for m in measured} == {(None, note)}


def test_sound_far_shorter_than_the_picture() -> None:
    loud = np.full(100, math.nan)
    loud[:5] = 0.5
    measured = mouth_audio_measurements(_speech(100), loud)
    assert measured[0].note == "5 frames have both a face and sound; 10 are needed"


def test_a_clip_too_short_to_shift_has_a_value_but_no_null() -> None:
    loud = _speech(13)
    corr, _, null_mean, _ = mouth_audio_measurements(loud, loud)
    assert corr.value == pytest.approx(1.0)
    assert null_mean.note == "13 frames are too few to shift the sound by 7 either way"
