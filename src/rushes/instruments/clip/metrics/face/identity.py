"""Does the face stay one person's: identity_drift, on request (`rushes clip --metric identity_drift`).

The clip is its own reference: its face in the first second. A blink, a word or a turned head moves a single look far,
but not a whole second of looks, so what counts is the largest drift that lasts. Where the face becomes another
person's from one look to the next, the frames between the two are looked at as well, and the note names the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric, FrameView
from rushes.core.span import Span
from rushes.instruments.clip.faces.face_looks import RATE, FaceLooks, Look
from rushes.instruments.clip.metrics.making import lane
from rushes.instruments.clip.seen.shared_look import shared
from rushes.media import MediaFacts
from rushes.vision.landmarks.choice import SAME_PLACE
from rushes.vision.landmarks.identity import HOW, SAME_PERSON, Feature, cosine, require_identity
from rushes.vision.models.catalogue import licence_of

OWN_MS = 1000
"""The clip's own face is the mean of the looks within this time of the first."""
LASTING = 5
"""Looks, about a second, over which a drift must last; also how many on either side tell whether the person changed."""
FEWEST = 2
"""Looks on either side of a change, at least."""
_TINY = 1e-6
"""Length of a mean of features that cancel out."""

Features: TypeAlias = NDArray[np.float64]
"""One row of length 1 per look."""

IDENTITY_DRIFT = Definition(
    name="identity_drift",
    unit="1",
    lowest=0,
    highest=2,
    better="lower",
    summary="How far the face goes, and stays, from what it was in the clip's first second; about 0.6 and more is "
    "another person.",
    formula=f"d = 1 − cos(f, f₀) at each look with a face, {RATE} a second; f the network's 128 numbers of the aligned "
    f"face, f₀ the mean f of the first {OWN_MS} ms; value = largest median of {LASTING} successive d. The note names "
    f"each frame where the person changes: the median cosine of up to {LASTING} looks before and after is below "
    f"{SAME_PERSON}, and on either side not",
    edge_cases=f"Fewer than {FEWEST} looks with a face: no value. Looks without a face are left out, and the note "
    f"counts them. Fewer than {LASTING}: the median of all. Of several faces the one in the last look's place (overlap "
    f"≥ {SAME_PLACE}), else the largest. A change needs {FEWEST} looks before it and after it. "
    "Costs about 0.1 s of one core for a second of video.",
    reference="Zhong et al. 2021 (SFace), Wu et al. 2023 (YuNet); OpenCV calls two faces one person from 0.363 on. Of "
    "188 faces swapped in 47 real clips all were named at their frame, and in the clips as they are none. "
    f"{licence_of('face-id')}",
    params=signature_params(
        **HOW,
        face="followed-by-overlap",
        own=f"first-{OWN_MS}ms-mean",
        rate=RATE,
        statistic=f"max-of-medians-{LASTING}",
    ),
    open_params=("weights", "detector_weights"),
    depends_on=("frame_size", "duration"),
    raised_by=("a turned, covered or grimacing face", "a cut to another person", "blur, darkness, small faces"),
    lowered_by=("a face that hardly moves", "a shorter clip"),
)


def own_face(features: Features, times_ms: Sequence[float]) -> Feature:
    """The clip's own face: the mean of the features of the first second, at length 1.

    >>> own_face(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), [0, 500, 2000]).round(3).tolist()
    [0.707, 0.707]
    """
    early = features[np.asarray(times_ms) <= times_ms[0] + OWN_MS]
    mean = early.mean(axis=0)
    length = float(np.sqrt(mean @ mean))
    own: Feature = mean / length if length > _TINY else early[0]
    return own


def lasting(drift: Sequence[float]) -> float:
    """The largest median of `LASTING` successive values; of fewer, the median of all.

    >>> lasting([0.1, 0.9, 0.1, 0.1, 0.1, 0.1]), lasting([0.1, 0.1, 0.7, 0.7, 0.7, 0.1])
    (0.1, 0.7)
    """
    starts = range(max(1, len(drift) - LASTING + 1))
    return max(float(np.median(drift[start : start + LASTING])) for start in starts)


def changes(features: Features) -> list[int]:
    """Looks from which on the face is another person's: of successive candidates the one that parts them best."""
    found: list[int] = []
    best: tuple[float, int] | None = None
    for place in range(FEWEST, len(features) - FEWEST + 1):
        contrast = _contrast(features[max(place - LASTING, 0) : place], features[place : place + LASTING])
        if contrast is None:
            found += [] if best is None else [best[1]]
            best = None
        elif best is None or contrast > best[0]:
            best = contrast, place
    return found + ([] if best is None else [best[1]])


