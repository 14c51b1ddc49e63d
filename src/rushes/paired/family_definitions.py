"""The numbers that judge many comparisons at once: how unlikely each change is, before and after Holm, and its size."""

from __future__ import annotations

from rushes.core import Definition, signature_params

HOLM = Definition(
    name="paired_holm_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="sign_flip_p, raised for the number of comparisons that are shown together.",
    formula="the i-th smallest of m probabilities becomes the largest of (m − j + 1) · p_j over j ≤ i, 1 at the most: "
    "where every change below 0.05 is told, the chance of one false one among them all is 5 % at the most",
    edge_cases="A comparison on which no clip changed is no member of the family (it could not give a false alarm): 1. "
    "One without a probability has no value here.",
    reference="Holm 1979; statsmodels.stats.multitest.multipletests(method='holm')",
    params=signature_params(alternative="two-sided", test="sign-flip"),
    open_params=("of", "tests"),
    places=("metric",),
    history=("first release, of Student's t", "of sign_flip_p, as on a board"),
)
SPREAD = Definition(
    name="paired_spread_difference",
    unit="standard deviations",
    lowest=-2,
    highest=2,
    better="neither",
    summary="The mean difference in units of the metric's own spread: one scale for metrics of any unit.",
    formula="mean over clips of (second − first) / population standard deviation of all values of both runs; "
    "2 where every clip moved by the same, and by more than the clips of a run differ by far",
    edge_cases="Its interval is that of the mean, divided by the same number. All values equal: no value.",
    reference="rushes compare",
    open_params=("of",),
    places=("metric",),
)

FAMILY = (HOLM, SPREAD)
