"""Definitions of opinion scores: means on a scale, differences from a reference, subject bias, best–worst counts."""

from __future__ import annotations

from functools import partial

from rushes.instruments.preference.definitions.conditions_of import study_definition

_opinion = partial(
    study_definition, unit="points", lowest=None, highest=None, choices=("clusters", "method"), ties="none"
)
_P910 = "ITU-T P.910"

MOS = _opinion(
    "mos",
    "Mean opinion score of a system on one question, on the scale that the method names.",
    "Σ ratings / their number; interval clustered by rater and prompt, cut to the scale",
    better="higher",
    edge_cases="one rater: no interval; one prompt: clustered by rater alone",
    reference=f"{_P910}; P.800.1. P.910 calls the mean of a DCR scale DMOS",
    per=("question", "system"),
)
CLIP_MOS = _opinion(
    "clip_mos",
    "Mean opinion score of one clip on one question.",
    "Σ ratings / raters; Student's t interval over raters, cut to the scale",
    better="higher",
    edge_cases="one rater: no interval",
    reference=_P910,
    per=("prompt", "question", "system"),
)
DMOS = _opinion(
    "dmos",
    "Differential mean opinion score: how a system was rated beside the hidden reference; the top of the scale is as "
    "good as the reference, and more is better than it.",
    "mean of V(clip) − V(reference) + top of the scale, over raters who rated both",
    better="higher",
    edge_cases="nobody rated both: None; values above the top of the scale stand as they are",
    reference=f"{_P910}, ACR with hidden reference",
    per=("question", "system"),
)
MOS_DIFFERENCE = _opinion(
    "mos_difference",
    "How much higher a system was rated than another.",
    "mean of the one − mean of the other; interval clustered by rater and prompt, so what both share cancels",
    better="higher",
    edge_cases="one rater: no interval",
    reference="Cameron, Gelbach & Miller 2011; docs/statistics.md",
    per=("against", "question", "system"),
)
MOS_RANK = _opinion(
    "mos_rank",
    "Rank of a system by its mean opinion score, and the ranks that the ratings leave open.",
    "interval: 1 + systems significantly better to n − systems significantly worse, all differences by Holm",
    unit="rank",
    lowest=1.0,
    better="lower",
    edge_cases="one rater: every rank stays possible; the reference is not ranked",
    reference="Holm 1979; docs/statistics.md",
    per=("question", "system"),
)
MOS_BIAS_REMOVED = _opinion(
    "mos_bias_removed",
    "Mean opinion score of a system with every rater's bias removed; weighted, inconsistent raters count less.",
    "mean over the system's clips of ψ in o = ψ_clip + Δ_rater + υ_rater · noise, by alternating projection; weights "
    "equal, or consistency: 1/υ²; Student's t interval over clips",
    better="higher",
    edge_cases="one clip, or equal scores: no interval; weighted, few raters may lead the fit to follow one of them "
    "alone: None",
    reference="ITU-T P.913 clauses 12.4 (equal) and 12.6 (consistency); Li et al. 2020",
    per=("question", "system"),
    choices=("method", "weights"),
)
RATER_BIAS = _opinion(
    "rater_bias",
    "How much higher than the others a rater rates.",
    "Δ of the model of mos_bias_removed; their mean over raters is 0",
    edge_cases="one rater: 0",
    reference="ITU-T P.913 clause 12.6; Li et al. 2020",
    per=("question", "rater"),
    choices=("method",),
)
RATER_INCONSISTENCY = _opinion(
    "rater_inconsistency",
    "How far a rater's ratings scatter around what they should be.",
    "υ of the model of mos_bias_removed: the standard deviation of o − ψ − Δ",
    better="lower",
    lowest=0.0,
    edge_cases="one rating: 0",
    reference="ITU-T P.913 clause 12.6; Li et al. 2020",
    per=("question", "rater"),
    choices=("method",),
)
CMOS = _opinion(
    "cmos",
    "Comparison mean opinion score: how much better than another system it is, −3 much worse to 3 much better.",
    "mean over the votes between the two of ±degree, 0 for a tie; interval clustered by rater and prompt",
    lowest=-3.0,
    highest=3.0,
    better="higher",
    edge_cases="systems that never met have no row; one rater: no interval",
    reference="ITU-T P.800 annex E, comparison category rating",
    per=("against", "system"),
)
BEST_WORST_SCORE = _opinion(
    "best_worst_score",
    "How much more often a system was chosen as best than as worst.",
    "(times best − times worst) / times shown; interval clustered by rater and prompt",
    unit="1",
    lowest=-1.0,
    highest=1.0,
    better="higher",
    edge_cases="one rater: no interval",
    reference="Louviere, Flynn and Marley 2015",
    per=("system",),
)
FAULT_COUNT = _opinion(
    "fault_count",
    "How often raters marked a fault in a system's clips, with its time.",
    "marks with the tag",
    unit="marks",
    lowest=0.0,
    better="lower",
    edge_cases="a tag that nobody marked has no row",
    reference="rushes study",
    per=("system", "tag"),
    choices=("method",),
)
OPINION_DEFINITIONS = (
    *(MOS, CLIP_MOS, DMOS, MOS_DIFFERENCE, MOS_RANK, MOS_BIAS_REMOVED, RATER_BIAS, RATER_INCONSISTENCY),
    *(CMOS, BEST_WORST_SCORE, FAULT_COUNT),
)
