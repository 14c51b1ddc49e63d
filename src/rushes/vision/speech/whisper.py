"""Which words are said, by Whisper (Radford et al. 2022) in 8-bit integers on onnxruntime.

Greedy, without timestamps, in the language that the network hears. A sound of up to 30 s is heard whole; a longer one
in pieces of at most 30 s that begin and end in pauses between the parts that Silero VAD calls speech.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.registry import optional_package
from rushes.vision.models.cache import is_pulled, model_path, pull_command
from rushes.vision.models.catalogue import file_named, group_named
from rushes.vision.speech.silero import Part
from rushes.vision.speech.spectra import RATE, Samples, whisper_mel

SIZES = ("small", "tiny")
"""The first of them that is pulled is used."""
VOCABULARY = "whisper-vocab.json"
LONGEST = 30 * RATE
MOST_TOKENS = 224
MOST_SHRUNK = 2.4
"""A text that zlib makes smaller than this repeats itself (`compression_ratio_threshold` of Whisper's code)."""
_END, _START, _TRANSCRIBE, _PLAIN = 50257, 50258, 50359, 50363
_LANGUAGES = (50259, 50358)
# What Whisper's generation settings never let through: signs of speakers and music, brackets, its own control tokens.
_NEVER = (
    1, 2, 7, 8, 9, 10, 14, 25, 26, 27, 28, 29, 31, 58, 59, 60, 61, 62, 63, 90, 91, 92, 93, 359, 503, 522, 542, 873, 893,
    902, 918, 922, 931, 1350, 1853, 1982, 2460, 2627, 3246, 3253, 3268, 3536, 3846, 3961, 4183, 4667, 6585, 6647, 7273,
    9061, 9383, 10428, 10929, 11938, 12033, 12331, 12562, 13793, 14157, 14635, 15265, 15618, 16553, 16604, 18362, 18956,
    20075, 21675, 22520, 26130, 26161, 26435, 28279, 29464, 31650, 32302, 32470, 36865, 42863, 47425, 49870, 50254,
    50258, 50358, 50359, 50360, 50361, 50362,
)  # fmt: skip
_NOT_FIRST = (220, _END)
_NEEDS = "words need onnxruntime"

Values = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisper:
    """Which of the two networks is used, and its files."""

    size: str

    @property
    def files(self) -> tuple[str, str]:
        return f"whisper-{self.size}-encoder.onnx", f"whisper-{self.size}-decoder.onnx"

    @property
    def digest(self) -> str:
        """Of encoder and decoder, for signatures."""
        return "-".join(short_digest(file_named(file)[1].sha256)[:6] for file in self.files)


def pulled_whisper() -> Whisper:
    """The larger of the networks that are here; `MissingDependency`, with the command, where neither is."""
    optional_package("onnxruntime", _NEEDS, extra="networks")
    for size in SIZES:
        if is_pulled(group_named(f"whisper-{size}")):
            return Whisper(size=size)
    raise MissingDependency(
        f"words need Whisper; run: {pull_command('whisper-small')} (252 MB), or {pull_command('whisper-tiny')} (44 MB)"
    )


def pieces(parts: Sequence[Part], length: int) -> list[Part]:
    """The pieces of a sound that are heard one by one: the whole of up to 30 s, else cut in pauses.

    >>> pieces([(0, 160000), (170000, 400000), (500000, 600000)], 640000)
    [(0, 400000), (500000, 600000)]
    """
    if not parts:
        return []
    if length <= LONGEST:
        return [(0, length)]
    short = [(at, min(at + LONGEST, end)) for start, end in parts for at in range(start, end, LONGEST)]
    found = [short[0]]
    for start, end in short[1:]:
        if end - found[-1][0] <= LONGEST:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def transcript(samples: Samples, parts: Sequence[Part], network: Whisper) -> str:
    """What is said in a sound at 16 kHz, as the network writes it; "" where there is no speech."""
    heard = (_text(samples[start:end], network) for start, end in pieces(parts, len(samples)))
    return " ".join(text for text in heard if text)


def repeats_itself(text: str) -> bool:
    """Whether a transcript is a loop of the network: its bytes shrink by more than 2.4 times, Whisper's own limit.

    >>> repeats_itself("lay blue at x four now"), repeats_itself("c'est un élément, " * 30)
    (False, True)
    """
    content = text.encode()
    return len(content) > MOST_SHRUNK * len(zlib.compress(content))


def _text(samples: Samples, network: Whisper) -> str:
    return decoded(token_ids(samples, network))


def token_ids(samples: Samples, network: Whisper) -> list[int]:
    """The tokens of the transcript of up to 30 s at 16 kHz."""
    encoder, decoder = (_session(file) for file in network.files)
    (heard,) = encoder.run(["last_hidden_state"], {"input_features": whisper_mel(samples)[None]})
    return _tokens(decoder, heard)


def _tokens(decoder: Any, heard: Values) -> list[int]:
    """The most probable token after each, up to the end of the text."""
    memory = _Memory(decoder, heard)
    language = int(np.argmax(memory.step([_START])[slice(*_LANGUAGES)])) + _LANGUAGES[0]
    memory = _Memory(decoder, heard)
    scores = memory.step([_START, language, _TRANSCRIBE, _PLAIN])
    found: list[int] = []
    while len(found) < MOST_TOKENS:
        scores[[*_NEVER, *(() if found else _NOT_FIRST)]] = -np.inf
        scores[_PLAIN:] = -np.inf
        token = int(np.argmax(scores))
        if token == _END:
            break
        found.append(token)
        scores = memory.step([token])
    return found


class _Memory:
    """The decoder with what it has seen so far, so that each token is looked at once."""

    def __init__(self, decoder: Any, heard: Values) -> None:
        self._decoder, self._heard = decoder, heard
        past = [one for one in decoder.get_inputs() if one.name.startswith("past_key_values")]
        self._past = {one.name: np.zeros((1, one.shape[1], 0, one.shape[3]), np.float32) for one in past}
        self._begun = False
        self._outputs = [one.name for one in decoder.get_outputs() if "attention" not in one.name]

    def step(self, tokens: Sequence[int]) -> Values:
        """Scores of the token that comes next."""
        given: dict[str, Any] = {
            "input_ids": np.array([tokens], np.int64),
            "encoder_hidden_states": self._heard,
            "use_cache_branch": np.array([self._begun]),
        }
        found = dict(zip(self._outputs, self._decoder.run(self._outputs, given | self._past), strict=True))
        for name in self._past:
            # What was heard does not change: after the first step the network gives nothing for it.
            if not (self._begun and ".encoder." in name):
                self._past[name] = found[name.replace("past_key_values", "present")]
        self._begun = True
        scores: Values = found["logits"][0, -1].copy()
        return scores


def decoded(tokens: Sequence[int]) -> str:
    """Text of tokens: pieces of bytes, each byte spelt as a letter of its own."""
    pieces_, letters = _pieces(), _bytes()
    content = bytes(letters[letter] for token in tokens for letter in pieces_.get(token, ""))
    return content.decode("utf-8", errors="replace").strip()


@cache
def _pieces() -> dict[int, str]:
    return {token: piece for piece, token in json.loads(model_path(VOCABULARY).read_text(encoding="utf-8")).items()}


@cache
def _bytes() -> dict[str, int]:
    """GPT-2's letters for bytes: printable ones stand for themselves, the others for letters from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(other)}


@cache
def _session(file: str) -> Any:
    ort = optional_package("onnxruntime", _NEEDS, extra="networks")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4
    return ort.InferenceSession(str(model_path(file)), options, providers=["CPUExecutionProvider"])
