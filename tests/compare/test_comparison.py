"""What a difference says: each outcome once, the bounds of p and of the interval, and the view from the other side."""

from __future__ import annotations

import pytest

from rushes.compare.comparison import Comparison, Outcome, WhyNot, change_outcome
from rushes.compare.definitions.comparisons import MEAN_DIFFERENCE, of
from rushes.core import Definition, Interval, Measurement


def metric(better: str = "higher", **more: object) -> Definition:
    facts = {"unit": "1", "lowest": None, "highest": None, "summary": "s", "formula": "f"}
    return Definition(name="score", better=better, **facts, **more)  # type: ignore[arg-type]


def moved(by: float, low: float | None = None, high: float = 9.0, of_metric: Definition | None = None) -> Measurement:
    interval = None if low is None else Interval(low=low, high=high, level=0.95, method="student-t")
    definition = of(MEAN_DIFFERENCE, of_metric or metric())
    return Measurement(definition=definition, value=by, count=8, at={"metric": "score"}, interval=interval)


@pytest.mark.parametrize(
    ("definition", "difference", "p", "outcome", "why"),
    [
        (metric(), moved(1, 0.1), 0.01, Outcome.BETTER, None),
        (metric(), moved(-1, -2.0, -0.1), 0.01, Outcome.WORSE, None),
        (metric("lower"), moved(1, 0.1), 0.01, Outcome.WORSE, None),
        (metric("lower"), moved(-1), 0.01, Outcome.BETTER, None),  # all alike: no interval, and p decides
        (metric("neither"), moved(1, 0.1), 0.01, Outcome.MOVED, WhyNot.NO_DIRECTION),
        (metric(raised_by=("noise",)), moved(1, 0.1), 0.01, Outcome.MOVED, WhyNot.OTHER_CAUSES),
        (metric(raised_by=("noise",)), moved(-1, -2.0, -0.1), 0.01, Outcome.WORSE, None),
        (metric(), moved(1, 0.1), 0.05, Outcome.BETTER, None),  # p equal to alpha is enough
        (metric(), moved(1, 0.1), 0.0501, Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT),
        (metric(), moved(1, -0.1), 0.01, Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT),
        (metric(), moved(1, 0.0), 0.01, Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT),  # 0 is in the interval
        (metric(), moved(0), 1.0, Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT),
        (metric(), moved(1), None, Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT),
    ],
)
def test_what_a_difference_says(
    definition: Definition, difference: Measurement, p: float | None, outcome: Outcome, why: WhyNot | None
) -> None:
    assert change_outcome(definition, difference, p, alpha=0.05) == (outcome, why)


def test_where_nothing_may_be_judged_a_change_is_only_moved() -> None:
    found = change_outcome(metric(), moved(-1, -2.0, -0.1), 0.01, alpha=0.05, judges=False)
    assert found == (Outcome.MOVED, WhyNot.OTHER_CAUSES)


def test_turned_and_in_words() -> None:
    assert [outcome.turned for outcome in Outcome] == ["worse", "better", "moved", "same", "cannot tell"] + [
        "not comparable"
    ]
    assert [outcome for outcome in Outcome if outcome.is_change] == ["better", "worse", "moved"]
    facts = {"reading": moved(1), "first": "A", "second": "B", "p": moved(1), "adjusted_p": moved(1)}
    one = Comparison(difference=moved(-1), outcome=Outcome.MOVED, why=WhyNot.NO_DIRECTION, **facts)  # type: ignore[arg-type]
    assert (one.direction, one.text, one.verdict) == ("lower", "changed: lower", "moved")