def _contrast(before: Features, after: Features) -> float | None:
    """How much more alike the looks of either side are than those across; None where it is one person, or nobody."""
    across = before @ after.T
    inside = [(side @ side.T)[np.triu_indices(len(side), 1)] for side in (before, after)]
    if np.median(across) >= SAME_PERSON or min(float(np.median(values)) for values in inside) < SAME_PERSON:
        return None
    # Means, not medians: one look on the wrong side moves a mean, and so decides between neighbouring places.
    return float(np.mean([values.mean() for values in inside]) - across.mean())


def change_frames(looks: Sequence[Look], between: Sequence[Look]) -> list[Look]:
    """The first look at each new person; `between` are looks at frames that lie between the regular ones."""
    seen = [look for look in looks if look.feature is not None]
    features = np.array([look.feature for look in seen])
    found = []
    for place in changes(features) if len(seen) else ():
        before, after = (
            features[max(place - LASTING, 0) : place].mean(axis=0),
            features[place : place + LASTING].mean(axis=0),
        )
        first, last = seen[max(place - 2, 0)].frame, seen[min(place + 1, len(seen) - 1)].frame
        near = sorted((look for look in [*seen, *between] if first <= look.frame <= last), key=lambda look: look.frame)
        turned = (look for look in near if look.feature is not None and look.feature @ after > look.feature @ before)
        found.append(next(turned, seen[place]))
    return found


class IdentityCollector:
    """The drift of the face that `FaceLooks` follows."""

    def __init__(self, facts: MediaFacts) -> None:
        self.seen = shared(facts, FaceLooks)

    def add(self, frame: FrameView) -> None:
        self.seen.add(frame)

    def finish(self) -> Measurement:
        networks = self.seen.networks
        definition = IDENTITY_DRIFT.with_params(weights=networks.digest, detector_weights=networks.detector_digest)
        return identity_drift(definition, self.seen.looks, self.seen.between)

    def series(self) -> dict[str, NDArray[np.float64]]:
        return {"identity_drift": drift_series(self.seen.looks, self.seen.between, self.seen.latest + 1)}


def identity_drift(definition: Definition, looks: Sequence[Look], between: Sequence[Look] = ()) -> Measurement:
    """The value of a clip from what was seen of its face; see `IDENTITY_DRIFT`."""
    seen = [look for look in looks if look.feature is not None]
    lost = len(looks) - len(seen)
    absent = f"no face in {lost if seen else 'any'} of {len(looks)} frames looked at" if lost else ""
    if len(seen) < FEWEST:
        few = f"a face in {len(seen)} of {len(looks)} frames looked at; needs {FEWEST}"
        return Measurement.missing(definition, absent if looks and not seen else few)
    turns = change_frames(looks, between)
    told = ", ".join(f"{look.frame} ({look.time_ms / 1000:.2f} s)" for look in turns)
    turned = f"another person from frame{'s' * (len(turns) > 1)} {told}" if turns else ""
    value = lasting(_drift(seen, seen))
    note = "; ".join(filter(None, (turned, absent)))
    span = Span(turns[0].time_ms, turns[0].time_ms) if turns else None
    return Measurement(definition=definition, value=value, count=len(seen), note=note, span=span)


def drift_series(looks: Sequence[Look], between: Sequence[Look], frames: int) -> NDArray[np.float64]:
    """The drift of every frame that was looked at; NaN at the others, and where there is no face."""
    values = np.full(frames, np.nan)
    seen = [look for look in looks if look.feature is not None]
    also = [look for look in between if look.feature is not None]
    if seen:
        values[[look.frame for look in [*seen, *also]]] = _drift([*seen, *also], seen)
    return values


def _drift(looks: Sequence[Look], regular: Sequence[Look]) -> list[float]:
    own = own_face(np.array([look.feature for look in regular]), [look.time_ms for look in regular])
    return [1.0 - cosine(look.feature, own) for look in looks if look.feature is not None]


IDENTITY_DRIFT_METRIC = ClipMetric(
    definition=IDENTITY_DRIFT,
    label="identity drift",
    lane=lane("Identity drift", "identity_drift", "drift", pooled_by="identity_drift"),
    too_high="another face than at the start",
    on_request=True,
    require=require_identity,
    needs=frozenset({"rgb"}),
    start=IdentityCollector,
)
