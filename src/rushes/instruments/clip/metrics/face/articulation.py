"""Does the mouth move as people's do while they speak: articulation_distance.

People who compared talking heads by their lips preferred mouths that move as much as a real speaker's, and not those
that follow the loudness most closely: that is highest for generated speech. So the movement of three shapes of the
mouth is compared with real speakers, in both directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.wide_search import SEARCH
from rushes.instruments.clip.metrics.face.mouth import MIN_SECONDS
from rushes.instruments.clip.metrics.face.real_speakers import HISTORY, MOUTH, NAME, distance, furthest
from rushes.instruments.clip.metrics.making import FACE_COST, metric
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

ARTICULATION_DISTANCE = Definition(
    name="articulation_distance",
    unit="sd",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far the mouth's movement in speech is from that of real speakers, whether it moves too little or too "
    "much.",
    formula="√(mean over open, wide and jaw of ((ln s − μ) / σ)²); s = population std, over the frames with the face "
    "in which speech is heard (as in mouth_speech_motion), of |p0 − p17|, |p61 − p291| and |p1 − p152| over |p33 − "
    "p263|, each less its running mean over 1 s; μ, σ of 12 real speakers: "
    + ", ".join(f"{name} {spread.mean:g}, {spread.deviation:g}" for name, spread in MOUTH.items()),
    edge_cases="no face, no sound, less than 1 s of speech with the face, or a sound that does not rise and fall like "
    "speech (under 6 dB) or is under −50 dB: none. The 12 real speakers read 0.4 to 1.7, five others in four "
    "languages 0.4 to 1.2. People's lip votes of ADTH-QA, whose speakers are not among the 12: 27 of 30 pairs right "
    "(90 %, 79 to 100 % over five speakers; people agree with their majority in 74 % of votes); fitted on no vote. It "
    f"says nothing about time: see lip_sync_offset_ms. {FACE_COST}",
    reference="ours; votes: Zhang et al. 2024 (ADTH-QA)",
    params=signature_params(
        face="most-persistent",
        max_faces=MAX_FACES,
        search=SEARCH,
        shapes="0-17,61-291,1-152",
        norm="inter-ocular",
        detrend_s=1,
        real=NAME,
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
    raised_by=("a mouth that hardly moves, or moves wildly", "a small or turned face"),
    lowered_by=("noise, whose tremble of the landmarks counts as movement",),
    history=HISTORY,
)


def articulation(track: FaceTrack, sound: SpeechSound, *, fps: float) -> tuple[dict[str, float], int] | str:
    """Movement of each shape while speech is heard, and in how many frames; the reason where there is too little."""
    if sound.not_speech:
        return sound.not_speech
    shapes = {"open": track.lip_opening, "wide": track.mouth_width, "jaw": track.jaw_drop}
    moving = {name: detrended(values, reach=max(1, round(fps / 2))) for name, values in shapes.items()}
    heard = sound.active & np.isfinite(np.array(list(moving.values()))).all(axis=0)
    count = int(np.count_nonzero(heard))
    if count < max(2, MIN_SECONDS * fps):
        return f"{count / fps:.1f} s of speech with the face; {MIN_SECONDS:g} are needed"
    return {name: _std(values[heard]) for name, values in moving.items()}, count


def _std(values: NDArray[np.float64]) -> float:
    return float(np.std(values))


def articulation_distance(seen: Any) -> Measurement:
    """Distance of the mouth's movement from real speakers; see `ARTICULATION_DISTANCE`."""
    face = seen.faces
    bound, sound = ARTICULATION_DISTANCE.with_params(model=face.model), face.speech
    why = face.absence("") or (sound if isinstance(sound, str) else "")
    found = why or articulation(face.track, sound, fps=face.fps)
    if isinstance(found, str):
        return Measurement.missing(bound, found)
    values, count = found
    note = "; ".join(filter(None, (furthest(values, MOUTH), face.choice)))
    return Measurement(definition=bound, value=distance(values, MOUTH), count=count, note=note)


ARTICULATION_DISTANCE_METRIC = metric(
    ARTICULATION_DISTANCE,
    articulation_distance,
    "face",
    "sound",
    tier=1,
    label="lips vs people",
    room="any",
    too_high="mouth moves unlike a real speaker's",
)
