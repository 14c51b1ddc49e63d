"""Chance-corrected coefficients: by hand, against statsmodels, undefined cases."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats import inter_rater

from rushes.core import Why
from rushes.core.errors import InputError
from rushes.stats.agreement import UnitTable, krippendorff_alpha, unit_table
from rushes.stats.kappa import cohen_kappa, fleiss_kappa, gwet_ac1, mean_cohen_kappa


def test_fleiss_and_cohen_match_statsmodels() -> None:
    draw = np.random.default_rng(11)
    table = draw.multinomial(5, [0.5, 0.3, 0.2], size=40).astype(float)
    ours = fleiss_kappa(UnitTable(counts=table, categories=(0, 1, 2))).value
    assert ours == pytest.approx(inter_rater.fleiss_kappa(table), abs=1e-12)
    square = draw.integers(1, 20, (3, 3))
    assert cohen_kappa(square).value == pytest.approx(inter_rater.cohens_kappa(square).kappa, abs=1e-12)


def test_skewed_marginals_collapse_kappa_but_not_ac1() -> None:
    # 18 agree on a, two split: p_a = 0.9. Fleiss: π = .95/.05, p_e = .905, κ = −0.0526. AC1: p_e = .095, AC1 = 0.8895.
    table = unit_table([["a", "a"]] * 18 + [["a", "b"], ["b", "a"]])
    assert fleiss_kappa(table).value == pytest.approx((0.9 - 0.905) / 0.095)
    assert gwet_ac1(table).value == pytest.approx((0.9 - 0.095) / 0.905)


def test_one_category_is_none_with_a_reason() -> None:
    table = unit_table([["a", "a"], ["a", "a"]], categories=("a", "tie", "b"))
    assert (fleiss_kappa(table).value, fleiss_kappa(table).why) == (None, Why.ONE_CATEGORY)
    assert (krippendorff_alpha(table).value, krippendorff_alpha(table).why) == (None, Why.ONE_CATEGORY)
    assert cohen_kappa([[4, 0], [0, 0]]).why is Why.ONE_CATEGORY
    assert gwet_ac1(table).value == 1.0  # all agree, and with three categories on offer that is not chance


def test_a_single_category_on_offer_is_none() -> None:
    table = unit_table([["a", "a"]])
    assert gwet_ac1(table).why is Why.ONE_POSSIBLE_CATEGORY


@pytest.mark.parametrize("coefficient", [fleiss_kappa, gwet_ac1, krippendorff_alpha])
def test_nothing_shared_is_none(coefficient: object) -> None:
    table = unit_table([["a"], ["b"]])
    assert coefficient(table).why is Why.NO_SHARED_UNIT  # type: ignore[operator]


def test_no_table_is_none_and_a_bad_one_refused() -> None:
    assert cohen_kappa([[0, 0], [0, 0]]).value is None
    with pytest.raises(InputError, match="square"):
        cohen_kappa([[1, 2]])


def test_mean_cohen_over_rater_pairs() -> None:
    # r1 and r2 agree on two samples with two outcomes (κ = 1); r1 and r3 share one sample, same outcome (undefined).
    units = [{"r1": "a", "r2": "a"}, {"r1": "b", "r2": "b"}, {"r1": "a", "r3": "a"}]
    found = mean_cohen_kappa(units, categories=("a", "tie", "b"))
    assert (found.value, found.count, found.left_out) == (1.0, 1, 1)
    none = mean_cohen_kappa(units[2:], categories=("a", "tie", "b"))
    assert (none.value, none.why, none.left_out) == (None, Why.ONE_CATEGORY, 1)
    assert mean_cohen_kappa([], categories="ab").why is Why.NO_SHARED_UNIT
