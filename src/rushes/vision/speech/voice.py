"""Whose voice a sound is: 192 numbers by ERes2Net, and how alike two voices are."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.registry import optional_package
from rushes.vision.models.cache import is_pulled, model_path, pull_command
from rushes.vision.models.catalogue import file_named, group_named
from rushes.vision.speech.spectra import RATE, Samples, kaldi_fbank

if TYPE_CHECKING:
    from rushes.vision.speech.eres2net import ERes2Net

GROUP = "voice"
FILE = "eres2net-voxceleb.npz"
LEAST_S = 1.0
"""Shorter sounds are not judged: the network was trained on 3 s."""
HOW = {"voice": "eres2net", "mels": "kaldi-80", "audio": "16k-mono"}
"""How a voice is described, for signatures; with the digest of the weights."""
NEEDS_TORCH = "speech networks need torch"

Voice = NDArray[np.float64]


def voice_digest() -> str:
    return short_digest(file_named(FILE)[1].sha256)


def require_voice() -> None:
    """Raise `MissingDependency`, with the command that mends it, where the network cannot run."""
    optional_package("torch", NEEDS_TORCH, extra="fvd")
    if not is_pulled(group_named(GROUP)):
        raise MissingDependency(f"voices need ERes2Net and Silero VAD; run: {pull_command(GROUP)}")


def voice_of(samples: Samples) -> Voice:
    """The voice of a sound at 16 kHz, 192 numbers of length 1; at least `LEAST_S` seconds."""
    import torch

    from rushes.vision.one_thread import torch_on_one_thread

    if len(samples) < LEAST_S * RATE:
        raise ValueError(f"a voice needs {LEAST_S:g} s of sound; got {len(samples) / RATE:.2f}")
    with torch.inference_mode(), torch_on_one_thread():
        numbers = _network()(torch.from_numpy(kaldi_fbank(samples))[None])[0].double().numpy()
    found: Voice = numbers / np.sqrt(numbers @ numbers)
    return found


@cache
def _network() -> ERes2Net:
    import torch

    from rushes.storage.numpy_files import load_npz
    from rushes.vision.speech.eres2net import ERes2Net

    arrays, _ = load_npz(model_path(FILE))
    network = ERes2Net()
    network.load_state_dict({name: torch.from_numpy(values) for name, values in arrays.items()})
    return network.eval()
