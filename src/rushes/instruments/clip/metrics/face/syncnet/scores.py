"""LSE-D, LSE-C and the offset: how far lips and sound are apart at each offset, and where they are closest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.faces.track import FaceTrack
from rushes.instruments.clip.faces.wide_search import SEARCH
from rushes.instruments.clip.metrics.making import of_face

if TYPE_CHECKING:
    from rushes.instruments.clip.metrics.face.syncnet.network import Evaluator
    from rushes.media import AudioTrack

MAX_OFFSET = 15
MIN_WINDOWS = 10
"""Fewer windows of lips and sound than this give no score."""
_BATCH = 8
_EPSILON = 1e-6

_lse = partial(
    Definition,
    unit="1",
    lowest=0.0,
    highest=None,
    edge_cases="no weights, no sound, or fewer than 10 windows of 5 frames: none.",
    reference="MetricBundleV1, tier 2; Chung and Zisserman 2016; Prajwal et al. 2020",
    params=signature_params(
        crop="landmark-box",
        evaluator="syncnet",
        face="most-persistent",
        fps=25,
        max_offset=MAX_OFFSET,
        min_windows=MIN_WINDOWS,
        padding="zeros",
        search=SEARCH,
    ),
    open_params=("model", "weights"),
    depends_on=("frame_size", "fps", "transfer"),
)

LSE_D = _lse(
    name="lse_d",
    better="lower",
    summary="Lip-sync error, distance: how far SyncNet puts lips and sound apart at the best offset.",
    formula="min over offset in −15…15 frames of mean over windows |lips_i − sound_(i−offset)|; windows past an end "
    "are compared with zeros",
    raised_by=("noise", "a face unlike the training clips"),
    lowered_by=("smoothing by blur or compression", "a mouth that hardly moves"),
)
LSE_C = _lse(
    name="lse_c",
    better="higher",
    summary="Lip-sync error, confidence: how much better the best offset is than a typical one.",
    formula="median over offsets − min over offsets of the mean distance",
    raised_by=("lips that overact", "a network trained against this very score"),
    lowered_by=("noise", "pauses in the speech"),
)
LSE_OFFSET = _lse(
    name="lse_offset",
    unit="frames",
    lowest=-float(MAX_OFFSET),
    highest=float(MAX_OFFSET),
    better="neither",
    summary="The offset at which lips and sound are closest, at 25 fps; positive when the lips come after the sound.",
    formula="argmin over offset of the mean distance; of equals the largest offset",
)


@dataclass(frozen=True, slots=True)
class SyncScores:
    """What the distances say."""

    distance: float
    confidence: float
    offset: int
    windows: int


def sync_scores(lips: NDArray[np.float32], sound: NDArray[np.float32]) -> SyncScores:
    """Compare embeddings (N × D each) at every offset.

    Formula     mean_o = mean over i of |lips_i − sound_(i−o) + 1e−6|, zeros where i−o is outside; LSE-D = min mean_o,
                LSE-C = median mean_o − min mean_o, offset = the o of the minimum
    """
    reach = MAX_OFFSET
    padded = np.pad(sound.astype(np.float64), ((reach, reach), (0, 0)))
    shifted = (padded[place : place + len(lips)] for place in range(2 * reach + 1))
    means = np.array([np.linalg.norm(lips - other + _EPSILON, axis=1).mean() for other in shifted])
    best = int(np.argmin(means))
    return SyncScores(float(means[best]), float(np.median(means) - means[best]), reach - best, len(lips))


def clip_scores(
    track: FaceTrack,
    frames: Iterable[NDArray[np.uint8]],
    *,
    fps: float | None,
    audio: AudioTrack | None,
    evaluator: Evaluator,
) -> SyncScores | str:
    """The scores of a clip whose face track is known, or why there are none.

    Inputs      frames: the clip's RGB frames once more, in order; only five crops are held at a time.
                audio: at 16 kHz.
    """
    from rushes.instruments.clip.metrics.face.syncnet.crops import crops, longest_stretch
    from rushes.instruments.clip.metrics.face.syncnet.mfcc import RATE, mfcc

    if audio is None or not len(audio.samples):
        return "the clip has no sound"
    if audio.rate != RATE:
        return f"SyncNet needs sound at {RATE} Hz; got {audio.rate} Hz"
    if not fps:
        return "the clip states no frame rate"
    stretch = longest_stretch(track, fps)
    heard_frames = len(audio.samples) // (RATE // 25) - stretch.start
    windows = min(len(stretch), heard_frames) - 5  # one window fewer than would fit, as in the original
    if windows < MIN_WINDOWS:
        return f"{max(windows, 0)} windows of 5 frames have both a face and sound; {MIN_WINDOWS} are needed"
    sound = sound_windows(mfcc(audio.samples)[stretch.start * 4 :])[:windows]
    lips = [evaluator.lips(batch) for batch in lip_batches(crops(stretch, frames), windows)]
    heard = [evaluator.sound(sound[start : start + _BATCH]) for start in range(0, windows, _BATCH)]
    return sync_scores(np.concatenate(lips), np.concatenate(heard))


def sound_windows(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """20 steps for each video frame, four steps apart (N × 20 × 13)."""
    if len(coefficients) < 20:
        return np.zeros((0, 20, coefficients.shape[1]))
    windows = np.lib.stride_tricks.sliding_window_view(coefficients, 20, axis=0)[::4]
    return windows.transpose(0, 2, 1)


def lip_batches(images: Iterable[NDArray[np.uint8]], windows: int) -> Iterator[NDArray[np.uint8]]:
    """Windows of five successive crops, at most 8 windows at a time (n × 5 × 224 × 224 × 3)."""
    held: list[NDArray[np.uint8]] = []
    given = 0
    for image in images:
        held.append(image)
        if len(held) == _BATCH + 4:
            yield _windows(held)[: windows - given]
            given += _BATCH
            held = held[_BATCH:]
        if given >= windows:
            return
    if len(held) > 4:
        yield _windows(held)[: windows - given]


def _windows(images: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    return np.stack([np.stack(images[start : start + 5]) for start in range(len(images) - 4)])


def _metric(definition: Definition, value: Callable[[SyncScores], float], **shown: Any) -> ClipMetric:
    def measure(face: Any) -> Measurement:
        bound = definition.with_params(model=face.model, weights=face.weights)
        if isinstance(face.syncnet, str):
            return Measurement.missing(bound, face.syncnet)
        return Measurement(definition=bound, value=value(face.syncnet), count=face.syncnet.windows)

    return of_face(definition, measure, "sound", "syncnet", room="page", tier=2, **shown)


_OUT_OF_SYNC = "lips and sound do not belong together"
LSE_D_METRIC = _metric(LSE_D, lambda scores: scores.distance, too_high=_OUT_OF_SYNC)
LSE_C_METRIC = _metric(LSE_C, lambda scores: max(scores.confidence, 0.0), label="lse_c", too_low=_OUT_OF_SYNC)
LSE_OFFSET_METRIC = _metric(LSE_OFFSET, lambda scores: scores.offset)
