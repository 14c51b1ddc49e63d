"""Tables that fit a window: what gives way first, and that a name is never broken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.present.terminal.layout import lay_out
from rushes.present.terminal.wrapping import cell_width, printable, wrapped

HEADER = ("clip", "signal", "frozen ms", "alternation", "reasons")
ROWS = [
    ("take_long_sound", "reject", "0", "0.0275", "sound and picture differ in length (av_duration_delta_ms=900 > 500)"),
    ("take_good", "pass", "0", "0.0275", ""),
]


def lines(width: int, **options: object) -> list[str]:
    return lay_out(HEADER, ROWS, width=width, numbers=(2, 3), **options).lines  # type: ignore[arg-type]


def test_with_room_for_everything_there_is_one_line_a_row() -> None:
    assert len(lines(140)) == 2 + len(ROWS)


def test_below_110_columns_reasons_stand_under_their_clip() -> None:
    found = lines(80)
    assert found[2].split() == ["take_long_sound", "reject", "0", "0.0275"]
    assert found[3] == "  sound and picture differ in length (av_duration_delta_ms=900 > 500)"
    assert found[4].split() == ["take_good", "pass", "0", "0.0275"]  # no empty line where there is no reason


def test_from_110_columns_on_reasons_keep_their_column_and_break_between_words() -> None:
    header, rows = (
        (*HEADER[:-1], "note", "reasons"),
        [(*row[:-1], "n" * 20, row[-1] + " and more of it") for row in ROWS],
    )
    found = lay_out(header, rows, width=112, numbers=(2, 3)).lines
    assert found[2].startswith("take_long_sound") and found[3].startswith(" " * 30)


def test_columns_are_left_out_from_the_right_and_named() -> None:
    header = ("metric", "verdict", *(f"n{i}" for i in range(12)), "last")
    rows = [("blur_score", "better", *["0.12345"] * 12, "kept")]
    laid = lay_out(header, rows, width=60, numbers=range(2, 14), keep=[14])
    assert laid.left_out == [f"n{i}" for i in range(3, 12)]  # 25 columns and 9 for each number
    assert "blur_score" in laid.lines[-1] and laid.lines[-1].endswith("kept")


def test_a_long_name_has_a_line_of_its_own() -> None:
    name = "a_very_long_name_of_a_clip_that_somebody_made_out_of_its_whole_prompt_01"
    found = lay_out(("clip", "signal", "ms"), [(name, "pass", "12")], width=80, numbers=(2,)).lines
    assert name in found or any(line.startswith(name) for line in found)
    found = lay_out(("clip", "signal", "ms"), [(name, "pass", "12")], width=76, numbers=(2,)).lines
    assert found[-2:] == [name, "  pass    12"]


def test_colour_takes_no_room() -> None:
    painted = lay_out(HEADER, ROWS, width=80, numbers=(2, 3), paint=lambda cell: f"\x1b[31m{cell}\x1b[0m").lines
    plain = lines(80)
    assert [line.replace("\x1b[31m", "").replace("\x1b[0m", "") for line in painted[2:3]] == plain[2:3]


def test_empty_columns_are_not_shown() -> None:
    found = lay_out(("metric", "value", "note"), [("psnr", "30", ""), ("ssim", "1", "")], width=80, numbers=(1,)).lines
    assert found[0] == "metric  value"


@pytest.mark.parametrize("text", ["画" * 50, "a|" * 60, "word " * 40, "x" * 130, "é" * 90])
def test_no_line_is_longer_than_asked(text: str) -> None:
    assert all(cell_width(line) <= 40 for line in wrapped(text, 40, hang=2))
    assert "".join("".join(wrapped(text, 40, hang=2)).split()) == "".join(text.split())


def test_a_file_name_cannot_paint_the_terminal() -> None:
    assert printable("a\x1b]0;title\x07.mp4") == "a?]0;title?.mp4"


_CELL = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=18
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(_CELL, _CELL, _CELL, st.lists(_CELL, max_size=9).map(" ".join)), min_size=1, max_size=4),
    st.integers(60, 160),
)
def test_any_table_fits_and_keeps_its_names_whole(rows: list[tuple[str, str, str, str]], width: int) -> None:
    laid = lay_out(("name", "a b", "c", "words"), rows, width=width, numbers=(2,))
    assert all(cell_width(line) <= width for line in laid.lines)
    text = "\n".join(laid.lines)
    assert all(name in text for name, *_ in rows)
