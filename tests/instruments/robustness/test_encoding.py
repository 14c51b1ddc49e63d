"""Directory-safe encodings, and what they refuse."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.instruments.robustness.seed.encoding import check_axis_name, check_collisions, encode_value, run_directory
from rushes.instruments.robustness.seed.metrics import MetricComputationError


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0.8, "0p8"),
        (1.0, "1p0"),
        (-0.25, "m0p25"),
        (-1, "m1"),
        ("high quality", "highquality"),
        (1e-05, "1em05"),
        (True, "True"),
        ("é", ""),
        (None, "None"),
        ("../../etc/passwd", "ppppetcpasswd"),
    ],
)
def test_encoding(value, encoded):
    assert encode_value(value) == encoded


@given(st.text())
def test_no_encoding_can_leave_its_directory(value):
    assert re.fullmatch(r"[a-zA-Z0-9_]*", encode_value(value))


def test_directory_is_sorted_by_axis_with_the_seed_last():
    assert run_directory({"contrast": 1.0, "brightness": 0.8}, 42) == "brightness=0p8_contrast=1p0_seed=42"


@pytest.mark.parametrize("name", ["../up", "a/b", "", "1st", "a b", "é", None, 7, "a\n"])
def test_axis_names_that_could_climb_out_are_refused(name):
    with pytest.raises(MetricComputationError, match="an axis name is a letter"):
        check_axis_name(name, "manifest")


@pytest.mark.parametrize("values", [["1.0", 1.0], ["é", "è"], ["a b", "ab"], [1, 1]])
def test_values_that_encode_alike_are_reported(values):
    with pytest.raises(MetricComputationError, match=r"axis x: the values .* both encode as"):
        check_collisions("x", values, "manifest")


def test_values_keep_their_declared_order():
    assert list(check_collisions("x", [1.2, 0.8, 1.0], "manifest")) == ["1p2", "0p8", "1p0"]
