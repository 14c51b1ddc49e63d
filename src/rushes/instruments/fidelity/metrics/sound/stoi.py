"""How much of the speech can be understood, against the reference: stoi and estoi.

Both cut the sounds, at 10 kHz, into frames of 25.6 ms, leave out those in which the reference is silent, and follow 15
third-octave bands over 384 ms. STOI correlates each band of such a stretch on its own; ESTOI lets the bands of one
moment stand against each other too, which noise that comes and goes needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.fidelity.metric import PairMetric, Seen
from rushes.instruments.fidelity.pairs.sound import GEN, GT, RATE, SOUND_EDGES, SOUND_PARAMS, SoundObserver
from rushes.native import c_function

Array = NDArray[np.float64]

BAND_RATE = 10000
FRAME = 256
HOP = 128
FFT = 512
BANDS = 15
LOWEST_HZ = 150
SEGMENT = 30
"""Frames of a stretch: 384 ms."""
CLIP_DB = -15.0
"""No band of the generated sound counts for more than this far under its error, against the reference's."""
SPEECH_DB = 40.0
"""Frames of the reference this far under its loudest are silence."""
_BLOCK = 1024
_SHIFT_MS = 250
_SHIFT_SEEN_MS = 5.0

_HOW = (
    *SOUND_PARAMS,
    *signature_params(
        band_rate=BAND_RATE,
        frame=FRAME,
        hop=HOP,
        bands=BANDS,
        lowest_hz=LOWEST_HZ,
        segment=SEGMENT,
        speech_db=SPEECH_DB,
    ),
)
_EDGES = (
    f"{SOUND_EDGES} Less than 384 ms of speech in the reference: no value. Nothing is aligned: a shift of some "
    "milliseconds lowers the value, and a note says where one is found. For speech; on music it says how alike the "
    "bands move."
)
_BANDS = (
    "bands of x (reference) and y (generated) at 10 kHz, resampled as by Octave's resample (sinc under a Kaiser "
    "window, 60 dB): frames of 256 (Hann) every 128 in which x is within 40 dB of its loudest, 15 third octaves from "
    "150 Hz; stretches of 30 frames"
)
STOI = Definition(
    name="stoi",
    unit="1",
    lowest=-1,
    highest=1,
    better="higher",
    summary="How much of the reference's speech can be understood in the generated sound.",
    formula="mean over stretches and bands of the correlation of x with min(y·|x|/|y|, x·(1 + 10^(15/20))); " + _BANDS,
    edge_cases=_EDGES,
    reference="Taal et al. 2011",
    params=(*_HOW, *signature_params(clip_db=CLIP_DB)),
    raised_by=("steady noise that covers no band",),
    lowered_by=("a shift of the sound", "another voice or another take of the same words"),
)
ESTOI = replace(
    STOI,
    name="estoi",
    summary="How much of the reference's speech can be understood in the generated sound, under noise that comes and "
    "goes as well.",
    formula="mean over stretches of Σ x̂·ŷ / 30, x̂ and ŷ brought to mean 0 and length 1 in every band and then in "
    "every frame; " + _BANDS,
    reference="Jensen & Taal 2016",
    params=_HOW,
)


def stoi(gt: Array, gen: Array) -> tuple[float | None, int]:
    """STOI of two sounds of one length at 16 kHz, and the stretches behind it; None for too little speech."""
    return _mean(gt, gen, _stoi_of)


def estoi(gt: Array, gen: Array) -> tuple[float | None, int]:
    """The same for ESTOI."""
    return _mean(gt, gen, _estoi_of)


def _mean(gt: Array, gen: Array, of_stretches: Callable[[Array, Array], float]) -> tuple[float | None, int]:
    clean, heard = _spoken(_resampled(gt), _resampled(gen))
    clean, heard = _bands(clean), _bands(heard)
    count = len(clean) - SEGMENT + 1
    if count < 1:
        return None, 0
    total = math.fsum(of_stretches(x, y) for x, y in _stretches(clean, heard))
    return total / count, count


def _resampled(samples: Array) -> Array:
    """From 16 to 10 kHz by the windowed sinc (Kaiser, 60 dB) of Octave's `resample`, with which STOI was published."""
    up, down = 5, 8
    cutoff = 1 / (2 * down)
    rejection = 60.0
    half = math.ceil((rejection - 8) / (28.714 * cutoff / 10))
    taps = np.kaiser(2 * half + 1, 0.1102 * (rejection - 8.7)) * np.sinc(2 * cutoff * np.arange(-half, half + 1))
    return resampled(samples, taps / taps.sum() * up, up=up, down=down)


