"""Sign and size of a lip-sync error, and whether the lips speak this sound at all: lip_sync_offset_ms, lip_speech_fit.

Two curves over the lag are averaged. One is the match of mouth and loudness, the same for everybody. The other learns
from the clip itself how this speaker's mouth follows the spectrum: from four fifths of the clip it foretells the mouth
in the last fifth, at every lag. The first holds in short clips, the second finds the place in long ones where loudness
alone does not.

Another speaker's words have no place that is clearly best, so their offset is missing; but some place always matches a
little. How high the curve is in place, for so long a clip, separates them from the speaker's own.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.metrics.face.sync_search import (
    IN_PLACE_MS,
    REACH_MS,
    SyncSearch,
    match_curve,
    mouth_movement,
)
from rushes.instruments.clip.metrics.making import FACE_COST, metric
from rushes.instruments.clip.sound.bands import BANDS, frame_bands
from rushes.instruments.clip.sound.speech import detrended

if TYPE_CHECKING:
    from rushes.instruments.clip.faces.observation import FaceObservation

CONTEXT = 1
"""Frames of sound on either side that foretell a frame of the mouth."""
FOLDS = 5
RIDGE = 0.3
"""Times the number of frames, on predictors of unit variance."""
MIN_PAIRS = 40
PEAK_MS = 240
CLEAR, MIN_PEAK = 0.15, 0.2
"""A place is clear with this much above the best one further away, and this high."""

LIP_SYNC_OFFSET_MS = Definition(
    name="lip_sync_offset_ms",
    unit="ms",
    lowest=-float(REACH_MS),
    highest=float(REACH_MS),
    better="neither",
    summary="By how much the sound comes after the lips; negative where it comes before. From −120 to 160 is in sync.",
    formula="− argmax over lags up to ±1 s of (match + foretold) / 2; match as in mouth_audio_margin; foretold = mean "
    "over lip opening, jaw drop and inner lips (each less its running mean over 1 s) of the Pearson r of the mouth at "
    "t + lag and its ridge regression on 12 log mel bands of the sound at t − 1, t and t + 1, fitted on four fifths of "
    "the clip and tried on the fifth left out",
    edge_cases=f"The best place is under {MIN_PEAK:g}, or less than {CLEAR:g} above the best one more than {PEAK_MS} "
    "ms away: none, as for the sound of another speaker (0 of 13 swapped sounds had a clear place) and for films "
    "that were dubbed. What leaves mouth_audio_margin without a value does so here: less than 3 s of speech, a small "
    "face, lips at rest. Of 13 real speakers in four languages, with the sound 240 and 480 ms early and late, 29 of 52 "
    "had a clear place: 27 within 80 ms, every sign right (benchmarks/shifted_sound.py). With the sound in place 8 had "
    "one and 7 were in sync; the eighth is a recording whose sound is late by both curves. Costs 0.003 s of processor "
    f"time per second of video beside the face. {FACE_COST}",
    reference="ours",
    params=signature_params(
        match="mouth_audio_margin-v2",
        bands=BANDS,
        context=CONTEXT,
        folds=FOLDS,
        ridge=RIDGE,
        shapes="0-17,1-152,13-14",
        reach_ms=REACH_MS,
        peak_ms=PEAK_MS,
        clear=CLEAR,
        min_peak=MIN_PEAK,
        min_pairs=MIN_PAIRS,
    ),
    open_params=("model",),
    depends_on=("frame_size", "fps", "duration", "transfer"),
)
LIP_SPEECH_FIT = Definition(
    name="lip_speech_fit",
    unit="√s",
    lowest=None,
    highest=None,
    better="neither",
    summary="How surely the lips speak these words, rather than those of somebody else; around 0 by chance.",
    formula=f"√seconds · max over lags from {IN_PLACE_MS[0]} to +{IN_PLACE_MS[1]} ms of (match + foretold) / 2, both "
    "as in lip_sync_offset_ms; seconds with the face and sound",
    edge_cases="What leaves lip_sync_offset_ms without a curve does so here: less than 3 s of speech with the face, a "
    "small face, lips at rest, sound unlike speech. The root of the length makes clips compare: what chance reaches "
    "falls with it. 15 real speakers in their own words read 0.36 to 2.64; under the words of 14 others each, 186 of "
    "208 read below 0.5 (area under the curve 0.97). Of the five who had no part in choosing 0.5, none reads below it "
    "in their own words, and 62 of 70 in others' (89 %; benchmarks/shifted_sound.py). Sound more than 160 ms off reads "
    "low too: lip_sync_offset_ms says whether it fits elsewhere. More is not better: lips that follow the loudness too "
    f"closely read high. {FACE_COST}",
    reference="ours",
    params=(
        *(one for one in LIP_SYNC_OFFSET_MS.params if one[0] not in ("peak_ms", "clear", "min_peak", "reach_ms")),
        *signature_params(in_place_ms=f"{IN_PLACE_MS[0]}..{IN_PLACE_MS[1]}", length="root-s"),
    ),
    open_params=("model",),
    depends_on=("frame_size", "fps", "transfer"),
    raised_by=("a mouth that opens and shuts with the loudness alone",),
    lowered_by=("noise and music", "sound that is early or late", "blur, a small or turned face"),
)


class LipSync(NamedTuple):
    """Where lips and sound match best."""

    offset_ms: float
    peak: float
    rival: float
    """The best place more than 240 ms away."""
    pairs: int
    in_place: float
    """The best match from 160 ms early to 120 ms late."""
    seconds: float
    """With the face and sound."""

    @property
    def is_clear(self) -> bool:
        return self.peak >= MIN_PEAK and self.peak - self.rival >= CLEAR

    @property
    def fit(self) -> float:
        return self.in_place * math.sqrt(self.seconds)

    @property
    def in_words(self) -> str:
        early, late = -IN_PLACE_MS[1], -IN_PLACE_MS[0]
        if early <= self.offset_ms <= late:
            return "in sync"
        return f"sound about {round(abs(self.offset_ms), -1):.0f} ms {'late' if self.offset_ms > 0 else 'early'}"


def foretold_curve(mouth: NDArray[np.float64], sound: NDArray[np.float64], *, reach: int) -> NDArray[np.float64]:
    """How well the sound (T × k) foretells the mouth (T × m) at each lag from −reach to reach; NaN with too few pairs.

    Both are already without slow drift; gaps are NaN.
    """
    frames = len(mouth)
    around = np.full((frames, (2 * CONTEXT + 1) * sound.shape[1]), np.nan)
    inner = slice(CONTEXT, frames - CONTEXT)
    around[inner] = np.concatenate([sound[step : frames - 2 * CONTEXT + step] for step in range(2 * CONTEXT + 1)], 1)
    curve = np.full(2 * reach + 1, np.nan)
    for lag in range(-reach, reach + 1):
        shapes, heard = mouth[max(lag, 0) : frames + min(lag, 0)], around[max(-lag, 0) : frames - max(lag, 0)]
        known = np.isfinite(shapes).all(axis=1) & np.isfinite(heard).all(axis=1)
        if np.count_nonzero(known) >= max(MIN_PAIRS, frames // 4):
            curve[reach + lag] = _foretold(_standard(shapes[known]), _standard(heard[known]))
    return curve


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0 and variance 1 in each column; 0 where nothing varies."""
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    found: NDArray[np.float64] = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return found


