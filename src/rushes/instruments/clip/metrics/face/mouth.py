"""A dead mouth: speech is heard and the lips do not move.

`mouth_open_energy` is low for a silent person as well. This reading looks only while speech is heard, and says nothing
where none is. It measures the outer lips, which both face meshes place alike, so one threshold serves both models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.wide_search import SEARCH
from rushes.instruments.clip.metrics.making import metric
from rushes.instruments.clip.sound.speech import (
    ACTIVE_DB,
    ACTIVE_MS,
    BAND_HZ,
    MIN_LEVEL_DB,
    MIN_VARIATION_DB,
    SpeechSound,
    detrended,
)
from rushes.vision.landmarks.face_pipeline import MAX_FACES

if TYPE_CHECKING:
    from rushes.instruments.clip.faces.track import FaceTrack

MIN_SECONDS = 1.0
AT_REST = 0.012
"""Lips that move less are at rest: people who speak have 0.015 and more (the recordings of
`benchmarks/real_speakers.csv`, and 47 other clips), mouths held still in real clips 0.002 to 0.009 (16 of 17)."""

MOUTH_SPEECH_MOTION = Definition(
    name="mouth_speech_motion",
    unit="ratio",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="How much the lips move while speech is heard, in inter-ocular distances; near zero is a dead mouth.",
    formula="population std, over the frames with the face in which speech is heard, of |p0 − p17| / |p33 − p263| less "
    "its running mean over 1 s; speech is heard within 250 ms of a frame whose sound from 500 to 4000 Hz is within 20 "
    "dB of its 95th percentile",
    edge_cases="no face, no sound, less than 1 s of speech with the face, or a sound that does not rise and fall like "
    "speech (under 6 dB) or is under −50 dB: none, so that a silent person or music is no dead mouth.",
    reference="beside mouth_open_energy of MetricBundleV1",
    params=signature_params(
        face="most-persistent",
        max_faces=MAX_FACES,
        search=SEARCH,
        mouth="0-17",
        norm="inter-ocular",
        detrend_s=1,
        audio="16k-mono",
        band=f"{BAND_HZ[0]}-{BAND_HZ[1]}",
        active_db=ACTIVE_DB,
        active_ms=ACTIVE_MS,
        min_s=MIN_SECONDS,
        min_variation_db=MIN_VARIATION_DB,
        min_level_db=MIN_LEVEL_DB,
    ),
    open_params=("model",),
    depends_on=("frame_size", "fps", "transfer"),
)


class SpeechMotion(NamedTuple):
    """How much the lips move, and in how many frames that was looked at."""

    value: float
    frames: int


def speech_motion(track: FaceTrack, sound: SpeechSound, *, fps: float) -> SpeechMotion | str:
    """Movement of the lips while speech is heard; the reason, as text, where too little is."""
    if sound.not_speech:
        return sound.not_speech
    moving = detrended(track.lip_opening, reach=max(1, round(fps / 2)))
    heard = moving[np.isfinite(moving) & sound.active]
    if len(heard) < max(2, MIN_SECONDS * fps):
        return f"{len(heard) / fps:.1f} s of speech with the face; {MIN_SECONDS:g} are needed"
    return SpeechMotion(float(np.std(heard)), len(heard))


def mouth_speech_motion(seen: Any) -> Measurement:
    """How much the lips move while speech is heard; see `MOUTH_SPEECH_MOTION`."""
    face = seen.faces
    bound, sound = MOUTH_SPEECH_MOTION.with_params(model=face.model), face.speech
    why = face.absence("") or (sound if isinstance(sound, str) else "")
    found = why or speech_motion(face.track, sound, fps=face.fps)
    if isinstance(found, str):
        return Measurement.missing(bound, found)
    return Measurement(definition=bound, value=found.value, count=found.frames, note=face.choice)


MOUTH_SPEECH_MOTION_METRIC = metric(
    MOUTH_SPEECH_MOTION,
    mouth_speech_motion,
    "face",
    "sound",
    tier=1,
    label="lips",
    room="page",
    too_low="mouth does not move with the speech",
)
