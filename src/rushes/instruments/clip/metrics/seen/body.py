"""Bodies and hands: extra_hand_ratio, unseen_hand_ratio and limb_stretch; on request.

MediaPipe's body and hand models draw a plausible person even where the picture has none, so little of what is wrong
with a body shows in their joints. `docs/body.md` has what was planted, what was found, and what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import from_zero, lane, share
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of

if TYPE_CHECKING:
    from rushes.instruments.clip.seen.body import BodyLook, BodyLookedAt, BodyObservation

LEAST_LOOKS = 5
WRISTS = (15, 16)
CERTAIN = 0.8
"""Least visibility of a wrist that is asked for its hand."""
NEAR_HAND, NEAR_BODY = 1.5, 0.1
"""A hand belongs to a wrist within so many times its own length (wrist to middle knuckle), or this share of the body's
height."""
SURE = 0.7
"""Least visibility of both joints of a bone that is measured."""
BONES = {
    "upper arm": (0.186, ((11, 13), (12, 14))),
    "forearm": (0.146, ((13, 15), (14, 16))),
    "thigh": (0.245, ((23, 25), (24, 26))),
    "shin": (0.246, ((25, 27), (26, 28))),
}
"""Length as a share of the body's height, and the joints of each side."""
TRUNK, SHOULDERS = 0.288, 0.259
Points = NDArray[np.float64]

_HOW: dict[str, str | int | float] = {
    "network": "mediapipe-pose-full",
    "weights": short_digest(file_named("pose_landmark_full.tflite")[1].sha256),
    "detector_weights": short_digest(file_named("pose_detection.tflite")[1].sha256),
    "person": "most-certain",
    "looks_per_s": 10,
}
_HANDS: dict[str, str | int | float] = {
    "hand_weights": short_digest(file_named("hand_landmark_full.tflite")[1].sha256),
    "palm_weights": short_digest(file_named("palm_detection_full.tflite")[1].sha256),
    "min_palm": 0.3,
    "search": "square-around-body",
}
_EDGES = (
    f"Fewer than {LEAST_LOOKS} looks with what is asked for: no value. Of several people the most certain is followed, "
    "who may change."
)
_COST = "Cost: 0.4 s of one core for a second of video, for all metrics of this family together."
_RATES = {
    "extra": "Of 19 clips with a hand pasted beside the arm 9 are found above 0, at 2 false alarms in 23",
    "unseen": "Of 20 clips with a hand painted over none is told from the original at one false alarm in 33",
    "stretch": "Of 20 clips with a forearm 1.7 times as long 2 are found at one false alarm in 33",
}
"""Counted by `benchmarks/body_rates.py`; docs/body.md has the table."""
_BLAZE = f"Bazarevsky et al. 2020 (BlazePose). {licence_of('pose')}"
_HAND_PAPERS = f"Bazarevsky et al. 2020 (BlazePose), Zhang et al. 2020 (MediaPipe Hands). {licence_of('pose', 'hands')}"

EXTRA_HAND_RATIO = share(
    name="extra_hand_ratio",
    better="lower",
    summary="Share of the looks at a body in which there are more hands than the people in the frame have.",
    formula="share of looks with a body of #(hands) > 2 · #(people); ten looks a second",
    edge_cases=f"{_EDGES} A hand pressed to another, blurred or smaller than about a fiftieth of the body's square is "
    f"not found. {_COST}",
    reference=f"{_HAND_PAPERS} {_RATES['extra']}.",
    params=signature_params(statistic="share", **_HOW, **_HANDS),
    depends_on=("frame_size", "fps"),
    raised_by=("people whom the detector misses: crowds, backs, people at the edge", "hands on posters and in mirrors"),
    lowered_by=("small or blurred hands",),
)
UNSEEN_HAND_RATIO = share(
    name="unseen_hand_ratio",
    better="neither",
    summary="Share of the wrists in view at which no hand is recognised.",
    formula=f"#(no hand) / #(wrists with visibility ≥ {CERTAIN} inside the frame); a hand is at a wrist within "
    f"{NEAR_HAND} of its own length or {NEAR_BODY} of the body's height; ten looks a second",
    edge_cases=f"{_EDGES} Fists, hands in pockets, behind an object or in fast motion count as unseen: real clips have "
    f"0.06 to 1. {_COST}",
    reference=f"{_HAND_PAPERS} {_RATES['unseen']}.",
    params=signature_params(statistic="share", certain=CERTAIN, **_HOW, **_HANDS),
    depends_on=("frame_size", "fps"),
    raised_by=("fast motion", "hands that hold something", "small people", "compression"),
    lowered_by=("still, open hands",),
)
LIMB_STRETCH = from_zero(
    name="limb_stretch",
    unit="ratio",
    better="neither",
    summary="How long the longest limb looks for the size of the trunk: 1 is an average person's.",
    formula="90th percentile over looks of max_b (l_b / s_b) / max(trunk / 0.288, shoulders / 0.259); l_b the lengths "
    "in the picture of upper arms (s = 0.186), forearms (0.146), thighs (0.245) and shins (0.246) whose joints have "
    f"visibility ≥ {SURE} and lie in the frame; ten looks a second",
    edge_cases=f"{_EDGES} A trunk that leans towards the camera looks short, and everything else long. {_COST}",
    reference=f"proportions of Winter 2009 (Drillis & Contini 1966); {_BLAZE} {_RATES['stretch']}.",
    params=signature_params(statistic="p90", sure=SURE, **_HOW),
    depends_on=("fps",),
    raised_by=("a trunk bent towards the camera", "limbs stretched towards the camera", "sitting people"),
    lowered_by=("limbs that point at the camera",),
)


