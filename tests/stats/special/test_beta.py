"""Student's t, F, binomial and beta against mpmath to 40 digits, and against SciPy over a wide grid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rushes.stats.special.beta import (
    beta_quantile,
    beta_tails,
    binomial_cdf,
    binomial_tail,
    f_tail,
    student_cdf,
    student_quantile,
)

CLOSE = 1e-12
FREEDOMS = (1, 1.5, 2, 3, 4.7, 9, 29, 30.3, 100, 999, 12345.6, 99999)
SHARES = (1e-120, 1e-30, 1e-12, 1e-6, 0.001, 0.025, 0.2, 0.25, 0.26, 0.45, 0.499, 0.5000001, 0.7, 0.95, 0.975, 0.9999)


def test_binomial_counts_by_hand() -> None:
    # 3 throws: 1, 3, 3, 1 of 8
    assert [round(binomial_cdf(k, 3, 0.5), 14) for k in range(-1, 4)] == [0, 0.125, 0.5, 0.875, 1]
    assert [round(binomial_tail(k, 3, 0.5), 14) for k in range(-1, 4)] == [1, 0.875, 0.5, 0.125, 0]
    assert binomial_cdf(0, 5, 0.0) == 1.0 and binomial_cdf(4, 5, 1.0) == 0.0
    assert binomial_tail(0, 5, 0.0) == 0.0 and binomial_tail(4, 5, 1.0) == 1.0


def test_student_in_closed_form() -> None:
    # one degree: ½ + arctan(t)/π; two: ½ + t / 2√(2 + t²)
    for t in (-300.0, -2.0, -0.1, 0.3, 7.0):
        assert student_cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, rel=1e-11)
        assert student_cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), rel=1e-9, abs=1e-16)
    assert student_quantile(0.75, 1) == pytest.approx(1.0, rel=CLOSE)
    assert student_quantile(0.9, 2) == pytest.approx(0.8 / math.sqrt(2 * 0.9 * 0.1), rel=CLOSE)


def test_student_at_its_ends() -> None:
    inf, nan = math.inf, math.nan
    assert [student_cdf(t, 3) for t in (-inf, 0.0, inf)] == [0.0, 0.5, 1.0]
    assert [student_quantile(share, 3) for share in (0, 0.5, 1)] == [-inf, 0.0, inf]
    assert student_cdf(-1.0, inf) == pytest.approx(0.15865525393145705, rel=CLOSE)
    assert student_quantile(0.975, inf) == pytest.approx(1.959963984540054, rel=CLOSE)
    assert all(map(math.isnan, (student_cdf(nan, 3), student_cdf(1, nan), student_quantile(nan, 3))))
    assert all(map(math.isnan, (student_quantile(0.3, nan), student_quantile(-0.1, 3), student_quantile(1.1, 3))))


def test_quantiles_are_inverse_and_rise() -> None:
    for freedom in FREEDOMS:
        found = [student_quantile(share, freedom) for share in SHARES]
        assert found == sorted(found)
        for share, t in zip(SHARES, found, strict=True):
            assert student_cdf(t, freedom) == pytest.approx(share, rel=CLOSE)
            assert student_quantile(1 - share, freedom) == pytest.approx(-t, rel=1e-9) or share < 1e-3


def test_student_is_scipys() -> None:
    sp = pytest.importorskip("scipy.special")
    for freedom in FREEDOMS:
        for t in np.geomspace(1e-3, 60, 60).tolist():  # nearer to 0, scipy's has fewer digits
            for asked in (t, -t):
                assert student_cdf(asked, freedom) == pytest.approx(
                    float(sp.stdtr(freedom, asked)), rel=CLOSE, abs=1e-290
                )
        for share in SHARES:
            if abs(share - 0.5) > 1e-3:
                assert student_quantile(share, freedom) == pytest.approx(float(sp.stdtrit(freedom, share)), rel=CLOSE)


def test_student_is_mpmaths_where_scipy_has_fewer_digits() -> None:
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(40):
        for freedom, t in ((1, 1e-8), (10, 2.5699780335777937e-7), (1e6, 3.0), (1e6, 30.0), (3.3, 1e9)):
            n, square = mp.mpf(freedom), mp.mpf(t) ** 2
            exact = mp.betainc(n / 2, 0.5, 0, n / (n + square), regularized=True) / 2
            assert student_cdf(-t, freedom) == pytest.approx(float(exact), rel=CLOSE)
    # the chance between −t and t is what the middle quantiles rest on
    assert student_quantile(0.5000001, 10) == pytest.approx(2.5699780335777937e-7, rel=CLOSE)


def test_binomial_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    for n in (1, 2, 5, 20, 100, 1000, 100_000):
        for k in sorted({*np.linspace(-1, n, 16).astype(int).tolist(), 0, 1, n - 1}):
            for share in (0.0, 1e-6, 0.01, 0.3, 0.5, 0.77, 0.999, 1.0):
                for ours, theirs in ((binomial_cdf, stats.binom.cdf), (binomial_tail, stats.binom.sf)):
                    exact = float(theirs(k, n, share))
                    assert ours(k, n, share) == pytest.approx(exact, rel=2e-12, abs=1e-280), (k, n, share)


def test_a_far_tail_of_many_throws_is_the_sum_of_its_counts() -> None:
    # scipy's is 1e-12 off here
    n, k = 100_000, 53_332
    ways, total = math.comb(n, k + 1), 0
    for j in range(k + 1, k + 1500):
        total += ways
        ways = ways * (n - j) // (j + 1)
    assert binomial_tail(k, n, 0.5) == pytest.approx(float(Fraction(total, 2**n)), rel=1e-13)


def test_beta_is_mpmaths() -> None:
    mp = pytest.importorskip("mpmath").mp
    cases = ((0.5, 0.5, 0.3), (2, 3, 0.9), (40, 60, 0.4), (500_000, 25, 0.99995), (3000, 7000, 0.28), (1, 1e5, 1e-5))
    with mp.workdps(60):
        for a, b, x in cases:
            exact = mp.betainc(a, b, 0, mp.mpf(x), regularized=True)
            lower, upper = beta_tails(a, b, x, 1 - x)
            assert lower == pytest.approx(float(exact), rel=CLOSE)
            if 1 - exact < 0.5:
                # x is given to 16 digits, and 1 − x with it
                assert upper == pytest.approx(float(1 - exact), rel=1e-10)


def test_beta_quantiles_invert() -> None:
    for a, b in ((1, 1), (1, 50), (50, 1), (7, 4), (300, 10), (50_000, 50_001), (1, 100_000)):
        found = [beta_quantile(share, a, b) for share in (0.0, 1e-9, 0.025, 0.3, 0.5, 0.975, 1.0)]
        assert found == sorted(found) and found[0] == 0.0 and found[-1] == 1.0
        for share, x in zip((1e-9, 0.025, 0.3), found[1:4], strict=True):
            assert beta_tails(a, b, x, 1 - x)[0] == pytest.approx(share, rel=1e-10)
    assert beta_quantile(0.025, 1, 4) == pytest.approx(1 - 0.975**0.25, rel=CLOSE)  # I_x(1, b) = 1 − (1 − x)^b


def test_f_is_scipys_and_mpmaths() -> None:
    sp = pytest.importorskip("scipy.special")
    for above in (1, 2, 4.5, 30, 999):
        for below in (1, 2, 7, 50, 1000):
            for x in np.geomspace(1e-3, 100, 25).tolist():
                assert f_tail(x, above, below) == pytest.approx(float(sp.fdtrc(above, below, x)), rel=CLOSE, abs=1e-290)
    assert math.isnan(f_tail(math.nan, 3, 4)) and math.isnan(binomial_cdf(3, 9, math.nan))
    assert f_tail(0.0, 3, 4) == 1.0 and f_tail(math.inf, 3, 4) == 0.0
    # above = 2 has the closed form (1 + 2x/below)^(−below/2)
    assert f_tail(1.5, 2, 6) == pytest.approx(1.5**-3, rel=CLOSE)
