"""Every number of a comparison of two runs, or of systems on a board, in the order the catalogue shows them.

`of` is the signature of the metric that was compared, its bars written as semicolons: a mean difference of one
reading never compares with that of another. `at` has the metric's name, and what the metric itself was about.
Differences of runs are second run − first run; those of systems are first − second, as `at` names them.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params

_REFERENCE = "rushes compare"
_BOARD = "rushes board"
_OWN_UNIT = "the metric's own"

EXACT_PATTERNS = 22
"""Up to so many differences that are not 0, every pattern of their signs is counted."""
LARGEST_PATTERNS = 12
"""Beyond that, every pattern of so many of the largest."""

STUDENT_T = "student-t"
"""Interval of a mean: mean ± t(n − 1, (1 + level)/2) · s / √n, s the sample standard deviation (Student 1908)."""
EXACT = "clopper-pearson-of-changed"
"""Interval for a true/false metric: (m / n) · (2π − 1), m the clips that changed of n, π the exact binomial limits of
the share of them that rose (Clopper and Pearson 1934, given the clips that changed)."""

MEAN_DIFFERENCE = Definition(
    name="paired_mean_difference",
    unit=_OWN_UNIT,
    lowest=None,
    highest=None,
    better="neither",
    summary="How far a metric moved from the first run to the second, on average over the clips in both.",
    formula="mean over clips of (value in the second run − value in the first); its interval is Student's t, for a "
    "true/false metric the exact binomial one of the clips that changed",
    edge_cases="A clip without a value in either run is left out and counted in the note. No clip left: no value. No "
    "interval where fewer than two clips are left, all differences are equal, or no flag changed; the note says which.",
    reference="Student 1908; Clopper and Pearson 1934; " + _REFERENCE,
    open_params=("of",),
    places=("metric",),
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
    open_params=("of",),
    places=("change", "metric"),
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
    open_params=("profile", "tier"),
    places=("after", "before"),
)
SYSTEM_DIFFERENCE = Definition(
    name="system_mean_difference",
    unit=_OWN_UNIT,
    lowest=None,
    highest=None,
    better="neither",
    summary="How far one system's values lie above another's, on average over the prompts that both answered.",
    formula="mean over prompts of (value of the first system − value of the second), values as stored, 8 decimals; its "
    "interval is Student's t, for a true/false metric the exact binomial one of the prompts that differ",
    edge_cases="A prompt without a value of either system, or whose two clips differ in a fact that the metric depends "
    "on, is left out and counted in the note. None left: no value. No interval where fewer than two prompts are left, "
    "all differences are equal, or no flag differs; the note says which. The interval is of this pair alone; whether "
    "the two are told apart is for the adjusted p.",
    reference="Student 1908; Clopper and Pearson 1934; " + _BOARD,
    params=signature_params(over="shared-prompts"),
    open_params=("of",),
    places=("first", "metric", "second"),
)
NUMBER_DIFFERENCE = Definition(
    name="system_difference",
    unit=_OWN_UNIT,
    lowest=None,
    highest=None,
    better="neither",
    summary="One system's number less another's, where each has one number for all its clips.",
    formula="number of the first system − number of the second, as stored, 8 decimals",
    edge_cases="Either missing, or measured against another ground truth: no value. It has no interval: that of a "
    "difference cannot be made from those of two numbers.",
    reference=_BOARD,
    open_params=("of",),
    places=("first", "metric", "second"),
)
SIGN_FLIP = Definition(
    name="sign_flip_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often chance alone makes a mean difference this large, if either system, or run, could have made "
    "either clip.",
    formula="share of all patterns of signs of the differences whose sum is at least as far from 0 as the sum found; "
    "beyond 22 clips that differ, all patterns of the 12 largest, the rest as a normal with their own variance, less "
    "one step of the grid that all sizes lie on, where they do; sums within 1e-8 a clip count as equal",
    edge_cases="Prompts or clips that do not differ are left out. None differs: 1. None shared: no value. The smallest "
    "possible is 2^(1 − n) for n that differ. Of a true/false metric, and where all differences are equal, it is the "
    "exact sign test.",
    reference="Fisher 1935; Pitman 1937; Romano 1990",
    params=signature_params(alternative="two-sided", beyond="normal", exact=EXACT_PATTERNS, largest=LARGEST_PATTERNS),
    open_params=("of",),
    places=("metric",),
)
INTERVAL_P = Definition(
    name="interval_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often chance alone takes two systems' numbers this far apart, read off intervals.",
    formula="2·Φ(−z·|Δ|/h), z the normal quantile of the interval's level. evidence:difference is a difference Δ "
    "that its run drew an interval of, h from Δ to the end towards 0. evidence:two-intervals is the difference Δ of "
    "two numbers, h the halves that face each other, summed: p ≤ α where two intervals at level 1 − α do not touch",
    edge_cases="No interval: no value. Summed halves are as large as the error of a difference can be, whatever the "
    "two numbers share, so two-intervals finds less than a difference would.",
    reference="Schenker and Gentleman 2001 on judging by overlap; " + _BOARD,
    params=signature_params(alternative="two-sided", tail="normal"),
    open_params=("evidence", "of"),
    places=("first", "metric", "second"),
)
HOLM_P = Definition(
    name="holm_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="The p of one pair of systems on one reading, allowing for everything else that the board tests.",
    formula="Holm's step-down over the board's tests: sorted upwards, the largest so far of (m − k + 1)·p(k). `test` "
    "says which p went in: sign-flip is sign_flip_p, interval is interval_p",
    edge_cases="A pair whose prompts do not differ at all is no test (it could not give a false alarm): 1. No p: none.",
    reference="Holm 1979; " + _BOARD,
    open_params=("family", "of", "test", "tests"),
    places=("first", "metric", "second"),
)

BADGE_SHARE = Definition(
    name="badge_share",
    unit="ratio",
    lowest=0,
    highest=1,
    better="neither",
    summary="Share of clips with this review signal under one profile; of one clip, whether it has it.",
    formula="#(clips with the badge) / #(clips with any badge); its interval is Wilson's",
    edge_cases="A clip without a badge is no value. Other rules, tiers or forms of the clips are another signature. A "
    "review signal is a reason to look and no verdict, so neither direction is better.",
    reference="rushes board; Wilson 1927",
    params=signature_params(),
    open_params=("profile", "tier", "input"),
    places=("badge",),
)

DEFINITIONS = (
    MEAN_DIFFERENCE,
    CHANGED_CLIPS,
    BADGE_TRANSITIONS,
    BADGE_SHARE,
    SYSTEM_DIFFERENCE,
    NUMBER_DIFFERENCE,
    SIGN_FLIP,
    INTERVAL_P,
    HOLM_P,
)


def of(definition: Definition, metric: Definition) -> Definition:
    """A comparison's definition for one metric.

    >>> from rushes.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> of(MEAN_DIFFERENCE, FREEZE_FRAME_RATIO).signature
    'paired_mean_difference|of:freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1|v:1'
    """
    bound = definition.with_params(of=metric.signature.replace("|", ";"))
    # Only a difference has the metric's unit and, where a change tells, its direction.
    if definition == MEAN_DIFFERENCE:
        return replace(bound, unit=metric.unit, better=metric.better if metric.judges else "neither")
    if definition in (SYSTEM_DIFFERENCE, NUMBER_DIFFERENCE):
        return replace(bound, unit=metric.unit, better=metric.better if ranks_systems(metric) else "neither")
    return bound


def ranks_systems(metric: Definition) -> bool:
    """Whether a difference says which of two systems is better: nothing else moves the value, to either side.

    Of two runs one came first, so a change to the one side that judges is a verdict. Of two systems either may be the
    other's degraded copy: a rise by one is a fall by the other, and both sides must judge.
    """
    return all(metric.verdict(rose=rose) != "moved" for rose in (True, False))
