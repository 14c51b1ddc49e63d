"""Every definition of this instrument, in the order the catalogue shows them.

No rate without its conditions: each definition leaves open, and so each number states, the rubric's version, whether
its raters were people or a program, the exclusion rule and the kind of labels; `ties` says what a tie was to it. How
many raters there were is no method: a number's count says what it rests on. Which system, family, dimension, tag or
metric it is about is its `at`; how sure it is, its interval.
"""

from __future__ import annotations

from functools import partial

from rushes.core import Definition
from rushes.instruments.preference.definitions.conditions_of import (
    FIRST_VOTES,
    FLOORED,
    FLOORED_TWO_WAYS,
    TWO_WAYS,
    WITH_WIDTH,
)
from rushes.instruments.preference.definitions.conditions_of import study_definition as _definition
from rushes.instruments.preference.definitions.opinions import OPINION_DEFINITIONS
from rushes.instruments.preference.definitions.validity import VALIDITY_DEFINITIONS
from rushes.instruments.preference.numbers.method_plan import METHOD_PLAN_DEFINITIONS
from rushes.instruments.preference.numbers.plan import PLAN_DEFINITIONS

_agreement = partial(
    _definition, better="higher", per=("family",), choices=("votes",), ties="outcome", history=FIRST_VOTES
)
_beyond_chance = partial(_agreement, unit="1", lowest=None)
_of_system = partial(_definition, per=("system",), choices=("clusters", "prior"))
_of_model = partial(_definition, choices=("prior",))

