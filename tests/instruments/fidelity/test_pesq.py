"""PESQ: the ITU's program through the package `pesq`, an extra; published values, laws, long and bad sounds."""

from __future__ import annotations

import re
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from tests.voices import noisy, voice

from rushes.core import Measurement
from rushes.core.errors import MissingDependency
from rushes.core.machine.installing import extra_command
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.metrics.sound.pesq import _pieces
from rushes.instruments.fidelity.pairs.sound import paired_sounds
from rushes.media import read_audio

NAMES = ("pesq_wb", "pesq_nb")

installed = pytest.mark.skipif(util.find_spec("pesq") is None, reason="pip install 'rushes[sound]'")


def values(gen: np.ndarray, gt: np.ndarray) -> list[Measurement]:
    seen = paired_sounds(gen, gt)
    return [METRICS[name].measurement(seen) for name in NAMES]


@installed
@pytest.mark.shared
def test_published_speech_in_babble_is_exact(shared: Path) -> None:
    folder = shared / "golden" / "published"
    sounds = (read_audio(folder / name).samples for name in ("pesq_speech_bab_0dB.wav", "pesq_speech.wav"))
    assert [m.value for m in values(*sounds)] == [1.0832337141036987, 1.6072081327438354]


@installed
def test_a_made_voice_reads_as_the_package_does() -> None:
    # tests/oracle/sound.py
    clean = voice(3.0)
    found = values(noisy(clean, snr_db=10), clean)
    assert [m.value for m in found] == pytest.approx([1.0284568071, 1.7637312412], abs=1e-6)
    assert found[0].signature.startswith("pesq_wb|cut_ms:100|engine:pesq-") and found[0].count == 1


@installed
def test_identical_is_the_highest_score_and_noise_lowers_it() -> None:
    clean = voice(2.0)
    # The raw score of equals is 4.5: 0.999 + 4 / (1 + e^(−1.3669·4.5 + 3.8224)) = 4.6439 and 4.5486.
    assert [m.value for m in values(clean, clean)] == pytest.approx([4.6439, 4.5486], abs=1e-4)
    narrow = [values(noisy(clean, snr_db=level), clean)[1].value for level in (30, 15, 0)]
    assert narrow == sorted(narrow, reverse=True)  # type: ignore[type-var]


@installed
def test_sixty_utterances_do_not_end_the_process() -> None:
    """The program holds 50; on the whole sound it would write past its tables."""
    word = np.concatenate([voice(0.3) + np.float32(0.01), np.zeros(4800, np.float32)])
    clean = np.tile(word, 60)  # 36 s
    for found in values(noisy(clean, snr_db=20), clean):
        assert found.value is not None and found.count == 2


def test_long_sounds_are_cut_into_equal_pieces_of_up_to_twenty_seconds() -> None:
    sound = np.arange(16000 * 50, dtype=np.float64)
    lengths = [(len(gt), len(gen)) for gt, gen in _pieces(sound, sound)]
    assert lengths == [(266666, 266666), (266667, 266667), (266667, 266667)]
    assert len(_pieces(sound[: 16000 * 20], sound[: 16000 * 20])) == 1
    joined = np.concatenate([gt for gt, _ in _pieces(sound, sound)])
    assert joined.tobytes() == sound.tobytes()


@installed
def test_sounds_without_a_score_say_why() -> None:
    clean = voice(1.0)
    (short, _) = values(clean[:2000], clean[:2000])
    assert short.value is None and short.note == (
        "PESQ gives no score: Buffer needs to be at least 1/4 of a second long"
    )
    half = np.concatenate([voice(15.0), np.zeros(15 * 16000, np.float32)])
    (found, _) = values(half, half)
    assert found.value == pytest.approx(4.6439, abs=1e-4)
    assert found.note == "1 of 2 pieces of up to 20 s have no score"


def test_where_there_is_nothing_to_hear_the_package_is_not_asked() -> None:
    silent = np.zeros(16000, np.float32)
    for found in values(silent, voice(1.0)):
        assert found.value is None and found.note == "the generated clip's sound is silent"
        assert "engine:none" in found.signature


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rushes.instruments.fidelity.metrics.sound.pesq.util.find_spec", lambda name: None)
    for name in NAMES:
        with pytest.raises(MissingDependency, match=f"on installation; run: {re.escape(extra_command('sound'))}$"):
            METRICS[name].require({})
