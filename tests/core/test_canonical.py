"""Canonical JSON: equal data, equal bytes; what cannot be stored is refused."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.core import canonical_json, canonical_line
from rushes.core.errors import DefinitionError

_plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def test_keys_are_sorted_and_floats_have_eight_decimals() -> None:
    assert canonical_json({"b": 1 / 3, "a": -0.0, "c": 1.0}) == '{"a":0.0,"b":0.33333333,"c":1.0}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_never_stored(value: float) -> None:
    with pytest.raises(DefinitionError, match="NaN and infinity cannot be stored"):
        canonical_json({"x": [value]})


@pytest.mark.parametrize("value", [object(), b"bytes", {1: 2}])
def test_only_plain_data(value: object) -> None:
    with pytest.raises(DefinitionError):
        canonical_json(value)


@pytest.mark.parametrize("value", ["take\udcff.mp4", {"\ud800": 1}, ["ok", "half \udfff"]])
def test_text_that_is_not_utf8_is_refused_in_one_printable_line(value: object) -> None:
    with pytest.raises(DefinitionError, match="not UTF-8") as refused:
        canonical_json(value)
    assert str(refused.value).isascii()


def test_sets_are_sorted() -> None:
    assert canonical_json({"b", "a"}) == '["a","b"]'


@settings(max_examples=50)
@given(_plain)
def test_it_is_json_and_stays_the_same_when_read_and_written_again(data: object) -> None:
    text = canonical_json(data)
    assert canonical_json(json.loads(text)) == text
    assert canonical_line(data) == text + "\n" and "\n" not in text


@given(st.dictionaries(st.text(max_size=5), st.integers(), min_size=2, max_size=6), st.randoms())
def test_the_order_of_keys_does_not_matter(data: dict[str, int], random: object) -> None:
    keys = list(data)
    random.shuffle(keys)  # type: ignore[attr-defined]
    assert canonical_json({key: data[key] for key in keys}) == canonical_json(data)
