"""Signatures: what is in them, what they refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core import Definition, parse_signature, signature_params
from rushes.core.definition import describe_difference, require_same_signature
from rushes.errors import DefinitionError, DefinitionMismatch


def definition(**changes: object) -> Definition:
    facts: dict[str, object] = {
        "name": "pck",
        "unit": "ratio",
        "lowest": 0.0,
        "highest": 1.0,
        "better": "higher",
        "summary": "s",
        "formula": "f",
    }
    return Definition(**(facts | changes))  # type: ignore[arg-type]


def test_signature_sorts_its_keys_and_ends_with_the_version() -> None:
    d = definition(params=(("norm", "torso-diameter"), ("k", "20")), history=("first release", "ties count"))
    assert d.signature == "pck|k:20|norm:torso-diameter|v:2"


def test_words_do_not_move_the_signature_but_parameters_do() -> None:
    assert definition(summary="other words").signature == definition().signature
    assert definition(params=signature_params(k=20)).signature != definition(params=signature_params(k=5)).signature


def test_floats_keep_their_point() -> None:
    assert signature_params(eps=1.0, n=1, closed=False) == (("closed", "false"), ("eps", "1.0"), ("n", "1"))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "PCK"},
        {"name": "a|b"},
        {"history": ()},
        {"unit": ""},
        {"formula": ""},
        {"params": (("v", "2"),)},
        {"params": (("K", "2"),)},
        {"params": (("k", "a|b"),)},
        {"params": (("k", ""),)},
        {"params": (("k", "a\nb"),)},
        {"params": (("k", "1"), ("k", "2"))},
        {"params": (("k", "1"),), "open_params": ("k",)},
    ],
)
def test_a_malformed_definition_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(DefinitionError):
        definition(**changes)


def test_with_params_closes_what_was_open() -> None:
    open_one = definition(open_params=("weights",))
    assert open_one.signature == "pck|weights:<…>|v:1"
    assert open_one.with_params(weights="a867").signature == "pck|weights:a867|v:1"


_keys = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(lambda key: key != "v")
_values = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable() and "|" not in text)


@given(st.dictionaries(_keys, _values, max_size=6))
def test_a_signature_can_be_taken_apart_again(params: dict[str, str]) -> None:
    d = definition(params=tuple(params.items()))
    assert parse_signature(d.signature) == ("pck", params, 1)


@given(st.dictionaries(_keys, _values, max_size=4), st.dictionaries(_keys, _values, max_size=4))
def test_two_definitions_have_one_signature_only_when_every_parameter_agrees(
    one: dict[str, str], other: dict[str, str]
) -> None:
    first, second = definition(params=tuple(one.items())), definition(params=tuple(other.items()))
    assert (first.signature == second.signature) == (one == other)


@pytest.mark.parametrize("text", ["", "pck", "pck|k:20", "pck|k|v:1", "pck|v:x", "pck|v:1|k:20"])
def test_not_a_signature(text: str) -> None:
    with pytest.raises(DefinitionError, match="a signature reads"):
        parse_signature(text)


def test_the_difference_names_what_differs() -> None:
    one = definition(params=signature_params(k=20, norm="torso-diameter")).signature
    other = definition(params=signature_params(k=20, norm="bbox-diagonal"), history=("a", "b")).signature
    text = describe_difference(one, other)
    assert "norm is torso-diameter in one and bbox-diagonal in the other" in text
    assert "v is 1 in one and 2 in the other" in text
    assert "k is" not in text
    assert "different metrics" in describe_difference("pck|v:1", "oks|v:1")


def test_require_same_signature() -> None:
    d = definition()
    assert require_same_signature([d, definition(summary="x")]) is d
    with pytest.raises(DefinitionMismatch):
        require_same_signature([d, definition(params=signature_params(k=1))])
    with pytest.raises(DefinitionError):
        require_same_signature([])
