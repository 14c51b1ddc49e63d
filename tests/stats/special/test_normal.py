"""The normal distribution and Owen's T against mpmath to 40 digits, and SciPy over a wide grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushes.stats.special.normal import normal_cdf, normal_log_cdf, normal_quantile, owens_t

CLOSE = 1e-12
GRID = np.concatenate([np.linspace(-37.5, 9, 5001), np.geomspace(1e-12, 37, 300), -np.geomspace(1e-12, 1, 100)])


def test_ends_and_shapes() -> None:
    ends = np.array([-math.inf, math.inf, math.nan])
    assert np.array_equal(normal_cdf(ends), [0.0, 1.0, math.nan], equal_nan=True)
    assert np.array_equal(normal_log_cdf(ends), [-math.inf, 0.0, math.nan], equal_nan=True)
    assert normal_cdf(np.zeros((2, 3, 1))[:, ::2]).shape == (2, 2, 1) and normal_cdf(0.0).shape == ()
    assert normal_cdf(np.arange(6.0).reshape(2, 3).T).tolist() == normal_cdf([[0, 3], [1, 4], [2, 5]]).tolist()
    assert [normal_quantile(share) for share in (0.0, 0.5, 1.0)] == [-math.inf, 0.0, math.inf]
    assert all(math.isnan(normal_quantile(share)) for share in (-0.1, 1.1, math.nan))


def test_the_normal_is_scipys() -> None:
    sp = pytest.importorskip("scipy.special")
    np.testing.assert_allclose(normal_cdf(GRID), sp.ndtr(GRID), rtol=CLOSE)
    deep = np.concatenate([GRID, -np.geomspace(30, 1e150, 300)])
    np.testing.assert_allclose(normal_log_cdf(deep), sp.log_ndtr(deep), rtol=CLOSE, atol=1e-300)
    shares = [*np.geomspace(1e-300, 0.5, 200), *(1 - np.geomspace(1e-16, 0.5, 100))]
    np.testing.assert_allclose([normal_quantile(float(p)) for p in shares], sp.ndtri(shares), rtol=CLOSE, atol=1e-16)


def test_the_normal_is_mpmaths() -> None:
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(40):
        for x in (-37.0, -30.1, -29.9, -12.0, -1.01, -0.99, -1e-5, 0.0, 0.7, 5.0, 20.0):
            exact = mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2
            assert float(normal_cdf(x)) == pytest.approx(float(exact), rel=CLOSE)
            assert float(normal_log_cdf(x)) == pytest.approx(float(mp.log(exact)), rel=1e-13)


def test_owens_t_in_closed_form() -> None:
    for a in (0.0, 0.3, 1.0, 5.0, 1e12, math.inf):
        assert float(owens_t(0.0, a)) == pytest.approx(math.atan(a) / (2 * math.pi), rel=CLOSE)
    for h in (0.1, 1.0, 5.0, 20.0):
        tail = 0.5 * math.erfc(h / math.sqrt(2))
        assert float(owens_t(h, 1.0)) == pytest.approx(0.5 * tail * (1 - tail), rel=CLOSE)
        assert float(owens_t(h, math.inf)) == pytest.approx(0.5 * tail, rel=CLOSE)
        assert owens_t(-h, 0.7) == owens_t(h, 0.7) == -owens_t(h, -0.7)
    assert np.isnan(owens_t([math.nan, 1.0], [1.0, math.nan])).all()


def test_owens_t_is_scipys() -> None:
    sp = pytest.importorskip("scipy.special")
    h = np.concatenate([np.linspace(0, 37, 150), np.geomspace(1e-10, 1, 50)])[:, None]
    a = np.concatenate([np.linspace(-4, 4, 161), np.geomspace(1e-3, 1e12, 100)])[None]
    found = owens_t(h, a)
    assert found.shape == (200, 261)
    np.testing.assert_allclose(found, sp.owens_t(h, a), rtol=CLOSE, atol=1e-290)


def test_owens_t_is_mpmaths() -> None:
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(30):
        for h, a in ((0.5, 0.5), (5.2147651, 1e-12), (3.0, 1.0), (10.0, 0.9), (10.0, 1.1), (30.0, 0.2), (2.0, 4.0)):
            half, slope = mp.mpf(h) ** 2 / 2, mp.mpf(a)
            steps = mp.linspace(0, slope, 20)
            exact = mp.quad(lambda x, half=half: mp.exp(-half * (1 + x * x)) / (1 + x * x), steps) / (2 * mp.pi)
            assert float(owens_t(h, a)) == pytest.approx(float(exact), rel=CLOSE)