PERCENT_AGREEMENT = _agreement(
    "percent_agreement",
    "How often two of a sample's first raters chose the same winner.",
    "mean over samples of Σ_c n_c (n_c − 1) / (n (n − 1)), n_c raters for outcome c",
    edge_cases="samples with one vote are left out; none with two: None; votes after the first min_raters never "
    "count: a third rater comes only where two disagree. votes:all where nobody recorded the order and votes are of "
    "another design: all of them count",
    reference="rubric v0.1, quality control",
)
KRIPPENDORFF_ALPHA = _beyond_chance(
    "krippendorff_alpha",
    "Agreement beyond chance, for any number of raters and missing votes.",
    "1 − observed / expected disagreement, of winners (a < tie < b beyond the nominal level) or of 1–5 ratings on one "
    "dimension",
    edge_cases="one outcome only, or no sample with two votes: None",
    reference="Krippendorff 2011",
    choices=("level", "of", "votes"),
)
FLEISS_KAPPA = _beyond_chance(
    "fleiss_kappa",
    "Agreement beyond chance with pooled shares of outcomes; collapses when nearly all votes go one way.",
    "(p_a − Σπ²) / (1 − Σπ²)",
    edge_cases="one outcome only, or no sample with two votes: None",
    reference="Fleiss 1971; Gwet 2014 for missing votes",
)
COHEN_KAPPA = _beyond_chance(
    "cohen_kappa",
    "Agreement beyond chance of two raters, averaged over all pairs of raters who share samples; weighted, a tie is a "
    "near miss.",
    "mean over rater pairs of (p_o − p_e) / (1 − p_e); weights none, linear 1 − |i−j|/2, quadratic 1 − (i−j)²/4 of "
    "a, tie, b",
    lowest=-1.0,
    edge_cases="pairs with one outcome only are left out and counted in the note",
    reference="Cohen 1960, 1968; Light 1971",
    choices=("votes", "weights"),
)
GWET_AC1 = _beyond_chance(
    "gwet_ac1",
    "Agreement beyond chance that stays meaningful when nearly all votes go one way.",
    "(p_a − p_e) / (1 − p_e), p_e = Σ π(1 − π) / (q − 1), q = 3 outcomes",
    edge_cases="no sample with two votes: None",
    reference="Gwet 2008",
)
BT_ELO = _of_system(
    "bt_elo",
    "Strength of a system from all pairwise votes, on the Elo scale; 1000 is the mean of the systems compared.",
    "1000 + 400/ln10 · θ, θ the Bradley–Terry maximum-likelihood log worth, Σθ = 0",
    unit="Elo",
    lowest=None,
    highest=None,
    better="higher",
    edge_cases="comparison graph in pieces, a system that won everything (without a prior), only ties: None",
    reference="Bradley & Terry 1952; ties: Davidson 1970, Rao & Kupper 1967",
    history=FLOORED_TWO_WAYS,
)
JOD = _of_system(
    "jod",
    "Strength of a system in just-objectionable differences: 1 more means that 75 % prefer it; mean 0. An alternative "
    "scale beside Elo.",
    "Thurstone case V: P(i over j) = Φ((q_i − q_j)/1.4826), with pwcmp's prior",
    unit="JOD",
    lowest=None,
    highest=None,
    better="higher",
    edge_cases="comparison graph in pieces, or only ties: None",
    reference="Thurstone 1927; Perez-Ortiz & Mantiuk 2017 (pwcmp)",
    ties="drop",
    history=FLOORED,
)
BT_RANK = _of_system(
    "bt_rank",
    "Rank of a system by strength, equals sharing one, and the ranks that its votes leave open.",
    "interval: 1 + systems significantly stronger to n − systems significantly weaker; all pairwise differences "
    "jointly (Bonferroni)",
    unit="rank",
    lowest=1.0,
    highest=None,
    better="lower",
    edge_cases="no ranking: None; one rater: every rank stays possible",
    reference="Bonferroni bounds on all pairwise differences; docs/statistics.md",
    history=FLOORED_TWO_WAYS,
)
BT_TIE_PARAMETER = _of_model(
    "bt_tie_parameter",
    "How readily raters call a tie: ν of Davidson's model, η of Rao and Kupper's.",
    "maximum likelihood, together with the strengths",
    unit="1",
    highest=None,
    edge_cases="no ranking, or a policy without such a parameter: None",
    reference="Davidson 1970; Rao & Kupper 1967",
)
BT_FIT_P = _of_model(
    "bt_fit_p",
    "Chance of a worse fit if the model holds; near 0, one strength per system does not explain the votes.",
    "P(χ²_df > G²), G² = 2 Σ observed ln(observed / expected)",
    edge_cases="no degrees of freedom (two systems), half-tie, or a prior: None",
    reference="likelihood-ratio test against free outcome shares per pair",
)
DROP_K_VOTES = _of_model(
    "drop_k_votes",
    "Votes whose removal puts another system first; an upper bound, verified by a refit.",
    "shortest prefix of the votes, ordered by influence on the leader's gap, whose removal changes the leader",
    unit="votes",
    highest=None,
    better="higher",
    edge_cases="shared lead: 0; no ranking, half-tie, or no such removal found: None",
    reference="Huang et al. 2025",
)
DROP_K_SHARE = _of_model(
    "drop_k_share",
    "Share of the votes whose removal puts another system first.",
    "drop_k_votes / votes used by the ranking",
    better="higher",
    edge_cases="as drop_k_votes",
    reference="Huang et al. 2025",
)
WIN_SHARE = _definition(
    "win_share",
    "Share of its votes that a system won, a tie as half; depends on whom it met.",
    "(wins + ties/2) / votes",
    better="higher",
    edge_cases="no votes: None",
    reference="rubric v0.1, pairwise preference",
    per=("family", "system"),
    choices=("clusters",),
    ties="half",
    history=WITH_WIDTH,
)
TIE_SHARE = _definition(
    "tie_share",
    "Share of votes that were ties.",
    "ties / votes",
    edge_cases="no votes: None",
    reference="rubric v0.1, pairwise preference: tie only if truly indistinguishable",
    ties="counted",
)
LEFT_SHARE = _definition(
    "left_share",
    "Share of decided votes for the clip on the left; 0.5 is no position bias.",
    "left wins / (left wins + right wins), sides known",
    edge_cases="no decided vote with a known side: None",
    reference="sides are counter-balanced by the study; docs/statistics.md",
    choices=("clusters",),
    ties="drop",
    history=WITH_WIDTH,
)
BT_SIDE_EFFECT = _definition(
    "bt_side_effect",
    "What standing on the left adds to a clip's log odds of winning, strengths taken into account; 0 is no effect.",
    "δ in d = θ_i − θ_j + δ · side, side 1 where i stood left, −1 where j did; maximum likelihood",
    unit="log odds",
    lowest=None,
    highest=None,
    edge_cases="no vote with a known side, one side that won everything, or votes that cannot be ranked: None",
    reference="Agresti 2002, home advantage; Davidson & Beaver 1977",
    choices=("clusters",),
    history=FLOORED,
)
DIMENSION_MEAN = _definition(
    "dimension_mean",
    "Mean 1–5 rating of a system on one dimension of the rubric.",
    "Σ ratings / their number",
    unit="points",
    lowest=1.0,
    highest=5.0,
    better="higher",
    edge_cases="one rater: no interval",
    reference="rubric v0.1, rating dimensions",
    per=("dimension", "system"),
    choices=("clusters",),
    ties="counted",
    history=TWO_WAYS,
)
TAG_COUNT = _definition(
    "tag_count",
    "How often raters gave a reason tag.",
    "votes with the tag as primary, or among the secondary",
    unit="votes",
    highest=None,
    edge_cases="a tag that nobody gave has no row",
    reference="rubric v0.1, reason tags",
    per=("role", "tag"),
    ties="counted",
)
HEAD_TO_HEAD = _definition(
    "head_to_head",
    "Share of the votes between two systems that the first of them won, a tie as half.",
    "(wins + ties/2) / votes of this pair of systems",
    better="higher",
    edge_cases="systems that never met have no row; where nothing varies, votes count as independent",
    reference="rubric v0.1, pairwise preference",
    per=("against", "system"),
    choices=("clusters",),
    ties="half",
    history=WITH_WIDTH[::2],
)
TAG_AGAINST = _definition(
    "tag_against",
    "How often a reason tag was given in a vote that the system lost: a tag names a failure of the clip not preferred.",
    "decided votes with the tag, primary or secondary, that the system lost",
    unit="votes",
    highest=None,
    better="lower",
    edge_cases="a tag that nobody gave has no row; in a tie a tag counts against neither",
    reference="rubric v0.1, reason tags",
    per=("system", "tag"),
    ties="drop",
)
SAMPLES_BELOW_MINIMUM = _definition(
    "samples_below_minimum",
    "How many samples have fewer raters than the rubric asks for.",
    "samples with a vote and fewer than `minimum` raters; the count is all samples with a vote",
    unit="samples",
    highest=None,
    better="lower",
    edge_cases="a sample that nobody voted on is in no result and not counted; no votes: 0 of 0",
    reference="rubric v0.1, quality control: minimum 2 raters per sample",
    per=("family",),
    choices=("minimum",),
    ties="counted",
)

DEFINITIONS = (
    *(value for value in tuple(globals().values()) if isinstance(value, Definition)),
    *OPINION_DEFINITIONS,
    *VALIDITY_DEFINITIONS,
    *PLAN_DEFINITIONS,
    *METHOD_PLAN_DEFINITIONS,
)
"""In the order they stand above, which is the catalogue's, then those of metrics against votes and of plans."""
