"""One way to say what may have been meant, wherever a name is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.compare.paper.columns import chosen_columns
from rushes.core.errors import InputError
from rushes.core.words.suggest import did_you_mean

SOURCE = Path(__file__).parents[2] / "src" / "rushes"


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("longest_freeze", ["decode_ok", "longest_freeze_ms"], ". Did you mean `longest_freeze_ms`?"),
        ("ab", ["abc", "abd", "abe", "abf"], ". Did you mean `abf`, `abe` or `abd`?"),  # ties: last in the alphabet
        ("psnr_", ["psnr", "psnr"], ". Did you mean `psnr`?"),
        (
            "freeze",
            ["longest_freeze_ms", "decode_ok"],
            ". Did you mean `longest_freeze_ms`?",
        ),  # ratio 0.52: it holds it
        ("zzz", ["a", "b", "a"], "; expected one of a, b"),
        ("", ["a"], "; expected one of a"),
        ("a", [], "; expected one of "),
    ],
)
def test_the_end_of_the_sentence(name: str, known: list[str], said: str) -> None:
    assert did_you_mean(name, known) == said


def test_something_else_in_place_of_the_list_and_another_form_of_the_names() -> None:
    assert did_you_mean("zzz", ["a"], otherwise="") == ""
    assert did_you_mean("taks", ["takes"], shown=Path("boards").joinpath) == ". Did you mean `boards/takes`?"


def test_a_column_of_two_tables_is_offered_once() -> None:
    with pytest.raises(InputError) as told:
        chosen_columns("pnsr")
    assert str(told.value).count("`psnr`") == 1


def test_nobody_says_it_in_another_way() -> None:
    users = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "get_close_matches" in (text := path.read_text("utf-8")) or "did you mean" in text
    ]
    assert users == ["core/words/suggest.py"]
