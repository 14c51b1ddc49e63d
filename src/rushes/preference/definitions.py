"""Every definition of this instrument, in the order the catalogue shows them.

No rate without its conditions: each definition leaves open, and so each number states, the rubric's version, whether
its raters were people or a program, the exclusion rule and the kind of labels; `ties` says what a tie was to it. How
many raters there were is no method: a number's count says what it rests on. Which system, family, dimension, tag or
metric it is about is its `at`; how sure it is, its interval.
"""

from __future__ import annotations

from rushes.core import Definition, signature_params
from rushes.core.definition import Better

_CONDITIONS = ("exclusion", "labels", "raters", "rubric")
_FIRST = ("first release",)
_FIRST_VOTES = (*_FIRST, "from the first min_raters votes of every sample; a third rater of disputes inflated it")


def _definition(
    name: str,
    summary: str,
    formula: str,
    *,
    unit: str = "ratio",
    lowest: float | None = 0.0,
    highest: float | None = 1.0,
    better: Better = "neither",
    edge_cases: str = "",
    reference: str = "",
    per: tuple[str, ...] = (),
    choices: tuple[str, ...] = (),
    ties: str = "",
    history: tuple[str, ...] = _FIRST,
) -> Definition:
    """`per` is what a number is about, `choices` what its caller chooses; `ties` is what a tie counts as, empty where
    the study chooses a policy."""
    return Definition(
        name=name,
        unit=unit,
        lowest=lowest,
        highest=highest,
        better=better,
        summary=summary,
        formula=formula,
        edge_cases=edge_cases,
        reference=reference,
        params=signature_params(ties=ties) if ties else (),
        open_params=(*_CONDITIONS, *choices) if ties else (*_CONDITIONS, *choices, "ties"),
        places=per,
        history=history,
    )


