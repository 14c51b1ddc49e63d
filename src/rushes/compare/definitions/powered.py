"""What people and a metric give together, by question: means, differences, the metric's weight, the gain in width."""

from __future__ import annotations

from rushes.core import Definition, signature_params

_REFERENCE = "Angelopoulos, Duchi and Zrnic 2023 (PPI++, arXiv 2311.01453); rushes board"
_OPEN = ("of", "question")
_FIXED = signature_params(raters="fixed")
_EDGE = (
    "Fewer than three rated prompts, fewer than two others, a rated prompt without the metric, or a metric with one "
    "value: people alone. One rated prompt, or equal ratings: no interval."
)

POWERED_MEAN = Definition(
    name="powered_mean",
    unit="the question's own",
    lowest=None,
    highest=None,
    better="higher",
    summary="A system's mean rating over all prompts, from people on some of them and a metric on all.",
    formula="ȳ + λ (ḡ − f̄): y the mean over raters per rated prompt, f the metric there, g the metric on the others, "
    "metrics scaled to the spread of y. Interval: Student's t over prompts for these raters, both parts of the "
    "variance, cut to the scale",
    edge_cases=_EDGE,
    reference=_REFERENCE,
    params=_FIXED,
    open_params=_OPEN,
    places=("system",),
)
POWERED_DIFFERENCE = Definition(
    name="powered_difference",
    unit="the question's own",
    lowest=None,
    highest=None,
    better="neither",
    summary="How much higher people rate the second system than the first, over all prompts, from people on some of "
    "them and a metric on all.",
    formula="powered_mean of the differences second − first, prompt by prompt and rater by rater",
    edge_cases=_EDGE,
    reference=_REFERENCE,
    params=_FIXED,
    open_params=_OPEN,
    places=("first", "second"),
)
POWERED_WEIGHT = Definition(
    name="powered_weight",
    unit="1",
    lowest=0,
    highest=1,
    better="neither",
    summary="λ: how much of the metric a powered mean or difference uses.",
    formula="cov(y, f) / ((1 + n/N) · var(f and g)), cut to 0 … 1; 0 where the metric does not narrow the interval",
    edge_cases="The metric cannot be used: 0.",
    reference=_REFERENCE,
    params=_FIXED,
    open_params=_OPEN,
)
POWERED_WIDTH = Definition(
    name="powered_width",
    unit="ratio",
    lowest=0,
    highest=1,
    better="lower",
    summary="Width of a powered interval as a share of that of people alone, over the same rated prompts.",
    formula="width of the powered interval / width of Student's t interval of people alone, before either is cut to "
    "the scale",
    edge_cases="No interval: no value. Never above 1: where the metric does not help, people alone are the answer.",
    reference=_REFERENCE,
    params=_FIXED,
    open_params=_OPEN,
)
DEFINITIONS = (POWERED_MEAN, POWERED_DIFFERENCE, POWERED_WEIGHT, POWERED_WIDTH)
