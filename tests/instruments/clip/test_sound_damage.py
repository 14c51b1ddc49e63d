"""What breaks a sound, in closed forms: tones, square waves, holes and direct currents have known values."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from av.audio.frame import AudioFrame
from tests.clips import write_av

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.metrics.sound.damage import (
    channel_gap_db,
    crest,
    dc_offset,
    dropout_count,
    sound_cut_ms,
    sound_dynamic_db,
    sound_gap_ms,
)
from rushes.instruments.clip.sound.damage import holes, mains_hum, steady_tone, white_floor
from rushes.instruments.clip.sound.levels import LevelMeter, SoundLevels

RATE = 16000


def levels(samples: np.ndarray) -> SoundLevels:
    """Of channels × n samples."""
    meter = LevelMeter()
    layout = "mono" if len(samples) == 1 else "stereo"
    frame = AudioFrame.from_ndarray(np.ascontiguousarray(samples.T.reshape(1, -1), np.float32), "flt", layout)
    frame.sample_rate = RATE
    meter.add(frame)
    found = meter.finish()
    assert isinstance(found, SoundLevels)
    return found


def sine(seconds: float, *, hz: float = 500.0, height: float = 0.5) -> np.ndarray:
    return height * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE)[None]


def speech(seconds: float = 4.0) -> np.ndarray:
    """Noise that rises and falls four times a second by 40 dB."""
    time = np.arange(round(seconds * RATE)) / RATE
    return (np.random.default_rng(0).normal(0, 0.1, len(time)) * 10 ** (-1 + np.sin(8 * np.pi * time)))[None]


def test_crest_of_a_sine_and_a_square_wave() -> None:
    """A sine of 500 Hz has whole periods in 10 ms: 20 log √2 = 3.01 dB; a square wave has 0."""
    assert crest(levels(sine(2.0, hz=500))).value == pytest.approx(3.0103, abs=0.01)
    square = np.where(np.arange(2 * RATE) // 16 % 2 == 0, 1.0, -1.0)[None]
    assert crest(levels(square)).value == pytest.approx(0.0, abs=0.01)
    assert crest(levels(0.1 * square)).value == pytest.approx(0.0, abs=0.01)


def test_cut_off_sound_has_a_lower_crest_and_the_order_holds() -> None:
    values = [crest(levels(np.clip(speech() * gain, -1, 1))).value for gain in (1, 10, 100)]
    assert values[0] > 9 > values[1] > values[2]


def test_direct_current() -> None:
    assert dc_offset(levels(sine(1.0) + 0.25)).value == pytest.approx(0.25, abs=1e-6)
    assert dc_offset(levels(np.concatenate([sine(1.0), sine(1.0) - 0.4]))).value == pytest.approx(0.4, abs=1e-6)


def test_a_lost_channel() -> None:
    """A tenth of the height is 20 dB; nothing at all is taken as 10⁻¹²: 10 log(0.125 / 10⁻¹²) = 111 dB."""
    one = sine(1.0)
    assert channel_gap_db(levels(np.concatenate([one, 0.1 * one]))).value == pytest.approx(20.0, abs=1e-3)
    assert channel_gap_db(levels(np.concatenate([one, 0 * one]))).value == pytest.approx(110.97, abs=0.01)
    assert channel_gap_db(levels(np.concatenate([one, one]))).value == 0.0
    assert channel_gap_db(levels(one)).value is None and channel_gap_db(levels(np.zeros((2, RATE)))).value is None


def test_holes_are_counted_and_placed() -> None:
    """Two holes of 60 ms in a tone, at 0.5 and 1.2 s."""
    sound = sine(2.0)
    sound[:, 8000:8960] = sound[:, 19200:20160] = 0
    found = dropout_count(levels(sound))
    assert (found.value, found.note) == (2, "at 0.50 s, 1.20 s")
    assert found.span is not None and (found.span.start_ms, found.span.end_ms) == (500.0, 560.0)
    assert dropout_count(levels(sine(2.0))).value == 0


def test_a_hole_whose_edges_are_blurred() -> None:
    """One of 100 ms at −40 dB, into which the sound falls by 10, 25 and 40 dB, as coded: within 20 ms by 30 dB."""
    sound = sine(2.0)
    sound[:, 8000:9600] *= 0.01
    for first, gain in ((8000, 0.316), (8160, 0.056), (9440, 0.316)):
        sound[:, first : first + 160] = sine(0.01) * gain
    assert dropout_count(levels(sound)).value == 1


def test_speech_that_pauses_has_no_holes() -> None:
    """It sinks by 40 dB within a tenth of a second, not at once; and a sound that ends does not come back."""
    assert dropout_count(levels(speech())).value == 0
    assert holes(np.r_[np.full(50, 0.1), np.zeros(50)]) == []
    assert holes(np.r_[np.full(50, 0.1), np.zeros(60), np.full(50, 0.1)]) == [], "longer than half a second"


def test_half_of_the_sound_is_missing() -> None:
    half = np.concatenate([sine(1.0, hz=500), np.zeros((1, RATE))], axis=1)
    assert sound_gap_ms(levels(half)).value == pytest.approx(1000, abs=1)
    assert sound_gap_ms(levels(np.zeros((1, RATE)))).value == 0.0


def test_dynamic() -> None:
    """A tone 0.9 of the time and a hundredth of it the rest: its quiet tenth is 40 dB under."""
    sound = sine(2.0, hz=500)
    sound[:, : RATE // 2] *= 0.01
    assert sound_dynamic_db(levels(sound)).value == pytest.approx(40.0, abs=0.1)
    assert sound_dynamic_db(levels(sine(2.0))).value == pytest.approx(0.0, abs=0.01)
    assert sound_dynamic_db(levels(np.zeros((1, RATE)))).value is None
    noisy = speech() + np.random.default_rng(1).normal(0, 0.1, speech().shape)
    assert sound_dynamic_db(levels(noisy)).value < 15 < sound_dynamic_db(levels(speech())).value


def test_a_steady_tone() -> None:
    """Alone it is the sound: 0 dB. With noise of equal power it is half: −3 dB. Half of the time there: nothing."""
    alone = steady_tone(sine(4.0, hz=440)[0].astype(np.float32), RATE)
    assert alone is not None and alone == (pytest.approx(0.0, abs=0.1), pytest.approx(440, abs=8))
    noise = np.random.default_rng(2).normal(0, np.sqrt(0.125), 4 * RATE)
    mixed = steady_tone((sine(4.0, hz=440)[0] + noise).astype(np.float32), RATE)
    assert mixed is not None and mixed[0] == pytest.approx(-3.0, abs=0.6)
    assert steady_tone(speech()[0].astype(np.float32), RATE)[0] < -20
    assert steady_tone(np.zeros(RATE, np.float32), RATE) is None
    assert steady_tone(np.zeros(100, np.float32), RATE) is None


def hum(hertz: float, seconds: float = 4.0) -> np.ndarray:
    return sum(sine(seconds, hz=n * hertz, height=0.2)[0] for n in (1, 2, 3)).astype(np.float32)


def test_hum_of_the_mains() -> None:
    """Alone it is the sound: 0 dB. With noise of equal power it is half: −3 dB. Another tone is no hum."""
    for hertz in (50.0, 60.0):
        assert mains_hum(hum(hertz), RATE) == (pytest.approx(0.0, abs=0.2), hertz)
    noise = np.random.default_rng(2).normal(0, np.sqrt(3 * 0.02), 4 * RATE)
    assert mains_hum((hum(50.0) + noise).astype(np.float32), RATE)[0] == pytest.approx(-3.0, abs=0.6)
    assert mains_hum(sine(4.0, hz=440)[0].astype(np.float32), RATE)[0] < -40
    assert mains_hum(np.zeros(RATE, np.float32), RATE) is None


def test_white_noise_under_a_sound() -> None:
    """Alone it is nearly the sound, a band at its quietest a little less; a tenth of the power is 10 dB less."""
    noise = np.random.default_rng(3).normal(0, 0.1, 4 * RATE).astype(np.float32)
    alone = white_floor(noise, RATE)
    assert -1.2 < alone < 0
    tone = sine(4.0, hz=100, height=np.sqrt(2 * 9 * 0.01))[0].astype(np.float32)
    assert white_floor(tone + noise, RATE) == pytest.approx(alone - 10.0, abs=0.2)
    assert white_floor(tone, RATE) < -60
    assert white_floor(speech()[0].astype(np.float32), RATE) < -15, "noise that pauses"
    assert white_floor(noise[:100], RATE) is None


def test_a_clip_with_a_tone(tmp_path: Path) -> None:
    clip = write_av(tmp_path / "tone.mkv", codecs=("ffv1", "aac"), frames=50, seconds=2.0)
    names = ("steady_tone_db", "crest_db", "dropout_count", "dc_offset", "sound_gap_ms", "hum_db", "hiss_db")
    found = evaluate_clip(clip, metrics=names)
    assert found["steady_tone_db"].value > -1 and found["steady_tone_db"].note in ("438 Hz", "445 Hz")
    assert found["crest_db"].value == pytest.approx(3.0, abs=0.3)
    assert (found["dropout_count"].value, found["sound_gap_ms"].value) == (0, 0.0)
    assert found["hum_db"].value < -20 and found["hiss_db"].value < -20


def seen(samples: np.ndarray, length_ms: float) -> SimpleNamespace:
    """A picture of that length with this sound."""
    return SimpleNamespace(levels=levels(samples), levels_missing="", video_duration_ms=length_ms)


def test_a_sound_that_breaks_off_before_the_picture_ends() -> None:
    """A tone of 2 s beside 3 s of picture, with silence up to its end and without: 1000 ms."""
    tone, silence = sine(2.0), np.zeros((1, RATE))
    for samples in (tone, np.concatenate([tone, silence], axis=1)):
        found = sound_cut_ms(seen(samples, 3000.0))
        assert found.value == pytest.approx(1000.0, abs=1e-6) and found.note == "2.0–3.0 s"


def test_a_sound_that_fades_or_goes_on_does_not_break_off() -> None:
    fade = sine(2.0) * 10 ** (-np.arange(2 * RATE) / RATE * 2)  # by 40 dB a second, down to −86 dB
    assert sound_cut_ms(seen(np.concatenate([fade, np.zeros((1, RATE))], axis=1), 3000.0)).value == 0
    assert sound_cut_ms(seen(sine(3.0), 2500.0)).value == 0
    assert sound_cut_ms(seen(np.zeros((1, RATE)), 1000.0)).value is None


def test_a_word_that_dies_away_does_not_break_off() -> None:
    """As synthetic voices end: within 60 ms by 10 dB each. Broken off, its end is as loud as the rest."""
    dying = np.concatenate([sine(2.0), *(sine(0.01) * 10 ** (-gain / 2) for gain in range(1, 6))], axis=1)
    silence = np.zeros((1, RATE))
    assert sound_cut_ms(seen(np.concatenate([dying, silence], axis=1), 3050.0)).value == 0
    assert sound_cut_ms(seen(np.concatenate([sine(2.05), silence], axis=1), 3050.0)).value == pytest.approx(1000.0)
