"""The numbers that judge many comparisons at once: how unlikely each change is, before and after Holm, and its size."""

from __future__ import annotations

from rushes.core import Definition, signature_params

MEAN_TEST = Definition(
    name="paired_mean_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="How often chance alone moves the mean at least this far, were there no difference between the runs.",
    formula="two-sided Student's t of the mean difference, n − 1 degrees of freedom; of a true/false metric the exact "
    "binomial probability of the clips that rose among those that changed, at one half",
    edge_cases="It is below 0.05 where the 95 % interval of the mean leaves 0 out. Where all differences are equal and "
    "not 0, there is no spread to go by: the exact binomial one again. One clip, or none that changed: no value.",
    reference="Student 1908; scipy.stats.ttest_rel, scipy.stats.binomtest",
    params=signature_params(alternative="two-sided"),
    open_params=("of",),
    places=("metric",),
)
HOLM = Definition(
    name="paired_holm_p",
    unit="probability",
    lowest=0,
    highest=1,
    better="neither",
    summary="paired_mean_p, raised for the number of comparisons that are shown together.",
    formula="the i-th smallest of m probabilities becomes the largest of (m − j + 1) · p_j over j ≤ i, 1 at the most: "
    "where every change below 0.05 is told, the chance of one false one among them all is 5 % at the most",
    edge_cases="A comparison without a probability is no member of the family and has no value here.",
    reference="Holm 1979; statsmodels.stats.multitest.multipletests(method='holm')",
    params=signature_params(alternative="two-sided"),
    open_params=("of", "tests"),
    places=("metric",),
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

FAMILY = (MEAN_TEST, HOLM, SPREAD)
