"""Every definition of this instrument, in the catalogue's order: what judges say of clips, then what a judge is worth.

Each signature says who judged (kind, model, and what the endpoint says of its version), what it read (template,
questions by digest, and which of them), what it saw (frames, sampling, side, encoding), temperature and repeats.
`control` is what the run's own control found: only where it passed does a number say better or worse.
"""

from __future__ import annotations

from functools import partial

from rushes.core import Definition

WHO = ("kind", "model", "served")
SEEN = ("frames", "sampling", "side", "encoding", "temperature", "repeats")
READ = ("template", "questions", "question")
_OPEN = (*WHO, *SEEN, *READ)
_REFERENCE = "docs/judge.md"

_of_clips = partial(
    Definition,
    better="higher",
    open_params=(*_OPEN, "control"),
    named_by=("question",),
    edge_cases="no usable answer: None, with what was wrong; answers that are missing are left out of the mean",
    raised_by=(),
)
_of_ranking = partial(
    _of_clips,
    open_params=(*_OPEN, "control", "orders", "ties", "prior"),
    places=("system",),
    edge_cases="votes that cannot be ranked (only ties, systems that never met): None",
)
_of_judge = partial(Definition, open_params=_OPEN, named_by=("question",), reference=_REFERENCE)
_share = partial(_of_judge, unit="ratio", lowest=0.0, highest=1.0)

