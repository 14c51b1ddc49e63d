"""Every definition of this instrument, in the order the catalogue shows them.

`grid` is a digest of the runs a number was pooled from, so two sweeps over other values, seeds or axes never compare:
their baseline and their pools differ. `axis` is one axis, several joined with "," (a cell of a grid), or `all`.
"""

from __future__ import annotations

from rushes.core import Definition, signature_params

_REFERENCE = "M05, Metrics Core (ESI + Justification Drift)"
_POOLED = {"baseline": "first-run", "pool": "other-axes-and-seeds"}

ESI_AT_VALUE = Definition(
    name="esi",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="Evidence Stability Index at one axis value: share of runs that answer as the baseline does.",
    formula="#(answer = baseline answer) / #runs with this axis value",
    edge_cases="answers compare exactly; the baseline run counts in its own group; a judge error is an answer too",
    reference=_REFERENCE,
    params=signature_params(match="exact", **_POOLED),
    open_params=("answer", "axis", "grid", "value"),
)

ESI = Definition(
    name="esi",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="Evidence Stability Index of an axis: how well the answer holds when the input wobbles along it.",
    formula="mean over the axis's values of #(answer = baseline answer) / #runs with this value",
    edge_cases="the mean of value scores already rounded to 8 decimals; every value weighs the same",
    reference=_REFERENCE,
    params=signature_params(match="exact", aggregate="mean-of-values", **_POOLED),
    open_params=("answer", "axis", "grid"),
)

_TEXT = {"distance": "levenshtein-characters", "normaliser": "longer-text"}

DRIFT_AT_VALUE = Definition(
    name="justification_drift",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Justification Drift at one axis value: how far the reasons move from the baseline's.",
    formula="mean over runs of levenshtein(baseline justification, justification) / length of the longer one",
    edge_cases="two empty texts: 0; a missing justification is the empty text; any other type is taken as its text",
    reference=_REFERENCE,
    params=signature_params(**_TEXT, **_POOLED),
    open_params=("axis", "grid", "value"),
)

DRIFT = Definition(
    name="justification_drift",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Justification Drift of an axis: how far the reasons move when the input wobbles along it.",
    formula="mean over the axis's values of their mean drift",
    edge_cases="the mean of value scores already rounded to 8 decimals; every value weighs the same",
    reference=_REFERENCE,
    params=signature_params(aggregate="mean-of-values", **_TEXT, **_POOLED),
    open_params=("axis", "grid"),
)

DRIFT_OF_RUN = Definition(
    name="justification_drift",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Justification Drift of one run of a sweep.",
    formula="levenshtein(baseline justification, justification) / length of the longer one",
    edge_cases="two empty texts: 0",
    reference=_REFERENCE,
    params=signature_params(baseline="first-run", **_TEXT),
    open_params=("grid", "run"),
)

ESI_VARIANCE = Definition(
    name="esi_variance",
    unit="ratio²",
    lowest=0.0,
    highest=0.25,
    better="lower",
    summary="How unevenly ESI is spread over the values of an axis.",
    formula="population variance of the value scores",
    edge_cases="one value: 0",
    reference="the robustness surface of clarity",
    params=signature_params(match="exact", **_POOLED),
    open_params=("axis", "grid"),
)

DRIFT_VARIANCE = Definition(
    name="justification_drift_variance",
    unit="ratio²",
    lowest=0.0,
    highest=0.25,
    better="lower",
    summary="How unevenly Justification Drift is spread over the values of an axis.",
    formula="population variance of the value scores",
    edge_cases="one value: 0",
    reference="the robustness surface of clarity",
    params=signature_params(**_TEXT, **_POOLED),
    open_params=("axis", "grid"),
)

ESI_GRADIENT = Definition(
    name="esi_gradient",
    unit="ratio per step",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Steepest change of ESI from one axis value to the next: where the answer tips over.",
    formula="max |slope|; slope = forward, central or backward difference with unit spacing, by encoded value",
    edge_cases="one value: 0; steps follow the order of the encodings, not the size of the values",
    reference="the gradient surface of clarity",
    params=signature_params(aggregate="max-abs", match="exact", spacing="unit", **_POOLED),
    open_params=("axis", "grid"),
)

DRIFT_GRADIENT = Definition(
    name="justification_drift_gradient",
    unit="ratio per step",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Steepest change of Justification Drift from one axis value to the next.",
    formula="max |slope|; slope = forward, central or backward difference with unit spacing, by encoded value",
    edge_cases="one value: 0; steps follow the order of the encodings, not the size of the values",
    reference="the gradient surface of clarity",
    params=signature_params(aggregate="max-abs", spacing="unit", **_TEXT, **_POOLED),
    open_params=("axis", "grid"),
)

CSI_AT_VALUE = Definition(
    name="confidence_stability",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="CSI at one axis value: how steady the judge's confidence is over repeated runs.",
    formula="1 − min(1, population variance of the confidences / 0.25)",
    edge_cases="one confidence: 1; runs whose trace carries none are left out and not counted",
    reference="the confidence surface of clarity",
    params=signature_params(pool="other-axes-and-seeds"),
    open_params=("axis", "grid", "value"),
)

CSI = Definition(
    name="confidence_stability",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="CSI of an axis: how steady the judge's confidence is along it.",
    formula="mean over the axis's values of 1 − min(1, population variance of the confidences / 0.25)",
    edge_cases="values without a confidence are left out",
    reference="the confidence surface of clarity",
    params=signature_params(aggregate="mean-of-values", pool="other-axes-and-seeds"),
    open_params=("axis", "grid"),
)

EDM_AT_VALUE = Definition(
    name="entropy_drift",
    unit="nats",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="EDM at one axis value: how far the judge's output entropy moves from the baseline's.",
    formula="mean |H − H of the baseline run|",
    edge_cases="runs whose trace carries no entropy are left out and not counted; baseline without: no value",
    reference="the entropy surface of clarity",
    params=signature_params(**_POOLED),
    open_params=("axis", "grid", "value"),
)

EDM = Definition(
    name="entropy_drift",
    unit="nats",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="EDM of an axis: how far the judge's output entropy moves along it.",
    formula="mean over the axis's values of mean |H − H of the baseline run|",
    edge_cases="values without an entropy are left out",
    reference="the entropy surface of clarity",
    params=signature_params(aggregate="mean-of-values", **_POOLED),
    open_params=("axis", "grid"),
)

DEFINITIONS: tuple[Definition, ...] = (
    ESI,
    ESI_AT_VALUE,
    DRIFT,
    DRIFT_AT_VALUE,
    DRIFT_OF_RUN,
    ESI_VARIANCE,
    DRIFT_VARIANCE,
    ESI_GRADIENT,
    DRIFT_GRADIENT,
    CSI,
    CSI_AT_VALUE,
    EDM,
    EDM_AT_VALUE,
)
