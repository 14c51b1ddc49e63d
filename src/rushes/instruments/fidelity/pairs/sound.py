"""The sound of both clips of a pair, read once for every metric that hears it.

Both tracks are taken at 16 kHz in mono from the clip's time zero on, the earliest start of its picture and sound. A lag
of the frames is taken off the sound as well, and the end that is over is cut; no other shift is corrected. Lossy coders
add a little at the end: where one sound is up to 100 ms longer, it is cut; where it is more, the two are not the same
take and nothing is compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.core import signature_params
from rushes.core.errors import MediaError
from rushes.instruments.fidelity.metric import PairContext, Seen
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.media import MediaFacts, read_audio

RATE = 16000
MOST_MS = 100
GEN, GT = "sound_gen", "sound_gt"
"""The two sounds as `Seen` has them: samples, where other observers have a value per frame. No metric is stored under
these names, so no run holds them."""
SOUND_PARAMS = signature_params(rate=RATE, mix="mean", resampler="swresample", start="time-zero", cut_ms=MOST_MS)
"""How the two sounds are read, for every signature."""
SOUND_EDGES = (
    f"A clip without sound, a silent one, or sounds whose lengths differ by more than {MOST_MS} ms: no value. The "
    "longer one is cut to the other's length; samples past full scale are held at it."
)


class SoundObserver:
    """Reads the two sounds when the pictures are done, for all metrics that hear; looks at no picture."""

    def __init__(self, context: PairContext) -> None:
        self._context = context

    def add(self, pair: FramePair) -> None:
        """Pictures say nothing about the sound."""

    def finish(self) -> Seen:
        context = self._context
        sounds = read_both(context)
        if isinstance(sounds, str):
            return Seen(missing=sounds)
        if context.lag and context.fps:
            sounds = without_lag(*sounds, context.lag / context.fps)
        return paired_sounds(*sounds)


def read_both(context: PairContext) -> tuple[NDArray[np.float32], NDArray[np.float32]] | str:
    """Both sounds as they are, generated one first; or why one cannot be heard."""
    if why := silent_side(context.gen_facts, context.gt_facts):
        return why
    try:
        return read_audio(context.gen, RATE).samples, read_audio(context.gt, RATE).samples
    except MediaError as error:
        return str(error)


def without_lag(
    gen: NDArray[np.float32], gt: NDArray[np.float32], late_s: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What both tracks have when the generated one is `late_s` seconds late; before the other where negative.

    >>> without_lag(np.arange(32000, dtype=np.float32), np.zeros(32000, np.float32), 0.5)[0][0]
    np.float32(8000.0)
    """
    shift = round(late_s * RATE)
    gen, gt = gen[max(shift, 0) :], gt[max(-shift, 0) :]
    length = min(len(gen), len(gt))
    return gen[:length], gt[:length]


def paired_sounds(gen: NDArray[np.float32], gt: NDArray[np.float32]) -> Seen:
    """Two tracks at 16 kHz, brought to one length; or why they cannot be compared."""
    for side, samples in (("generated clip's", gen), ("reference's", gt)):
        if not np.isfinite(samples).all():
            return Seen(missing=f"the {side} sound has samples that are NaN; export it again")
        if not samples.any():
            return Seen(missing=f"the {side} sound is silent")
    if abs(len(gen) - len(gt)) * 1000 > MOST_MS * RATE:
        return Seen(
            missing=f"the sounds last {len(gen) / RATE:.3f} and {len(gt) / RATE:.3f} s; "
            f"expected lengths within {MOST_MS} ms: cut both to one take"
        )
    length = min(len(gen), len(gt))
    return Seen(series={GEN: gen[:length].astype(np.float64), GT: gt[:length].astype(np.float64)})


def silent_side(gen: MediaFacts | None, gt: MediaFacts | None) -> str:
    """Which side has no sound; "" where both have some."""
    lacking = [side for side, facts in (("generated clip", gen), ("reference", gt)) if facts is None or not facts.audio]
    if len(lacking) == 2:
        return "neither the generated clip nor the reference has sound"
    return f"the {lacking[0]} has no sound" if lacking else ""
