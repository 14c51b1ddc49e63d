"""χ² against closed forms, mpmath to 40 digits, and SciPy over a wide grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushes.stats.special.gamma import chi_square_quantile, chi_square_tail, deviance, gamma_tails, stirling_error

CLOSE = 1e-12
FREEDOMS = (1, 2, 3, 5, 10, 29, 30.3, 100, 999, 12345, 100_000)


def test_stirlings_error_and_deviance_are_mpmaths() -> None:
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(40):
        for n in (0.01, 0.5, 1.0, 2.5, 9.99, 10.0, 123.4, 1e6):
            m = mp.mpf(n)
            exact = mp.loggamma(m + 1) - (m + 0.5) * mp.log(m) + m - mp.log(2 * mp.pi) / 2
            assert stirling_error(n) == pytest.approx(float(exact), abs=2e-15)
            for mean in (n * 0.5, n * 0.95, n * (1 + 1e-9), n * 1.3, n * 40):
                wanted = m * mp.log(m / mp.mpf(mean)) + mp.mpf(mean) - m
                assert deviance(n, mean) == pytest.approx(float(wanted), rel=1e-13)
    assert deviance(2.0, 0.0) == math.inf and deviance(3.0, 3.0) == 0.0


def test_chi_square_in_closed_form() -> None:
    # 2 degrees: e^(−x/2); 4: (1 + x/2) e^(−x/2); 1: erfc √(x/2)
    for x in (1e-9, 0.3, 1.0, 5.0, 60.0, 900.0):
        assert chi_square_tail(x, 2) == pytest.approx(math.exp(-x / 2), rel=CLOSE)
        assert chi_square_tail(x, 4) == pytest.approx((1 + x / 2) * math.exp(-x / 2), rel=CLOSE)
        assert chi_square_tail(x, 1) == pytest.approx(math.erfc(math.sqrt(x / 2)), rel=CLOSE)
    assert chi_square_quantile(0.05, 2) == pytest.approx(-2 * math.log(0.05), rel=CLOSE)


def test_chi_square_at_its_ends() -> None:
    assert chi_square_tail(0.0, 3) == 1.0 and chi_square_tail(math.inf, 3) == 0.0
    assert chi_square_quantile(0.0, 3) == math.inf and chi_square_quantile(1.0, 3) == 0.0
    assert all(math.isnan(chi_square_quantile(share, 3)) for share in (math.nan, -0.1, 1.1))
    assert math.isnan(chi_square_tail(math.nan, 3))


def test_chi_square_is_scipys() -> None:
    sp = pytest.importorskip("scipy.special")
    for freedom in FREEDOMS:
        found = []
        for share in (1e-300, 1e-100, 1e-13, 1e-5, 0.05, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-13):
            found.append(chi_square_quantile(share, freedom))
            assert found[-1] == pytest.approx(float(sp.chdtri(freedom, share)), rel=CLOSE)
        assert found == sorted(found, reverse=True)
        for x in (np.geomspace(1e-3, 3, 40) * freedom).tolist():
            assert chi_square_tail(x, freedom) == pytest.approx(float(sp.chdtrc(freedom, x)), rel=CLOSE, abs=1e-280)


def test_both_tails_are_mpmaths() -> None:
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(40):
        for a, x in (
            (0.5, 1e-9),
            (0.5, 1.49),
            (3, 4),
            (499.5, 838.0666776),
            (499.5, 300.0),
            (1e5, 1e5),
            (1e5, 99000.0),
        ):
            for ours, exact in zip(
                gamma_tails(a, x),
                (mp.gammainc(a, 0, x, regularized=True), mp.gammainc(a, x, mp.inf, regularized=True)),
                strict=True,
            ):
                assert ours == pytest.approx(float(exact), rel=CLOSE if exact < 0.6 else 1e-13)
