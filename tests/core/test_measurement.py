"""A number carries its definition, its count and, where it has no value, its reason."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core import Definition, Measurement, difference, mean, signature_params
from rushes.errors import DefinitionError, DefinitionMismatch

RATIO = Definition(
    name="share",
    unit="ratio",
    lowest=0,
    highest=1,
    better="lower",
    summary="s",
    formula="f",
    params=signature_params(k=1),
)


def ratio(value: float | None, count: int = 4, note: str = "") -> Measurement:
    return Measurement(definition=RATIO, value=value, count=count, note=note)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.1, 1.1])
def test_values_that_mean_nothing_are_refused(value: float) -> None:
    with pytest.raises(DefinitionError):
        ratio(value)


def test_a_rounding_hair_past_the_bound_is_kept() -> None:
    assert ratio(1.0000000000000002).stored_value == 1.0


@pytest.mark.parametrize(("value", "count"), [(None, 3), (0.5, 0), (None, 0)])
def test_no_value_or_no_observation_needs_a_note(value: float | None, count: int) -> None:
    with pytest.raises(DefinitionError, match="needs a note"):
        ratio(value, count)
    assert ratio(value, count, "one frame only").note == "one frame only"


@pytest.mark.parametrize("count", [-1, 1.5, True, None])
def test_a_count_is_a_whole_number(count: object) -> None:
    with pytest.raises(DefinitionError):
        Measurement(definition=RATIO, value=0.5, count=count)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["0.5", [0.5], 1j])
def test_a_value_is_a_number(value: object) -> None:
    with pytest.raises(DefinitionError):
        Measurement(definition=RATIO, value=value, count=1)  # type: ignore[arg-type]


def test_an_open_parameter_cannot_label_a_value() -> None:
    open_one = Definition(
        name="fvd", unit="1", lowest=0, highest=None, better="lower", summary="s", formula="f", open_params=("weights",)
    )
    with pytest.raises(DefinitionError, match="set weights"):
        Measurement(definition=open_one, value=1.0, count=2)
    assert (
        Measurement(definition=open_one.with_params(weights="a"), value=1.0, count=2).signature == "fvd|weights:a|v:1"
    )


def test_a_definition_is_needed() -> None:
    with pytest.raises(DefinitionError, match="needs a Definition"):
        Measurement(definition="share", value=0.5, count=1)  # type: ignore[arg-type]


def test_mean_is_a_number_of_its_own() -> None:
    # (0.25 + 0.75) / 2 = 0.5; the missing one is left out and said
    result = mean([ratio(0.25), ratio(None, 0, "no frame"), ratio(0.75)])
    assert (result.value, result.count, result.note) == (0.5, 2, "1 of 3 values missing")
    assert result.signature == "share|aggregate:mean|k:1|v:1"


def test_mean_of_nothing_has_no_value() -> None:
    assert mean([ratio(None, 0, "no frame")]).value is None


def test_different_signatures_never_meet() -> None:
    other = Measurement(definition=RATIO.with_params(k=2), value=0.5, count=1)
    for combine in (lambda: mean([ratio(0.5), other]), lambda: difference(ratio(0.5), other)):
        with pytest.raises(DefinitionMismatch, match="k is 1 in one and 2 in the other"):
            combine()


def test_difference_may_be_negative_and_keeps_the_smaller_count() -> None:
    result = difference(ratio(0.25, 3), ratio(0.75, 9))
    assert (result.value, result.count) == (-0.5, 3)
    assert (result.definition.lowest, result.definition.highest) == (-1, 1)
    assert difference(ratio(0.5), ratio(None, 0, "no frame")).note == "no frame"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_mean_stays_between_the_values(values: list[float]) -> None:
    result = mean([ratio(value) for value in values]).value
    assert result is not None and min(values) - 1e-12 <= result <= max(values) + 1e-12
