"""What one comparison says, in one form for two runs, a gate and a board: second − first, one of six outcomes, and why.

The outcome is about the second: "better" is the second better than the first. Words for people are made where they are
shown; nobody reads them back. `paired_statistics` is one metric on the same clips, twice: mean difference with its
interval, sign-flip test, how many rose and fell. Many such comparisons are shown together: `holm_tests` is what Holm
leaves of each one's chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

import numpy as np

from rushes.compare.definitions.comparisons import CHANGED_CLIPS, HOLM, MEAN_DIFFERENCE, SIGN_FLIP, SPREAD, of
from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.core.measurement import At, Value
from rushes.core.selection import full_name
from rushes.stats.families import holm
from rushes.stats.intervals import Floats
from rushes.stats.means import deviation, mean_change
from rushes.stats.rounding import stored_floats
from rushes.stats.sign_flip import sign_flip


class Outcome(StrEnum):
    """What a comparison says of the second against the first.

    moved       it surely changed, and that does not tell better from worse: `Comparison.why` says why not
    same        no clip changed; of a gate, the change surely lies inside the margin
    """

    BETTER = "better"
    WORSE = "worse"
    MOVED = "moved"
    SAME = "same"
    CANNOT_TELL = "cannot tell"
    NOT_COMPARABLE = "not comparable"

    @property
    def is_change(self) -> bool:
        """Whether the two surely differ."""
        return self in (Outcome.BETTER, Outcome.WORSE, Outcome.MOVED)

    @property
    def turned(self) -> Outcome:
        """The same, said of the first against the second."""
        return {Outcome.BETTER: Outcome.WORSE, Outcome.WORSE: Outcome.BETTER}.get(self, self)


class WhyNot(StrEnum):
    """Why a comparison is neither better nor worse.

    Moved           no direction: neither side of the metric is better. Other causes: something other than quality moves
                    it that way too
    Not comparable  media differ: on every clip, in a fact that the metric depends on. Nothing shared: no clip has a
                    value on both sides. Measured differently: other settings, or another ground truth. No interval: one
                    number on each side, and nothing says how sure it is. Too few: fewer clips than the metric needs
    Not tested      of a board: a fact of the file, or the same as another column
    Cannot tell     too few: so few clips differ that no change could be significant. Among many: significant if it were
                    the only comparison, and not after Holm's rule. Of a gate, unchecked: clips of the baseline have no
                    counterpart; no margin: how much the metric moves by itself is not known
    """

    NOT_TESTED = "not tested"
    NO_DIRECTION = "no direction"
    OTHER_CAUSES = "other causes"
    MEDIA_DIFFER = "media differ"
    NOTHING_SHARED = "nothing shared"
    MEASURED_DIFFERENTLY = "measured differently"
    NO_INTERVAL = "no interval"
    TOO_FEW = "too few"
    NOT_SIGNIFICANT = "not significant"
    AMONG_MANY = "among many"
    UNCHECKED = "unchecked"
    NO_MARGIN = "no margin"


class Read(Protocol):
    """Which reading a comparison is of."""

    @property
    def definition(self) -> Definition: ...
    @property
    def at(self) -> At: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs, or two systems, on one reading."""

    reading: Read
    first: str
    """What the two are called: A and B, two systems, the baseline and the candidate."""
    second: str
    difference: Measurement
    """Second − first, with its interval; its note says why there is none."""
    p: Measurement
    """Of this comparison alone."""
    adjusted_p: Measurement
    """After Holm's rule over everything that is judged with it."""
    outcome: Outcome
    why: WhyNot | None = None
    """Why the outcome is neither better nor worse; None where it is, and where nothing changed."""

    @property
    def verdict(self) -> str:
        """The outcome as `--json` has it."""
        return self.outcome.value

    @property
    def direction(self) -> Literal["higher", "lower", ""]:
        """Where the second lies, sure or not; "" where the difference is 0 or there is none."""
        value = self.difference.value
        return "" if not value else "higher" if value > 0 else "lower"

    @property
    def text(self) -> str:
        """The outcome for people: "better", "changed: higher", "not significant"."""
        if self.outcome is Outcome.CANNOT_TELL:
            return "not significant"
        return f"changed: {self.direction}" if self.outcome is Outcome.MOVED else self.outcome.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A metric that is not compared, and why; of two runs, under which two signatures it was measured."""

    name: str
    why: str
    first: str = ""
    second: str = ""


def change_outcome(
    metric: Definition,
    difference: Measurement,
    p: float | None,
    *,
    alpha: float,
    judges: bool = True,
    earned: bool = False,
) -> tuple[Outcome, WhyNot | None]:
    """What a difference says: significant where p ≤ alpha and its interval, where there is one, leaves 0 out.

    One huge difference among small ones of its sign has a small p and an interval that holds 0: the signs are sure, and
    the mean is not. Where `judges` is false, a significant difference is "moved" to either side. Where the metric has
    `earned` a say (a credential), its direction decides, whatever else may move it.

    >>> from rushes.instruments.clip.metrics.timing import DECODE_FAILURES
    >>> from rushes.core.measurement import difference
    >>> few, many = (Measurement(definition=DECODE_FAILURES, value=value, count=1) for value in (0, 3))
    >>> str(change_outcome(DECODE_FAILURES, difference(many, few), 0.01, alpha=0.05)[0])
    'worse'
    """
    value, interval = difference.value, difference.interval
    if p is None or p > alpha or not value or (interval is not None and interval.low <= 0 <= interval.high):
        return Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT
    if metric.better == "neither":
        return Outcome.MOVED, WhyNot.NO_DIRECTION
    if earned:
        return Outcome.BETTER if (value > 0) == (metric.better == "higher") else Outcome.WORSE, None
    outcome = Outcome(metric.verdict(rose=value > 0)) if judges else Outcome.MOVED
    return outcome, WhyNot.OTHER_CAUSES if outcome is Outcome.MOVED else None


Pairs: TypeAlias = Sequence[tuple[Measurement, Measurement]]
"""(first run, second run)."""

_NO_PAIR = "no clip has a value in both runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedStatistics:
    """What two runs say about one metric; differences are second − first."""

    metric: Definition
    mean: Measurement
    """With its interval; where there is none, the note says why."""
    p: Measurement
    """Of the sign-flip test, the one that boards use too."""
    rose: Measurement
    fell: Measurement
    same: Measurement

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return (self.mean, self.p, self.rose, self.fell, self.same)


def paired_statistics(pairs: Pairs, *, unlike: Pairs = (), why_unlike: str = "") -> PairedStatistics:
    """Statistics of (first, second) measurements of the same clips, all under one signature.

    Formula     see the definitions: `rushes metrics paired_mean_difference` and its neighbours
    Unit        mean and interval in the metric's own unit; p a probability; the rest clips
    Inputs      at least one pair; values may be missing. `unlike` are pairs of clips that do not compare because of
                facts that the metric depends on, and `why_unlike` says which: they count in the mean's note alone
    Edge cases  pairs without both values are left out, counted in the mean's note; see each definition
    Reference   Student's t; Clopper–Pearson for a true/false metric; the sign-flip test

    What all pairs are about (`at`), the statistics are about. Raises `DefinitionMismatch` when signatures differ.
    """
    every = [m for pair in (*pairs, *unlike) for m in pair]
    metric = require_same_signature(m.definition for m in every)
    values = [m.value for pair in pairs for m in pair]
    binary = all(isinstance(value, bool) for value in values if value is not None)
    sides = np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64).reshape(-1, 2)
    at = tuple(sorted(frozenset.intersection(*(frozenset(m.at) for m in every))))
    first, second = stored_floats(sides[:, 0]), stored_floats(sides[:, 1])
    return column_statistics(metric, at, first, second, flags=binary, unlike=len(unlike), why_unlike=why_unlike)


def column_statistics(
    metric: Definition,
    about: At,
    first: Floats,
    second: Floats,
    *,
    flags: bool,
    unlike: int = 0,
    why_unlike: str = "",
) -> PairedStatistics:
    """`paired_statistics` of two columns of values as files have them, NaN where one is missing; `flags` where every
    value is true or false."""
    # What all of its numbers are about; a place of its own called "metric" stays.
    at = {"metric": full_name(metric)} | dict(about)
    moved = second - first
    whole = ~np.isnan(moved)
    # What the files hold has 8 decimals: a difference is computed on those and rounded alike, so that a value that
    # did not change is exactly 0.
    differences = stored_floats(moved[whole])
    n, rose, fell = (int(np.count_nonzero(part)) for part in (whole, differences > 0, differences < 0))
    mean, p, counted = mean_change(differences, flags=flags), sign_flip(differences), of(CHANGED_CLIPS, metric)
    note = "; ".join(filter(None, (_lacking(len(whole) - n, len(whole), unlike, why_unlike), mean.lacking)))
    if not n:
        note = f"no clip is comparable: {why_unlike}" if unlike else _NO_PAIR
    no_test = p.why.text if p.why else ""
    counts = {
        change: number_or_why(counted, number if n else None, count=n, why=note, at=at | {"change": change})
        for change, number in (("rose", rose), ("fell", fell), ("same", n - rose - fell))
    }
    return PairedStatistics(
        metric=metric,
        mean=Measurement.of(of(MEAN_DIFFERENCE, metric), mean, at=at, note=note),
        p=Measurement.of(of(SIGN_FLIP, metric), p, at=at, note=no_test if n else note),
        **counts,
    )


def number_or_why(
    definition: Definition, value: Value, *, count: int, why: str, note: str = "", at: At | Mapping[str, str]
) -> Measurement:
    """A number with its note; where there is no value, a missing one that says `why`."""
    if value is None:
        return Measurement.missing(definition, why, at=at)
    return Measurement(definition=definition, value=value, count=count, note=note, at=at)


def _lacking(missing: int, pairs: int, unlike: int, why_unlike: str) -> str:
    """Which clips the mean does not rest on, and why; "" where it rests on all."""
    total = pairs + unlike
    parts = [
        f"{missing} of {total} clips lack a value in one of the runs" if missing else "",
        f"{unlike} of {total} clips are not comparable: {why_unlike}" if unlike else "",
    ]
    return "; ".join(filter(None, parts))


def is_test(p: Measurement) -> bool:
    """Whether it could give a false alarm: with no clip that changed, p is 1 whatever happens."""
    return p.value is not None and p.count > 0


def holm_tests(metrics: Sequence[PairedStatistics]) -> list[Measurement]:
    """`p` of every comparison, in the same order, raised by Holm's rule over those on which a clip changed."""
    family = max(sum(is_test(one.p) for one in metrics), 1)
    return raised([(one.p, of(HOLM, one.metric, tests=family)) for one in metrics])


