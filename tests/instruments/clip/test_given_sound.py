"""Sound given in place of a clip's own starts with the picture, whatever the clip's own track does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_av, write_sound

from rushes.core import Definition, Measurement
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.frames.observe import Observation, observe
from rushes.instruments.clip.measure import measure
from rushes.instruments.clip.metrics.face.sync import best_lag, envelope
from rushes.instruments.clip.settings import ClipSettings
from rushes.media import canonicalize

FRAMES = 50
LOUDNESS = np.random.default_rng(0).uniform(0.1, 0.9, FRAMES).round(2)
"""Of each frame's 40 ms, which are 640 samples."""

HEARD = Definition(
    name="heard", unit="1", lowest=0, highest=None, better="neither", summary="Samples heard.", formula="count"
)


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    return write_sound(tmp_path / "speech.wav", np.repeat(LOUDNESS, 640)[None])


def _clip(path: Path, *, picture_at_ms: int = 0) -> Path:
    return write_av(path, codecs=("libvpx", "libopus"), frames=FRAMES, seconds=2.5, picture_at_ms=picture_at_ms)


def _loudness(monkeypatch: pytest.MonkeyPatch, clip: Path, sound: Path) -> np.ndarray:
    """The envelope per frame, as tier 1 makes it from what `measure` saw and heard."""
    kept: list[Observation] = []

    def hear(seen: Observation) -> Measurement:
        kept.append(seen)
        assert seen.audio is not None
        return Measurement(definition=HEARD, value=len(seen.audio.samples), count=1)

    metric = ClipMetric(definition=HEARD, needs=frozenset({"sound"}), measure=hear)
    monkeypatch.setattr(
        "rushes.instruments.clip.settings.metrics_of", lambda tier, extra=(), *, motion=False: {"heard": metric}
    )
    # It is in no registry, so nothing says where it comes from.
    monkeypatch.setattr("rushes.instruments.clip.settings._origin", lambda name, form: {})
    result = measure(str(clip), ClipSettings.load(), audio=str(sound))
    (seen,) = kept
    assert result["heard"].value == len(seen.audio.samples)  # type: ignore[union-attr]
    found = envelope(seen.audio, times_ms=seen.time_ms, frames=seen.frames, fps=25.0)
    assert isinstance(found, np.ndarray)
    return found


@pytest.mark.parametrize("picture_at_ms", [0, 464, 1000])
def test_every_frame_has_the_sound_of_its_own_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speech: Path, picture_at_ms: int
) -> None:
    clip = _clip(tmp_path / "clip.mkv", picture_at_ms=picture_at_ms)
    assert observe(clip).time_ms[0] == pytest.approx(picture_at_ms, abs=10)  # after its own sound
    # RMS of a constant is the constant; one 16-bit step of rounding, and a sample where an edge is rounded.
    assert _loudness(monkeypatch, clip, speech) == pytest.approx(LOUDNESS, abs=0.002)


def test_the_lag_is_that_of_the_canonical_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speech: Path) -> None:
    late = _clip(tmp_path / "late_picture.mkv", picture_at_ms=464)
    canon = canonicalize(late, tmp_path / "canon.mp4", audio=speech, fps=25)
    raw, canonical = observe(late), observe(canon, audio_rate=16000)
    assert (canonical.time_ms[0], canonical.frames) == (0.0, FRAMES)
    own = envelope(canonical.audio, times_ms=canonical.time_ms, frames=canonical.frames, fps=25.0)
    given = _loudness(monkeypatch, late, speech)
    assert isinstance(own, np.ndarray) and raw.frames == FRAMES
    lags = [best_lag(LOUDNESS, loudness[:FRAMES]) for loudness in (given, own)]
    assert [best.lag for best in lags if best is not None] == [0, 0]
