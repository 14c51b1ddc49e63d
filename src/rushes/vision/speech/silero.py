"""Where there is speech, by Silero VAD: a probability each 32 ms, and the parts that follow from them.

The parts are those of `silero_vad.get_speech_timestamps` 6.2.3 with its defaults.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.machine.provenance import short_digest
from rushes.vision.models.cache import model_path
from rushes.vision.models.catalogue import file_named
from rushes.vision.speech.spectra import RATE, Samples

FILE = "silero_vad.jit"
WINDOW = 512
"""Samples to a probability: 32 ms."""
START, STOP = 0.5, 0.35
"""Speech starts at this probability and stops under the other."""
MIN_SPEECH_MS, MIN_SILENCE_MS, PAD_MS = 250, 100, 30
HOW: dict[str, str | int | float] = {
    "speech": "silero-6.2.3",
    "speech_p": START,
    "speech_stop_p": STOP,
    "speech_min_ms": MIN_SPEECH_MS,
}
"""How speech is found, for signatures; with the digest of the weights."""

Part: TypeAlias = tuple[int, int]
"""First sample, and the one after the last."""


def silero_digest() -> str:
    return short_digest(file_named(FILE)[1].sha256)


def speech_probabilities(samples: Samples) -> NDArray[np.float64]:
    """How probably there is speech, for each 512 samples at 16 kHz."""
    import torch

    from rushes.vision.one_thread import torch_on_one_thread

    if not len(samples):
        return np.zeros(0)
    with torch.inference_mode(), torch_on_one_thread():
        found = _network().audio_forward(torch.from_numpy(np.ascontiguousarray(samples))[None], RATE)
    return np.asarray(found[0].double().numpy())


def speech_parts(probabilities: Sequence[float], length: int) -> list[Part]:
    """The parts of a sound of `length` samples in which there is speech, a little wider than heard.

    >>> speech_parts([0.0] * 10 + [0.9] * 20 + [0.0] * 10, 40 * 512)
    [(4640, 15840)]
    """
    pad = RATE * PAD_MS // 1000
    parts = _heard(probabilities, length)
    starts = [start for start, _ in parts]
    ends = [end for _, end in parts]
    for n in range(len(parts)):
        before = starts[n] - parts[n - 1][1] if n else 2 * pad
        after = parts[n + 1][0] - ends[n] if n + 1 < len(parts) else 2 * pad
        starts[n] = max(0, starts[n] - (before // 2 if before < 2 * pad else pad))
        ends[n] = min(length, ends[n] + (after // 2 if after < 2 * pad else pad))
    return list(zip(starts, ends, strict=True))


def _heard(probabilities: Sequence[float], length: int) -> list[Part]:
    """Parts before they are widened: from a probability of 0.5 to 100 ms under 0.35, of more than 250 ms."""
    shortest, pause = RATE * MIN_SPEECH_MS / 1000, RATE * MIN_SILENCE_MS / 1000
    found: list[Part] = []
    start = end = -1
    for place, probability in enumerate(probabilities):
        here = WINDOW * place
        if probability >= START:
            start, end = (here if start < 0 else start), -1
        elif start >= 0 and probability < STOP:
            end = here if end < 0 else end
            if here - end >= pause:
                found += [(start, end)] if end - start > shortest else []
                start = end = -1
    return found + ([(start, length)] if start >= 0 and length - start > shortest else [])


def spoken(samples: Samples, parts: Sequence[Part]) -> Samples:
    """The parts in a row."""
    return np.concatenate([samples[start:end] for start, end in parts]) if parts else samples[:0]


@cache
def _network() -> Any:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch asks for torch.export, which is another file
        load: Any = torch.jit.load
        return load(str(model_path(FILE)), map_location="cpu").eval()