PERCENT_AGREEMENT = _definition(
    "percent_agreement",
    "How often two of a sample's first raters chose the same winner.",
    "mean over samples of Σ_c n_c (n_c − 1) / (n (n − 1)), n_c raters for outcome c",
    better="higher",
    edge_cases="samples with one vote are left out; none with two: None; votes after the first min_raters never "
    "count: a third rater comes only where two disagree",
    reference="rubric v0.1, quality control",
    per=("family",),
    choices=("votes",),
    ties="outcome",
    history=_FIRST_VOTES,
)
KRIPPENDORFF_ALPHA = _definition(
    "krippendorff_alpha",
    "Agreement beyond chance, for any number of raters and missing votes.",
    "1 − observed / expected disagreement, of winners (a < tie < b beyond the nominal level) or of 1–5 ratings on one "
    "dimension",
    unit="1",
    lowest=None,
    better="higher",
    edge_cases="one outcome only, or no sample with two votes: None",
    reference="Krippendorff 2011",
    per=("family",),
    choices=("level", "of", "votes"),
    ties="outcome",
    history=_FIRST_VOTES,
)
FLEISS_KAPPA = _definition(
    "fleiss_kappa",
    "Agreement beyond chance with pooled shares of outcomes; collapses when nearly all votes go one way.",
    "(p_a − Σπ²) / (1 − Σπ²)",
    unit="1",
    lowest=None,
    better="higher",
    edge_cases="one outcome only, or no sample with two votes: None",
    reference="Fleiss 1971; Gwet 2014 for missing votes",
    per=("family",),
    choices=("votes",),
    ties="outcome",
    history=_FIRST_VOTES,
)
COHEN_KAPPA = _definition(
    "cohen_kappa",
    "Agreement beyond chance of two raters, averaged over all pairs of raters who share samples.",
    "mean over rater pairs of (p_o − p_e) / (1 − p_e)",
    unit="1",
    lowest=-1.0,
    better="higher",
    edge_cases="pairs with one outcome only are left out and counted in the note",
    reference="Cohen 1960; Light 1971",
    per=("family",),
    choices=("votes",),
    ties="outcome",
    history=_FIRST_VOTES,
)
GWET_AC1 = _definition(
    "gwet_ac1",
    "Agreement beyond chance that stays meaningful when nearly all votes go one way.",
    "(p_a − p_e) / (1 − p_e), p_e = Σ π(1 − π) / (q − 1), q = 3 outcomes",
    unit="1",
    lowest=None,
    better="higher",
    edge_cases="no sample with two votes: None",
    reference="Gwet 2008",
    per=("family",),
    choices=("votes",),
    ties="outcome",
    history=_FIRST_VOTES,
)
BT_ELO = _definition(
    "bt_elo",
    "Strength of a system from all pairwise votes, on the Elo scale; 1000 is the mean of the systems compared.",
    "1000 + 400/ln10 · θ, θ the Bradley–Terry maximum-likelihood log worth, Σθ = 0",
    unit="Elo",
    lowest=None,
    highest=None,
    better="higher",
    edge_cases="comparison graph in pieces, a system that won everything (without a prior), only ties: None",
    reference="Bradley & Terry 1952; ties: Davidson 1970, Rao & Kupper 1967",
    per=("system",),
    choices=("prior",),
)
BT_RANK = _definition(
    "bt_rank",
    "Rank of a system by strength, and the ranks that its votes leave open.",
    "interval: 1 + systems surely stronger to n − systems surely weaker; all pairwise differences jointly (Bonferroni)",
    unit="rank",
    lowest=1.0,
    highest=None,
    better="lower",
    edge_cases="no ranking: None; one rater: every rank stays possible",
    reference="Bonferroni bounds on all pairwise differences; docs/statistics.md",
    per=("system",),
    choices=("prior",),
)
BT_TIE_PARAMETER = _definition(
    "bt_tie_parameter",
    "How readily raters call a tie: ν of Davidson's model, η of Rao and Kupper's.",
    "maximum likelihood, together with the strengths",
    unit="1",
    highest=None,
    edge_cases="no ranking, or a policy without such a parameter: None",
    reference="Davidson 1970; Rao & Kupper 1967",
    choices=("prior",),
)
BT_FIT_P = _definition(
    "bt_fit_p",
    "Chance of a worse fit if the model holds; near 0, one strength per system does not explain the votes.",
    "P(χ²_df > G²), G² = 2 Σ observed ln(observed / expected)",
    edge_cases="no degrees of freedom (two systems), half-tie, or a prior: None",
    reference="likelihood-ratio test against free outcome shares per pair",
    choices=("prior",),
)
DROP_K_VOTES = _definition(
    "drop_k_votes",
    "Votes whose removal puts another system first; an upper bound, verified by a refit.",
    "shortest prefix of the votes, ordered by influence on the leader's gap, whose removal changes the leader",
    unit="votes",
    highest=None,
    better="higher",
    edge_cases="shared lead: 0; no ranking, half-tie, or no such removal found: None",
    reference="Huang et al. 2025",
    choices=("prior",),
)
DROP_K_SHARE = _definition(
    "drop_k_share",
    "Share of the votes whose removal puts another system first.",
    "drop_k_votes / votes used by the ranking",
    better="higher",
    edge_cases="as drop_k_votes",
    reference="Huang et al. 2025",
    choices=("prior",),
)
WIN_SHARE = _definition(
    "win_share",
    "Share of its votes that a system won, a tie as half; depends on whom it met.",
    "(wins + ties/2) / votes",
    better="higher",
    edge_cases="no votes: None",
    reference="rubric v0.1, pairwise preference",
    per=("family", "system"),
    ties="half",
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
    ties="drop",
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
    ties="counted",
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
METRIC_PICKS_WINNER = _definition(
    "metric_picks_winner",
    "How often the metric's better clip is the one people chose; 0.5 is chance.",
    "drop: right / (right + wrong), undecided left out; half: (right + undecided/2) / votes, where undecided is a tie "
    "of people or equal values",
    better="higher",
    edge_cases="no vote with both values: None; a metric without a direction is read as higher-is-better and says so",
    reference="docs/statistics.md, metrics against votes",
    per=("metric", "reading"),
    choices=("direction",),
)
BADGE_WIN_SHARE = _definition(
    "badge_win_share",
    "How often a clip with this badge won against a clip with another badge.",
    "wins / decided votes between clips of different badges",
    edge_cases="no such vote: None",
    reference="docs/statistics.md, metrics against votes",
    per=("badge",),
    ties="drop",
)
TAG_METRIC_CHECK = _definition(
    "tag_metric_check",
    "How often the clip that lost has the worse metric value, among votes with the tag and among votes without.",
    "losers with the worse value / decided votes with different values",
    edge_cases="no such vote: None",
    reference="docs/statistics.md, metrics against votes",
    per=("metric", "reading", "tag", "tagged"),
    ties="drop",
)
SUGGESTED_THRESHOLD = _definition(
    "suggested_threshold",
    "The value at which the votes would draw the line between clips that lose and clips that win.",
    "midpoint of observed values with the best balanced accuracy for 'this clip loses'; fitted and judged on the same "
    "votes, a suggestion for review",
    unit="the metric's unit",
    lowest=None,
    highest=None,
    edge_cases="one value only, no direction, or nothing better than chance: None",
    reference="balanced accuracy (Youden 1950); docs/statistics.md, metrics against votes",
    per=("metric", "reading"),
    ties="drop",
)
SUGGESTED_THRESHOLD_ACCURACY = _definition(
    "suggested_threshold_accuracy",
    "Balanced accuracy of the suggested threshold on the votes it was drawn from.",
    "(share of losing clips beyond it + share of winning clips within it) / 2",
    better="higher",
    edge_cases="as suggested_threshold",
    reference="balanced accuracy (Youden 1950)",
    per=("metric", "reading"),
    ties="drop",
)

DEFINITIONS = tuple(value for value in tuple(globals().values()) if isinstance(value, Definition))
"""In the order they stand above, which is the catalogue's."""
