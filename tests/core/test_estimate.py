"""An estimate, why something of it is missing, and the step to a measurement."""

from __future__ import annotations

import pytest

from rushes.core import Definition, Estimate, Interval, Measurement, Why

WIDE = Interval(low=-0.2, high=1.4, level=0.95, method="student-t")
METRIC = Definition(name="share", unit="1", lowest=0, highest=1, better="higher", summary="s", formula="f")


def test_every_reason_has_words() -> None:
    for why in Why:
        assert why.text and not why.text.endswith("."), why
    assert len({why.text for why in Why}) == len(Why)


def test_what_is_lacking() -> None:
    assert Estimate(value=0.5, count=3, interval=WIDE).lacking == ""
    assert Estimate(value=0.5, count=3).lacking == ""  # nobody asked for an interval
    assert Estimate(value=0.5, count=1, why=Why.NEEDS_TWO_CLIPS).lacking == "no interval: needs two clips or more"
    assert Estimate.none(Why.NO_TRIALS).lacking == "no trials"
    # an interval that covers less than was asked for lacks nothing
    assert Estimate(value=0.5, count=3, interval=WIDE, why=Why.ONE_PROMPT).lacking == ""


def test_cut_to_a_range() -> None:
    cut = WIDE.within(0.0, 1.0)
    assert (cut.low, cut.high, cut.level, cut.method) == (0.0, 1.0, 0.95, "student-t")
    assert WIDE.within(None, 1.0).low == -0.2


def test_a_measurement_is_an_estimate_with_its_definition_and_place() -> None:
    estimate = Estimate(value=0.5, count=1, why=Why.NEEDS_TWO_CLIPS)
    m = Measurement.of(METRIC, estimate, at={"system": "amber"})
    assert isinstance(m, Estimate)
    assert (m.value, m.count, m.interval, m.why, m.place) == (0.5, 1, None, Why.NEEDS_TWO_CLIPS, {"system": "amber"})
    assert m.note == "no interval: needs two clips or more"
    assert Measurement.of(METRIC, estimate, note="said otherwise").note == "said otherwise"
    assert Measurement.of(METRIC, Estimate.none(Why.NO_DATA)).note == Why.NO_DATA.text


@pytest.mark.parametrize("why", list(Why))
def test_only_what_forbids_a_verdict_is_stored(why: Why) -> None:
    m = Measurement(definition=METRIC, value=0.5, count=1, interval=None, why=why)
    assert m.as_dict().get("why") == (why.value if why in (Why.FEW_VIDEOS, Why.PACKAGE_FAILED) else None)
    again = Measurement.from_dict(m.as_dict(), METRIC)
    assert again == m and again.why is (why if why.is_stored else None)
