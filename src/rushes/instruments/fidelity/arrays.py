"""Pictures that are already in memory: the same numbers without a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.fidelity.devices import Precision, working_precision
from rushes.instruments.fidelity.measure import score_frames
from rushes.instruments.fidelity.metric import PairContext
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import Pairing, with_pairing
from rushes.instruments.fidelity.pairs.picture import FramePair, Picture
from rushes.instruments.fidelity.protocols import chosen_metrics


def compare_arrays(
    gen: NDArray[np.uint8],
    gt: NDArray[np.uint8],
    *,
    protocol: str | Sequence[str] = (),
    metrics: str | Iterable[str] = (),
    models: dict[str, str] | None = None,
    device: str = "cpu",
    precision: Precision | None = None,
) -> dict[str, Measurement]:
    """The numbers of two clips in memory, T × H × W × 3 (or one picture, H × W × 3), RGB, 8 bits; by metric.

    `protocol`, `metrics` and `precision` are as in `evaluate_fidelity`. Raises `InputError` for arrays of another kind
    or unequal shapes. What needs coded planes or sound is missing, with a note that says so.
    """
    ours, theirs = _clip("gen", gen), _clip("gt", gt)
    if ours.shape != theirs.shape:
        raise InputError(f"expected two arrays of one shape; got {ours.shape} and {theirs.shape}")
    chosen = {name: METRICS[name] for name in chosen_metrics(protocol, metrics)}
    given = models or {}
    for metric in chosen.values():
        metric.require(given)
    height, width = ours.shape[1:3]
    working_precision(device, precision)
    context = PairContext(
        gen="gen",
        gt="gt",
        gen_facts=None,
        gt_facts=None,
        size=(width, height),
        models=given,
        device=device,
        precision=precision,
    )
    scored = score_frames(paired_arrays(ours, theirs), context, chosen)
    how = Pairing().params
    return {name: with_pairing(found, how) for name, found in scored.measurements.items()}


def paired_arrays(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> Iterator[FramePair]:
    """Pairs of frames of two clips in memory, T × H × W × 3."""
    reformatter = VideoReformatter()
    for index, (one, other) in enumerate(zip(gen, gt, strict=True)):
        pictures = (
            Picture(VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24"), reformatter=reformatter)
            for pixels in (one, other)
        )
        yield FramePair(index, *pictures)


def _clip(name: str, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.ndim not in (3, 4):
        got = f"{getattr(pixels, 'dtype', type(pixels).__name__)} of shape {getattr(pixels, 'shape', '?')}"
        raise InputError(f"{name}: expected 8-bit RGB, frames × height × width × 3; got {got}")
    clip = pixels if pixels.ndim == 4 else pixels[np.newaxis]
    if clip.shape[3] != 3 or not all(clip.shape):
        raise InputError(f"{name}: expected 8-bit RGB, frames × height × width × 3; got shape {pixels.shape}")
    return clip
