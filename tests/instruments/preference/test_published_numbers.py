"""Every number of the published examples, to 1e-6."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushes.stats.agreement import UnitTable, krippendorff_alpha, percent_agreement, unit_table
from rushes.stats.intervals import wilson
from rushes.stats.kappa import cohen_kappa, fleiss_kappa, gwet_ac1
from rushes.stats.votes.ranking import Ranking, rank
from rushes.stats.votes.tally import PairCounts, Tally, tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, uncertainty

Published = dict[str, Any]
CLOSE = 1e-6


def wikipedia_wins(published: Published) -> np.ndarray:
    wins = np.zeros((4, 4))
    for key, number in published["bt_wikipedia"]["wins"].items():
        wins["ABCD".index(key[0]), "ABCD".index(key[2])] = number
    return wins


def as_tally(names: str, wins: np.ndarray) -> Tally:
    first, second = np.nonzero(wins)
    times = wins[first, second].astype(int)
    return tally_arrays(list(names), np.repeat(first, times), np.repeat(second, times), np.zeros(times.sum(), int))


def spread(ranking: Ranking, votes: Tally | None = None, kind: str = "fisher") -> Uncertainty:
    found = uncertainty(ranking, votes, kind=kind)  # type: ignore[arg-type]
    assert isinstance(found, Uncertainty)
    return found


def test_the_retyped_file_is_the_reference(published: Published, shared: Path) -> None:
    assert json.loads((shared / "golden" / "statistics.json").read_text()) == published


def test_bradley_terry_wikipedia(published: Published) -> None:
    wins, expected = wikipedia_wins(published), published["bt_wikipedia"]
    fit = rank(PairCounts.of_wins("ABCD", wins))
    assert fit.log_worth == pytest.approx(expected["theta_mean0"], abs=CLOSE)
    assert np.exp(fit.log_worth) == pytest.approx(list(expected["p_geomean1"].values()), abs=CLOSE)


def test_standard_errors_wikipedia(published: Published) -> None:
    wins, expected = wikipedia_wins(published), published["bt_wikipedia"]
    votes = as_tally("ABCD", wins)
    fit = rank(votes)
    assert spread(fit).standard_errors() == pytest.approx(expected["se_fisher_sumzero"], abs=CLOSE)
    assert spread(fit, votes, "sandwich").standard_errors() == pytest.approx(expected["se_sandwich_sumzero"], abs=CLOSE)


def test_bradley_terry_citations(published: Published) -> None:
    expected = published["bt_citations"]
    fit = rank(PairCounts.of_wins(expected["order"], expected["wins_row_over_col"]))
    assert fit.log_worth[1:] - fit.log_worth[0] == pytest.approx(expected["coef_ref_Biometrika"], abs=CLOSE)
    assert [spread(fit).difference_se(i, 0) for i in (1, 2, 3)] == pytest.approx(expected["se"], abs=CLOSE)
    assert fit.goodness is not None
    assert (fit.goodness.g2, fit.goodness.df) == (pytest.approx(expected["deviance"], abs=CLOSE), expected["df"])


def test_davidson_pudding(published: Published, pudding: PairCounts) -> None:
    expected, fit = published["pudding_davidson1970"], rank(pudding)
    assert fit.log_worth - fit.log_worth[0] == pytest.approx(expected["log_worth_rel1"], abs=CLOSE)
    assert fit.x[-1] == pytest.approx(expected["log_nu"], abs=CLOSE)
    assert fit.tie_parameter == pytest.approx(expected["nu"], abs=CLOSE)
    assert fit.worth == pytest.approx(expected["worth_sum1"], abs=CLOSE)
    assert fit.log_likelihood == pytest.approx(expected["loglik"], abs=CLOSE)
    assert fit.goodness is not None
    assert fit.goodness.g2 == pytest.approx(expected["G2"], abs=CLOSE)
    assert fit.goodness.x2 == pytest.approx(expected["X2"], abs=CLOSE)
    assert fit.goodness.df == expected["df"]


def test_davidson_pudding_standard_errors(published: Published, pudding: PairCounts) -> None:
    found = spread(rank(pudding))
    errors = [found.difference_se(i, 0) for i in range(1, 6)] + [found.standard_errors()[-1]]
    assert errors == pytest.approx(published["pudding_davidson1970"]["se_logworth2to6_lognu"], abs=CLOSE)


def test_rao_kupper_pudding(published: Published, pudding: PairCounts) -> None:
    expected = published["pudding_davidson1970"]["rao_kupper"]
    fit = rank(pudding, tie_policy="rao-kupper")
    assert fit.log_worth - fit.log_worth[0] == pytest.approx(expected["log_worth_rel1"], abs=CLOSE)
    assert fit.tie_parameter == pytest.approx(expected["theta"], abs=CLOSE)
    assert fit.log_likelihood == pytest.approx(expected["loglik"], abs=CLOSE)


@pytest.mark.parametrize(("policy", "key"), [("half-tie", "bt_half_tie"), ("drop-tie", "bt_drop_tie")])
def test_simple_tie_policies_pudding(published: Published, pudding: PairCounts, policy: Any, key: str) -> None:
    fit = rank(pudding, tie_policy=policy)
    assert fit.log_worth - fit.log_worth[0] == pytest.approx(published["pudding_davidson1970"][key], abs=CLOSE)


def test_krippendorff_c_data(published: Published) -> None:
    expected = published["kripp_C"]
    table = unit_table(zip(*expected["coders_x_units_null_missing"], strict=True))
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert krippendorff_alpha(table, level=level).value == pytest.approx(expected[level], abs=CLOSE)  # type: ignore[arg-type]
    assert percent_agreement(table).value == pytest.approx(expected["percent"], abs=CLOSE)
    assert gwet_ac1(table).value == pytest.approx(expected["AC1"], abs=CLOSE)
    assert fleiss_kappa(table).value == pytest.approx(expected["fleiss_missing"], abs=CLOSE)


def test_cohen_wikipedia(published: Published) -> None:
    for table, expected in published["cohen_wikipedia"].items():
        assert cohen_kappa(json.loads(table)).value == pytest.approx(expected, abs=CLOSE)


def test_fleiss_wikipedia(published: Published) -> None:
    expected = published["fleiss_wikipedia"]
    counts = np.array(expected["table_subjects_x_categories_14_raters"], dtype=float)
    assert fleiss_kappa(UnitTable(counts=counts, categories=tuple(range(5)))).value == pytest.approx(
        expected["kappa"], abs=CLOSE
    )


def test_wilson(published: Published) -> None:
    for key, (lower, upper) in published["wilson95"].items():
        successes, trials = map(int, key.split("/"))
        found = wilson(successes, trials)
        assert (found.low, found.high) == (pytest.approx(lower, abs=CLOSE), pytest.approx(upper, abs=CLOSE))
