"""One metric over the subjects of a run, and the one name it has for people and the one for machines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rushes.core import Definition, Measurement, Reading, group_readings, signature_params
from rushes.core.selection import machine_names, reading_names, told_apart

BLUR = Definition(name="blur", unit="1", lowest=0, highest=None, better="higher", summary="S.", formula="f")
P10 = replace(BLUR, params=signature_params(statistic="p10"))
MEAN = replace(BLUR, params=signature_params(statistic="mean"))
PCK = Definition(name="pck", unit="ratio", lowest=0, highest=1, better="higher", summary="S.", formula="f")


def number(definition: Definition, value: float = 0.5, **at: str) -> Measurement:
    return Measurement(definition=definition, value=value, count=1, at=at)


def pck(k: int, **at: str) -> Measurement:
    return number(replace(PCK, params=signature_params(k=k)), **at)


def test_numbers_of_one_signature_and_place_are_one_reading_in_order_of_first_appearance() -> None:
    first, second, wrist = number(P10, 1.0), number(P10, 2.0), number(P10, 3.0, joint="wrist")
    found = group_readings([("a", first), ("a", wrist), ("b", second), ("b", number(MEAN))])
    assert [(one.same, list(one.values)) for one in found] == [
        (("blur|statistic:p10|v:1", ()), ["a", "b"]),
        (("blur|statistic:p10|v:1", (("joint", "wrist"),)), ["a"]),
        (("blur|statistic:mean|v:1", ()), ["b"]),
    ]
    assert found[0].values == {"a": first, "b": second}
    assert found[1].key == "blur|statistic:p10|v:1 @ joint=wrist" and found[0].key == "blur|statistic:p10|v:1"


def test_a_reading_has_a_hash_and_a_short_line() -> None:
    reading = Reading(definition=P10, label="Sharpness", values={"a": number(P10)})
    assert {reading: 1}[replace(reading)] == 1
    assert repr(reading) == "<Reading definition='blur', label='Sharpness', values: 1, minor=False, per_prompt=False>"


@pytest.mark.parametrize(
    ("measured", "people", "machines"),
    [
        ([number(P10)], ["blur"], ["blur"]),
        (
            [number(P10), number(MEAN)],
            ["blur (p10)", "blur (mean)"],
            ["blur/statistic_p10", "blur/statistic_mean"],
        ),
        ([number(BLUR), number(P10)], ["blur", "blur (p10)"], ["blur", "blur/statistic_p10"]),
        ([pck(10), pck(20)], ["pck (k 10)", "pck (k 20)"], ["pck/k_10", "pck/k_20"]),
        (
            [pck(20), pck(20, joint="left wrist")],
            ["pck", "pck (left wrist)"],
            ["pck", "pck/joint_left_wrist"],
        ),
        (
            [pck(10, joint="nose"), pck(20, joint="wrist")],
            ["pck (joint nose, k 10)", "pck (joint wrist, k 20)"],
            ["pck/joint_nose/k_10", "pck/joint_wrist/k_20"],
        ),
        # Two versions differ in nothing but that; beside another reading it says nothing more.
        (
            [number(BLUR), number(replace(BLUR, history=("one", "two")))],
            ["blur (v 1)", "blur (v 2)"],
            ["blur/v_1", "blur/v_2"],
        ),
        (
            [number(P10), number(replace(MEAN, history=("one", "two")))],
            ["blur (p10)", "blur (mean)"],
            ["blur/statistic_p10", "blur/statistic_mean"],
        ),
        ([number(P10), number(P10), number(MEAN)], ["blur (p10)", "blur (p10)", "blur (mean)"], None),
        ([], [], []),
    ],
)
def test_one_name_for_people_and_one_for_machines(
    measured: list[Measurement], people: list[str], machines: list[str] | None
) -> None:
    assert reading_names(measured) == people
    assert machines is None or machine_names(measured) == machines


def test_readings_are_named_as_their_numbers_are() -> None:
    numbers = [number(P10), number(MEAN)]
    assert reading_names(group_readings(("a", m) for m in numbers)) == reading_names(numbers)


def test_what_is_told_elsewhere_is_left_out() -> None:
    measured = [pck(10, joint="nose"), pck(20, joint="wrist")]
    assert told_apart(measured, without=("joint",)) == ["k 10", "k 20"]
