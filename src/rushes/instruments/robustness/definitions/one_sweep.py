"""Every definition of what one sweep says, in the order the catalogue shows them.

`grid` is a digest of the runs a number was pooled from, so two sweeps over other values, seeds or axes never compare:
their baseline and their pools differ. What a number is about is in its `at`:

    axis                                the whole axis
    axis, value                         one value of it, as declared
    axis_1, value_1, axis_2, value_2    a cell of two axes, which come by name
    run                                 one run, by the name of its directory
    (nothing)                           the points of all axes

`runs:answered`: a run whose judge failed gave no answer, so it is in no pool; `judge_failure_rate` counts it. Where the
baseline failed there is nothing to hold a run against, and no number but that rate. `MetricsEngine` knows no failures:
it takes what a trace gives as output, and refuses a trace that gives none.

In a full grid every axis pools the same runs, so the axis scores of `esi` are one grand mean. `pool:others-at-baseline`
takes the runs at which all other axes have the baseline's value: the effect of this axis alone.

A cell has no `axis`, so that `axis="crf", value=28` is always one number. That is why ESI and drift, which have cells,
can require no place.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.core.definition import ratio_definition

_REFERENCE = "M05, Metrics Core (ESI + Justification Drift)"
_POOLED = {"baseline": "first-run", "pool": "other-axes-and-seeds", "runs": "answered"}
TEXT_DISTANCE = {"distance": "levenshtein-characters", "normaliser": "longer-text"}
_MEAN = {"aggregate": "mean-of-values"}
_ONE_VALUE = "where `at` names a value (or a cell of two axes), that one alone"

ESI = ratio_definition(
    name="esi",
    better="higher",
    summary="Evidence Stability Index of an axis: how well the answer holds when the input wobbles along it.",
    formula="mean over the axis's values of #(answer = baseline answer) / #runs with this value; " + _ONE_VALUE,
    edge_cases="the mean of value scores already rounded to 8 decimals, every value weighing the same; answers compare "
    "exactly; the baseline run counts in its own group; runs whose judge failed are left out, and so are values "
    "without an answer; failed baseline: no value; in a full grid every axis pools the same runs and gives one mean",
    reference=_REFERENCE,
    params=signature_params(match="exact", **_MEAN, **_POOLED),
    open_params=("answer", "grid"),
)

DRIFT = ratio_definition(
    name="justification_drift",
    better="lower",
    summary="Justification Drift of an axis: how far the reasons move from the baseline's along it.",
    formula="mean over the axis's values of the mean over its runs of levenshtein(baseline justification, "
    "justification) / length of the longer one; " + _ONE_VALUE,
    edge_cases="the mean of value scores already rounded to 8 decimals, every value weighing the same; characters are "
    "Unicode code points, texts as they are; two empty texts: 0; a missing justification is the empty text, and so is "
    "a null unless the signature says null_justification:text, which makes it “None”; any other type is taken as its "
    "text; runs whose judge failed are left out, and so are values without an answer; failed "
    "baseline: no value",
    reference=_REFERENCE,
    params=signature_params(**_MEAN, **TEXT_DISTANCE, **_POOLED),
    open_params=("grid",),
)

FAILURE_RATE = ratio_definition(
    name="judge_failure_rate",
    better="lower",
    summary="How often the judge gave no answer: it failed, timed out, or said nothing that could be read.",
    formula="#runs whose last record says status error / #runs; where `at` names an axis and a value, at that value",
    edge_cases="without a value in `at`: over all runs of the sweep",
    reference="the traces of `rushes sweep`",
    params=signature_params(failure="status-error"),
    open_params=("grid",),
)

DRIFT_OF_RUN = replace(
    DRIFT,
    summary="Justification Drift of one run of a sweep.",
    formula="levenshtein(baseline justification, justification) / length of the longer one",
    edge_cases="two empty texts: 0",
    params=signature_params(baseline="first-run", **TEXT_DISTANCE),
    places=("run",),
)

_ALL_POINTS = "without an axis in `at`: over the points of all axes"

ESI_VARIANCE = Definition(
    name="esi_variance",
    unit="ratio²",
    lowest=0.0,
    highest=0.25,
    better="lower",
    summary="How unevenly ESI is spread over the values of an axis.",
    formula="population variance of the value scores",
    edge_cases=f"one value: 0; {_ALL_POINTS}",
    reference="the robustness surface of clarity",
    params=signature_params(match="exact", **_POOLED),
    open_params=("grid",),
)

DRIFT_VARIANCE = replace(
    ESI_VARIANCE,
    name="justification_drift_variance",
    summary="How unevenly Justification Drift is spread over the values of an axis.",
    params=signature_params(**TEXT_DISTANCE, **_POOLED),
)

ESI_GRADIENT = Definition(
    name="esi_gradient",
    unit="ratio per step",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Steepest change of ESI from one axis value to the next: where the answer tips over.",
    formula="max |slope|; slope = forward, central or backward difference with unit spacing, by encoded value",
    edge_cases="one value: 0; steps follow the order of the encodings as texts, by code point, not the size of the "
    f"values; {_ALL_POINTS}",
    reference="the gradient surface of clarity",
    params=signature_params(aggregate="max-abs", match="exact", spacing="unit", **_POOLED),
    open_params=("grid",),
)

DRIFT_GRADIENT = replace(
    ESI_GRADIENT,
    name="justification_drift_gradient",
    summary="Steepest change of Justification Drift from one axis value to the next.",
    params=signature_params(aggregate="max-abs", spacing="unit", **TEXT_DISTANCE, **_POOLED),
)

CSI = ratio_definition(
    name="confidence_stability",
    better="higher",
    summary="CSI of an axis: how steady the judge's confidence is over repeated runs along it.",
    formula="mean over the axis's values of 1 − min(1, population variance of the confidences / 0.25); " + _ONE_VALUE,
    edge_cases="one confidence: 1; runs whose trace carries none are left out and not counted, and so are values "
    "without any; so are numbers past 1e100",
    reference="the confidence surface of clarity",
    params=signature_params(pool="other-axes-and-seeds", **_MEAN),
    open_params=("grid",),
    places=("axis",),
)

EDM = Definition(
    name="entropy_drift",
    unit="nats",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="EDM of an axis: how far the judge's output entropy moves from the baseline's along it.",
    formula="mean over the axis's values of mean |H − H of the baseline run|; " + _ONE_VALUE,
    edge_cases="runs whose trace carries no entropy are left out and not counted, and so are values without any; "
    "so are numbers past 1e100; baseline without: no value",
    reference="the entropy surface of clarity",
    params=signature_params(**_MEAN, **_POOLED),
    open_params=("grid",),
    places=("axis",),
)

OTHERS_AT_BASELINE = "others-at-baseline"
MOST_ANSWERS = 12
"""Answers that a flip matrix tells apart; the rest are one."""

_ONE_FACTOR = "one-factor-at-a-time effects; on top of M05, Metrics Core"
ESI_ONE_AXIS = replace(
    ESI.with_params(pool=OTHERS_AT_BASELINE),
    name="esi_one_axis",
    summary="ESI of an axis by itself: how well the answer holds along it while every other axis stays at baseline.",
    edge_cases="as esi; seeds are pooled; runs at which another axis has moved do not count",
    reference=_ONE_FACTOR,
    places=("axis",),
)

DRIFT_ONE_AXIS = replace(
    DRIFT.with_params(pool=OTHERS_AT_BASELINE),
    name="justification_drift_one_axis",
    summary="Justification Drift of an axis by itself, while every other axis stays at baseline.",
    edge_cases="as justification_drift; seeds are pooled; runs at which another axis has moved do not count",
    reference=_ONE_FACTOR,
    places=("axis",),
)

ESI_RANGE = ratio_definition(
    name="esi_range",
    better="lower",
    summary="How much an axis by itself can move the answer: the largest ESI along it less the smallest.",
    formula="max − min over the axis's values of esi_one_axis at the value",
    edge_cases="values without an answer are left out; the note names the value at which it is worst",
    reference=_ONE_FACTOR,
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
    reference=_ONE_FACTOR,
    params=signature_params(answers=MOST_ANSWERS, baseline="first-run", pool=OTHERS_AT_BASELINE, runs="answered"),
    open_params=("grid",),
    places=("axis", "from", "to"),
)

DEFINITIONS = tuple(value for value in tuple(globals().values()) if isinstance(value, Definition))
"""In the order they stand above, which is the catalogue's."""