def extra_hands(look: BodyLookedAt) -> float:
    """1 where there are more hands than the people have, else 0."""
    return float(len(look.hands) > 2 * max(look.people, 1))


def height_of(joints: Points) -> float:
    """The body's height in pixels, from its trunk or the width of its shoulders, whichever says more."""
    trunk = np.hypot(*((joints[11] + joints[12]) / 2 - (joints[23] + joints[24]) / 2))
    return float(max(trunk / TRUNK, np.hypot(*(joints[11] - joints[12])) / SHOULDERS))


def inside(points: Points, size: tuple[int, int]) -> bool:
    """Whether all points lie in the frame."""
    return bool(((points >= 0) & (points < size)).all())


def wrists_without_hand(look: BodyLookedAt) -> list[bool]:
    """For each wrist in view, whether no hand is at it. Each hand belongs to one wrist, the nearest that is free."""
    free = list(WRISTS)
    for hand in look.hands:
        reach = max(NEAR_HAND * np.hypot(*(hand[0] - hand[9])), NEAR_BODY * height_of(look.joints))
        away = [float(np.hypot(*(hand[0] - look.joints[wrist]))) for wrist in free]
        if away and min(away) < reach:
            free.pop(int(np.argmin(away)))
    seen = [wrist for wrist in WRISTS if look.visibility[wrist] >= CERTAIN and inside(look.joints[wrist], look.size)]
    return [wrist in free for wrist in seen]


def longest_limb(look: BodyLookedAt) -> float:
    """The longest limb over the length it should have; NaN where none can be measured."""
    height = height_of(look.joints)
    found = [
        float(np.hypot(*(look.joints[one] - look.joints[other]))) / (ratio * height)
        for ratio, sides in BONES.values()
        for one, other in sides
        if min(look.visibility[[one, other]]) >= SURE and inside(look.joints[[one, other]], look.size) and height > 0
    ]
    return max(found, default=float("nan"))


@dataclass(frozen=True, slots=True)
class BodyCollector:
    """One metric's share in the look at a clip."""

    look: BodyLook
    definition: Definition
    values: Callable[[BodyLookedAt], Iterable[float]]
    pool: Callable[[Points], float]

    def add(self, frame: Any) -> None:
        self.look.add(frame)

    def finish(self) -> Measurement:
        seen = self.look.finish()
        if isinstance(seen, str):
            return Measurement.missing(self.definition, seen)
        rows = [[value for value in self.values(look) if np.isfinite(value)] for look in seen.looks]
        with_some = sum(bool(row) for row in rows)
        if with_some < LEAST_LOOKS:
            return Measurement.missing(self.definition, f"seen in {with_some} looks of {seen.looked}: too few")
        values = np.array([value for row in rows for value in row])
        return Measurement(definition=self.definition, value=self.pool(values), count=len(values), note=_note(seen))

    def series(self) -> Mapping[str, Points]:
        """One value per frame, the mean of the look's; NaN where there is none."""
        seen = self.look.finish()
        found = np.full(self.look.latest + 1, np.nan)
        for look in () if isinstance(seen, str) else seen.looks:
            values = [value for value in self.values(look) if np.isfinite(value)]
            found[look.frame] = np.mean(values) if values else np.nan
        return {} if isinstance(seen, str) else {self.definition.name: found}


def _note(seen: BodyObservation) -> str:
    """What a reader must know of the looks.

    >>> from types import SimpleNamespace as Some
    >>> _note(Some(looks=(Some(people=1), Some(people=3)), looked=4))
    'a body in 2 of 4 looks; several people in 1'
    """
    several = sum(look.people > 1 for look in seen.looks)
    found = "" if len(seen.looks) == seen.looked else f"a body in {len(seen.looks)} of {seen.looked} looks"
    return "; ".join(filter(None, (found, f"several people in {several}" if several else "")))


def require_body() -> None:
    """Raises `MissingDependency` where LiteRT or one of the networks is not here."""
    if find_spec("ai_edge_litert") is None:
        raise not_installed("bodies and hands need LiteRT", extra="face")
    if not all(is_pulled(group_named(group)) for group in ("pose", "hands")):
        raise MissingDependency(f"bodies and hands need four networks; run: {pull_command('pose hands')}")


def _metric(
    definition: Definition,
    values: Callable[[BodyLookedAt], Iterable[float]],
    pool: Callable[[Points], float] = lambda known: float(known.mean()),
    **shown: Any,
) -> ClipMetric:
    def start(facts: Any) -> BodyCollector:
        from rushes.instruments.clip.seen.body import BodyLook
        from rushes.instruments.clip.seen.shared_look import shared

        return BodyCollector(shared(facts, BodyLook), definition, values, pool)

    return ClipMetric(definition=definition, start=start, on_request=True, require=require_body, **shown)


EXTRA_HAND_RATIO_METRIC = _metric(
    EXTRA_HAND_RATIO,
    lambda look: [extra_hands(look)],
    label="extra hands",
    lane=lane("Extra hands", "extra_hand_ratio", "more hands than people have"),
    too_high="more hands than the people have",
)
UNSEEN_HAND_RATIO_METRIC = _metric(UNSEEN_HAND_RATIO, wrists_without_hand, label="hands unseen", room="page")
LIMB_STRETCH_METRIC = _metric(
    LIMB_STRETCH,
    lambda look: [longest_limb(look)],
    lambda known: float(np.quantile(known, 0.9)),
    label="limb stretch",
    room="page",
)
