"""Does each frame follow from the one before: flow_residual, flow_backward_error, flow_acceleration, and the two
readings of time together, temporal_inconsistency. Asked for with `--motion`; see `clip/flow/observer.py`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.flow.observer import FLOOR, RATE, MotionObservation
from rushes.instruments.clip.frames.detail import HEIGHT
from rushes.instruments.clip.metrics.light import shown_alternation
from rushes.instruments.clip.metrics.making import from_zero, lane, metric

_FRAMES = (
    f"F is DIS optical flow at {HEIGHT} rows between frames about {1 / RATE:.1f} s apart (an even stride), median over "
    "steps"
)
_EDGES = (
    "Fewer than two frames looked at, or frames of less than 32 pixels: no value. A cut is one step among many, which "
    "a median leaves out."
)
_REFERENCE = "Kroeger et al. 2016 (DIS flow)"
ALTERNATION_FLOOR = 0.5
_unrest = partial(
    from_zero,
    unit="1",
    better="lower",
    edge_cases=_EDGES,
    depends_on=("frame_size", "fps", "luma"),
    params=signature_params(flow="dis-fast", height=HEIGHT, rate=RATE, statistic="median"),
)

FLOW_RESIDUAL = _unrest(
    name="flow_residual",
    summary="What of a frame cannot be explained by moving the frame before it, over its texture.",
    formula="median of mean|I_{t−1}(x) − I_t(x + F_t(x))| / (mean gradient of I_{t−1} + 0.5); " + _FRAMES,
    reference=f"{_REFERENCE}; warping error as in Lai et al. 2018",
    raised_by=("noise and grain", "fast or hidden motion", "changes of light"),
    lowered_by=("blur and compression", "little motion"),
)
FLOW_BACKWARD_ERROR = _unrest(
    name="flow_backward_error",
    summary="How far a point misses its place when it is followed to the next frame and back, over the motion.",
    formula=f"median of mean|F_t(x) + B_t(x + F_t(x))| / (mean|F_t| + {FLOOR} px), B the flow back; " + _FRAMES,
    reference=f"{_REFERENCE}; forward-backward error as in Kalal et al. 2010",
    raised_by=("noise and grain", "things that pass in front of others", "plain areas without texture"),
    lowered_by=("blur and compression", "little motion"),
)
FLOW_ACCELERATION = _unrest(
    name="flow_acceleration",
    summary="How much the motion of each point changes from one step to the next, over the motion: matter moves on, "
    "noise starts anew.",
    formula=f"median of mean|F_t(x + F_{{t−1}}(x)) − F_{{t−1}}(x)| / (mean of |F_t| and |F_{{t−1}}| + {FLOOR} px); "
    + _FRAMES,
    edge_cases=_EDGES + " It takes three frames. Fast and irregular real motion is high as well.",
    reference=f"{_REFERENCE}; on the clips of the FETV study ρ = −.63 with people's temporal quality",
    raised_by=("shaking and irregular real motion", "noise in a still scene", "dropped frames"),
    lowered_by=("steady camera motion", "blur and compression"),
)
TEMPORAL_INCONSISTENCY = _unrest(
    name="temporal_inconsistency",
    summary="Unrest of light and of motion in one value; the one that agrees best with people's temporal quality.",
    formula=f"√((luma_alternation + {ALTERNATION_FLOOR}) · (flow_acceleration + {FLOOR}))",
    edge_cases="Either part missing: no value. The added constants keep one part at 0 from hiding the other; "
    "they were set, not fitted.",
    reference="on the clips of the FETV study ρ = −.74 with people's temporal quality; one person against two others "
    ".72 to .87",
    depends_on=("frame_size", "fps", "transfer", "luma"),
    raised_by=("shaking and irregular real motion", "noise", "changes of light"),
    lowered_by=("steady camera motion", "blur and compression", "a dark scene"),
    history=("first release", "luma_alternation of different pictures alone"),
)


def of_motion(definition: Definition, motion: MotionObservation | None, name: str, missing: str = "") -> Measurement:
    """The median of one of a clip's flow series."""
    values = np.zeros(0) if motion is None else getattr(motion, name)
    known = values[np.isfinite(values)]
    if not len(known):
        return Measurement.missing(definition, missing or "needs at least three frames to follow")
    return Measurement(definition=definition, value=float(np.median(known)), count=len(known))


def temporal_inconsistency(alternation: Measurement, acceleration: Measurement) -> Measurement:
    """Both readings in one; see `TEMPORAL_INCONSISTENCY`."""
    if alternation.value is None or acceleration.value is None:
        return Measurement.missing(TEMPORAL_INCONSISTENCY, alternation.note or acceleration.note)
    value = math.sqrt((float(alternation.value) + ALTERNATION_FLOOR) * (float(acceleration.value) + FLOOR))
    return Measurement(definition=TEMPORAL_INCONSISTENCY, value=value, count=acceleration.count)


def _inconsistency(seen: Any) -> Measurement:
    light = shown_alternation(seen)
    acceleration = of_motion(FLOW_ACCELERATION, seen.motion, "acceleration", seen.motion_missing)
    return temporal_inconsistency(light, acceleration)


def _followed(definition: Definition, series: str, **shown: Any) -> ClipMetric:
    """A metric that is the median of one series of the flow."""

    def measure(seen: Any) -> Measurement:
        return of_motion(definition, seen.motion, series, seen.motion_missing)

    return metric(definition, measure, "luma", "motion", **shown)


FLOW_RESIDUAL_METRIC = _followed(FLOW_RESIDUAL, "residual", too_high="frames do not follow from each other")
FLOW_BACKWARD_ERROR_METRIC = _followed(FLOW_BACKWARD_ERROR, "backward_error", too_high="motion cannot be followed back")
FLOW_ACCELERATION_METRIC = _followed(
    FLOW_ACCELERATION,
    "acceleration",
    label="unrest",
    room="page",
    lane=lane("Acceleration", "flow_acceleration", "acceleration", (0.0, 2.0), pooled_by="flow_acceleration"),
    too_high="motion starts anew from frame to frame",
)
TEMPORAL_INCONSISTENCY_METRIC = metric(
    TEMPORAL_INCONSISTENCY,
    _inconsistency,
    "luma",
    "motion",
    label="inconsistency",
    too_high="temporally inconsistent",
)
