"""A number before it has a definition: its value, what it rests on, how sure it is, and why something is missing.

Everything in `stats` returns estimates. Whoever asked gives an estimate its definition and its place, which makes it a
`Measurement`. Why there is no value, no interval or no verdict is a `Why`; `Why.text` is the only place that has its
words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

from rushes.core.canonical import stored_float
from rushes.core.errors import DefinitionError

Value: TypeAlias = float | int | bool | None


class Scalar(Protocol):
    """A number of numpy's, such as the mean of an array; a `Measurement` makes it one of Python's."""

    @property
    def ndim(self) -> Literal[0]: ...


SLACK = 1e-9
"""Sums and square roots may end a hair past a bound (a correlation of 1.0000000000000002)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """How sure a number is: the range that holds it at `level`, and the method that drew it.

    The range may reach past the definition's own (an extrapolated distance below 0) and need not hold the value (a bias
    correction moves it). Raises `DefinitionError` for ends that are not finite or the wrong way round, a level outside
    0 to 1, and no method.

    >>> Interval(low=980.5, high=1019.5, level=0.95, method="rater-clustered").text(digits=0)
    '980 to 1020'
    """

    low: float
    high: float
    level: float
    """Share of such intervals that hold the true value: 0.95."""
    method: str
    """How it was drawn: "rater-clustered", "jackknife-20", "wilson"."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high + SLACK):
            raise DefinitionError(f"an interval runs from a finite low to a finite high; got {self.low} to {self.high}")
        if not 0 < self.level < 1:
            raise DefinitionError(f"an interval's level lies between 0 and 1; got {self.level}")
        if not self.method:
            raise DefinitionError("an interval names its method; got none")

    def within(self, lowest: float | None, highest: float | None) -> Interval:
        """Cut to a range that the number cannot leave; None is no bound."""
        low = self.low if lowest is None else max(lowest, self.low)
        high = self.high if highest is None else min(highest, self.high)
        return Interval(low=low, high=high, level=self.level, method=self.method)

    def text(self, *, digits: int = 4) -> str:
        return f"{self.low:.{digits}f} to {self.high:.{digits}f}"

    def as_dict(self) -> dict[str, object]:
        low, high = stored_float(float(self.low)), stored_float(float(self.high))
        return {"low": low, "high": high, "level": self.level, "method": self.method}


class Why(StrEnum):
    """Why a number has no value, no interval, or may not be judged by. The value is stored; `text` is for people.

    >>> Why("needs-two-clips").text
    'needs two clips or more'
    """

    # no value
    NO_DATA = "no-data", "there is nothing to measure"
    NO_TRIALS = "no-trials", "no trials"
    NO_SHARED_UNIT = "no-shared-unit", "no sample has votes of two raters"
    ONE_CATEGORY = "one-category", "all ratings are in one category, so chance explains them"
    ONE_POSSIBLE_CATEGORY = "one-possible-category", "one category cannot show agreement"
    NOT_RANKABLE = "not-rankable", "the votes cannot be ranked"
    CHOSEN_BY_VOTES = "chosen-by-votes", "active pairing chose pairs by the votes so far: only the order holds"
    FEW_RATED_CLIPS = "few-rated-clips", "{count} clips have both the metric and a rating; 3 are needed"
    FEW_SYSTEMS = "few-systems", "{count} systems; 3 are needed"
    NO_TWO_SYSTEMS = "no-two-systems", "no prompt has two systems"
    NO_SHARED_PROMPT = "no-shared-prompt", "no prompt is shared by all systems"
    ONE_METRIC_VALUE = "one-metric-value", "the metric has one value on all clips"
    ONE_RATING = "one-rating", "people gave all clips the same rating"
    EQUAL_PROMPTS = "equal-prompts", "nothing varies within a prompt"
    EQUAL_SYSTEMS = "equal-systems", "the metric or people rate all systems alike"
    NO_RATINGS = "no-ratings", "no ratings"
    UNKNOWN_RATERS = "unknown-raters", "single raters are not known"
    FEW_SHARED_RATINGS = "few-shared-ratings", "a rater and the others share too little"
    ONE_SIDE_WON_ALL = "one-side-won-all", "one side won every decided vote"
    PACKAGE_FAILED = "package-failed", "a metric of another package failed"
    # no interval, or no test
    NEEDS_TWO_CLIPS = "needs-two-clips", "needs two clips or more"
    NEEDS_FIVE_CLIPS = "needs-five-clips", "fewer than 5 clips"
    NEEDS_TWO_RATERS = "needs-two-raters", "clustered intervals need two raters"
    NEEDS_MORE_RATERS = "needs-more-raters", "the model follows one rater alone: it needs more raters"
    NEEDS_TWO_PROMPTS = "needs-two-prompts", "needs two prompts or more"
    EQUAL_VALUES = "equal-values", "all values are equal: their spread is unknown"
    EQUAL_DIFFERENCES = "equal-differences", "all differences are equal: their spread is unknown"
    EQUAL_CLIPS = "equal-clips", "all clips are alike: their spread is unknown"
    NOT_DRAWN = "not-drawn", "not drawn at the level of systems"
    NO_CHANGE = "no-change", "no clip changed"
    ONE_SAMPLE = "one-sample", "one sample: its spread is unknown"
    NEEDS_EVERY_SAMPLE = "needs-every-sample", "without one of the samples there is no value, so no interval"
    NO_SAMPLE_MOVES_IT = "no-sample-moves-it", "every sample gives the same value: there is no spread to estimate"
    NEEDS_EVERY_PROMPT = "needs-every-prompt", "without one of the prompts or raters there is no value"
    NO_PROMPT_MOVES_IT = (
        "no-prompt-moves-it",
        "every prompt and rater gives the same value: there is no spread to estimate",
    )
    FEW_DRAWS_OF_CLIPS = "few-draws-of-clips", "too few draws of clips have a value"
    FEW_DRAWS_OF_PROMPTS = "few-draws-of-prompts", "most draws of prompts and raters give no value"
    # an interval, but of less than was asked for
    METRIC_GAPS = "metric-gaps", "a rated prompt has no value of the metric: people alone"
    FEW_OTHER_PROMPTS = (
        "few-other-prompts",
        "needs three rated prompts and two more with the metric: people alone",
    )
    ONE_PROMPT = "one-prompt", "one prompt: nothing is said about others"
    # a value that may not be judged by
    FEW_VIDEOS = "few-videos", "not more videos than features: a set with too little variety looks closer than it is"

    text: str
    """In words, without a full stop; {count} stands for what the estimate counts."""

    def __new__(cls, key: str, text: str = "") -> Why:
        member = str.__new__(cls, key)
        member._value_, member.text = key, text
        return member

    @property
    def is_stored(self) -> bool:
        """Whether a run keeps it beside the note, to count by."""
        return self.forbids_verdict or self is Why.PACKAGE_FAILED

    @property
    def forbids_verdict(self) -> bool:
        """Whether the number has a value, and even an interval, that nothing may be concluded from."""
        return self is Why.FEW_VIDEOS


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One number, how much it rests on, how sure it is, and why anything of that is missing.

    `why` without a value says why there is none; with a value and no interval, why there is no interval; with both,
    what the interval leaves out or why the number may not be judged by.
    """

    value: Value
    count: int
    """Observations behind the value: frames, clips, votes. 0 means that nothing could be scored."""
    interval: Interval | None = None
    why: Why | None = None

    @classmethod
    def none(cls, why: Why, *, count: int = 0) -> Estimate:
        """No value, and why."""
        return cls(value=None, count=count, why=why)

    @property
    def lacking(self) -> str:
        """What it lacks, and why, in words; "" where it lacks nothing.

        >>> Estimate(value=0.5, count=1, why=Why.NEEDS_TWO_CLIPS).lacking
        'no interval: needs two clips or more'
        """
        if self.why is None or self.value is None:
            return "" if self.why is None else self.why.text.format(count=self.count)
        return "" if self.interval is not None or self.why.forbids_verdict else f"no interval: {self.why.text}"
