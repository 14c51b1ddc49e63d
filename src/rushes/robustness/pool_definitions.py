"""Definitions of numbers over several clips: pooled stability, chance-corrected stability, and two judges paired.

A clip is the unit: runs of one clip resemble each other, so intervals draw whole clips with replacement (the cluster
bootstrap), with PCG64 from a fixed seed. What a clip gives is measured with the other axes at baseline.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.robustness.effect_definitions import DRIFT_ONE_AXIS, ESI_ONE_AXIS, OTHERS_AT_BASELINE

REPLICATES = 2000
LEVEL = 0.95
SEED = 0
FEWEST_CLIPS = 5
"""Below this many clips there are too few draws to tell apart, and no interval is given."""
METHOD = f"cluster-bootstrap-clips-{REPLICATES}-expanded"
EXACT_METHOD = "clopper-pearson-clips"

_DRAWN: dict[str, str | int] = {"interval": METHOD, "seed": SEED}
_FEW = (
    f"fewer than {FEWEST_CLIPS} clips: no interval; every clip at 0 or every clip at 1, so that nothing can vary: "
    "the exact binomial bound over clips"
)
_REFERENCE = (
    "Davison and Hinkley 1997 (cluster bootstrap); Hesterberg 2015 (expanded percentiles); on top of M05, Metrics Core"
)

ESI_OVER_CLIPS = replace(
    ESI_ONE_AXIS,
    name="esi_over_clips",
    summary="ESI of an axis by itself over several clips, each clip weighing the same.",
    formula="mean over the clips of esi_one_axis; where `at` names a value, of that at the value",
    edge_cases=f"clips without an answer here are left out; {_FEW}",
    reference=_REFERENCE,
    params=(*ESI_ONE_AXIS.params, *signature_params(**_DRAWN)),
)

DRIFT_OVER_CLIPS = replace(
    DRIFT_ONE_AXIS,
    name="justification_drift_over_clips",
    summary="Justification Drift of an axis by itself over several clips, each clip weighing the same.",
    formula="mean over the clips of justification_drift_one_axis; where `at` names a value, of that at the value",
    edge_cases=ESI_OVER_CLIPS.edge_cases,
    reference=_REFERENCE,
    params=(*DRIFT_ONE_AXIS.params, *signature_params(**_DRAWN)),
)

ANSWER_ALPHA = Definition(
    name="answer_alpha",
    unit="1",
    lowest=None,
    highest=1.0,
    better="higher",
    summary="Stability beyond chance: whether the answer follows the clip (1) or the perturbation (0 and below).",
    formula="Krippendorff's α, nominal: 1 − observed / expected disagreement; units are clips, and a unit's values are "
    "the answers of its runs along the axis, other axes at baseline",
    edge_cases="every answer alike: no value, since a judge that always says the same shows nothing; clips with fewer "
    f"than two answers are left out; fewer than two clips: no value; fewer than {FEWEST_CLIPS}: no interval",
    reference="Krippendorff 2011, Computing Krippendorff's Alpha-Reliability",
    params=signature_params(
        level="nominal", match="exact", pool=OTHERS_AT_BASELINE, runs="answered", units="clips", **_DRAWN
    ),
    open_params=("grid",),
    places=("axis",),
)

ESI_DIFFERENCE = Definition(
    name="esi_difference",
    unit="ratio",
    lowest=-1.0,
    highest=1.0,
    better="higher",
    summary="How much steadier the first judge is than the second on the same perturbed clips.",
    formula="mean over the clips of (share of runs in which the first keeps its baseline answer − the same of the "
    "second), over runs that both answered",
    edge_cases="baseline runs, which keep their answer by construction, do not count; with an axis in `at`, other axes "
    f"at baseline; a clip without such a run is left out; fewer than {FEWEST_CLIPS} clips: no interval",
    reference=_REFERENCE,
    params=signature_params(baseline="first-run", match="exact", pairs="same-clip-values-seed", **_DRAWN),
    open_params=("grid",),
)

DRIFT_DIFFERENCE = replace(
    ESI_DIFFERENCE,
    name="justification_drift_difference",
    better="lower",
    summary="How much further the first judge's reasons move than the second's on the same perturbed clips.",
    formula="mean over the clips of (mean drift of the first − mean drift of the second), over runs that both answered",
    params=signature_params(
        baseline="first-run",
        distance="levenshtein-characters",
        normaliser="longer-text",
        pairs="same-clip-values-seed",
        **_DRAWN,
    ),
)

PAIRED_RUNS = Definition(
    name="paired_runs",
    unit="runs",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="Runs in which both judges, the first alone, the second alone or neither keep their baseline answer.",
    formula="#runs with this outcome (`at`: both, first, second, neither), over runs that both answered",
    edge_cases="baseline runs do not count",
    reference="McNemar 1947",
    params=signature_params(baseline="first-run", match="exact", pairs="same-clip-values-seed"),
    open_params=("grid",),
    places=("outcome",),
)

MCNEMAR_P = Definition(
    name="mcnemar_p",
    unit="probability",
    lowest=0.0,
    highest=1.0,
    better="neither",
    summary="How likely so uneven a split of the discordant runs is, if both judges were equally steady.",
    formula="exact two-sided binomial: min(1, 2 · P(X ≤ min(b, c))), X ~ Bin(b + c, ½); b, c: runs that only the "
    "first, only the second keeps",
    edge_cases="no discordant run: 1; runs are taken as independent, which runs of one clip are not: with several "
    "clips read sign_flip_p",
    reference="McNemar 1947; the exact form",
    params=signature_params(pairs="same-clip-values-seed", test="exact-binomial", units="runs"),
    open_params=("grid",),
)

SIGN_FLIP_P = replace(
    MCNEMAR_P,
    name="sign_flip_p",
    summary="How likely so large a mean difference over clips is, if each clip's could as well be the other way round.",
    formula="share of sign patterns with |mean| ≥ the observed one; up to 14 clips every pattern, beyond 10,000 drawn, "
    "the observed one counted in",
    edge_cases="fewer than two clips: no value; with n clips it cannot be below 2 / 2ⁿ",
    reference="Fisher 1935, the randomisation test of matched pairs",
    params=signature_params(pairs="same-clip-values-seed", seed=SEED, test="sign-flip", units="clips"),
)

DEFINITIONS = (
    ESI_OVER_CLIPS,
    DRIFT_OVER_CLIPS,
    ANSWER_ALPHA,
    ESI_DIFFERENCE,
    DRIFT_DIFFERENCE,
    PAIRED_RUNS,
    MCNEMAR_P,
    SIGN_FLIP_P,
)
