"""Two models against one reference: the value, its interval, what is left out together, how often a verdict errs."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.formulas import polynomial_mmd
from rushes.instruments.distribution.distances.measuring import difference_interval, even_pair
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.stats.frechet import frechet_distance


def a_set(rows: np.ndarray | list[list[float]], prefix: str, *, windows: int = 1) -> FeatureSet:
    features = np.asarray(rows, np.float32)
    names = tuple(f"{prefix}{n // windows}" for n in range(len(features)))
    return FeatureSet(names, tuple(f"digest of {name}" for name in names), features)


def gap(x: np.ndarray, y: np.ndarray) -> float:
    return float(x.mean() - y.mean())


A, B, R = [[0.0], [3.0], [6.0]], [[1.0], [1.0], [4.0]], [[0.0], [2.0], [4.0]]


def test_by_turns_by_hand() -> None:
    # d = mean gen − mean real: Δ = 3 − 2 = 1, whatever R. A without one: means 4.5, 3, 1.5: V = 2/3·4.5 = 3. B: 2.5,
    # 2.5, 1: V = 2/3·(0.25 + 0.25 + 1) = 1. R is in both distances and cancels: V = 0. se = √4.
    value, interval = difference_interval(a_set(A, "a"), a_set(B, "b"), a_set(R, "r"), gap, corrected=False)
    assert value == pytest.approx(1.0) and interval.method == "jackknife-20"
    assert (interval.low, interval.high) == (pytest.approx(1 - 1.959964 * 2), pytest.approx(1 + 1.959964 * 2))


def test_the_same_names_are_left_out_together() -> None:
    # Δ without the first pair: 4.5 − 2.5 = 2; the second: 3 − 2.5 = 0.5; the third: 1.5 − 1 = 0.5; mean 1:
    # V = 2/3·(1 + 0.25 + 0.25) = 1, less than the 4 of before: the two sets rise and fall together.
    one, other = a_set(A, "p"), a_set(B, "p")
    value, interval = difference_interval(one, other, a_set(R, "r"), gap, corrected=False)
    assert interval.method == "jackknife-20-paired"
    assert interval.high - value == pytest.approx(1.959964)
    # by name, not by place: the second set in another order is the same
    shuffled = FeatureSet(other.names[::-1], other.digests[::-1], other.features[::-1])
    assert difference_interval(one, shuffled, a_set(R, "r"), gap, corrected=False)[1] == interval
    _, joined = difference_interval(one, other, a_set(R, "p"), gap, corrected=False)
    assert joined.method == "jackknife-20-paired-with-reference"


def test_rows_of_one_video_are_left_out_together() -> None:
    # six rows of three videos, twice each, say no more than three rows
    twice = [np.repeat(np.array(rows), 2, axis=0) for rows in (A, B, R)]
    sets = [a_set(rows, prefix, windows=2) for rows, prefix in zip(twice, "abr", strict=True)]
    value, interval = difference_interval(*sets, gap, corrected=False)
    assert interval.high - value == pytest.approx(1.959964 * 2)


def test_a_bias_in_1_over_n_is_taken_off() -> None:
    def biased(x: np.ndarray, y: np.ndarray) -> float:
        return gap(x, y) + 6 * float(x.max()) / len(x)  # 12 more for a set that reaches 6 with 3 clips than one of 0

    flat = a_set([[3.0]] * 50, "a"), a_set([[2.0]] * 50, "b"), a_set([[0.0]] * 50, "r")
    # plain: (3 + 18/50) − (2 + 12/50) = 1.12; 50 clips are groups of 2 and 3, and the bias is found exactly
    assert difference_interval(*flat, biased, corrected=False)[0] == pytest.approx(1.12)
    assert difference_interval(*flat, biased, corrected=True)[0] == pytest.approx(1.0)


def test_fewer_than_three_are_refused() -> None:
    with pytest.raises(InputError, match="needs three clips in each; got 2 and 3 against 3"):
        difference_interval(a_set(A[:2], "a"), a_set(B, "b"), a_set(R, "r"), gap, corrected=False)


def test_the_larger_set_is_cut_down_by_name_or_by_content() -> None:
    rows = np.arange(6.0)[:, None]
    five, six = a_set(rows[:5], "p"), a_set(rows, "p")
    pair = even_pair(six, five)
    assert (pair.cut, pair.first.names) == ("by-name", five.names)
    assert pair.remark == "6 and 5 clips are not comparable: 5 of the 6 were used, those whose names both have"
    other = even_pair(five, a_set(rows, "q"))
    renamed = FeatureSet(tuple(f"z{n}" for n in range(6))[::-1], a_set(rows, "q").digests[::-1], rows[::-1])
    again = even_pair(five, renamed)
    assert other.cut == "by-digest" and len(other.second.features) == 5
    assert set(again.second.digests) == set(other.second.digests)  # neither names nor order
    assert even_pair(five, five).cut == "none"


def verdicts(draw: np.random.RandomState, runs: int, distance: object, *, shift: float, spread: float) -> list[int]:
    """−1 where the first of two Gaussian models is called closer, 1 the second, 0 neither; 60 clips, 8 features."""
    found = []
    for _ in range(runs):
        a, b, r = (draw.normal(size=(60, 8)) for _ in range(3))
        b = b * spread + shift * (np.arange(8) == 0)
        sets = a_set(a, "a"), a_set(b, "b"), a_set(r, "r")
        _, interval = difference_interval(*sets, distance, corrected=distance is frechet_distance)  # type: ignore[arg-type]
        found.append(int(interval.low > 0) - int(interval.high < 0))
    return found


@pytest.mark.parametrize("distance", [frechet_distance, polynomial_mmd])
def test_verdicts_on_gaussians(distance: object) -> None:
    # 0.5 % false alarms and 50 to 60 % found of 200 runs each, so in 20 runs three false ones are far off (p < 2e-4)
    draw = np.random.RandomState(0)
    assert sum(map(abs, verdicts(draw, 20, distance, shift=0.0, spread=1.0))) < 3
    planted = verdicts(draw, 10, distance, shift=1.5, spread=1.0)
    assert sum(planted) <= -7 and max(planted) <= 0


def test_a_model_with_too_little_variety_is_not_called_closer() -> None:
    # At N = 48 and D = 40 the plain distance of a set of 0.8 times the spread is lower than that of a perfect one, and
    # the perfect one is nevertheless closer: Δ∞ = −0.2²·40 = −1.6.
    draw = np.random.RandomState(3)
    a, b, r = (draw.normal(size=(48, 40)) for _ in range(3))
    sets = a_set(a, "a"), a_set(0.8 * b, "b"), a_set(r, "r")
    plain, _ = difference_interval(*sets, frechet_distance, corrected=False)
    value, interval = difference_interval(*sets, frechet_distance, corrected=True)
    assert plain > 0.5 and value < 0 and interval.low < -1.6 < interval.high
