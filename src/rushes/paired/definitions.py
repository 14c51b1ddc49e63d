"""Every number of a comparison of two runs, in the order the catalogue shows them.

`of` is the signature of the metric that was compared, its bars written as semicolons: a mean difference of one
reading never compares with that of another. `at` has the metric's name, and what the metric itself was about.
Differences are always second run − first run.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params

_REFERENCE = "rushes compare"
_OWN_UNIT = "the metric's own"

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

DEFINITIONS = (MEAN_DIFFERENCE, SIGN_TEST, CHANGED_CLIPS, BADGE_TRANSITIONS)


def of(definition: Definition, metric: Definition) -> Definition:
    """A comparison's definition for one metric.

    >>> from rushes.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> of(MEAN_DIFFERENCE, FREEZE_FRAME_RATIO).signature
    'paired_mean_difference|of:freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1|v:1'
    """
    bound = definition.with_params(of=metric.signature.replace("|", ";"))
    if definition is MEAN_DIFFERENCE:  # only the mean has the metric's unit and, where a change tells, its direction
        return replace(bound, unit=metric.unit, better=metric.better if metric.judges else "neither")
    return bound
