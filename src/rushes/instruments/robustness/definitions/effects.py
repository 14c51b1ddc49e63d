"""Definitions of what one axis does by itself, and of slopes by the size of the values.

In a full grid every axis pools the same runs, so the axis scores of `esi` are one grand mean. `pool:others-at-baseline`
takes the runs at which all other axes have the baseline's value: the effect of this axis alone.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.core.definition import ratio_definition
from rushes.instruments.robustness.definitions.sweep import DRIFT, DRIFT_GRADIENT, ESI, ESI_GRADIENT

OTHERS_AT_BASELINE = "others-at-baseline"
MOST_ANSWERS = 12
"""Answers that a flip matrix tells apart; the rest are one."""

_REFERENCE = "one-factor-at-a-time effects; on top of M05, Metrics Core"
ESI_ONE_AXIS = replace(
    ESI.with_params(pool=OTHERS_AT_BASELINE),
    name="esi_one_axis",
    summary="ESI of an axis by itself: how well the answer holds along it while every other axis stays at baseline.",
    edge_cases="as esi; seeds are pooled; runs at which another axis has moved do not count",
    reference=_REFERENCE,
    places=("axis",),
)

DRIFT_ONE_AXIS = replace(
    DRIFT.with_params(pool=OTHERS_AT_BASELINE),
    name="justification_drift_one_axis",
    summary="Justification Drift of an axis by itself, while every other axis stays at baseline.",
    edge_cases="as justification_drift; seeds are pooled; runs at which another axis has moved do not count",
    reference=_REFERENCE,
    places=("axis",),
)

ESI_RANGE = ratio_definition(
    name="esi_range",
    better="lower",
    summary="How much an axis by itself can move the answer: the largest ESI along it less the smallest.",
    formula="max − min over the axis's values of esi_one_axis at the value",
    edge_cases="values without an answer are left out; the note names the value at which it is worst",
    reference=_REFERENCE,
    params=signature_params(baseline="first-run", match="exact", pool=OTHERS_AT_BASELINE, runs="answered"),
    open_params=("grid",),
    places=("axis",),
)

DRIFT_RANGE = replace(
    ESI_RANGE,
    name="justification_drift_range",
    summary="How much an axis by itself can move the reasons: the largest drift along it less the smallest.",
    formula="max − min over the axis's values of justification_drift_one_axis at the value",
    params=tuple((key, value) for key, value in DRIFT_ONE_AXIS.params if key != "aggregate"),
)

ESI_GRADIENT_BY_VALUE = replace(
    ESI_GRADIENT.add_params(order="by-size"),
    name="esi_gradient_by_value",
    summary="Steepest change of ESI along an axis whose values are taken by size: where the answer tips over.",
    formula="max |slope|; slope = forward, central or backward difference with unit spacing, values by size",
    edge_cases="one value: 0; values that are not all numbers come as declared; values without an answer are left out; "
    "the note names the value at which it is steepest",
    places=("axis",),
)

DRIFT_GRADIENT_BY_VALUE = replace(
    ESI_GRADIENT_BY_VALUE,
    name="justification_drift_gradient_by_value",
    summary="Steepest change of Justification Drift along an axis whose values are taken by size.",
    params=DRIFT_GRADIENT.add_params(order="by-size").params,
)

ANSWER_FLIPS = Definition(
    name="answer_flips",
    unit="runs",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="What an answer turns into: runs with the answer `to` where the baseline of their clip answers `from`.",
    formula="#runs with this answer at the value (without a value in `at`: at every value but the baseline's), other "
    "axes at baseline; over several clips, summed",
    edge_cases=f"beyond the {MOST_ANSWERS} most frequent answers all are “other answers”; failed runs are left out",
    reference=_REFERENCE,
    params=signature_params(answers=MOST_ANSWERS, baseline="first-run", pool=OTHERS_AT_BASELINE, runs="answered"),
    open_params=("grid",),
    places=("axis", "from", "to"),
)

DEFINITIONS = (
    *(ESI_ONE_AXIS, DRIFT_ONE_AXIS, ESI_RANGE, DRIFT_RANGE, ESI_GRADIENT_BY_VALUE, DRIFT_GRADIENT_BY_VALUE),
    ANSWER_FLIPS,
)
