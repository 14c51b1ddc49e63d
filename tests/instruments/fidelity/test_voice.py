"""Whether two clips speak with one voice: the cosine by hand, what is missing, and real speakers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushes.instruments.fidelity.metric import Seen
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.metrics.sound import voice as voices
from rushes.instruments.fidelity.metrics.sound.voice import voices_alike
from rushes.media import read_audio
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

VECTORS = {1.0: np.array([1.0, 0.0]), 2.0: np.array([0.6, 0.8])}


@pytest.fixture
def all_speech(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "speech_probabilities", lambda samples: np.ones(-(-len(samples) // 512)))
    monkeypatch.setattr(voices, "voice_of", lambda samples: VECTORS[float(samples[0])])


def _sound(seconds: float, value: float) -> np.ndarray:
    return np.full(round(16000 * seconds), value, np.float32)


@pytest.mark.usefixtures("all_speech")
def test_the_cosine_of_two_voices_by_hand() -> None:
    metric = METRICS["voice_similarity"]
    seen = voices_alike(_sound(2.0, 1.0), _sound(5.0, 2.0))  # lengths may differ
    assert metric.pool(metric.definition, seen, metric.series).value == pytest.approx(0.6)
    assert metric.pool(metric.definition, voices_alike(_sound(2, 1), _sound(2, 1)), metric.series).value == 1.0


@pytest.mark.usefixtures("all_speech")
def test_too_little_speech_and_broken_sound() -> None:
    assert voices_alike(_sound(2.0, 1.0), _sound(1.0, 1.0)) == Seen(
        missing="1.0 s of speech in the reference; 1.5 are needed"
    )
    assert "generated clip's sound has samples" in voices_alike(_sound(2.0, np.nan), _sound(2.0, 1.0)).missing


@pytest.mark.shared
@pytest.mark.skipif(not is_pulled(group_named("voice")), reason="rushes models pull voice")
def test_real_people_are_told_by_their_voices(shared: Path) -> None:
    pytest.importorskip("torch")
    real = shared / "suites" / "adth" / "ground-truth"
    if not real.is_dir():
        pytest.skip("the talking heads are not here")
    one, other = (read_audio(real / f"{name}.mp4", 16000).samples for name in ("obama", "ger1"))
    same = voices_alike(one[: 6 * 16000], one[-6 * 16000 :]).series["voice_similarity"][0]
    across = voices_alike(one[: 6 * 16000], other[: 6 * 16000]).series["voice_similarity"][0]
    assert same > 0.5 > 0.23 > across
