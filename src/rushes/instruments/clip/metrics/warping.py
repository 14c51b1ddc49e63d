"""What moves and what does not follow: warping_error and motion_magnitude, on DIS flow or on RAFT's; on request.

Two conventions of each are in use. Warping error is the mean square (Lai et al. 2018) or the mean absolute difference;
motion is printed in pixels a frame, or freed of size and rate. Each is a reading with a signature of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.machine.installing import not_installed
from rushes.core.metric import ClipMetric, Lane, Trace, spanning
from rushes.instruments.clip.flow.dense_flow import (
    DIS,
    LONG_SIDE,
    RAFT,
    RAFT_ITERATIONS,
    RAFT_RATE,
    SHORT_SIDE,
    FollowedSteps,
    Follower,
    Following,
    following,
)
from rushes.instruments.clip.flow.warp_sums import AGREE_FLOOR, AGREE_SHARE, EDGE_FLOOR, EDGE_SHARE
from rushes.vision.models.catalogue import licence_of

RAFT_WEIGHTS = "fcfa4125d641"
"""First digits of the published raft-things.pth."""
FEW = 0.5
"""A share of followed pixels below which the note says so; on real clips it is 0.7 to 1."""

Flow: TypeAlias = Literal["dis", "raft"]
Series = NDArray[np.float64]
_FOLLOWERS: Mapping[Flow, Follower] = {"dis": DIS, "raft": RAFT}
_SETTINGS = {"short_side": SHORT_SIDE, "long_side": LONG_SIDE, "resize": "area", "rgb": "tagged"}
_HOW: Mapping[Flow, dict[str, Any]] = {
    "dis": {"flow": "dis-fast", "finest_scale": 0, "pairs": "all", **_SETTINGS},
    "raft": {
        "flow": "raft-things",
        "weights": RAFT_WEIGHTS,
        "iterations": RAFT_ITERATIONS,
        "padding": "replicate-8",
        "precision": "fp32",
        "pairs_per_s": RAFT_RATE,
        **_SETTINGS,
    },
}
_FLOW_WORDS: Mapping[Flow, str] = {
    "dis": "OpenCV's DIS flow (preset fast, finest scale 0) between every two neighbouring frames",
    "raft": f"RAFT's flow ({RAFT_ITERATIONS} iterations) between a frame and the next, about {RAFT_RATE:g} pairs a "
    "second at an even stride",
}
_AT = f"at a short side of at most {SHORT_SIDE} pixels (long side {LONG_SIDE}), reduced by area"
_NONE: Mapping[Flow, str] = {
    flow: f"Fewer than two frames, or frames of less than {follower.smallest} pixels: no value."
    + (
        f" Cost: about 4 s of one core for a second of video, at {RAFT_RATE:g} pairs a second."
        if flow == "raft"
        else ""
    )
    for flow, follower in _FOLLOWERS.items()
}
_FLOW_PAPERS: Mapping[Flow, str] = {"dis": "Kroeger et al. 2016 (DIS flow)", "raft": "Teed & Deng 2020 (RAFT)"}
_LICENCES: Mapping[Flow, str] = {"dis": "", "raft": f". {licence_of('raft')}"}
_MASK = {
    "agree_share": AGREE_SHARE,
    "agree_floor": AGREE_FLOOR,
    "edge_share": EDGE_SHARE,
    "edge_floor": EDGE_FLOOR,
}


def _error(flow: Flow, norm: Literal["l2", "l1"]) -> Definition:
    difference = {"l2": "(I_t(x) − I_{t+1}(x + F(x)))²", "l1": "|I_t(x) − I_{t+1}(x + F(x))|"}[norm]
    kind = {"l2": "mean square", "l1": "mean absolute difference"}[norm]
    return Definition(
        name="warping_error",
        unit="1",
        lowest=0,
        highest=1,
        better="lower",
        summary=f"What is left of a frame when the next one is taken back along the motion, where both show the same: "
        f"{kind} on 0–1.",
        formula=f"mean over pairs of the mean over seen pixels and R, G, B of {difference}, read bilinearly; F is "
        f"{_FLOW_WORDS[flow]}, {_AT}. A pixel is seen unless |F + B|² > {AGREE_SHARE} (|F|² + |B|²) + {AGREE_FLOOR}, B "
        f"the flow back at x + F(x), or |∇F|² > {EDGE_SHARE} |F|² + {EDGE_FLOOR}",
        edge_cases=f"{_NONE[flow]} At a cut the few pixels that are seen by chance have a large error; a pair in which "
        "none is seen is left out, where Lai's code counts 0. A note says where less than half of the pixels are seen "
        "on the whole. A still clip has 0, the best there is: read it beside motion_magnitude. Pixels that leave the "
        "picture are held against its edge, as in Lai's code, unless the way back misses them.",
        reference=f"Lai et al. 2018 (there with FlowNet2, at full size); {_FLOW_PAPERS[flow]}{_LICENCES[flow]}",
        params=signature_params(protocol="lai2018", norm=norm, warp="bilinear", **_MASK, **_HOW[flow]),
        depends_on=("frame_size", "fps", "transfer"),
        raised_by=("noise and grain", "real changes of light", "fast motion and fine detail", "cuts"),
        lowered_by=("a still picture", "blur and compression", "a dark or plain scene"),
    )


def _magnitude(flow: Flow, unit: Literal["diagonals/s", "px/frame"]) -> Definition:
    formula = {
        "diagonals/s": "Σ mean |F| / (W² + H²)^½ / Σ seconds, over pairs",
        "px/frame": "mean over pairs of mean |F|",
    }[unit]
    words = {
        "diagonals/s": "the mean point's way in a second, as a share of the diagonal",
        "px/frame": "the mean point's way from a frame to the next, in pixels of the clip's own size",
    }[unit]
    return Definition(
        name="motion_magnitude",
        unit=unit,
        lowest=0,
        highest=None,
        better="neither",
        summary=f"How much moves: {words}.",
        formula=f"{formula}; F is {_FLOW_WORDS[flow]}, found {_AT}, over all pixels, and scaled to the clip's own size",
        edge_cases=f"{_NONE[flow]} "
        + ("Frames without a time of their own: no value. " if unit == "diagonals/s" else "")
        + "The camera's motion counts as much as that of things; noise in plain areas reads as a little motion.",
        reference=_FLOW_PAPERS[flow]
        + ("; as EvalCrafter's flow score" if unit == "px/frame" else "")
        + _LICENCES[flow],
        params=signature_params(statistic="mean", per=unit.split("/")[1], **_HOW[flow]),
        depends_on=("fps",) if unit == "diagonals/s" else ("frame_size", "fps"),
    )


WARPING_ERROR = _error("dis", "l2")
MOTION_MAGNITUDE = _magnitude("dis", "diagonals/s")
MOTION_MAGNITUDE_PX = _magnitude("dis", "px/frame")


def warping_error(definition: Definition, errors: Series, seen: Series) -> Measurement:
    """The mean over pairs; one without a seen pixel has the error NaN and is left out.

    >>> warping_error(WARPING_ERROR, np.array([0.25, np.nan, 0.75]), np.array([1.0, 0.0, 0.8])).value
    0.5
    """
    known = errors[np.isfinite(errors)]
    if not len(known):
        return Measurement.missing(definition, "no pixel could be followed from any frame to the next and back")
    share = float(np.mean(seen))
    note = f"only {share:.0%} of the pixels could be followed" if share < FEW else ""
    return Measurement(definition=definition, value=float(np.mean(known)), count=len(known), note=note)


def motion_magnitude(definition: Definition, seen: FollowedSteps) -> Measurement:
    """In the unit of the definition, over all pairs.

    A time that does not pass, as between frames with one timestamp, adds motion and no time.
    """
    if definition.unit == "px/frame":
        return Measurement(definition=definition, value=float(np.mean(seen.motion_px)), count=len(seen.motion_px))
    seconds = float(seen.time_ms.sum()) / 1000
    if seconds <= 0:
        return Measurement.missing(definition, "the frames have no times of their own")
    value = float(seen.motion_px.sum()) / seen.diagonal_px / seconds
    return Measurement(definition=definition, value=value, count=len(seen.motion_px))


def speed(seen: FollowedSteps) -> Series:
    """Diagonals a second, step by step; NaN where no time passes."""
    seconds = np.where(seen.time_ms > 0, seen.time_ms / 1000, np.nan)
    return seen.motion_px / seen.diagonal_px / seconds


@dataclass(frozen=True, slots=True)
class FollowedCollector:
    """One metric's share in following a clip."""

    following: Following
    name: str
    definition: Definition
    steps: Callable[[FollowedSteps], Series]

    def add(self, frame: Any) -> None:
        self.following.add(frame)

    def finish(self) -> Measurement:
        seen = self.following.finish()
        if isinstance(seen, str):
            return Measurement.missing(self.definition, seen)
        if self.definition.name == "warping_error":
            return warping_error(self.definition, self.steps(seen), seen.seen)
        return motion_magnitude(self.definition, seen)

    def series(self) -> Mapping[str, Series]:
        """One value per frame, NaN where no pair led to it."""
        seen = self.following.finish()
        if isinstance(seen, str):
            return {}
        values = np.full(self.following.latest + 1, np.nan)
        values[seen.frames] = self.steps(seen)
        return {self.name: values}