def _foretold(shapes: NDArray[np.float64], heard: NDArray[np.float64]) -> float:
    """Mean correlation of shapes and what ridge regression on the other folds foretells; NaN where nothing varies."""
    count, predictors = heard.shape
    products, targets = heard.T @ heard, heard.T @ shapes
    found = np.zeros_like(shapes)
    for fold in range(FOLDS):
        part = slice(fold * count // FOLDS, (fold + 1) * count // FOLDS)
        own = heard[part]
        left = products - own.T @ own + RIDGE * count * np.eye(predictors)
        found[part] = own @ np.linalg.solve(left, targets - own.T @ shapes[part])
    top = (_standard(found) * _standard(shapes)).mean(axis=0)
    return float(top.mean())


def lip_sync(face: FaceObservation) -> LipSync | str:
    """Where lips and sound match best; the reason, as text, where that cannot be told."""
    ready = face.sync_search
    if isinstance(ready, str):
        return ready
    assert face.audio is not None and face.fps and not isinstance(face.speech, str)
    track, fps = face.track, face.fps
    starts = np.array([face.seconds(frame) for frame in range(len(track))])
    reach = min(int(REACH_MS / 1000 * fps), len(track) // 3)
    slow = partial(detrended, reach=max(1, round(fps / 2)))
    mouth = np.stack([slow(values) for values in (track.lip_opening, track.jaw_drop, track.mouth_openness)], 1)
    heard = np.apply_along_axis(slow, 0, frame_bands(face.audio.samples, starts, fps))
    match = match_curve(mouth_movement(track), face.speech.loudness, reach=reach)
    return _best((match + foretold_curve(mouth, heard, reach=reach)) / 2, ready, fps=fps)


def _best(curve: NDArray[np.float64], ready: SyncSearch, *, fps: float) -> LipSync | str:
    late_ms = -(np.arange(len(curve)) - len(curve) // 2) * 1000 / fps
    known = np.isfinite(curve)
    if not known.any():
        return "too few lags have a face and a sound that vary"
    # Of equal places the one nearest the true one.
    order = sorted(np.flatnonzero(known), key=lambda place: (abs(late_ms[place]), late_ms[place]))
    best = max(order, key=lambda place: float(curve[place]))
    away = known & (np.abs(late_ms - late_ms[best]) > PEAK_MS + 1e-6)
    inside = known & (late_ms >= -IN_PLACE_MS[1] - 1e-6) & (late_ms <= -IN_PLACE_MS[0] + 1e-6)
    if not inside.any():
        return "too few lags in place have a face and a sound that vary"
    return LipSync(
        offset_ms=float(late_ms[best]) + 0.0,
        peak=float(curve[best]),
        rival=float(curve[away].max()) if away.any() else -1.0,
        pairs=ready.pairs,
        in_place=float(curve[inside].max()),
        seconds=ready.pairs / fps,
    )


def lip_sync_offset_ms(seen: Any) -> Measurement:
    """By how much the sound comes after the lips; see `LIP_SYNC_OFFSET_MS`."""
    bound, found = LIP_SYNC_OFFSET_MS.with_params(model=seen.faces.model), seen.faces.lip_sync
    if isinstance(found, str):
        return Measurement.missing(bound, found)
    if not found.is_clear:
        why = f"no place within a second is clear ({found.peak:.2f} at best, {found.rival:.2f} elsewhere)"
        return Measurement.missing(bound, why, count=found.pairs)
    return Measurement(definition=bound, value=found.offset_ms, count=found.pairs, note=found.in_words)


def lip_speech_fit(seen: Any) -> Measurement:
    """How surely the lips speak these words; see `LIP_SPEECH_FIT`."""
    bound, found = LIP_SPEECH_FIT.with_params(model=seen.faces.model), seen.faces.lip_sync
    if isinstance(found, str):
        return Measurement.missing(bound, found)
    return Measurement(definition=bound, value=found.fit, count=found.pairs, note=seen.faces.choice)


LIP_SYNC_OFFSET_MS_METRIC = metric(
    LIP_SYNC_OFFSET_MS,
    lip_sync_offset_ms,
    "face",
    "sound",
    tier=1,
    label="sync ms",
    room="any",
    too_high="sound late",
    too_low="sound early",
)
LIP_SPEECH_FIT_METRIC = metric(
    LIP_SPEECH_FIT,
    lip_speech_fit,
    "face",
    "sound",
    tier=1,
    label="lips fit",
    room="page",
    too_low="lips do not follow this speech",
)
