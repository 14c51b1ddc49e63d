"""Which words are said: word_error_rate against the script, and words_per_minute, on request.

The script is given beside the prompts (column `script` of `--prompts FILE`, in Python `script=`). The transcript is in
the note of both values.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.metrics.making import metric
from rushes.instruments.clip.networks.prompts import NO_SCRIPT
from rushes.instruments.clip.sound.heard import require_speech, speech_of, unheard
from rushes.media import AudioTrack
from rushes.vision.models.catalogue import licence_of
from rushes.vision.speech import silero
from rushes.vision.speech.whisper import MOST_SHRUNK, Whisper, pulled_whisper, repeats_itself, transcript
from rushes.vision.speech.words import normalised, word_errors

LEAST_S = 1.0
"""Speech from which a rate is taken."""
_LONGEST_NOTE = 300
_LOOP = "the network repeats itself, as Whisper does where it loses the thread; try whisper-small"

_words = partial(
    Definition,
    lowest=0.0,
    highest=None,
    reference="Radford et al. 2022 (Whisper), 8-bit weights; Silero VAD 6.2.3. "
    f"{licence_of('whisper-small', 'whisper-tiny')}",
    params=signature_params(
        **silero.HOW,
        speech_weights=silero.silero_digest(),
        audio="16k-mono",
        decoding="greedy",
        loop=MOST_SHRUNK,
        language="detected",
        words="nfkc-casefold-numbers",
    ),
    open_params=("network", "weights"),
    depends_on=("duration",),
)
_HEARD = (
    "Whisper small where it is pulled, else tiny (the signature names the network), greedy, in the language it hears; "
    "words in small letters, without punctuation, letters apart from digits, English numbers below 100 as digits; each "
    "character of Chinese, Japanese, Thai, Lao and Khmer is a word"
)
_COST = (
    "Costs about 1 s of processor time per 30 s with tiny and 3.5 s with small, and nearly as much for a shorter "
    "clip. The note has the transcript. A transcript that repeats itself (zlib makes it 2.4 times smaller): no value."
)

WORD_ERROR_RATE = _words(
    name="word_error_rate",
    unit="ratio",
    better="lower",
    summary="How many words of the script are not heard as written.",
    formula=f"(substitutions + deletions + insertions) / words of the script, the fewest possible; {_HEARD}",
    edge_cases="No script, or one without words; no sound, or digital silence: no value. No speech: 1, every word is "
    "missing. Can be above 1. The network's own errors count as the speaker's: of 10 GRID sentences small gets 7 of 60 "
    f"words wrong, tiny 30. {_COST}",
    raised_by=("noise and music", "accents and names the network does not know", "a wrongly heard language"),
    lowered_by=("a script of common words in common order, which the network expects",),
)
WORDS_PER_MINUTE = _words(
    name="words_per_minute",
    unit="1/min",
    better="neither",
    summary="How fast somebody speaks.",
    formula=f"words heard / minutes of speech (parts by Silero VAD); {_HEARD}",
    edge_cases=f"No sound, or less than {LEAST_S:g} s of speech: no value. {_COST}",
    raised_by=("a language of short words, or one that is counted by characters",),
)


@lru_cache(maxsize=1)  # both metrics ask for the same sound in turn
def heard_words(track: AudioTrack, network: Whisper) -> str:
    """The transcript of a sound."""
    return transcript(track.samples, speech_of(track).parts, network)


def word_error_rate(seen: Any) -> Measurement:
    """Share of the script's words that are wrong; see `WORD_ERROR_RATE`."""
    definition, network = _bound(WORD_ERROR_RATE)
    if not seen.script:
        return Measurement.missing(definition, NO_SCRIPT)
    if not (wanted := len(normalised(seen.script))):
        return Measurement.missing(definition, "the script has no words")
    if why := unheard(seen):
        return Measurement.missing(definition, why)
    text = heard_words(seen.audio, network)
    if repeats_itself(text):
        return Measurement.missing(definition, _LOOP)
    wrong = word_errors(seen.script, text).wrong
    return Measurement(definition=definition, value=wrong / wanted, count=wanted, note=_note(text))


def words_per_minute(seen: Any) -> Measurement:
    """Words heard in a minute of speech; see `WORDS_PER_MINUTE`."""
    definition, network = _bound(WORDS_PER_MINUTE)
    if why := unheard(seen):
        return Measurement.missing(definition, why)
    seconds = speech_of(seen.audio).seconds
    if seconds < LEAST_S:
        return Measurement.missing(definition, f"{seconds:.1f} s of speech; {LEAST_S:g} are needed")
    text = heard_words(seen.audio, network)
    if repeats_itself(text):
        return Measurement.missing(definition, _LOOP)
    words = len(normalised(text))
    return Measurement(definition=definition, value=60 * words / seconds, count=words, note=_note(text))


def _bound(definition: Definition) -> tuple[Definition, Whisper]:
    network = pulled_whisper()
    return definition.with_params(network=f"whisper-{network.size}-int8", weights=network.digest), network


def _note(text: str) -> str:
    if not text:
        return "no speech is heard"
    return f"heard: {text}" if len(text) <= _LONGEST_NOTE else f"heard: {text[:_LONGEST_NOTE]}…"


def _require() -> None:
    require_speech()
    pulled_whisper()


WORD_ERROR_RATE_METRIC = metric(
    WORD_ERROR_RATE,
    word_error_rate,
    "sound",
    "script",
    label="WER",
    on_request=True,
    require=_require,
    too_high="says other words than the script",
)
WORDS_PER_MINUTE_METRIC = metric(
    WORDS_PER_MINUTE,
    words_per_minute,
    "sound",
    label="words/min",
    room="page",
    on_request=True,
    require=_require,
    too_high="speaks too fast",
    too_low="speaks too slowly",
)
