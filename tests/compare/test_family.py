"""Many comparisons at once: each one's probability, Holm's rule, and the size of a change on one scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_1samp

from rushes.compare.board.pairs import paired_contrast
from rushes.compare.comparison import PairedStatistics, holm_tests, paired_statistics, spread_difference
from rushes.core import Definition, Measurement
from rushes.core.reading import Reading
from rushes.instruments.clip.metrics.image import BLUR_SCORE
from rushes.instruments.clip.metrics.timing import DECODE_OK
from rushes.stats.families import holm
from rushes.stats.sign_flip import sign_flip_p


def of_values(pairs: list[tuple[float | bool, float | bool]], definition: Definition = BLUR_SCORE) -> PairedStatistics:
    return paired_statistics(
        [
            (Measurement(definition=definition, value=a, count=1), Measurement(definition=definition, value=b, count=1))
            for a, b in pairs
        ]
    )


def test_the_probability_is_the_board_s_and_as_scipy_counts_it() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    for n in (2, 5, 9):
        a = np.round(rng.normal(50, 5, n), 6)
        b = np.round(a + rng.normal(1, 2, n), 6)
        found = of_values(list(zip(a.tolist(), b.tolist(), strict=True))).p
        every = permutation_test((b - a,), np.sum, permutation_type="samples", n_resamples=np.inf)
        assert found.value == pytest.approx(float(every.pvalue), rel=1e-9)
        contrast = paired_contrast(Reading(definition=BLUR_SCORE), ("b", "a"), b - a)
        assert contrast.p.value == found.value and contrast.p.signature == found.signature
        assert found.count == n and "sign_flip_p|" in found.signature and "of:blur_score" in found.signature


def test_a_flag_has_the_exact_test_and_so_have_equal_differences() -> None:
    # 6 of 8 flags went off, none went on: P = 2 / 2^6 = 0.03125
    flags = of_values([(True, False)] * 6 + [(True, True)] * 2, DECODE_OK).p
    assert flags.value == pytest.approx(2 / 64) and flags.count == 6
    # 8 clips changed by 12 each: no spread to go by, but the signs alone say 2 / 2^8
    assert of_values([(50.0, 38.0)] * 8).p.value == pytest.approx(2 / 256)


def test_where_nothing_can_be_told_the_probability_is_one() -> None:
    one = of_values([(1.0, 2.0)]).p
    assert (one.value, one.count) == (1.0, 1), "one clip goes up or down: both as far from 0"
    same = of_values([(1.0, 1.0), (2.0, 2.0)]).p
    assert (same.value, same.count, same.note) == (1.0, 0, "no clip changed")


def test_holm_is_the_reference_implementation_and_counts_real_tests_alone() -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    rng = np.random.Generator(np.random.PCG64(2))
    rows = [of_values([(10.0, 10.0 + float(d)) for d in rng.normal(0.8, 1, 9)]) for _ in range(7)]
    rows.insert(3, of_values([(1.0, 1.0)] * 4))  # never changed: no member of the family
    raised = holm_tests(rows)
    assert (raised[3].value, raised[3].count) == (1.0, 0)
    assert "test:sign-flip|tests:7" in raised[0].signature
    values = [float(row.p.value or 0) for row in rows if row.p.count]
    expected = multipletests(values, method="holm")[1]
    assert [m.value for m in raised if m.count] == pytest.approx(expected.tolist())


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
        alarms += any(float(m.value or 0) <= 0.05 for m in holm_tests(rows))
        rows[4] = of_values([(0.0, float(d) - 2.0) for d in draws[4]], free)
        hits += float(holm_tests(rows)[4].value or 0) <= 0.05
    # 3 of 60 are expected; more than 7 would be one chance in a hundred (binomial), and the seed is fixed
    assert alarms <= 7, alarms
    assert hits >= 58, hits


@pytest.mark.parametrize(
    ("name", "clips", "most_flips", "least_t"), [("uniform", 6, 0, 20), ("steps", 8, 0, 20), ("uniform", 12, 15, 0)]
)
def test_why_not_student_s_t(name: str, clips: int, most_flips: int, least_t: int) -> None:
    """200 families of 18 metrics without a difference, on few clips: Student's t tells a change in one of ten families.

    Evenly spread differences, and steps of about one size to either side (a frame more or less), have short tails: on
    few clips they lie close together by chance, and t takes that for certainty. Ten of 200 are allowed. All patterns of
    signs of 6 clips give no p below 2/64, so that nothing can be told there, and nothing is told that is not so.
    """
    rng = np.random.Generator(np.random.PCG64(17))
    shape = (200 * 18, clips)
    steps = rng.choice([-1.0, 1.0], shape) * (1 + 0.05 * rng.normal(size=shape))
    differences = rng.uniform(-1, 1, shape) if name == "uniform" else steps
    alarms = [_alarms(p) for p in (sign_flip_p(differences), ttest_1samp(differences, 0, axis=1).pvalue)]
    assert alarms[0] <= most_flips and alarms[1] >= least_t, alarms


def _alarms(p_values: np.ndarray) -> int:
    return sum(min(holm(family)) <= 0.05 for family in p_values.reshape(200, 18).tolist())
