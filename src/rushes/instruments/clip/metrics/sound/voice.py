"""How much of the sound is speech, and whether one voice stays the same: speech_ratio and voice_drift, on request."""

from __future__ import annotations

from typing import Any

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.metrics.making import metric, share
from rushes.instruments.clip.sound.heard import require_speech, speech_of, unheard
from rushes.vision.models.catalogue import licence_of
from rushes.vision.speech import silero, voice
from rushes.vision.speech.voice import require_voice, voice_of

LEAST_S = 2.0
"""Speech that a voice is taken from; the network was trained on 3 s."""

_SPEECH = signature_params(**silero.HOW, speech_weights=silero.silero_digest(), audio="16k-mono")

SPEECH_RATIO = share(
    name="speech_ratio",
    better="neither",
    summary="How much of the sound is speech.",
    formula="length of the parts that Silero VAD calls speech / length of the sound; a part begins where the "
    "probability of speech reaches 0.5, ends before 100 ms under 0.35, lasts more than 250 ms, and is widened by 30 ms",
    edge_cases="No sound, or digital silence: no value. Parts equal those of silero-vad 6.2.3 on six real clips, "
    "sample by sample. People who talk to a camera read 0.4 to 0.97. Costs about 0.005 s of processor time per second.",
    reference=f"Silero VAD 6.2.3. {licence_of('vad')}",
    params=_SPEECH,
    depends_on=("duration",),
)
VOICE_DRIFT = Definition(
    name="voice_drift",
    unit="1",
    lowest=0.0,
    highest=2.0,
    better="lower",
    summary="How far the voice at the end is from the voice at the start; about 0.6 and more is another person.",
    formula="1 − cos(v₁, v₃); v₁ and v₃ ERes2Net's 192 numbers of the first and the last third of the speech, which "
    "are the parts that Silero VAD finds, in a row",
    edge_cases=f"No sound, or less than {3 * LEAST_S:g} s of speech: no value. Seven real "
    "speakers read 0.09 to 0.30, two who take turns 0.81, the ends of two speakers' clips 0.75 and more. "
    "Costs about 0.05 s of processor time per second of speech.",
    reference="Chen et al. 2023 (ERes2Net), trained on VoxCeleb by 3D-Speaker; its numbers equal the package's within "
    f"1e-6 on six real clips. {licence_of('voice')}",
    params=(
        *_SPEECH,
        *signature_params(
            voice="eres2net", mels="kaldi-80", parts="first-last-third", weights=voice.voice_digest(), min_s=3 * LEAST_S
        ),
    ),
    depends_on=("duration",),
    raised_by=("a second speaker", "music or noise that comes or goes", "shouting, whispering or singing"),
    lowered_by=("a shorter clip, whose thirds have the same noise",),
)


def speech_ratio(seen: Any) -> Measurement:
    """Share of the sound that is speech; see `SPEECH_RATIO`."""
    if why := unheard(seen):
        return Measurement.missing(SPEECH_RATIO, why)
    speech = speech_of(seen.audio)
    value = len(speech.samples) / len(seen.audio.samples)
    return Measurement(definition=SPEECH_RATIO, value=value, count=len(speech.parts), note=_none(len(speech.parts)))


def _none(parts: int) -> str:
    return "" if parts else "no speech is heard"


def voice_drift(seen: Any) -> Measurement:
    """Distance of the voices at both ends; see `VOICE_DRIFT`."""
    if why := unheard(seen):
        return Measurement.missing(VOICE_DRIFT, why)
    speech = speech_of(seen.audio)
    if speech.seconds < 3 * LEAST_S:
        return Measurement.missing(VOICE_DRIFT, f"{speech.seconds:.1f} s of speech; {3 * LEAST_S:g} are needed")
    third = len(speech.samples) // 3
    first, last = voice_of(speech.samples[:third]), voice_of(speech.samples[-third:])
    return Measurement(definition=VOICE_DRIFT, value=float(1 - first @ last), count=2)


SPEECH_RATIO_METRIC = metric(
    SPEECH_RATIO,
    speech_ratio,
    "sound",
    label="speech",
    on_request=True,
    require=require_speech,
    too_low="hardly speaks",
)
VOICE_DRIFT_METRIC = metric(
    VOICE_DRIFT,
    voice_drift,
    "sound",
    label="voice drift",
    on_request=True,
    require=require_voice,
    too_high="another voice than at the start",
)