def resampled(samples: Array, taps: Array, *, up: int, down: int) -> Array:
    """The sound at up / down times its rate, zeros around it, under an odd number of taps for `up` times its rate.

    Formula     y_k = Σ_i taps[half + k · down − i · up] · x_i, added up in the order of the sound; k < n · up / down

    >>> resampled(np.array([1.0, 3.0]), np.array([0.5, 1.0, 0.5]), up=2, down=1).tolist()
    [1.0, 2.0, 3.0, 1.5]
    """
    sound, weights = (np.ascontiguousarray(part, np.float64) for part in (samples, taps))
    found = np.empty(-(-len(sound) * up // down))
    call = c_function("resample", "float64* int64 float64* int64 int64 int64 float64* int64")
    places = (sound.ctypes.data, len(sound), weights.ctypes.data, len(weights) // 2)
    call(*places, up, down, found.ctypes.data, len(found))
    return found


def _frames(samples: Array) -> Array:
    """Windowed frames, n × 256; as in the published code the last whole frame is left out where it ends the sound."""
    window = np.hanning(FRAME + 2)[1:-1]
    count = max(0, -(-(len(samples) - FRAME) // HOP))
    if not count:
        return np.zeros((0, FRAME))
    views = np.lib.stride_tricks.sliding_window_view(samples, FRAME)[::HOP][:count]
    return np.asarray(views * window)


def _spoken(gt: Array, gen: Array) -> tuple[Array, Array]:
    """Both sounds without the frames in which the reference is silent; what is left overlaps and adds up."""
    clean, heard = _frames(gt), _frames(gen)
    if not len(clean):
        return np.zeros(0), np.zeros(0)
    level = 20 * np.log10(np.linalg.norm(clean, axis=1) + np.finfo(np.float64).eps)
    speech = level > level.max() - SPEECH_DB
    return _joined(clean[speech]), _joined(heard[speech])


def _joined(frames: Array) -> Array:
    halves = frames.reshape(-1, 2, HOP)
    sound = np.zeros((len(frames) + 1, HOP))
    sound[:-1] += halves[:, 0]
    sound[1:] += halves[:, 1]
    return sound.ravel()


def _bands(samples: Array) -> Array:
    """Length of the spectrum in each third octave, frames × 15."""
    hertz = np.arange(FFT // 2 + 1) * BAND_RATE / FFT
    edges = LOWEST_HZ * 2.0 ** ((2 * np.arange(BANDS + 1) - 1) / 6)
    bins = np.abs(hertz - edges[:, np.newaxis]).argmin(axis=1)
    power = np.abs(np.fft.rfft(_frames(samples), FFT, axis=1)) ** 2
    sums = np.concatenate([np.zeros((len(power), 1)), np.cumsum(power, axis=1)], axis=1)
    lengths: Array = np.sqrt(np.maximum(sums[:, bins[1:]] - sums[:, bins[:-1]], 0))
    return lengths


def _stretches(clean: Array, heard: Array) -> Iterator[tuple[Array, Array]]:
    """Every 30 frames in a row of both, n × 15 × 30, some at a time."""
    both = [np.lib.stride_tricks.sliding_window_view(bands, SEGMENT, axis=0) for bands in (clean, heard)]
    for first in range(0, len(both[0]), _BLOCK):
        x, y = (views[first : first + _BLOCK] for views in both)
        yield x, y


def _stoi_of(clean: Array, heard: Array) -> float:
    """Sum over stretches of the mean correlation of their bands."""
    level = _ratio(np.linalg.norm(clean, axis=2, keepdims=True), np.linalg.norm(heard, axis=2, keepdims=True))
    held = np.minimum(heard * level, clean * (1 + 10 ** (-CLIP_DB / 20)))
    return float(np.sum(_unit(clean, axis=2) * _unit(held, axis=2)) / BANDS)


def _estoi_of(clean: Array, heard: Array) -> float:
    """Sum over stretches of the mean correlation of their frames."""
    x, y = (_unit(_unit(bands, axis=2), axis=1) for bands in (clean, heard))
    return float(np.sum(x * y) / SEGMENT)


def _unit(values: Array, *, axis: int) -> Array:
    """Mean 0 and length 1 along an axis; 0 where nothing varies."""
    centred = values - values.mean(axis=axis, keepdims=True)
    return _ratio(centred, np.linalg.norm(centred, axis=axis, keepdims=True))


def _ratio(above: Array, below: Array) -> Array:
    return np.asarray(np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0))


def shift_ms(gt: Array, gen: Array) -> float:
    """How much later the generated sound lies than the reference's, up to 250 ms, where the two match best.

    0 where they do not match at any shift (correlation under a half).
    """
    reach = min(_SHIFT_MS * RATE // 1000, len(gt) - 1)
    least = len(gen) + len(gt)
    size = min(part << (-(-least // part) - 1).bit_length() for part in (1, 3, 5))  # lengths whose transform is quick
    circle = np.fft.irfft(np.fft.rfft(gen, size) * np.fft.rfft(gt, size).conj(), size)
    match = np.concatenate([circle[size - reach :], circle[: reach + 1]])
    best = int(match.argmax())
    alike = float(match[best]) / math.sqrt(float(gen @ gen) * float(gt @ gt))
    return (best - reach) * 1000 / RATE if alike > 0.5 else 0.0


def _pool(definition: Definition, seen: Seen, series: str) -> Measurement:
    gt, gen = seen.series[GT], seen.series[GEN]
    value, count = {"stoi": stoi, "estoi": estoi}[series](gt, gen)
    if value is None:
        return Measurement.missing(definition, "less than 384 ms of speech in the reference")
    late = shift_ms(gt, gen)
    where = "after" if late > 0 else "before"
    note = f"the sound matches best {abs(late):.0f} ms {where} the reference's; no shift is corrected"
    return Measurement(
        definition=definition, value=value, count=count, note=note if abs(late) >= _SHIFT_SEEN_MS else ""
    )


STOI_METRIC = PairMetric(definition=STOI, label="STOI", observe=SoundObserver, series="stoi", pool=_pool)
ESTOI_METRIC = PairMetric(definition=ESTOI, label="ESTOI", observe=SoundObserver, series="estoi", pool=_pool)
