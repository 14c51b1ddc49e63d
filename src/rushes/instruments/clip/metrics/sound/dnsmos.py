"""How good speech sounds, as a network that learned from listeners hears it: dnsmos_sig, dnsmos_bak, dnsmos_ovrl and
dnsmos_p808. Measured where they are named; see `rushes.instruments.clip.sound.dnsmos`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import metric
from rushes.instruments.clip.sound.dnsmos import P808_FILE, P835_FILE, RATE, STRETCH_S, p808, p835
from rushes.instruments.clip.sound.heard import unheard
from rushes.instruments.clip.sound.speech import speech_sound
from rushes.media import AudioTrack
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of

GROUP = "dnsmos"
_HOW: dict[str, str | int | float] = {
    "rate": RATE,
    "mix": "mean",
    "resampler": "swresample",
    "stretch_s": STRETCH_S,
    "hop_s": 1,
    "short": "repeat",
    "stretches": "speechmos",
}
_EDGES = (
    "No sound, or digital silence: no value. A sound under 9.01 s is doubled until it is long enough; between 16 and "
    "33 s the first seven stretches count, as in the published code. It was learned from people who talk. Ten real "
    "clips of music, water, animals and machines read 0.9 to 1.2 (dnsmos_ovrl) and 2.1 to 3.0 (dnsmos_p808), whatever "
    "their quality, and people who speak to a camera 1.7 to 3.5 and 2.8 to 4.0; a note says where the sound does not "
    "rise and fall like speech. Costs about 0.1 s of processor time per second of sound."
)


def _definition(name: str, summary: str, formula: str, file: str, **fit: str) -> Definition:
    weights = short_digest(file_named(file)[1].sha256)
    return Definition(
        name=name,
        unit="MOS",
        lowest=None,
        highest=None,
        better="higher",
        summary=summary,
        formula=f"{formula}; mean over stretches of {STRETCH_S} s, one a second, at 16 kHz in mono; about 1 (bad) to 5 "
        "(excellent)",
        edge_cases=_EDGES,
        reference=f"Reddy et al. 2021 and 2022; speechmos 0.0.1.1. {licence_of('dnsmos')}",
        params=signature_params(**_HOW, **fit, weights=weights),
        raised_by=("noise suppression that leaves artefacts", "a louder voice over the same noise"),
        lowered_by=("music or effects under the voice", "reverberation of the room", "a low sample rate"),
    )


def _require() -> None:
    if not is_pulled(group_named(GROUP)):
        raise MissingDependency(f"DNSMOS needs its two networks; run: {pull_command(GROUP)}")


def _metric(
    definition: Definition, label: str, value: Callable[[AudioTrack], tuple[float, int]], **shown: Any
) -> ClipMetric:
    def measure(seen: Any) -> Measurement:
        if why := unheard(seen):
            return Measurement.missing(definition, why)
        found, count = value(seen.audio)
        return Measurement(definition=definition, value=found, count=count, note=_not_speech(seen))

    shown |= {"label": label, "on_request": True, "require": _require, "too_low": "speech sounds bad"}
    return metric(definition, measure, "sound", **shown)


def _p835(name: str, summary: str, part: str, fit: str, **shown: Any) -> ClipMetric:
    """One of the three numbers of the P.835 network: `part` of its `Opinions`, after the polynomial `fit`."""
    formula = f"the P.835 network's number y for {_HEARD[part]}, as {fit}"

    def value(track: AudioTrack) -> tuple[float, int]:
        found = p835(track)
        return float(getattr(found, part)), found.stretches

    definition = _definition(name, summary, formula, P835_FILE, fit="p835")
    return _metric(definition, name.replace("_", " ").upper(), value, **shown)


def _not_speech(seen: Any) -> str:
    fps = None if seen.fps is None else float(seen.fps)
    sound = speech_sound(seen.audio, times_ms=seen.time_ms, frames=seen.frames, fps=fps)
    return "" if isinstance(sound, str) else sound.not_speech


_HEARD = {"speech": "the speech", "background": "the background", "overall": "the whole"}
DNSMOS_SIG_METRIC = _p835(
    "dnsmos_sig",
    "How good the voice itself sounds, whatever is behind it.",
    "speech",
    "−0.08397278·y² + 1.22083953·y + 0.0052439",
    room="page",
)
DNSMOS_BAK_METRIC = _p835(
    "dnsmos_bak",
    "How little the background disturbs.",
    "background",
    "−0.13166888·y² + 1.60915514·y − 0.39604546",
    room="page",
)
DNSMOS_OVRL_METRIC = _p835(
    "dnsmos_ovrl",
    "How good the sound of speech is as a whole.",
    "overall",
    "−0.06766283·y² + 1.11546468·y + 0.04602535",
)
DNSMOS_P808_METRIC = _metric(
    _definition(
        "dnsmos_p808",
        "How good the sound of speech is as a whole, by the older network.",
        "the P.808 network's number for 120 mel bands in dB under their maximum",
        P808_FILE,
        mels="120-slaney-321-160",
    ),
    "DNSMOS P.808",
    p808,
)
