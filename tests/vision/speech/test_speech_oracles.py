"""The speech networks and what they are given, against their own packages (`tests/oracle/speech.py`)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.voices import noisy, voice

from rushes.media import read_audio
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named
from rushes.vision.speech.silero import speech_parts
from rushes.vision.speech.spectra import kaldi_fbank, whisper_mel
from rushes.vision.speech.words import word_errors

SAID: dict[str, Any] = json.loads((Path(__file__).parents[2] / "goldens" / "speech.json").read_text(encoding="utf-8"))
HEARD: dict[str, list[int]] = json.loads((Path(__file__).parents[2] / "goldens" / "whisper.json").read_text("utf-8"))
SOUND = noisy(voice(9.0), snr_db=30)


def needs(group: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not is_pulled(group_named(group)), reason=f"rushes models pull {group}")


def test_kaldi_filter_banks_are_torchaudios() -> None:
    assert kaldi_fbank(SOUND)[100, ::8] == pytest.approx(SAID["fbank"], abs=1e-3)


def test_whispers_mel_is_transformers() -> None:
    assert whisper_mel(SOUND)[::8, 300] == pytest.approx(SAID["mel"], abs=1e-4)


@pytest.mark.shared
@needs("whisper-tiny")
def test_whisper_writes_what_transformers_writes_of_the_same_files(shared: Path) -> None:
    pytest.importorskip("onnxruntime")
    from rushes.vision.speech.whisper import Whisper, token_ids

    for name, tokens in HEARD.items():
        sound = read_audio(shared / "clips" / f"face_LipNet_{name}.mpg", rate=16000, at_ms=0.0)
        assert sound is not None
        assert token_ids(sound.samples, Whisper(size="tiny")) == tokens


@needs("voice")
def test_eres2net_is_3d_speakers() -> None:
    pytest.importorskip("torch")
    from rushes.vision.speech.voice import voice_of

    found = voice_of(SOUND)
    assert found[::16] == pytest.approx(SAID["voice"], abs=1e-5)
    assert float(found @ found) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="a voice needs 1 s of sound"):
        voice_of(SOUND[:8000])


@needs("distillmos")
def test_distillmos_is_the_packages() -> None:
    pytest.importorskip("torch")
    from rushes.vision.speech.distillmos import opinion

    value, stretches = opinion(SOUND)
    assert value == pytest.approx(SAID["distillmos"], abs=1e-5)
    assert stretches == 3  # 9 s are 1.32 s over 7.68: ⌈1.32⌉ + 1


@needs("vad")
def test_silero_hears_what_the_package_hears() -> None:
    pytest.importorskip("torch")
    from rushes.vision.speech.silero import speech_probabilities

    found = speech_probabilities(SOUND)
    assert len(found) == math.ceil(len(SOUND) / 512)
    assert found[::20] == pytest.approx(SAID["speech"], abs=1e-5)
    assert len(speech_probabilities(np.zeros(0, np.float32))) == 0


def test_parts_of_speech_are_silero_vads() -> None:
    guessed = [round(0.5 + 0.45 * math.sin(n / 9) + 0.2 * math.sin(n * n), 6) for n in range(600)]
    assert len(SAID["parts"]) > 5
    assert [list(part) for part in speech_parts(guessed, 512 * 600)] == SAID["parts"]


@pytest.mark.parametrize(("script", "heard", "rate"), SAID["word_errors"])
def test_word_errors_are_jiwers(script: str, heard: str, rate: float) -> None:
    wrong, words = word_errors(script, heard)
    assert wrong / words == pytest.approx(rate)
