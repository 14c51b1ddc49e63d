"""DNSMOS: held to Microsoft's own package on a made voice and on a real one, clean and noisy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat
from tests.voices import noisy, voice

import rushes
from rushes.core.errors import MissingDependency
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.settings import ClipSettings
from rushes.instruments.clip.sound.dnsmos import mel_levels, p808, p835, stretches
from rushes.media import AudioTrack, read_audio, write_clip
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

NAMES = ("dnsmos_sig", "dnsmos_bak", "dnsmos_ovrl", "dnsmos_p808")

pulled = pytest.mark.skipif(not is_pulled(group_named("dnsmos")), reason="rushes models pull dnsmos")


def _said(sound: np.ndarray) -> list[float]:
    track = AudioTrack.of(sound, 16000)
    opinions, older = p835(track), p808(track)
    assert opinions.stretches == older[1] == 1
    return [opinions.speech, opinions.background, opinions.overall, older[0]]


# --- what the networks are given


def test_stretches_begin_a_second_apart_and_short_sounds_are_doubled() -> None:
    ramp = np.arange(16000 * 11, dtype=np.float32)
    first, second = stretches(ramp)
    assert len(first) == len(second) == 144160 and (first[0], second[0]) == (0, 16000)
    # 3 s: doubled twice to 12 s, of which int(12 − 9.01) + 1 = 3 stretches.
    short = stretches(ramp[:48000])
    assert len(short) == 3 and short[0][48000] == 0 and short[1][0] == 16000


def test_stretches_that_rounding_makes_a_sample_short_are_passed_over() -> None:
    # (7 + 9.01) · 16000 is 256159.99…, so the eighth stretch has 144,159 samples; from k = 24 on it is right again.
    starts = [int(part[0]) // 16000 for part in stretches(np.arange(16000 * 35, dtype=np.float64))]
    assert starts == [*range(7), 24, 25]


def test_mel_levels_by_hand() -> None:
    """A tone of 1 kHz: 0 dB in the band around it, the floor of −80 dB far from it; frames of 160 samples."""
    tone = np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000).astype(np.float32)
    levels = mel_levels(tone)
    assert levels.shape == (100, 120) and levels.max() == 1.0 and levels.min() >= -1.0
    # Slaney's scale: 15 mels at 1 kHz, 15 + ln 8 / (ln 6.4 / 27) = 45.25 at 8 kHz; 121 steps: 1 kHz is at step 40.1.
    assert set(levels[10:90].argmax(axis=1)) == {39}
    quarter = mel_levels(tone * np.float32(0.25))  # levels stand under their own maximum
    assert quarter == pytest.approx(levels, abs=1e-4)


# --- speechmos 0.0.1.1 as the oracle; the numbers are made by tests/oracle/sound.py


@pulled
def test_a_made_voice_reads_as_in_speechmos() -> None:
    assert _said(voice(10.0)) == pytest.approx([1.992285, 3.417694, 1.791254, 2.804156], abs=1e-3)
    assert p808(AudioTrack.of(voice(5.0), 16000))[0] == pytest.approx(2.650508, abs=1e-3)  # doubled to 10 s


@pulled
@pytest.mark.shared
def test_speech_reads_as_in_speechmos_and_worse_with_every_step_of_noise(shared: Path) -> None:
    speech = read_audio(shared / "golden" / "published" / "pesq_speech.wav").samples
    spoken = np.tile(speech, 4)[:160000]
    found = [_said(sound) for sound in (spoken, *(noisy(spoken, snr_db=level) for level in (20, 10, 0)))]
    expected = [
        [3.553891, 4.053362, 3.249395, 3.959558],
        [3.506371, 2.824456, 2.555266, 2.834539],
        [3.513899, 2.101201, 2.171643, 2.608986],
        [3.125846, 1.575904, 1.698033, 2.322672],
    ]
    for sound, said in zip(found, expected, strict=True):
        assert sound == pytest.approx(said, abs=1e-3)
    for column in (1, 2, 3):  # noise does not touch the speech itself much
        values = [row[column] for row in found]
        assert values == sorted(values, reverse=True)


# --- as a clip metric


@pulled
def test_a_clip_is_heard_once_and_a_steady_tone_is_said_to_be_no_speech(tmp_path: Path) -> None:
    tone = (0.3 * np.sin(2 * np.pi * 1000 * np.arange(160000) / 16000)).astype(np.float32)
    track = AudioTrack.of(tone, 16000)
    clip = write_clip(tmp_path / "tone.mkv", [flat(90, channels=3)] * 250, audio=track, codec="ffv1", pix_fmt="bgr0")
    found = rushes.evaluate_clip(clip, metrics="dnsmos_p808")["dnsmos_p808"]
    assert found.value is not None and found.count == 1
    assert found.note.startswith("the sound does not rise and fall like speech")
    assert "|rate:16000|resampler:swresample|short:repeat|" in found.signature
    assert found.signature.endswith("|weights:9246480c5856|v:1")


@pytest.mark.parametrize(
    ("track", "why", "note"),
    [
        (None, "", "the clip has no sound"),
        (None, "a.wav: no such file", "a.wav: no such file"),
        (np.zeros(16000, np.float32), "", "the sound is silent"),
        (np.full(16000, np.nan, np.float32), "", "the sound has samples that are NaN; export it again"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_hear(track: np.ndarray | None, why: str, note: str, name: str) -> None:
    audio = None if track is None else AudioTrack.of(track, 16000)
    measure = METRICS[name].measure
    assert measure is not None
    found = measure(Observation(audio=audio, audio_missing=why))
    assert (found.value, found.note) == (None, note)


def test_networks_that_are_not_here_are_named_before_a_clip_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    assert "dnsmos_ovrl" not in ClipSettings.load().extra
    with pytest.raises(MissingDependency, match=r"DNSMOS needs its two networks; run: rushes models pull dnsmos$"):
        ClipSettings.load(metrics="dnsmos_ovrl")