def raised(tests: Sequence[tuple[Measurement, Definition]]) -> list[Measurement]:
    """Each p under its definition, raised by Holm's rule over those that are tests."""
    return with_adjusted(tests, holm([float(p.value or 0) for p, _ in tests if is_test(p)]))


def with_adjusted(tests: Sequence[tuple[Measurement, Definition]], adjusted: Sequence[float]) -> list[Measurement]:
    """The adjusted p of each, in the order given; 1 where it is no test, and none where there is no p."""
    left = iter(adjusted)
    values = (next(left) if is_test(p) else None if p.value is None else 1.0 for p, _ in tests)
    return [
        number_or_why(definition, value, count=p.count, why=p.note, note=p.note, at=p.at)
        for (p, definition), value in zip(tests, values, strict=True)
    ]


def spread_difference(statistics: PairedStatistics, values: Sequence[float] | Floats) -> Measurement:
    """The mean difference in units of the spread of `values`, which are all values of both runs that it rests on.

    Formula     mean / √(mean of (v − v̄)²); the square of the spread is at least a quarter of the squared mean
                difference, so the quotient stays within ±2
    Unit        standard deviations, −2 to 2; its interval may reach further
    Edge cases  no mean, or no spread: no value, with a note
    """
    mean, definition = statistics.mean, of(SPREAD, statistics.metric)
    if mean.value is None:
        return Measurement.missing(definition, mean.note, at=mean.at)
    spread = deviation(values)
    if spread == 0:
        return Measurement.missing(definition, "every clip has the same value in both runs", at=mean.at)
    ends = mean.interval
    value = min(max(float(mean.value) / spread, -2.0), 2.0)  # values are rounded to 8 decimals, so it can end past 2
    interval = ends and replace(ends, low=ends.low / spread, high=ends.high / spread)
    return replace(mean, definition=definition, value=value, interval=interval)
