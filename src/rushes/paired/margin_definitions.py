"""Every number of a gate: how much a metric moves by itself, the margin, the two tests against it, and their power.

`of` is the signature of the metric, its bars written as semicolons, and `margin` the margin in the metric's unit: a
probability against one margin is never taken for that against another.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition
from rushes.core.definition import Setting

_REFERENCE = "rushes gate"
_OWN_UNIT = "the metric's own"

REPEAT_NOISE = Definition(
    name="repeat_noise",
    unit=_OWN_UNIT,
    lowest=0,
    highest=None,
    better="neither",
    summary="How much a metric moves by itself: the spread of one clip over repeated runs of the same system.",
    formula="√(Σ over clips and runs of (value − the clip's mean over runs)² / (clips · (runs − 1)))",
    edge_cases="Clips without a value in each run are left out. No repeat: no value. A system that gives the same clip "
    "every time has 0.",
    reference="repeatability standard deviation, ISO 5725-2; " + _REFERENCE,
    open_params=("of",),
    places=("metric",),
)
MARGIN = Definition(
    name="gate_margin",
    unit=_OWN_UNIT,
    lowest=0,
    highest=None,
    better="neither",
    summary="The largest change of the mean that still counts as the same.",
    formula="rule given: the asker's number; given-percent: that share of the absolute mean of the baseline; "
    "repeatability-limit: factor · t(ν, 0.975) · √2 · s, s the repeat noise, ν its degrees of freedom by Satterthwaite "
    "from the spread of the runs' means and the rest: what one clip moves between two runs of one system, 95 of 100 "
    "times",
    edge_cases="A system that gives the same clips every time has a limit of 0: then every difference is real. No "
    "repeat and nothing given: no value.",
    reference="repeatability limit, ISO 5725-6; Bland and Altman 1986; Satterthwaite 1946",
    open_params=("of", "rule"),
    places=("metric",),
)
SAME_P = Definition(
    name="equivalence_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often chance alone gives a mean this far inside the margin when the true change is as large as it.",
    formula="the larger p of two one-sided tests: change ≥ margin, and change ≤ −margin; test names the distribution",
    edge_cases="No clip changed: no value, for nothing is left to test. One clip and no repeat: no value.",
    reference="two one-sided tests, Schuirmann 1987",
    open_params=("of", "margin", "test"),
    places=("metric",),
)
BEYOND_P = Definition(
    name="beyond_margin_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often chance alone gives a mean this far past the margin when the true change only reaches it.",
    formula="p of the one-sided test that the change goes no further than the margin to this side (below: −margin, "
    "above: margin, either: twice the smaller one); adjust holm-N: Holm's step-down over the N readings gated on",
    edge_cases="As equivalence_p.",
    reference="Student 1908; Holm 1979",
    open_params=("adjust", "margin", "of", "side", "test"),
    places=("metric",),
)
POWER = Definition(
    name="gate_power",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often this many clips show that there is no loss beyond the margin, when nothing changed at all.",
    formula="d̄ ~ N(0, s²/n), (n − 1)·S²/s² ~ χ²(n − 1), h = t(n − 1, 1 − alpha) · S/√n, s the spread of the "
    "differences that were seen. Claim not-worse: P(d̄ − h > −margin), gains counted above 0; claim same: "
    "P(|d̄| + h < margin)",
    edge_cases="Needs two clips whose differences differ. A margin of 0: alpha for not-worse, 0 for same.",
    reference="noncentral t (Student 1908); Phillips 1990 for same; at no difference, for power at the one seen "
    "says no more than its p (Hoenig and Heisey 2001)",
    open_params=("alpha", "claim", "margin", "of"),
    places=("metric",),
)
CLIPS_TO_TELL = Definition(
    name="clips_to_tell",
    unit="clips",
    lowest=2,
    highest=None,
    better="neither",
    summary="The fewest clips with which the gate would answer, at the given power.",
    formula="the least n whose power reaches the given one, s as in gate_power: to show that there is no loss beyond "
    "the margin where the assumed change (none, or the mean that was seen) has none, else to show that there is, "
    "before Holm",
    edge_cases="An assumed loss as large as the margin, or more than 100000 clips: no value.",
    reference="noncentral t (Student 1908); Phillips 1990",
    open_params=("alpha", "claim", "margin", "of", "power"),
    places=("assumed", "metric"),
)

DEFINITIONS = (REPEAT_NOISE, MARGIN, SAME_P, BEYOND_P, POWER, CLIPS_TO_TELL)


def bound(definition: Definition, metric: Definition, **settings: Setting) -> Definition:
    """A gate's definition for one metric, its open parameters set.

    >>> from rushes.clip.metrics.motion import FREEZE_FRAME_RATIO
    >>> bound(REPEAT_NOISE, FREEZE_FRAME_RATIO).signature
    'repeat_noise|of:freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1|v:1'
    """
    made = definition.with_params(of=metric.signature.replace("|", ";"), **settings)
    return replace(made, unit=metric.unit) if definition.unit == _OWN_UNIT else made
