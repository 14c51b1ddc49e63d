"""Definitions of numbers over several clips: pooled stability, chance-corrected stability, and two judges paired.

A clip is the unit: runs of one clip resemble each other, so intervals draw whole clips with replacement (the cluster
bootstrap), with PCG64 from a fixed seed. What a clip gives is measured with the other axes at baseline.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.core.definition import ratio_definition
from rushes.instruments.robustness.definitions import one_sweep
from rushes.instruments.robustness.definitions.one_sweep import DRIFT_ONE_AXIS, ESI_ONE_AXIS, OTHERS_AT_BASELINE
from rushes.stats.bootstrap import FEWEST_CLIPS, METHOD, SEED
from rushes.stats.sign_flip import EXACT_PATTERNS, LARGEST_PATTERNS

_DRAWN: dict[str, str | int] = {"interval": METHOD, "seed": SEED}
_PAIRED = {"baseline": "first-run", "pairs": "same-clip-values-seed"}
_FEW = (
    f"fewer than {FEWEST_CLIPS} clips: no interval; every clip at 0 or every clip at 1, so that nothing can vary: "
    "the exact binomial bound over clips"
)
_REFERENCE = (
    "Davison and Hinkley 1997 (cluster bootstrap); Hesterberg 2015 (expanded percentiles); on top of M05, Metrics Core"
)

ESI_OVER_CLIPS = replace(
    ESI_ONE_AXIS.add_params(**_DRAWN),
    name="esi_over_clips",
    summary="ESI of an axis by itself over several clips, each clip weighing the same.",
    formula="mean over the clips of esi_one_axis; where `at` names a value, of that at the value",
    edge_cases=f"a clip's scores are not rounded before; clips without an answer here are left out; {_FEW}",
    reference=_REFERENCE,
)

DRIFT_OVER_CLIPS = replace(
    DRIFT_ONE_AXIS.add_params(**_DRAWN),
    name="justification_drift_over_clips",
    summary="Justification Drift of an axis by itself over several clips, each clip weighing the same.",
    formula="mean over the clips of justification_drift_one_axis; where `at` names a value, of that at the value",
    edge_cases=ESI_OVER_CLIPS.edge_cases,
    reference=_REFERENCE,
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
    params=signature_params(match="exact", **_PAIRED, **_DRAWN),
    open_params=("grid",),
)

DRIFT_DIFFERENCE = replace(
    ESI_DIFFERENCE,
    name="justification_drift_difference",
    better="lower",
    summary="How much further the first judge's reasons move than the second's on the same perturbed clips.",
    formula="mean over the clips of (mean drift of the first − mean drift of the second), over runs that both answered",
    params=signature_params(**one_sweep.TEXT_DISTANCE, **_PAIRED, **_DRAWN),
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
    params=signature_params(match="exact", **_PAIRED),
    open_params=("grid",),
    places=("outcome",),
)

MCNEMAR_P = ratio_definition(
    name="mcnemar_p",
    unit="probability",
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
    formula="share of all patterns of signs of the clips' differences whose sum is at least as far from 0 as the sum "
    "found; beyond 22 clips that differ, all patterns of the 12 largest, the rest as a normal with their own variance, "
    "less one step of the grid that all sizes lie on, where they do; sums within 1e-8 a clip count as equal",
    edge_cases="fewer than two clips: no value; clips that do not differ are left out, none differs: 1; with n that "
    "differ it cannot be below 2 / 2ⁿ",
    reference="Fisher 1935, the randomisation test of matched pairs; Pitman 1937",
    params=signature_params(
        beyond="normal",
        exact=EXACT_PATTERNS,
        largest=LARGEST_PATTERNS,
        pairs="same-clip-values-seed",
        test="sign-flip",
        units="clips",
    ),
    history=("first release: beyond 14 clips, 10,000 random patterns", "all patterns, as in comparisons of runs"),
)

DEFINITIONS = (
    *one_sweep.DEFINITIONS,
    *(ESI_OVER_CLIPS, DRIFT_OVER_CLIPS, ANSWER_ALPHA),
    *(ESI_DIFFERENCE, DRIFT_DIFFERENCE, PAIRED_RUNS, MCNEMAR_P, SIGN_FLIP_P),
)
"""Every definition of this instrument, in the order the catalogue shows them."""