JUDGE_GRADE = _of_clips(
    name="judge_grade",
    unit="points",
    lowest=1.0,
    highest=5.0,
    summary="What a judge answers to a question with five anchors in words.",
    formula="mean of the grades over the repeats",
    reference="graded questions in place of yes/no: WorldJen, arXiv 2605.03475",
)
JUDGE_YES_SHARE = _of_clips(
    name="judge_yes_share",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    summary="Share of the questions made from the prompt that a judge answers with yes.",
    formula="Σ yes / questions, the mean over the repeats; negated questions are not among them",
    reference="ETVA, arXiv 2503.16867",
)
JUDGE_PREFERENCE = _of_clips(
    name="judge_preference",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="neither",
    open_params=(*_OPEN, "control", "orders"),
    places=("first", "second"),
    summary="How often a judge prefers the first system's clip of a prompt to the second's.",
    formula="mean over both orders and the repeats; first 1, tie ½, second 0",
    reference="both orders: Zheng et al. 2023, arXiv 2306.05685",
)
JUDGE_ELO = _of_ranking(
    name="judge_elo",
    unit="Elo",
    lowest=None,
    highest=None,
    summary="Strength of a system from a judge's pairs, on the Elo scale; 1000 is the mean of the systems compared.",
    formula="1000 + 400/ln10 · θ, Bradley–Terry with Davidson's ties; one vote per pair of clips: a win where both "
    "orders agree, else a tie",
    reference="as bt_elo of people's votes; the two are never mixed",
)
JUDGE_RANK = _of_ranking(
    name="judge_rank",
    unit="rank",
    lowest=1.0,
    highest=None,
    better="lower",
    summary="Rank of a system by a judge's pairs, and the ranks that they leave open.",
    formula="1 + stronger systems; the interval has the ranks that sign-flip tests of every two systems over prompts "
    "leave open, under Holm's rule",
    reference="Holm 1979; the test that boards use",
)
JUDGE_WIN_SHARE = _of_ranking(
    name="judge_win_share",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    summary="Share of its pairs that a system won, a tie as half.",
    formula="(wins + ties/2) / pairs, mean over prompts",
    reference="as win_share of people's votes",
)
JUDGE_CONTROL_WINS = _share(
    name="judge_control_wins",
    better="higher",
    summary="How often a judge scores a clip higher with its own prompt than with another clip's; ½ is blind.",
    formula="mean over prompts of wins + ties/2. The other prompt is the next one in the order of the prompts' "
    "digests. For pairs: the clip of the prompt against a clip of the other prompt, in both orders",
    edge_cases="fewer than two prompts, or no control asked for: None",
)
JUDGE_CONTROL_GAP = _of_judge(
    name="judge_control_gap",
    unit="ratio",
    lowest=-1.0,
    highest=1.0,
    better="higher",
    summary="How much lower a judge scores a clip with another clip's prompt, as a share of the scale.",
    formula="mean over prompts of (own − other) / (highest − lowest)",
    edge_cases="as judge_control_wins",
)
JUDGE_CONTROL_P = _share(
    name="judge_control_p",
    better="lower",
    summary="Chance of so large a gap between own and other prompts from a judge that is blind to the prompt.",
    formula="two-sided sign-flip test on the differences by prompt",
    edge_cases="as judge_control_wins",
)
JUDGE_PLANT_WINS = _share(
    name="judge_plant_wins",
    better="higher",
    places=("plant",),
    summary="How often a judge scores a clip higher than a copy with a strong planted degradation; ½ sees nothing.",
    formula="mean over clips of wins + ties/2; blur, noise, shuffled frames, and `all` of them together",
    edge_cases="no degradation planted: no row",
)
JUDGE_PLANT_MONOTONE = _share(
    name="judge_plant_monotone",
    better="higher",
    places=("plant",),
    summary="Share of clips whose score falls with the strength of a planted degradation.",
    formula="clips with original ≥ mild ≥ strong and original > strong, by clips",
    edge_cases="as judge_plant_wins",
)
JUDGE_PLANT_P = _share(
    name="judge_plant_p",
    better="lower",
    summary="Chance of so large a loss under planted degradations from a judge that sees none of them.",
    formula="two-sided sign-flip test on the differences original − strong, mean over the degradations of a clip",
    edge_cases="as judge_plant_wins",
)
JUDGE_REPEAT_SPREAD = _share(
    name="judge_repeat_spread",
    better="lower",
    summary="How far answers to the same question about the same clip spread, as a share of the scale.",
    formula="mean over clips of the sample standard deviation over repeats / (highest − lowest)",
    edge_cases="one repeat: None",
)
JUDGE_REPEAT_CHANGES = _share(
    name="judge_repeat_changes",
    better="lower",
    summary="Share of questions to which a judge does not give the same answer each time.",
    formula="questions about a clip with two different answers, by those with two answers or more",
    edge_cases="one repeat: None",
)
JUDGE_ORDER_FLIPS = _share(
    name="judge_order_flips",
    better="lower",
    summary="Share of pairs of which a judge prefers another clip when the order is turned.",
    formula="pairs decided in both orders for different clips, by pairs decided in both orders; the first repeat",
    edge_cases="no pair decided in both orders: None",
)
JUDGE_FIRST_SHARE = _share(
    name="judge_first_share",
    better="neither",
    summary="Share of decided answers for the clip that is shown first; ½ is no bias.",
    formula="answers A / (answers A + answers B), every pair in both orders",
    edge_cases="nothing but ties: None",
)
JUDGE_YES_BIAS = _of_judge(
    name="judge_yes_bias",
    unit="ratio",
    lowest=-0.5,
    highest=0.5,
    better="neither",
    summary="How much more often than right a judge says yes; 0 is none, ½ is always.",
    formula="mean over questions and their negations, of which one is true, of (yes + yes to the negation) / 2 − ½; "
    "interval over clips",
    edge_cases="no negated question answered: None",
)
JUDGE_UNANSWERED = _share(
    name="judge_unanswered",
    better="lower",
    places=("problem",),
    summary="Share of requests without an answer that can be used.",
    formula="requests refused, unparsable (an answer that is none of those asked for) or failed, by all requests",
    edge_cases="clips that cannot be read are not counted",
)
JUDGE_VERSIONS = _of_judge(
    name="judge_versions",
    unit="versions",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How many models answered, by what the endpoint says of itself; more than one is a change in mid-run.",
    formula="distinct `model` and `system_fingerprint` among the replies",
    edge_cases="a judge that says nothing about itself: 0",
)
JUDGE_TOKENS = _of_judge(
    name="judge_tokens",
    unit="tokens",
    lowest=0.0,
    highest=None,
    better="neither",
    places=("direction",),
    summary="Tokens that the endpoint counted, in and out.",
    formula="Σ `usage` of the replies, with those that made the questions; failed attempts are not counted",
    edge_cases="an endpoint that counts nothing: no row",
)

DEFINITIONS = tuple(value for value in tuple(globals().values()) if isinstance(value, Definition))
"""In the order they stand above."""
