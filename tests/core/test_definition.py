"""Signatures: what is in them, what they refuse."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.core import Definition, parse_signature, signature_params
from rushes.core.definition import describe_difference, require_same_signature
from rushes.core.errors import DefinitionError, DefinitionMismatch


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
_printable = st.characters(categories=("L", "M", "N", "P", "S"), exclude_characters="|")
_values = st.text(_printable, min_size=1, max_size=12)


@settings(max_examples=40)
@given(st.dictionaries(_keys, _values, max_size=6))
def test_a_signature_can_be_taken_apart_again(params: dict[str, str]) -> None:
    d = definition(params=tuple(params.items()))
    assert parse_signature(d.signature) == ("pck", params, 1)


@settings(max_examples=40)
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


def test_a_parameter_that_the_definition_does_not_have_is_refused() -> None:
    d = definition(params=signature_params(eps=1.0), open_params=("weights",))
    with pytest.raises(DefinitionError, match="pck has no parameter 'epsilon'; it has eps, weights"):
        d.with_params(epsilon=2.0)
    assert d.with_params(eps=2.0, weights="a").signature == "pck|eps:2.0|weights:a|v:1"
    assert d.add_params(aggregate="mean").signature == "pck|aggregate:mean|eps:1.0|weights:<…>|v:1"


def test_equal_signatures_are_equal_definitions() -> None:
    one = definition(params=(("norm", "torso"), ("k", "20")))
    other = definition(params=(("k", "20"), ("norm", "torso")), summary="other words")
    assert one == other and hash(one) == hash(other) and one.params == other.params
    assert one != definition(params=(("k", "5"), ("norm", "torso"))) and one != one.signature


@pytest.mark.parametrize(
    "changes",
    [
        {"places": ("System",)},
        {"places": ("joint",), "params": (("joint", "nose"),)},
        {"places": ("joint",), "open_params": ("joint",)},
    ],
)
def test_a_place_is_a_name_and_no_parameter(changes: dict[str, object]) -> None:
    with pytest.raises(DefinitionError):
        definition(**changes)


def test_places_do_not_move_the_signature_and_stay_in_the_plain_form() -> None:
    placed = definition(places=("joint",), depends_on=("frame_size",))
    assert placed.signature == definition().signature
    assert "places" not in definition().as_dict() and "depends_on" not in definition().as_dict()
    back = Definition.from_dict(placed.as_dict())
    assert (back.places, back.depends_on, back.signature) == (("joint",), ("frame_size",), placed.signature)


def test_one_parameter_can_be_asked_for() -> None:
    assert definition(params=signature_params(k=20)).param("k") == "20"
    assert definition().param("k") is None


def test_what_else_moves_a_value_is_checked_and_stays_in_the_plain_form() -> None:
    moved = definition(depends_on=("frame_size", "fps"), raised_by=("noise",), lowered_by=("denoising",))
    assert moved.signature == definition().signature
    back = Definition.from_dict(moved.as_dict())
    assert (back.depends_on, back.raised_by, back.lowered_by) == (("frame_size", "fps"), ("noise",), ("denoising",))
    assert not {"depends_on", "raised_by", "lowered_by"} & definition().as_dict().keys(), "as older runs have it"
    with pytest.raises(DefinitionError, match="depends_on knows frame_size, fps, duration, .*; got 'frame_width'"):
        definition(depends_on=("frame_width",))
    with pytest.raises(DefinitionError, match="raised_by and lowered_by are lists of words; got 'noise'"):
        definition(raised_by="noise")


@pytest.mark.parametrize(
    ("better", "raised_by", "lowered_by", "up", "down", "judges"),
    [
        ("higher", (), (), "better", "worse", True),
        ("lower", (), (), "worse", "better", True),
        ("neither", (), (), "moved", "moved", False),
        ("higher", ("noise",), (), "moved", "worse", True),
        ("lower", (), ("a re-encode",), "worse", "moved", True),
        ("higher", ("noise",), ("denoising",), "moved", "moved", False),
    ],
)
def test_a_change_is_a_verdict_only_where_nothing_else_makes_it(
    better: str, raised_by: tuple[str, ...], lowered_by: tuple[str, ...], up: str, down: str, judges: bool
) -> None:
    metric = definition(better=better, raised_by=raised_by, lowered_by=lowered_by)
    assert (metric.verdict(rose=True), metric.verdict(rose=False), metric.judges) == (up, down, judges)
