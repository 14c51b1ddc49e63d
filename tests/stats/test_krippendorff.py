"""Krippendorff's α: by hand, order laws, levels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.stats.agreement import LEVELS, krippendorff_alpha, unit_table


def test_systematic_disagreement_by_hand() -> None:
    # Two units (1, 2) and (2, 1): n = 4, n_1 = n_2 = 2, D_o = 1, D_e = 2·2·2/(4·3) = 2/3, α = −½.
    assert krippendorff_alpha(unit_table([[1, 2], [2, 1]])).value == pytest.approx(-0.5)


def test_a_near_miss_counts_less_on_an_interval_scale() -> None:
    near = unit_table([[1, 1], [3, 3], [5, 5], [1, 2]])
    far = unit_table([[1, 1], [3, 3], [5, 5], [1, 5]])
    for level in ("ordinal", "interval"):
        closer, wider = krippendorff_alpha(near, level=level).value, krippendorff_alpha(far, level=level).value  # type: ignore[arg-type]
        assert closer is not None and wider is not None and closer > wider


def test_words_take_their_place_in_the_order() -> None:
    words = unit_table([["a", "tie"], ["b", "b"], ["a", "a"]], categories=("a", "tie", "b"))
    numbers = unit_table([[0, 1], [2, 2], [0, 0]])
    for level in ("nominal", "ordinal", "interval"):
        one, other = krippendorff_alpha(words, level=level), krippendorff_alpha(numbers, level=level)  # type: ignore[arg-type]
        assert one.value == pytest.approx(other.value)


def test_an_unused_category_changes_nothing() -> None:
    used = unit_table([[1, 2], [5, 5], [1, 1]])
    offered = unit_table([[1, 2], [5, 5], [1, 1]], categories=(1, 2, 3, 4, 5))
    for level in LEVELS:
        assert krippendorff_alpha(used, level=level).value == pytest.approx(
            krippendorff_alpha(offered, level=level).value
        )


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(InputError, match="nominal, ordinal, interval, ratio"):
        krippendorff_alpha(unit_table([]), level="circular")  # type: ignore[arg-type]


ratings = st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=0, max_size=5), max_size=8)


@given(ratings, st.sampled_from(LEVELS))
def test_alpha_is_at_most_one_or_undefined_with_a_reason(units: list[list[int | None]], level: str) -> None:
    found = krippendorff_alpha(unit_table(units), level=level)  # type: ignore[arg-type]
    if found.value is None:
        assert found.why is not None
    else:
        assert found.value <= 1.0 + 1e-12
