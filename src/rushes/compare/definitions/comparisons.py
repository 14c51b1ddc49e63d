"""Every number of a comparison of two runs, of systems on a board and of a gate, in the order of the catalogue.

`of` is the signature of the metric that was compared, its bars written as semicolons: a mean difference of one
reading never compares with that of another. `at` has the metric's name, and what the metric itself was about.
Differences are second − first, of runs and of systems, as `at` names them. `margin` is a gate's margin in the metric's
unit: a probability against one margin is never taken for that against another.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rushes.core import Definition, signature_params
from rushes.core.definition import Setting
from rushes.instruments.clip.readings import BADGE_SHARE
from rushes.stats.sign_flip import EXACT_PATTERNS, LARGEST_PATTERNS

_REFERENCE = "rushes compare"
_BOARD = "rushes board"
_GATE = "rushes gate"
_OWN_UNIT = "the metric's own"
_number = partial(Definition, better="neither", open_params=("of",), places=("metric",))
_probability = partial(_number, unit="probability", lowest=0, highest=1)
_clips = partial(_number, unit="clips", lowest=0, highest=None)
_of_metric = partial(_number, unit=_OWN_UNIT, lowest=None, highest=None)

MEAN_DIFFERENCE = _of_metric(
    name="paired_mean_difference",
    summary="How much a metric changed from the first run or system to the second, on average over the clips, or "
    "prompts, that both have.",
    formula="mean over clips of (value of the second − value of the first), values as stored, 8 decimals; its interval "
    "is Student's t, for a true/false metric the exact binomial one of the clips that changed",
    edge_cases="A clip without a value on either side, or whose two files differ in a fact that the metric depends on, "
    "is left out and counted in the note. No clip left: no value. No interval where fewer than two clips are left, all "
    "differences are equal, or no flag changed; the note says which. The interval is of this pair alone; whether the "
    "change is significant among all that are judged together is for the adjusted p.",
    reference="Student 1908; Clopper and Pearson 1934; " + _REFERENCE + "; " + _BOARD,
)
CHANGED_CLIPS = _clips(
    name="paired_clip_count",
    summary="Clips whose value rose, fell or stayed the same from the first run to the second.",
    formula="#(second > first), #(second < first) or #(second = first), values as stored, 8 decimals",
    edge_cases="A clip without a value in either run is not counted. No clip has both: no value.",
    reference=_REFERENCE,
    places=("change", "metric"),
)
BADGE_TRANSITIONS = _clips(
    name="badge_transition_count",
    summary="Clips with one review signal in the first run and this one in the second.",
    formula="#(clips in both runs with review signal `before` in the first and `after` in the second)",
    edge_cases="Review signals under different profiles or tiers are refused. A clip without one is not counted.",
    reference=_REFERENCE,
    open_params=("profile", "tier"),
    places=("after", "before"),
)
NUMBER_DIFFERENCE = _of_metric(
    name="system_difference",
    summary="The second system's number less the first's, where each has one number for all its clips.",
    formula="number of the second system − number of the first, as stored, 8 decimals",
    edge_cases="Either missing, or measured against another ground truth: no value. It has no interval: that of a "
    "difference cannot be made from those of two numbers.",
    reference=_BOARD,
    places=("first", "metric", "second"),
    history=("first − second", "second − first, as every other difference"),
)
SIGN_FLIP = _probability(
    name="sign_flip_p",
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
)
INTERVAL_P = _probability(
    name="interval_p",
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
HOLM_P = _probability(
    name="holm_p",
    summary="The p of one pair of systems on one metric, adjusted for everything else that the board tests.",
    formula="Holm's step-down inside a family of tests: sorted upwards, the largest so far of (m − k + 1)·p(k)/share. "
    "Families: people; metrics with a credential; other metrics. `share` is the family's part of the allowed error "
    "while all have tests left, 1 where it is not given; a family whose differences are all significant passes its "
    "share on. "
    "`test` says which p went in: sign-flip is sign_flip_p, interval is interval_p",
    edge_cases="A pair whose prompts do not differ at all is no test (it could not give a false alarm): 1. No p: none. "
    "Facts of the file, and columns that say the same as another, are not tested.",
    reference="Holm 1979; Bretz, Maurer, Brannath and Posch 2009 on passing shares on; " + _BOARD,
    open_params=("family", "of", "test", "tests"),
    places=("first", "metric", "second"),
    history=(
        "Holm inside each of two families, each with its share",
        "three families; one that is done passes its share on",
    ),
)
HOLM = _probability(
    name="paired_holm_p",
    summary="sign_flip_p, raised for the number of comparisons that are shown together.",
    formula="the i-th smallest of m probabilities becomes the largest of (m − j + 1) · p_j over j ≤ i, 1 at the most: "
    "where every change below 0.05 is told, the chance of one false one among them all is 5 % at the most",
    edge_cases="A comparison on which no clip changed is no member of the family (it could not give a false alarm): 1. "
    "One without a probability has no value here.",
    reference="Holm 1979; statsmodels.stats.multitest.multipletests(method='holm')",
    params=signature_params(alternative="two-sided", test="sign-flip"),
    open_params=("of", "tests"),
    history=("first release, of Student's t", "of sign_flip_p, as on a board"),
)
SPREAD = _number(
    name="paired_spread_difference",
    unit="standard deviations",
    lowest=-2,
    highest=2,
    summary="The mean difference in units of the metric's own spread: one scale for metrics of any unit.",
    formula="mean over clips of (second − first) / population standard deviation of all values of both runs; "
    "2 where every clip changed by the same, and by more than the clips of a run differ by far",
    edge_cases="Its interval is that of the mean, divided by the same number. All values equal: no value.",
    reference="rushes compare",
)
REPEAT_NOISE = _of_metric(
    name="repeat_noise",
    lowest=0,
    summary="How much a metric varies by itself: the spread of one clip over repeated runs of the same system.",
    formula="√(Σ over clips and runs of (value − the clip's mean over runs)² / (clips · (runs − 1)))",
    edge_cases="Clips without a value in each run are left out. No repeat: no value. A system that gives the same clip "
    "every time has 0.",
    reference="repeatability standard deviation, ISO 5725-2; " + _GATE,
)
MARGIN = _of_metric(
    name="gate_margin",
    lowest=0,
    summary="The largest change of the mean that still counts as the same.",
    formula="rule given: the asker's number; given-percent: that share of the absolute mean of the baseline; "
    "repeatability-limit: factor · t(ν, 0.975) · √2 · s, s the repeat noise, ν its degrees of freedom by Satterthwaite "
    "from the spread of the runs' means and the rest: what one clip moves between two runs of one system, 95 of 100 "
    "times",
    edge_cases="A system that gives the same clips every time has a limit of 0: then every difference is real. No "
    "repeat and nothing given: no value.",
    reference="repeatability limit, ISO 5725-6; Bland and Altman 1986; Satterthwaite 1946",
    open_params=("of", "rule"),
)
SAME_P = _probability(
    name="equivalence_p",
    summary="How often chance alone gives a mean this far inside the margin when the true change is as large as it.",
    formula="the larger p of two one-sided tests: change ≥ margin, and change ≤ −margin; test names the distribution",
    edge_cases="No clip changed: no value, for nothing is left to test. One clip and no repeat: no value.",
    reference="two one-sided tests, Schuirmann 1987",
    open_params=("of", "margin", "test"),
)
BEYOND_P = _probability(
    name="beyond_margin_p",
    summary="How often chance alone gives a mean this far past the margin when the true change only reaches it.",
    formula="p of the one-sided test that the change goes no further than the margin to this side (below: −margin, "
    "above: margin, either: twice the smaller one); adjust holm-N: Holm's step-down over the N readings gated on",
    edge_cases="As equivalence_p.",
    reference="Student 1908; Holm 1979",
    open_params=("adjust", "margin", "of", "side", "test"),
)
POWER = _probability(
    name="gate_power",
    summary="How often this many clips show that there is no loss beyond the margin, when nothing changed at all.",
    formula="d̄ ~ N(0, s²/n), (n − 1)·S²/s² ~ χ²(n − 1), h = t(n − 1, 1 − alpha) · S/√n, s the spread of the "
    "differences that were seen. Claim not-worse: P(d̄ − h > −margin), gains counted above 0; claim same: "
    "P(|d̄| + h < margin)",
    edge_cases="Needs two clips whose differences differ. A margin of 0: alpha for not-worse, 0 for same.",
    reference="noncentral t (Student 1908); Phillips 1990 for same; at no difference, for power at the one seen "
    "says no more than its p (Hoenig and Heisey 2001)",
    open_params=("alpha", "claim", "margin", "of"),
)
CLIPS_TO_TELL = _clips(
    name="clips_to_tell",
    lowest=2,
    summary="The fewest clips with which the gate would answer, at the given power.",
    formula="the least n whose power reaches the given one, s as in gate_power: to show that there is no loss beyond "
    "the margin where the assumed change (none, or the mean that was seen) has none, else to show that there is, "
    "before Holm",
    edge_cases="An assumed loss as large as the margin, or more than 100000 clips: no value.",
    reference="noncentral t (Student 1908); Phillips 1990",
    open_params=("alpha", "claim", "margin", "of", "power"),
    places=("assumed", "metric"),
)

DEFINITIONS = (
    *(MEAN_DIFFERENCE, CHANGED_CLIPS, BADGE_TRANSITIONS, BADGE_SHARE, NUMBER_DIFFERENCE, SIGN_FLIP, INTERVAL_P, HOLM_P),
    *(HOLM, SPREAD, REPEAT_NOISE, MARGIN, SAME_P, BEYOND_P, POWER, CLIPS_TO_TELL),
)


def of(definition: Definition, metric: Definition, *, systems: bool = False, **settings: Setting) -> Definition:
    """A comparison's definition for one metric, its open parameters set.

    Of two `systems`, a difference has the metric's direction only where both sides judge (`ranks_systems`).

    >>> from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> of(MEAN_DIFFERENCE, FREEZE_FRAME_RATIO).signature
    'paired_mean_difference|of:freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1|v:1'
    """
    bound = definition.with_params(of=metric.signature.replace("|", ";"), **settings)
    if definition.unit != _OWN_UNIT:
        return bound
    # Only a difference has, where a change tells, the metric's direction.
    tells = metric.ranks_systems if systems else metric.judges
    is_difference = definition in (MEAN_DIFFERENCE, NUMBER_DIFFERENCE)
    return replace(bound, unit=metric.unit, better=metric.better if tells and is_difference else "neither")
