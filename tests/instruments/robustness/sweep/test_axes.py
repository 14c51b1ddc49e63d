"""Axes as the command line writes them, and what is refused."""

from __future__ import annotations

import pytest

from rushes.core.errors import InputError
from rushes.instruments.robustness.sweep.axes import AXES, checked_grid, checked_seeds, parse_axis, parse_seeds


def test_values_take_their_axis_type():
    assert parse_axis("brightness=0.8, 1,1.2") == ("brightness", [0.8, 1.0, 1.2])
    name, values = parse_axis("crf=18,28")
    assert [type(value) for value in values] == [int, int]


def test_the_issue_of_every_axis_is_documented():
    assert sorted(AXES) == [
        "audio_noise",
        "audio_shift",
        "brightness",
        "contrast",
        "crf",
        "fps",
        "gaussian_blur",
        "gaussian_noise",
        "resize",
    ]
    assert all(axis.meaning for axis in AXES.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("brightness", "an axis reads name=value,value"),
        ("brightness=", "an axis reads name=value,value"),
        ("brigthness=1", "Did you mean `brightness"),
        ("../../etc=1", "no perturbation is called '../../etc'"),
        ("brightness=../../x", "expected a number; got '../../x'"),
        ("brightness=1,,2", "expected a number; got ''"),
        ("brightness=-1", "takes numbers from 0 to 10"),
        ("brightness=nan", "takes numbers from 0 to 10"),
        ("crf=18.5", "takes whole numbers from 0 to 51"),
        ("fps=0", "takes numbers from 1 to 240"),
    ],
)
def test_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_axis(text)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ([], "at least one axis"),
        ([("crf", [18]), ("crf", [28])], "crf is given twice"),
        ([("brightness", [1.0, 1])], "values that differ"),
        ([("brightness", [0.0, -0.0])], "values that differ"),
        ([("brightness", [])], "values that differ"),
        ([("blur", [1])], "Did you mean `gaussian_blur"),
    ],
)
def test_grids_refused(axes, message):
    with pytest.raises(InputError, match=message):
        checked_grid(axes)


def test_a_grid_is_sorted_by_name():
    assert list(checked_grid([("crf", [18]), ("brightness", [1])])) == ["brightness", "crf"]


@pytest.mark.parametrize("text", ["", "1,x", "1.5", "1,1"])
def test_seeds_refused(text):
    with pytest.raises(InputError, match="seeds"):
        parse_seeds(text)


def test_no_seeds():
    with pytest.raises(InputError, match="seeds that differ"):
        checked_seeds([])