def require_raft() -> None:
    """Raises `MissingDependency` where torch or the weights are not here."""
    if find_spec("torch") is None:
        raise not_installed("RAFT needs torch", extra="fvd")
    from rushes.vision.models.cache import model_path

    model_path("raft-things.npz")


def _metric(
    name: str, definition: Definition, flow: Flow, steps: Callable[[FollowedSteps], Series], **shown: Any
) -> ClipMetric:
    def start(facts: Any) -> FollowedCollector:
        return FollowedCollector(following(facts, _FOLLOWERS[flow]), name, definition, steps)

    shown |= {"require": require_raft} if flow == "raft" else {}  # DIS comes with OpenCV, which is always here
    return ClipMetric(definition=definition, start=start, on_request=True, **shown)


def _both_flows(label: str, name: str, high: float) -> Lane:
    """A lane belongs to a name, and has both flows: whichever was measured is drawn."""
    series = {name: "DIS", f"{name}_raft": "RAFT"}
    scale = spanning(0.0, high)
    traces = (Trace(series=one, word=word, scale=scale, pooled_by=one) for one, word in series.items())
    return Lane(label=label, traces=tuple(traces))


_squared, _absolute, _step = attrgetter("squared"), attrgetter("absolute"), attrgetter("motion_px")
WARPING_ERROR_METRIC = _metric(
    "warping_error",
    WARPING_ERROR,
    "dis",
    _squared,
    label="warping",
    lane=_both_flows("Warping error", "warping_error", 0.002),
    too_high="frames do not follow from each other",
)
WARPING_ERROR_L1_METRIC = _metric("warping_error_l1", _error("dis", "l1"), "dis", _absolute)
WARPING_ERROR_RAFT_METRIC = _metric("warping_error_raft", _error("raft", "l2"), "raft", _squared)
WARPING_ERROR_L1_RAFT_METRIC = _metric("warping_error_l1_raft", _error("raft", "l1"), "raft", _absolute)
MOTION_MAGNITUDE_METRIC = _metric(
    "motion_magnitude",
    MOTION_MAGNITUDE,
    "dis",
    speed,
    label="motion",
    lane=_both_flows("Speed", "motion_magnitude", 0.2),
    too_high="much motion",
    too_low="hardly any motion",
)
MOTION_MAGNITUDE_PX_METRIC = _metric("motion_magnitude_px", MOTION_MAGNITUDE_PX, "dis", _step)
MOTION_MAGNITUDE_RAFT_METRIC = _metric("motion_magnitude_raft", _magnitude("raft", "diagonals/s"), "raft", speed)
MOTION_MAGNITUDE_PX_RAFT_METRIC = _metric("motion_magnitude_px_raft", _magnitude("raft", "px/frame"), "raft", _step)
