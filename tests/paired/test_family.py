"""Many comparisons at once: each one's probability, Holm's rule, and the size of a change on one scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from rushes.clip.metrics.image import BLUR_SCORE
from rushes.clip.metrics.timing import DECODE_OK
from rushes.core import Definition, Measurement
from rushes.paired.family import holm_tests, mean_test, spread_difference
from rushes.paired.statistics import PairedStatistics, paired_statistics


def of_values(pairs: list[tuple[float | bool, float | bool]], definition: Definition = BLUR_SCORE) -> PairedStatistics:
    return paired_statistics(
        [
            (Measurement(definition=definition, value=a, count=1), Measurement(definition=definition, value=b, count=1))
            for a, b in pairs
        ]
    )


def test_the_probability_is_the_paired_t_test() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    for n in (2, 5, 40):
        a = np.round(rng.normal(50, 5, n), 6)
        b = np.round(a + rng.normal(1, 2, n), 6)
        found = mean_test(of_values(list(zip(a.tolist(), b.tolist(), strict=True))))
        assert found.value == pytest.approx(float(ttest_rel(b, a).pvalue), rel=1e-6)
        assert found.count == n and "of:blur_score" in found.signature


def test_a_flag_has_the_exact_test_and_so_have_equal_differences() -> None:
    # 6 of 8 flags went off, none went on: P = 2 / 2^6 = 0.03125
    flags = mean_test(of_values([(True, False)] * 6 + [(True, True)] * 2, DECODE_OK))
    assert flags.value == pytest.approx(2 / 64)
    # 8 clips changed by 12 each: no spread to go by, but the signs alone say 2 / 2^8
    assert mean_test(of_values([(50.0, 38.0)] * 8)).value == pytest.approx(2 / 256)


def test_where_nothing_can_be_told_there_is_no_probability() -> None:
    for pairs in ([(1.0, 2.0)], [(1.0, 1.0), (2.0, 2.0)]):
        found = mean_test(of_values(list(pairs)))
        assert found.value is None and "no interval" in found.note


def test_holm_is_the_reference_implementation_and_counts_real_tests_alone() -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    rng = np.random.Generator(np.random.PCG64(2))
    rows = [of_values([(10.0, 10.0 + float(d)) for d in rng.normal(0.8, 1, 6)]) for _ in range(7)]
    rows.insert(3, of_values([(1.0, 1.0)] * 4))  # never changed: no member of the family
    tests = [mean_test(row) for row in rows]
    raised = holm_tests(tests, rows)
    assert raised[3].value is None and "tests:7" in raised[0].signature
    values = [float(test.value) for test in tests if test.value is not None]
    expected = multipletests(values, method="holm")[1]
    assert [m.value for m in raised if m.value is not None] == pytest.approx(expected.tolist())


def test_the_spread_by_hand() -> None:
    # values 1 3 | 2 6: mean 3, squares 4 0 1 9, variance 14/4 = 3.5; mean difference (1 + 3) / 2 = 2
    found = spread_difference(of_values([(1.0, 2.0), (3.0, 6.0)]), [1.0, 2.0, 3.0, 6.0])
    assert found.value == pytest.approx(2 / 3.5**0.5)
    assert found.interval is not None
    # differences 1 and 3: s = √2, half = 12.7062 · √2 / √2 = 12.7062
    assert found.interval.high == pytest.approx((2 + 12.7062) / 3.5**0.5, rel=1e-5)
    same = spread_difference(of_values([(1.0, 1.0), (1.0, 1.0)]), [1.0] * 4)
    assert same.value is None and "same value" in same.note


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6).map(lambda v: round(v, 6))] * 2), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_mean_difference_is_two_spreads_at_the_most(pairs: list[tuple[float, float]]) -> None:
    free = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
    found = spread_difference(of_values(list(pairs), free), [v for pair in pairs for v in pair])
    assert found.value is None or abs(float(found.value)) <= 2


def test_families_of_equal_runs_rarely_tell_a_change_and_a_real_one_is_found() -> None:
    """60 families of 10 metrics on 12 clips, none with a difference; then one metric is 2 standard deviations lower."""
    rng = np.random.Generator(np.random.PCG64(3))
    free = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
    alarms = hits = 0
    for _ in range(60):
        draws = rng.normal(0, 1, (10, 12))
        rows = [of_values([(0.0, float(d)) for d in draw], free) for draw in draws]
        alarms += any(float(m.value or 0) <= 0.05 for m in holm_tests([mean_test(r) for r in rows], rows))
        rows[4] = of_values([(0.0, float(d) - 2.0) for d in draws[4]], free)
        hits += float(holm_tests([mean_test(r) for r in rows], rows)[4].value or 0) <= 0.05
    # 3 of 60 are expected; more than 7 would be one chance in a hundred (binomial), and the seed is fixed
    assert alarms <= 7, alarms
    assert hits >= 58, hits
