"""The sign-flip test against hand counts, scipy and every pattern; its false alarms counted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest, permutation_test

from rushes.core import Why
from rushes.stats import sign_flip
from rushes.stats.sign_flip import grid, sign_flip_p


def one(*differences: float) -> float:
    return float(sign_flip_p([differences])[0])


def brute_force(differences: list[float]) -> float:
    found = [d for d in differences if d]
    total = abs(sum(found)) - 1e-9
    reached = sum(
        abs(sum(s * d for s, d in zip(signs, found, strict=True))) >= total
        for signs in product((-1, 1), repeat=len(found))
    )
    return reached / 2 ** len(found)


def test_by_hand() -> None:
    # 1, 2, 3: the sum is 6; of 8 patterns only +++ and −−− reach it
    assert one(1, 2, 3) == 2 / 8
    # −1, 2, 3: the sum is 4; +++ (6), −++ (4) and their mirrors
    assert one(-1, 2, 3) == 4 / 8
    # 1, −1: the sum is 0, which every pattern reaches
    assert one(1, -1) == 1.0
    assert one(0, 0, 0) == 1.0, "nothing differs"
    assert one(0.5) == 1.0, "one difference is as far from 0 with either sign"


def test_ties_tell_nothing() -> None:
    assert one(1, 2, 3, 0, 0) == one(1, 2, 3)


def test_the_smallest_p_is_that_of_one_sign() -> None:
    for n in (5, 13, 22, 23, 40):
        assert one(*np.linspace(1, 2, n)) >= 2.0 ** (1 - n)
    assert one(*np.linspace(1, 2, 13)) == 2.0**-12


@pytest.mark.parametrize("n", [3, 6, 9])
def test_every_pattern(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        differences = np.round(rng.standard_cauchy(n), 2).tolist()
        assert one(*differences) == pytest.approx(brute_force(differences), abs=1e-12)


def test_as_scipy_counts_it() -> None:
    differences = np.random.default_rng(3).normal(0.4, 1, 10)
    # samples of one axis: scipy flips the sign of each pair
    expected = permutation_test(
        (differences, np.zeros(10)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert one(*differences) == pytest.approx(expected.pvalue, abs=1e-12)


def test_sizes_all_equal_are_the_sign_test() -> None:
    for rose, fell in ((3, 9), (18, 7), (300, 200)):
        expected = binomtest(rose, rose + fell).pvalue
        assert one(*[0.25] * rose, *[-0.25] * fell) == pytest.approx(expected, rel=1e-9)


def shapes(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {
        "normal": rng.normal(size=n),
        "skewed": rng.exponential(size=n) - 1,
        "cauchy": rng.standard_cauchy(n),
        "one huge": np.r_[1000.0, rng.normal(size=n - 1)],
        "ratings": rng.integers(-4, 5, n).astype(float) + 1,
        "of 49 frames": rng.integers(-20, 26, n) / 49,
    }


@pytest.mark.parametrize("shift", [0.0, 0.4, 0.8])
def test_beyond_the_exact_size_it_stays_close_and_errs_to_the_large_side(shift: float) -> None:
    rng = np.random.default_rng(17)
    for _ in range(4):
        for name, drawn in shapes(rng, 26).items():
            differences = np.round(drawn + (shift if drawn[0] != np.round(drawn[0], 8) else 0), 8)
            found = differences[differences != 0]
            sizes = np.sort(np.abs(found))[::-1]
            exact = float(sign_flip._all_patterns(sizes[None], np.abs([found.sum()]))[0])
            ratio = one(*differences) / exact
            assert ratio >= 0.98, name
            if exact > 1e-5:
                assert ratio <= 1.6, name


def test_common_grid() -> None:
    assert grid(np.array([6.0, 4.0, 10.0])) == 2.0
    assert grid(np.round(np.array([3, 5, 20, 7]) / 49, 8)) == pytest.approx(1 / 49, abs=1e-8)
    assert grid(np.array([1.0, 2**0.5, 3**0.5])) == 0.0
    assert grid(np.array([2.5])) == 2.5


NULLS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    # exchangeable systems: two draws of one law, so differences are symmetric whatever the law
    "skewed values": lambda rng, size: rng.lognormal(0, 1.5, size) - rng.lognormal(0, 1.5, size),
    "heavy tails": lambda rng, size: rng.standard_cauchy(size) - rng.standard_cauchy(size),
    "ties": lambda rng, size: (rng.poisson(0.5, size) - rng.poisson(0.5, size)).astype(float),
    "flags": lambda rng, size: (rng.random(size) < 0.2).astype(float) - (rng.random(size) < 0.2),
    "few frames": lambda rng, size: (
        np.round(rng.binomial(49, 0.1, size) / 49, 8) - np.round(rng.binomial(49, 0.1, size) / 49, 8)
    ),
}


@pytest.mark.parametrize("n", [8, 20, 60])
@pytest.mark.parametrize("name", NULLS)
def test_false_alarms(name: str, n: int) -> None:
    """Counted over 600 tests of equal systems: no more than a true rate of 5 % (and 1 %) gives 99.9 % of the time."""
    p = sign_flip_p(NULLS[name](np.random.default_rng([n, len(name)]), (600, n)))
    for level in (0.05, 0.01):
        assert int(np.sum(p <= level)) <= binom.ppf(0.999, 600, level), level


def test_differences_skewed_about_a_mean_of_zero() -> None:
    """Equal means, unlike shapes: no exchange of labels, so it holds only as prompts grow. 1,500 tests each.

    Exponential less its mean. At 20 prompts Student's t has the same weakness (about 7 %).
    """
    rng = np.random.default_rng(5)
    rates = [float(np.mean(sign_flip_p(rng.exponential(size=(1500, n)) - 1) <= 0.05)) for n in (20, 200)]
    assert rates[0] < 0.09 and rates[1] < 0.065


def test_rows_do_not_touch_each_other_and_repeat_to_the_bit() -> None:
    table = np.round(np.random.default_rng(8).normal(0.2, 1, (40, 60)), 8)
    table[::3, 10:] = 0
    whole = sign_flip_p(table)
    assert whole.tolist() == sign_flip_p(table).tolist()
    assert [float(sign_flip_p(row[None])[0]) for row in table] == pytest.approx(whole.tolist(), rel=1e-12)


def test_signs_by_hand_and_how_often_it_raises_a_false_alarm() -> None:
    """Sums over the signs of 3, 1, −1: 3, 5, 1, 3 and their negatives; six of eight are at least 3."""
    assert sign_flip.sign_flip([3.0, 1.0, -1.0]).value == 0.75
    assert sign_flip.sign_flip([0.1] * 30).value == pytest.approx(2 / 2**30)  # all one way: the exact sign test
    # Eight clips whose difference is noise: 1,000 samples, p ≤ 0.05 in 5 of 100, give or take 2.
    draw = np.random.Generator(np.random.PCG64(4))
    alarms = int((sign_flip_p(draw.normal(size=(1000, 8))) <= 0.05).sum())
    assert 20 <= alarms <= 70


def test_nothing_to_flip() -> None:
    none, same = sign_flip.sign_flip([]), sign_flip.sign_flip([0.0, 0.0])
    assert (none.value, none.why) == (None, Why.NO_DATA)
    assert (same.value, same.count, same.why) == (1.0, 0, Why.NO_CHANGE)


def test_one_test_under_one_name() -> None:
    """Comparisons of runs and of judges state the same method."""
    from rushes.compare.definitions.comparisons import SIGN_FLIP
    from rushes.instruments.robustness.definitions.pools import SIGN_FLIP_P

    assert SIGN_FLIP.name == SIGN_FLIP_P.name == "sign_flip_p" and SIGN_FLIP_P.version == 2
    method = {"exact", "largest", "beyond"}
    ours, theirs = ({k: v for k, v in d.params if k in method} for d in (SIGN_FLIP, SIGN_FLIP_P))
    assert ours == theirs == {"exact": "22", "largest": "12", "beyond": "normal"}
