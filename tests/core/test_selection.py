"""Numbers are picked by name, place and parameter; a key that is absent never matches by chance."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rushes.core import Definition, Measurement, signature_params
from rushes.core.answer import Answer
from rushes.core.errors import InputError
from rushes.core.selection import Numbers, differing_keys, label, one, select


def share(system: str, value: float, *, labels: str = "raw", **at: str) -> Measurement:
    definition = Definition(
        name="win_share",
        unit="ratio",
        lowest=0,
        highest=1,
        better="higher",
        summary="s",
        formula="f",
        params=signature_params(labels=labels, k=20),
        places=("system",),
    )
    return Measurement(definition=definition, value=value, count=3, at={"system": system, **at})  # type: ignore[arg-type]


NUMBERS = (
    share("a", 0.1),
    share("b", 0.2),
    share("a", 1.0, labels="adjudicated"),
    share("a", 0.3, family="zoom"),
)


def values(*found: Measurement) -> list[object]:
    return [m.value for m in found]


def test_by_place_and_by_parameter() -> None:
    assert values(*select(NUMBERS, "win_share", system="a", labels="raw")) == [0.1, 0.3]
    assert values(*select(NUMBERS, "win_share", k=20, labels="adjudicated")) == [1.0]
    assert values(*select(NUMBERS, NUMBERS[0].signature)) == [0.1, 0.2, 0.3]


def test_a_number_without_the_key_does_not_match() -> None:
    assert values(*select(NUMBERS, "win_share", family="zoom")) == [0.3]
    assert values(*select(NUMBERS, "win_share", family=None, labels="raw")) == [0.1, 0.2]


def test_a_key_that_no_number_has_is_an_error() -> None:
    with pytest.raises(InputError, match="no number of win_share has 'sytem'. Did you mean `system`?"):
        select(NUMBERS, "win_share", sytem="a")
    assert select(NUMBERS, "bt_elo", system="a") == ()


def test_one_says_in_what_several_differ() -> None:
    assert one(NUMBERS, "win_share", system="b").value == 0.2
    with pytest.raises(InputError, match=r"system='a'. Say which with labels=… \('raw', 'adjudicated'\)$"):
        one(NUMBERS, "win_share", system="a")
    with pytest.raises(InputError, match="there is no bt_elo; expected one of win_share"):
        one(NUMBERS, "bt_elo")
    with pytest.raises(InputError, match="there is no win_share with system='c'$"):
        one(NUMBERS, "win_share", system="c")
    with pytest.raises(InputError, match=r"2 values are called .*, one per clip. Choose a clip with sub"):
        one([NUMBERS[1]] * 2, NUMBERS[1].signature)


@dataclass(frozen=True)
class Found(Numbers):
    measurements: tuple[Measurement, ...] = NUMBERS[1:2]


class Pairs(Answer, Found):
    def _items(self) -> tuple[tuple[str, str], ...]:
        return (("an", "item"),)


def test_a_result_says_whether_it_has_a_number_of_a_name() -> None:
    found = Found()
    assert "win_share" in found and NUMBERS[1].signature in found and NUMBERS[1] in found
    assert "bt_elo" not in found and NUMBERS[2] not in found and 0 not in found
    assert "win_share" in Found(NUMBERS), "though it has to be said which"


def test_the_items_of_an_answer_are_still_in_it() -> None:
    pairs = Pairs()
    assert ("an", "item") in pairs and "win_share" in pairs and ("no", "item") not in pairs and "an" not in pairs


def test_the_whole_is_meant_unless_a_part_is_asked_for() -> None:
    assert one(NUMBERS, "win_share", system="a", labels="raw").value == 0.1
    assert one(NUMBERS, "win_share", system="a", labels="raw", family="zoom").value == 0.3
    assert one(NUMBERS[3:], "win_share").value == 0.3


def test_what_tells_numbers_apart_in_words() -> None:
    keys = differing_keys(NUMBERS)
    assert keys == ("family", "labels", "system")
    assert label(NUMBERS[3], keys) == "family zoom, labels raw, system a"
