"""Is it still the same person: csim and csim_all, the cosine of two faces' features.

Papers on talking heads and human animation print this column as CSIM, ID-SIM or "identity similarity", each with a face
network of its own (ArcFace in most): values compare only under one `network` and one `weights`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.fidelity.metric import Observer, PairContext, PairMetric, Seen
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.vision.landmarks.choice import SAME_PLACE
from rushes.vision.landmarks.identity import (
    GROUP,
    HOW,
    cosine,
    identity_networks,
    look,
    require_identity,
)

RATE = 5
"""Pairs of frames looked at in a second: a face takes some 25 ms, and who it is does not change from frame to frame."""

IDENTITY_SIMILARITY = Definition(
    name="identity_similarity",
    unit="1",
    lowest=-1,
    highest=1,
    better="higher",
    summary="How alike the face is to the reference's, as a face network sees it: the same person is high.",
    formula="mean over pairs of frames with a face on both sides of cos(f(generated), f(reference)), f the network's "
    "128 numbers of the aligned face",
    edge_cases="A pair with no face on one side or both is left out, and the note counts them: lost faces can raise "
    "the mean, so read it beside missing_face_ratio. No pair with both: no value. Of several faces the reference's "
    f"largest, and in the generated frame the one in its place (overlap ≥ {SAME_PLACE}), else the largest. rate:{RATE} "
    f"looks at every round(fps / {RATE})-th pair (halves to the even number); where the pairs have no frame rate, and "
    "for csim_all, at all of them "
    "(rate:all).",
    reference="Zhong et al. 2021 (SFace), Wu et al. 2023 (YuNet); as CSIM in Zakharov et al. 2019, there with ArcFace. "
    "OpenCV calls two faces one person from 0.363 on; on 47 real clips of 45 people, frames of one person were nearer "
    "than frames of two with AUC 0.99997",
    params=signature_params(
        **HOW,
        face="largest-of-reference",
        color="rgb-8bit",
    ),
    open_params=("weights", "detector_weights", "rate"),
    depends_on=("frame_size",),
)

IDENTITY_DISTANCE = replace(
    IDENTITY_SIMILARITY,
    name="identity_distance",
    lowest=0,
    highest=2,
    better="lower",
    summary="How far the generated face's identity is from the reference's, as papers on animation print it (AED).",
    formula="mean over the pairs of frames looked at that have a face on both sides of ‖f − f′‖₂ = √(2 − 2 cos(f, "
    "f′)); f, f′ the network's 128 numbers of the aligned faces, at length 1",
    reference="AED of Siarohin et al. 2019 (FOMM), there OpenFace's numbers; Zhong et al. 2021 (SFace)",
    raised_by=(),
    lowered_by=(),
)


def stride(fps: float | None) -> int:
    """Pairs from one looked at to the next.

    >>> [stride(fps) for fps in (None, 2.0, 10.0, 24.0, 25.0, 30.0, 60.0)]
    [1, 1, 2, 5, 5, 6, 12]
    """
    return 1 if fps is None else max(1, round(fps / RATE))


class IdentityObserver:
    """Features of the faces of both sides; one pair in `step`."""

    def __init__(self, context: PairContext, *, name: str, step: int, rate: int | str) -> None:
        self._networks = identity_networks(context.models.get(GROUP))
        self._name, self._step, self._rate = name, step, rate
        self._pairs = self._looked = self._without_gen = self._without_gt = 0
        self._values: list[float] = []

    def add(self, pair: FramePair) -> None:
        self._pairs += 1
        if (self._pairs - 1) % self._step:
            self._values.append(np.nan)
            return
        self._looked += 1
        theirs, place = look(self._networks, pair.gt.rgb, None)
        ours, _ = look(self._networks, pair.gen.rgb, place)
        self._without_gen += ours is None
        self._without_gt += theirs is None
        self._values.append(np.nan if ours is None or theirs is None else cosine(ours, theirs))

    def finish(self) -> Seen:
        values = np.array(self._values, np.float64)
        digests = {"weights": self._networks.digest, "detector_weights": self._networks.detector_digest}
        note = absence_note(self._looked, gen=self._without_gen, gt=self._without_gt)
        # Of two vectors of length 1 the distance follows from the cosine.
        found = {self._name: values} | ({"aed": np.sqrt(np.maximum(2 - 2 * values, 0))} if self._name == "csim" else {})
        return Seen(series=found, params={**digests, "rate": self._rate}, notes=dict.fromkeys(found, note))


def absence_note(looked: int, *, gen: int, gt: int) -> str:
    """Where a face is not there, in words; "" where it is on both sides throughout.

    >>> absence_note(10, gen=0, gt=0), absence_note(10, gen=3, gt=0)
    ('', 'no face in 3 of 10 frames of the generated clip')
    >>> absence_note(10, gen=10, gt=0)
    'no face in the generated clip (10 frames looked at)'
    """
    sides = (("the generated clip", gen), ("the reference", gt))
    return "; ".join(_absent(side, lost, looked) for side, lost in sides if lost)


def _absent(side: str, lost: int, looked: int) -> str:
    if lost < looked:
        return f"no face in {lost} of {looked} frames of {side}"
    return f"no face in {side} ({looked} frame{'s' * (looked != 1)} looked at)"


def mean_of_faces(definition: Definition, seen: Seen, series: str) -> Measurement:
    """Mean over the pairs that have a value; the note says how many frames have no face."""
    values = seen.series[series]
    found = values[np.isfinite(values)]
    note = seen.notes.get(series, "")
    if not len(found):
        return Measurement.missing(definition, note or "no pair of frames to compare")
    return Measurement(definition=definition, value=math.fsum(found) / len(found), count=len(found), note=note)


def watch_identity(context: PairContext) -> Observer:
    """Looks at `RATE` pairs a second."""
    rate: int | str = "all" if context.fps is None else RATE
    return IdentityObserver(context, name="csim", step=stride(context.fps), rate=rate)


def watch_every_identity(context: PairContext) -> Observer:
    """Looks at every pair."""
    return IdentityObserver(context, name="csim_all", step=1, rate="all")


def _metric(definition: Definition, label: str, series: str, observe: Callable[[PairContext], Observer]) -> PairMetric:
    return PairMetric.with_lane(
        definition,
        label,
        observe,
        (0.0, 1.0),
        series=series,
        word="identity",
        pool=mean_of_faces,
        require=require_identity,
    )


CSIM_METRIC = _metric(IDENTITY_SIMILARITY, "CSIM", "csim", watch_identity)
CSIM_ALL_METRIC = _metric(
    IDENTITY_SIMILARITY.with_params(rate="all"), "CSIM (every frame)", "csim_all", watch_every_identity
)
AED_METRIC = _metric(IDENTITY_DISTANCE, "AED", "aed", watch_identity)
