"""Whether a face has eyes and is sharp: eye_contrast and face_detail, on request.

Both read the faces that identity_drift looks at, turned upright on 112 × 112 pixels, so that eyes and cheeks are always
in the same place. What a generator smears or leaves out there shows as a place without contrast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric, FrameView
from rushes.instruments.clip.faces.face_looks import DETAIL_SIGMA, RATE, SMALLEST, FaceLooks, Look
from rushes.instruments.clip.metrics.making import lane
from rushes.instruments.clip.seen.shared_look import shared
from rushes.media import MediaFacts
from rushes.vision.landmarks.identity import HOW, require_identity
from rushes.vision.models.catalogue import licence_of

FEWEST = 3
"""Looks at a large face without which there is no value."""


def _definition(name: str, **words: Any) -> Definition:
    return Definition(
        name=name,
        unit="1",
        better="higher",
        edge_cases=f"Faces of less than {SMALLEST} pixels in height are left out; fewer than {FEWEST} looks: no value. "
        "Shares its looks with identity_drift. Cost: 0.1 s of one core for a second of video, beside it nothing.",
        reference=f"ours; Wu et al. 2023 (YuNet) for the face. {licence_of('face-id')}",
        params=signature_params(**HOW, rate=RATE, smallest=SMALLEST, statistic="median", **words.pop("params", {})),
        open_params=("detector_weights",),
        depends_on=("frame_size", "transfer"),
        **words,
    )


EYE_CONTRAST = _definition(
    "eye_contrast",
    lowest=None,
    highest=1,
    summary="How much darker the eyes are than the cheeks below them, the fainter eye of the two; near zero a face has "
    "no eyes.",
    formula=f"smaller of the two eyes' medians over {RATE} looks a second of 1 − d / c; d: 5th percentile of the luma "
    "in 19 × 11 pixels around the eye, c: median of 13 × 10 below it, of the face turned upright on 112 × 112",
    raised_by=("dark eyes and lashes, glasses, make-up", "light skin"),
    lowered_by=("eyes that stay shut, a head that is turned away", "flat or backward light", "blur"),
)
FACE_DETAIL = _definition(
    "face_detail",
    lowest=0,
    highest=None,
    summary="How much of the face's contrast is fine: low where the face is blurred in a picture that may be sharp.",
    formula=f"median over {RATE} looks a second of s(F − G(F)) / max(1, s(F)); F: luma of the middle (80 × 72) of the "
    f"face turned upright on 112 × 112, G: Gaussian blur with σ = {DETAIL_SIGMA:g}, s: standard deviation",
    params={"sigma": DETAIL_SIGMA},
    raised_by=("noise and grain", "beards, freckles and glasses"),
    lowered_by=("soft focus, motion blur, a small face", "hard shadows across the face"),
)


def eye_contrast(definition: Definition, looks: list[Look]) -> Measurement:
    """The value from what was seen of the face; see `EYE_CONTRAST`."""
    seen = [look.eyes for look in looks if look.eyes is not None]
    if len(seen) < FEWEST:
        return _too_few(definition, len(seen))
    return Measurement(definition=definition, value=float(np.median(np.array(seen), axis=0).min()), count=len(seen))


def face_detail(definition: Definition, looks: list[Look]) -> Measurement:
    """The value from what was seen of the face; see `FACE_DETAIL`."""
    seen = [look.detail for look in looks if look.detail is not None]
    if len(seen) < FEWEST:
        return _too_few(definition, len(seen))
    return Measurement(definition=definition, value=float(np.median(seen)), count=len(seen))


def _too_few(definition: Definition, count: int) -> Measurement:
    return Measurement.missing(definition, f"a face of {SMALLEST} pixels in {count} looks; needs {FEWEST}")


class _Collector:
    """One reading of the looks that several metrics share."""

    def __init__(self, facts: MediaFacts, definition: Definition) -> None:
        self.seen, self.definition = shared(facts, FaceLooks), definition

    def add(self, frame: FrameView) -> None:
        self.seen.add(frame)

    def finish(self) -> Measurement:
        closed = self.definition.with_params(detector_weights=self.seen.networks.detector_digest)
        return _READINGS[self.definition.name][0](closed, self.seen.looks)

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        """One value per frame, NaN at those that were not looked at."""
        found = np.full(self.seen.latest + 1, np.nan)
        for look in self.seen.looks:
            value = _READINGS[self.definition.name][1](look)
            if value is not None:
                found[look.frame] = value
        return {self.definition.name: found}


_READINGS: Mapping[str, tuple[Callable[[Definition, list[Look]], Measurement], Callable[[Look], float | None]]] = {
    "eye_contrast": (eye_contrast, lambda look: None if look.eyes is None else min(look.eyes)),
    "face_detail": (face_detail, lambda look: look.detail),
}


def _metric(definition: Definition, label: str, too_low: str) -> ClipMetric:
    return ClipMetric(
        definition=definition,
        label=label,
        room="page",
        lane=lane(label.capitalize(), definition.name, "value", pooled_by=definition.name),
        too_low=too_low,
        on_request=True,
        require=require_identity,
        needs=frozenset({"rgb"}),
        start=lambda facts: _Collector(facts, definition),
    )


EYE_CONTRAST_METRIC = _metric(EYE_CONTRAST, "eye contrast", "no eyes to be seen")
FACE_DETAIL_METRIC = _metric(FACE_DETAIL, "face detail", "blurred face")
