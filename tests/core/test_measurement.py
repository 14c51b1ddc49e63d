"""A number carries its definition, its count and, where it has no value, its reason."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core import Definition, Interval, Measurement, difference, mean, signature_params
from rushes.core.errors import DefinitionError, DefinitionMismatch

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


ELO = Definition(
    name="elo",
    unit="Elo",
    lowest=None,
    highest=None,
    better="higher",
    summary="s",
    formula="f",
    params=signature_params(ties="davidson"),
    places=("system",),
)
HALF = Interval(low=980.0, high=1020.0, level=0.95, method="rater-clustered")


def elo(system: str, value: float | None = 1000.0, **more: object) -> Measurement:
    note = "" if value is not None else "too few votes"
    return Measurement(definition=ELO, value=value, count=4, note=note, at={"system": system} | more)  # type: ignore[arg-type]


def test_what_a_number_is_about_is_said_where_the_definition_asks() -> None:
    with pytest.raises(DefinitionError, match="lacks 'system'"):
        Measurement(definition=ELO, value=1.0, count=1)
    with pytest.raises(DefinitionError, match="must be text"):
        elo("a", family=3)
    assert elo("a", family="zoom").at == (("family", "zoom"), ("system", "a"))
    assert Measurement.missing(ELO, "no votes", at={"system": "a"}).place == {"system": "a"}


@given(st.text(), st.text())
def test_no_name_of_a_subject_is_ever_in_a_signature(one: str, other: str) -> None:
    assert elo(one).signature == elo(other).signature == "elo|ties:davidson|v:1"
    moved = difference(elo(one, 1010.0), elo(other, 990.0))
    assert moved.value == 20.0 and moved.signature == "elo|aggregate:difference|ties:davidson|v:1"
    assert moved.place == {"system": one if one == other else f"{one} − {other}"}


def test_a_mean_keeps_what_all_are_about() -> None:
    together = mean([elo("a", 10.0, family="zoom"), elo("b", 20.0, family="zoom")])
    assert (together.value, together.at) == (15.0, (("family", "zoom"),))
    assert together.signature == "elo|aggregate:mean|ties:davidson|v:1"


def test_an_interval_stands_beside_a_value() -> None:
    bounded = Measurement(definition=ELO, value=1000.0, count=4, at={"system": "a"}, interval=HALF)  # type: ignore[arg-type]
    assert bounded.signature == elo("a").signature
    with pytest.raises(DefinitionError, match="needs a value"):
        Measurement(definition=RATIO, value=None, count=0, note="n", interval=HALF)


@pytest.mark.parametrize(
    "changes",
    [
        {"low": math.nan},
        {"high": math.inf},
        {"low": 1021.0},
        {"level": 0.0},
        {"level": 1.0},
        {"level": 95},
        {"method": ""},
    ],
)
def test_a_malformed_interval_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(DefinitionError):
        Interval(**(HALF.as_dict() | changes))  # type: ignore[arg-type]


def test_the_plain_form_has_place_and_interval_only_where_there_are_any() -> None:
    assert list(ratio(1 / 3).as_dict()) == ["signature", "value", "count", "note"]
    bounded = Measurement(definition=ELO, value=1000.0, count=4, at={"system": "100%|A"}, interval=HALF)  # type: ignore[arg-type]
    data = bounded.as_dict()
    assert data["at"] == {"system": "100%|A"}
    assert data["interval"] == {"low": 980.0, "high": 1020.0, "level": 0.95, "method": "rater-clustered"}
    assert Measurement.from_dict(data, ELO) == bounded
    assert Measurement.from_dict(ratio(0.5).as_dict(), RATIO) == ratio(0.5)
