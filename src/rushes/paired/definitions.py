"""Every number of a comparison of two runs, in the order the catalogue shows them.

`of` is the signature of the metric that was compared, its bars written as semicolons: a mean difference of one
reading never compares with that of another. Differences are always second run − first run.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params

_REFERENCE = "rushes compare"
_OWN_UNIT = "the metric's own"

MEAN_DIFFERENCE = Definition(
    name="paired_mean_difference",
    unit=_OWN_UNIT,
    lowest=None,
    highest=None,
    better="neither",
    summary="How far a metric moved from the first run to the second, on average over the clips in both.",
    formula="mean over clips of (value in the second run − value in the first)",
    edge_cases="A clip without a value in either run is left out and counted in the note. No clip left: no value.",
    reference=_REFERENCE,
    open_params=("of",),
)
T_LOW, T_HIGH = (
    Definition(
        name=f"paired_mean_difference_{end}",
        unit=_OWN_UNIT,
        lowest=None,
        highest=None,
        better="neither",
        summary=f"{end.capitalize()}er end of the interval of the mean difference.",
        formula=f"mean {sign} t(n − 1, (1 + level)/2) · s / √n, s the sample standard deviation of the differences",
        edge_cases="Fewer than two clips, or all differences equal: no value, the spread cannot be told.",
        reference="Student 1908; " + _REFERENCE,
        params=signature_params(interval="student-t", level=0.95),
        open_params=("of",),
    )
    for end, sign in (("low", "−"), ("high", "+"))
)
EXACT_LOW, EXACT_HIGH = (
    Definition(
        name=f"paired_mean_difference_{end}",
        unit=_OWN_UNIT,
        lowest=-1,
        highest=1,
        better="neither",
        summary=f"{end.capitalize()}er end of the interval of the mean difference of a true/false metric.",
        formula="(m / n) · (2π − 1), m the clips that changed of n, π the exact binomial limit of the share of them "
        "that rose",
        edge_cases="No clip changed: no value, an exact interval needs one.",
        reference="Clopper and Pearson 1934, given the clips that changed; " + _REFERENCE,
        params=signature_params(interval="clopper-pearson-of-changed", level=0.95),
        open_params=("of",),
    )
    for end in ("low", "high")
)
SIGN_TEST = Definition(
    name="paired_sign_test_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often chance alone splits the clips that changed at least this unevenly into up and down.",
    formula="exact two-sided binomial probability of `rose` out of `rose + fell` at one half",
    edge_cases="Clips that did not change are left out. None changed: no value.",
    reference="the sign test (Arbuthnott 1710; Dixon and Mood 1946), scipy.stats.binomtest",
    params=signature_params(alternative="two-sided", ties="dropped"),
    open_params=("of",),
)
CHANGED_CLIPS = Definition(
    name="paired_clip_count",
    unit="clips",
    lowest=0,
    highest=None,
    better="neither",
    summary="Clips whose value rose, fell or stayed the same from the first run to the second.",
    formula="#(second > first), #(second < first) or #(second = first), values as stored, 8 decimals",
    edge_cases="A clip without a value in either run is not counted. No clip has both: no value.",
    reference=_REFERENCE,
    open_params=("change", "of"),
)
BADGE_TRANSITIONS = Definition(
    name="badge_transition_count",
    unit="clips",
    lowest=0,
    highest=None,
    better="neither",
    summary="Clips with one review signal in the first run and this one in the second.",
    formula="#(clips in both runs with badge `before` in the first and `after` in the second)",
    edge_cases="Badges under different profiles or tiers are refused. A subject without a badge is not counted.",
    reference=_REFERENCE,
    open_params=("after", "before", "profile", "tier"),
)

DEFINITIONS = (MEAN_DIFFERENCE, T_LOW, T_HIGH, EXACT_LOW, EXACT_HIGH, SIGN_TEST, CHANGED_CLIPS, BADGE_TRANSITIONS)


def of(definition: Definition, metric: Definition) -> Definition:
    """A comparison's definition, settled for one metric.

    >>> from rushes.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> of(MEAN_DIFFERENCE, FREEZE_FRAME_RATIO).signature
    'paired_mean_difference|of:freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1|v:1'
    """
    settled = definition.with_params(of=metric.signature.replace("|", ";"))
    if definition.unit == _OWN_UNIT:
        settled = replace(settled, unit=metric.unit)
    # Only the mean says which way is better; the rest describe how sure it is.
    return replace(settled, better=metric.better) if definition is MEAN_DIFFERENCE else settled
