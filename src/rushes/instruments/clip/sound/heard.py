"""What the speech metrics share: whether there is a sound to judge, and where in it somebody speaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rushes.core.errors import MissingDependency
from rushes.core.registry import optional_package
from rushes.media import AudioTrack
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import group_named
from rushes.vision.speech.silero import Part, speech_parts, speech_probabilities, spoken
from rushes.vision.speech.spectra import RATE, Samples
from rushes.vision.speech.voice import NEEDS_TORCH


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Speech:
    """The speech of one sound at 16 kHz."""

    parts: tuple[Part, ...]
    samples: Samples
    """The parts in a row."""

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def unheard(seen: Any) -> str:
    """Why there is no sound to judge; "" where there is one."""
    if seen.audio is None or not len(seen.audio.samples):
        return str(seen.audio_missing or "the clip has no sound")
    if not np.isfinite(seen.audio.samples).all():
        return "the sound has samples that are NaN; export it again"
    return "" if seen.audio.samples.any() else "the sound is silent"


@lru_cache(maxsize=1)  # several metrics ask for the same sound in turn
def speech_of(track: AudioTrack) -> Speech:
    """Where somebody speaks, by Silero VAD."""
    parts = speech_parts(speech_probabilities(track.samples).tolist(), len(track.samples))
    return Speech(parts=tuple(parts), samples=spoken(track.samples, parts))


def require_speech() -> None:
    """Raise `MissingDependency`, with the command that mends it, where Silero VAD cannot run."""
    optional_package("torch", NEEDS_TORCH, extra="fvd")
    if not is_pulled(group_named("vad")):
        raise MissingDependency(f"finding speech needs Silero VAD; run: {pull_command('vad')}")
