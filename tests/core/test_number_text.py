"""Numbers for people: short enough for a column, whatever their size, and never other digits than were stored."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from rushes.core.words.number_text import number_text


@example(0.00002309)
@given(st.floats(min_value=0, max_value=9999, allow_nan=False))
def test_no_number_is_longer_than_nine_characters(value: float) -> None:
    """0.00002309 in a column of 0.1428s would be; 0.0001793 is the longest there is."""
    assert len(number_text(value)) <= 9
    assert len(number_text(-value)) <= 10


@given(st.floats(min_value=-1e6, max_value=1e6, allow_nan=False))
def test_it_reads_back_to_four_digits(value: float) -> None:
    # Half a unit of the fourth digit is at most 5e-4 of the value; eight decimals are stored, and from 1000 on none.
    assert abs(float(number_text(value)) - value) <= max(abs(value) * 5.001e-4, 5e-9)


def test_tiny_numbers_have_a_power_of_ten() -> None:
    assert [number_text(value) for value in (0.1428, 0.00012309, 0.00002309, 0.00009999)] == [
        "0.1428", "0.0001231", "2.309e-5", "9.999e-5",
    ]  # fmt: skip
