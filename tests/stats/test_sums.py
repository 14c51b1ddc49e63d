"""A sum of an array is `math.fsum` of it, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from rushes.stats.sums import exact_sum

_RNG = np.random.default_rng(3)
_MANY: dict[str, Callable[[int], np.ndarray]] = {
    "shares": lambda n: _RNG.random(n),
    "stored numbers": lambda n: np.round(_RNG.normal(0, 50, n), 8),
    "every size": lambda n: _RNG.normal(0, 1, n) * 10.0 ** _RNG.integers(-300, 290, n),
    "what cancels": lambda n: np.concatenate([half := _RNG.random(n // 2), -half[::-1], [1e-300]]),
    "nothing": np.zeros,
    "the least of all": lambda n: np.full(n, 5e-324),
    "below normal": lambda n: _RNG.random(n) * 5e-310,
    "near the end": lambda n: np.full(n, -1.7e304),
    "every other one": lambda n: _RNG.random(2 * n)[::2],
}


@pytest.mark.parametrize("kind", _MANY)
@pytest.mark.parametrize("count", [0, 1, 4096, 4097, 9001])
def test_it_is_the_sum_of_these_floats(kind: str, count: int) -> None:
    values = _MANY[kind](count)
    assert exact_sum(values) == math.fsum(values.tolist())


def test_a_sum_that_is_not_finite_ends_as_that_of_python() -> None:
    assert exact_sum(np.full(5000, np.inf)) == np.inf and math.isnan(exact_sum(np.full(5000, np.nan)))
    with pytest.raises(OverflowError):
        exact_sum(np.full(5000, 1e308))
