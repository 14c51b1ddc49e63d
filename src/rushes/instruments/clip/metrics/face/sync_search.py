"""Lip sync by search: where within a second does the mouth follow the sound best, and is it in place?

`mouth_audio_corr` looks three frames to either side, so a sound that is half a second late scores like chance. Here
the sound is tried up to a second to either side. Two mouths are read together (the outer lips and the jaw) against the
loudness of the speech band, each as it stands and as it changes from frame to frame: changes are sharp in time. In
sync is where the best place is the true one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.wide_search import SEARCH
from rushes.instruments.clip.metrics.face.mouth import AT_REST, speech_motion
from rushes.instruments.clip.metrics.face.sync import at_lag
from rushes.instruments.clip.metrics.making import metric
from rushes.instruments.clip.sound.speech import BAND_HZ, EXPONENT, MIN_LEVEL_DB, MIN_VARIATION_DB, SpeechSound
from rushes.vision.landmarks.face_pipeline import MAX_FACES

if TYPE_CHECKING:
    from rushes.instruments.clip.faces.track import FaceTrack

REACH_MS = 1000
IN_PLACE_MS = (-160, 120)
"""Mouth before the sound by up to 160 ms, or after it by 120, is in sync: lips open before the voice is heard."""
STEP_WEIGHT = 0.5
"""How much the changes from frame to frame count beside the values themselves."""
MIN_PAIRS = 10
MIN_SECONDS = 1.5
MIN_SPEECH_S = 3.0
"""Seconds of speech with the face below which chance decides: clips of 2 s gave +767 and −901 ms for shifted copies."""
PARTS = 6
"""Parts of the clip that are left out in turn, for how far margin and offset spread."""
SMALLEST_EYES = 12.0
"""Pixels between the outer eye corners below which the lips of a face are too small to judge."""
PEAK_MS = 200
CLEAR = 0.15
"""How far the best place has to stand above every other that is more than 200 ms away, for its offset to be told."""
MIN_PEAK = 0.25

_SEARCH = signature_params(
    face="most-persistent",
    max_faces=MAX_FACES,
    search=SEARCH,
    mouth="0-17+1-152",
    norm="inter-ocular",
    audio="16k-mono",
    band=f"{BAND_HZ[0]}-{BAND_HZ[1]}",
    exponent=EXPONENT,
    step_weight=STEP_WEIGHT,
    reach_ms=REACH_MS,
    in_place_ms=f"{IN_PLACE_MS[0]}..{IN_PLACE_MS[1]}",
    min_s=MIN_SECONDS,
    min_speech_s=MIN_SPEECH_S,
    min_eyes_px=SMALLEST_EYES,
    at_rest=AT_REST,
    min_variation_db=MIN_VARIATION_DB,
    min_level_db=MIN_LEVEL_DB,
)
_MATCH = (
    "match(lag) = (r(m_(t+lag), s_t) + 0.5 r(Δm_(t+lag), Δs_t)) / 1.5, r Pearson, Δ central differences; m = z(|p0 − "
    "p17| / d) + z(|p1 − p152| / d), d = |p33 − p263|; s = (mean power over the frame from 500 to 4000 Hz, in 32 ms "
    "Hann windows every 10 ms of the 16 kHz mono sound) ^ 0.2"
)
_CANNOT_TELL = (
    "cannot be told, so none: no face, no sound, less than 1.5 s with both or 3 s of speech with the face, a face of "
    "less than 12 px between the outer eye corners, lips at rest (mouth_speech_motion under 0.012), a sound under −50 "
    "dB or one that does not rise and fall like speech (standard deviation of its level, no "
    "lower than 40 dB under the loud parts, around the running mean over 1 s: under 6 dB). Lags with fewer than 10 "
    "pairs, or a quarter of the frames, are left out."
)

_search = partial(
    Definition, params=_SEARCH, open_params=("model",), depends_on=("frame_size", "fps", "duration", "transfer")
)

MOUTH_AUDIO_MARGIN = _search(
    name="mouth_audio_margin",
    unit="1",
    lowest=-2.0,
    highest=2.0,
    better="neither",
    summary="How much better the mouth follows the sound in place than anywhere else within a second; below 0 it fits "
    "better elsewhere.",
    formula=f"max match over lags from −160 to +120 ms − max match over all other lags up to ±1 s; {_MATCH}",
    edge_cases="Below 0 by no more than its standard error, which comes from leaving out a sixth of the clip in turn: "
    f"none. The note has sign and size of the offset, with a standard error of the same kind; its "
    f"order agrees with people's lip votes of ADTH-QA in 56 % of pairs, so more is not better; {_CANNOT_TELL}",
    reference="in place of mouth_audio_corr of MetricBundleV1 where sound may be far off",
    raised_by=("chance, in a short clip", "smoothing by blur or compression"),
    lowered_by=("noise", "sound that is not the mouth's: music, other voices"),
    history=(
        "first release",
        "3 s of speech are needed, a face that is not too small, and a margin below 0 by more than its standard error",
    ),
)
MOUTH_AUDIO_OFFSET_MS = _search(
    name="mouth_audio_offset_ms",
    unit="ms",
    lowest=-float(REACH_MS),
    highest=float(REACH_MS),
    better="neither",
    summary="By how much the sound comes after the mouth; negative where it comes before. A diagnosis, told only where "
    "one place stands clear.",
    formula=f"− argmax of match over lags up to ±1 s; {_MATCH}",
    edge_cases=f"the best place is under 0.25, or less than 0.15 above the best one more than 200 ms away: none; "
    f"{_CANNOT_TELL}",
    reference="in place of mouth_audio_lag of MetricBundleV1 where sound may be far off",
    params=(*_SEARCH, *signature_params(peak_ms=PEAK_MS, clear=CLEAR, min_peak=MIN_PEAK)),
    history=("first release", "3 s of speech are needed, and a face that is not too small"),
)


class SyncSearch(NamedTuple):
    """What the search found, once for both numbers."""

    margin: float
    offset_ms: float
    """Of the best place; positive when the sound is late."""
    peak: float
    """Match at the best place."""
    margin_spread: float = 0.0
    """Standard error of the margin, by leaving out a sixth of the clip in turn."""
    offset_spread_ms: float = 0.0
    """The same of the offset, at least half a frame."""
    rival: float = -1.0
    """Best match more than 200 ms away from it."""
    pairs: int = 0

    @property
    def is_clear(self) -> bool:
        return self.peak >= MIN_PEAK and self.peak - self.rival >= CLEAR

    @property
    def in_words(self) -> str:
        """ "sound about 280 ± 40 ms late"; "in sync" where the best place is the true one."""
        early, late = -IN_PLACE_MS[1], -IN_PLACE_MS[0]
        if early <= self.offset_ms <= late:
            return "in sync"
        size, spread = round(abs(self.offset_ms), -1), round(self.offset_spread_ms, -1)
        return f"sound about {size:.0f} ± {spread:.0f} ms {'late' if self.offset_ms > 0 else 'early'}"


def mouth_movement(track: FaceTrack) -> NDArray[np.float64]:
    """Outer lips and jaw, each less its mean and over its standard deviation, summed (T); NaN in gaps."""
    return _standard(track.lip_opening) + _standard(track.jaw_drop)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[np.isfinite(values)]
    if not len(known) or np.ptp(known) == 0:
        return values * 0.0
    found: NDArray[np.float64] = (values - np.mean(known)) / np.std(known)
    return found


def match_curve(mouth: NDArray[np.float64], loudness: NDArray[np.float64], *, reach: int) -> NDArray[np.float64]:
    """How well the mouth follows the sound at each lag from −reach to reach; NaN where too few pairs vary."""
    least = max(MIN_PAIRS, len(mouth) // 4)
    steps = np.gradient(mouth), np.gradient(loudness)
    curve = np.full(2 * reach + 1, np.nan)
    for lag in range(-reach, reach + 1):
        value, pairs = at_lag(mouth, loudness, lag)
        step, _ = at_lag(*steps, lag)
        if value is not None and step is not None and pairs >= least:
            curve[reach + lag] = (value + STEP_WEIGHT * step) / (1 + STEP_WEIGHT)
    return curve


def sync_search(track: FaceTrack, sound: SpeechSound | str, *, fps: float | None, blame: str = "") -> SyncSearch | str:
    """Where the mouth follows the sound best; the reason, as text, where that cannot be told."""
    if blame or isinstance(sound, str) or not fps:
        return blame or (sound if isinstance(sound, str) else "the clip states no frame rate")
    mouth = mouth_movement(track)
    pairs = int(np.count_nonzero(np.isfinite(mouth) & np.isfinite(sound.loudness)))
    if pairs < max(MIN_PAIRS, MIN_SECONDS * fps):
        return f"{pairs / fps:.1f} s have both a face and sound; {MIN_SECONDS} are needed"
    if sound.not_speech:
        return sound.not_speech
    if why := _too_small(track) or _too_little(mouth, sound, fps):
        return why
    moving = speech_motion(track, sound, fps=fps)
    if isinstance(moving, str):
        return moving
    if moving.value < AT_REST:
        return f"the lips hardly move ({moving.value:.4f}; {AT_REST} is needed)"
    reach = min(int(REACH_MS / 1000 * fps), len(mouth) // 2)
    whole = _read(match_curve(mouth, sound.loudness, reach=reach), fps=fps, pairs=pairs)
    return whole if isinstance(whole, str) else _with_spread(whole, mouth, sound.loudness, reach=reach, fps=fps)


def _too_small(track: FaceTrack) -> str:
    eyes = track.inter_ocular
    width = float(np.median(eyes[np.isfinite(eyes)]))
    return f"the face is too small to judge ({width:.0f} px between the eyes)" if width < SMALLEST_EYES else ""


def _too_little(mouth: NDArray[np.float64], sound: SpeechSound, fps: float) -> str:
    spoken = int(np.count_nonzero(np.isfinite(mouth) & sound.active)) / fps
    return f"{spoken:.1f} s of speech with the face; {MIN_SPEECH_S:g} are needed" if spoken < MIN_SPEECH_S else ""


def _with_spread(
    whole: SyncSearch, mouth: NDArray[np.float64], loudness: NDArray[np.float64], *, reach: int, fps: float
) -> SyncSearch:
    """The same with standard errors of margin and offset, by the jackknife over `PARTS` stretches of the clip."""
    parts: list[SyncSearch] = []
    for part in range(PARTS):
        left = mouth.copy()
        left[part * len(mouth) // PARTS : (part + 1) * len(mouth) // PARTS] = np.nan
        found = _read(match_curve(left, loudness, reach=reach), fps=fps, pairs=whole.pairs)
        parts += [] if isinstance(found, str) else [found]
    return whole._replace(
        margin_spread=_jackknife([one.margin for one in parts]),
        offset_spread_ms=max(500.0 / fps, _jackknife([one.offset_ms for one in parts])),
    )


def _jackknife(values: list[float]) -> float:
    """√((n − 1) / n · Σ (v − mean)²); 0 of fewer than two.

    >>> round(_jackknife([1.0, 2.0, 3.0]), 4)
    1.1547
    """
    count = len(values)
    return float(np.sqrt((count - 1) * np.var(values))) if count > 1 else 0.0


def _read(curve: NDArray[np.float64], *, fps: float, pairs: int) -> SyncSearch | str:
    late_ms = -(np.arange(len(curve)) - len(curve) // 2) * 1000 / fps
    known = np.isfinite(curve)
    slack = 1e-6  # a lag on the edge is inside, whatever the rounding
    inside = (late_ms >= -IN_PLACE_MS[1] - slack) & (late_ms <= -IN_PLACE_MS[0] + slack)
    if not (known & inside).any() or not (known & ~inside).any():
        return "too few lags have a face and a sound that vary"
    # Of equal places the one nearest the true one: frames in order of their distance from it.
    order = sorted(np.flatnonzero(known), key=lambda place: (abs(late_ms[place]), late_ms[place]))
    best = max(order, key=lambda place: float(curve[place]))
    away = known & (np.abs(late_ms - late_ms[best]) > PEAK_MS + slack)
    return SyncSearch(
        margin=float(curve[known & inside].max() - curve[known & ~inside].max()),
        offset_ms=float(late_ms[best]) + 0.0,
        peak=float(curve[best]),
        rival=float(curve[away].max()) if away.any() else -1.0,
        pairs=pairs,
    )


def mouth_audio_margin(seen: Any) -> Measurement:
    """How much better the mouth follows the sound in place than elsewhere; see `MOUTH_AUDIO_MARGIN`."""
    bound, found = MOUTH_AUDIO_MARGIN.with_params(model=seen.faces.model), seen.faces.sync_search
    if isinstance(found, str):
        return Measurement.missing(bound, found)
    if -found.margin_spread <= found.margin < 0:
        why = f"unclear: {found.margin:.2f}".replace("-", "−") + f" ± {found.margin_spread:.2f}"
        return Measurement.missing(bound, why, count=found.pairs)
    note = found.in_words if found.is_clear and found.in_words != "in sync" else seen.faces.choice
    return Measurement(definition=bound, value=found.margin, count=found.pairs, note=note)


def mouth_audio_offset_ms(seen: Any) -> Measurement:
    """By how much the sound comes after the mouth; see `MOUTH_AUDIO_OFFSET_MS`."""
    bound, found = MOUTH_AUDIO_OFFSET_MS.with_params(model=seen.faces.model), seen.faces.sync_search
    if isinstance(found, str):
        return Measurement.missing(bound, found)
    if not found.is_clear:
        why = f"no place within a second stands clear ({found.peak:.2f} at best, {found.rival:.2f} elsewhere)"
        return Measurement.missing(bound, why, count=found.pairs)
    return Measurement(definition=bound, value=found.offset_ms, count=found.pairs, note=found.in_words)


MOUTH_AUDIO_MARGIN_METRIC = metric(
    MOUTH_AUDIO_MARGIN, mouth_audio_margin, "face", "sound", tier=1, label="sync", room="page", too_low="out of sync"
)
MOUTH_AUDIO_OFFSET_MS_METRIC = metric(
    MOUTH_AUDIO_OFFSET_MS, mouth_audio_offset_ms, "face", "sound", tier=1, too_high="sound late", too_low="sound early"
)
