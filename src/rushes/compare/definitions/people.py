"""Every number about how far a metric goes with people, in the order the catalogue shows them.

`of` is the signature of the metric, its bars written as semicolons; `at` has its name and the human dimension. `turned`
says whether the metric was read as it is or with its sign changed (lower is better), so that a positive number always
means that the metric's better side is the one people like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.stats.correlation import Statistic

_OPEN = ("level", "of", "humans", "turned", "interval", "confidence")
_REFERENCE = "rushes believe"
_EDGE = (
    "Clips without a metric value or without a rating are left out. Fewer than three clips (at the level of systems: "
    "systems), a metric or people that give every clip the same: no value. No interval where there is one prompt; "
    "where single raters are not known it is over prompts alone."
)
_LEVELS = (
    "Level clip: all clips pooled. Level within-prompt: numerator and denominator summed over prompts, only clips of "
    "one prompt compared with each other. Level within-system: the value of each system's clips alone, mean over the "
    "systems that have one. Level system: means of the systems over the prompts that all of them have."
)
_SURE = (
    "Interval: two-way jackknife over prompts (more than 50 are dealt in text order into 50 groups) and raters, both "
    "variances added, Student's t; at the level of systems the percentiles of 1000 draws of both, systems kept."
)


def _correlation(name: str, title: str, formula: str, reference: str) -> Definition:
    return Definition(
        name=name,
        unit="1",
        lowest=-1,
        highest=1,
        better="higher",
        summary=f"How far a metric goes with people's mean rating over the same clips: {title}.",
        formula=f"{formula}. {_LEVELS} {_SURE}",
        edge_cases=_EDGE,
        reference=f"{reference}; {_REFERENCE}",
        open_params=_OPEN,
        places=("dimension", "metric"),
    )


TAU_B = _correlation(
    "human_kendall_tau_b",
    "Kendall's τ-b",
    "(concordant − discordant pairs) / √(pairs with different metric · pairs with different ratings)",
    "Kendall 1945",
)
TAU_C = _correlation(
    "human_kendall_tau_c",
    "Stuart's τ-c",
    "(concordant − discordant pairs) / (n² (m − 1) / 2m), m the smaller number of distinct values",
    "Stuart 1953",
)
SPEARMAN = _correlation(
    "human_spearman", "Spearman's ρ", "Pearson's r of the ranks, equals at their mean rank", "Spearman 1904"
)
PEARSON = _correlation("human_pearson", "Pearson's r", "Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² Σ(y − ȳ)²)", "Pearson 1895")
ACCURACY = replace(
    TAU_B,
    name="human_pairwise_accuracy",
    unit="ratio",
    lowest=0,
    summary="Share of pairs of systems, prompt by prompt, that a metric puts in the order people put them in; a coin "
    "has 0.5.",
    formula="(pairs ordered alike + ½ · pairs that the metric leaves equal) / pairs that people's mean ratings order. "
    f"{_LEVELS} {_SURE}",
    edge_cases=f"Pairs that people leave equal are not counted. {_EDGE}",
    reference=_REFERENCE,
    params=signature_params(human_ties="dropped", metric_ties="half"),
)
CEILING = Definition(
    name="human_ceiling",
    unit="1",
    lowest=-1,
    highest=1,
    better="neither",
    summary="How far one person goes with the others: what a metric as good as a person would reach.",
    formula="the statistic of each rater against the mean of the other raters, over the clips that both rated; mean "
    "over raters",
    edge_cases="Fewer than two raters, or a rater without a value: none. Its interval leaves out prompts, and raters "
    "where there are three or more; at the level of systems there is none.",
    reference=_REFERENCE,
    open_params=("statistic", "level", "humans", "interval", "confidence"),
    places=("dimension",),
)
CHANCE = Definition(
    name="human_agreement_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often prompts and raters alone would give at least this much agreement, if there were none.",
    formula="two-sided Student's t of atanh(value), of an accuracy a atanh(2a − 1), over its jackknife error (the "
    "value itself where it or a leave-out is ±1), Satterthwaite's degrees of freedom; no less than 2^(1 − prompts), "
    "what their signs alone can give; adjusted for every metric judged on the same question (Holm 1979)",
    edge_cases="No interval: no p.",
    reference=f"Holm 1979; {_REFERENCE}",
    params=signature_params(adjust="holm"),
    open_params=("statistic", "level", "of", "humans", "turned", "interval", "judged"),
    places=("dimension", "metric"),
    history=(
        "first release",
        "Holm's rule within a question: what else was asked changed it",
        "no less than signs of so many prompts can give: five prompts gave p = .003",
    ),
)

CREDENTIAL = Definition(
    name="credential_agreement",
    unit="1",
    lowest=-1,
    highest=1,
    better="higher",
    summary="How far a metric agreed with people on one question and one set of clips, as its credential has it.",
    formula="agreement pairs-right: human_pairwise_accuracy within prompts; all-clips: human_spearman over all clips; "
    "within-system: the mean over systems of human_spearman among one system's clips. who: the metric, or one person "
    "against the mean of the others. data: the name of the ratings and the digest of their rows",
    edge_cases="One person: only where single raters are known.",
    reference="rushes believe --save",
    open_params=("agreement", "data", "of", "who"),
    places=("dimension", "metric"),
)

OF_STATISTIC: Mapping[Statistic, Definition] = {
    "kendall_tau_b": TAU_B,
    "kendall_tau_c": TAU_C,
    "spearman": SPEARMAN,
    "pearson": PEARSON,
    "pairwise_accuracy": ACCURACY,
}
DEFINITIONS = (*OF_STATISTIC.values(), CEILING, CHANCE, CREDENTIAL)
