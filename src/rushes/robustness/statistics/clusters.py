"""How sure a mean over clips is: other clips would have given another one.

Whole clips are drawn with replacement, with PCG64 from a fixed seed, and the interval runs between percentiles of the
draws (inverse of the empirical distribution, so that each end is a value that was drawn). Of few clips the plain 2.5th
and 97.5th lie too close together: a bootstrap divides by n and knows no Student's t. So they are moved outwards by what
that is worth (Hesterberg's expanded percentiles). Where every clip is at 0 or every clip at
1 nothing varies, and a drawn interval would be a point: the exact binomial bound over clips stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import product

import numpy as np

from rushes.core import Interval
from rushes.robustness.pool_definitions import EXACT_METHOD, FEWEST_CLIPS, LEVEL, METHOD, REPLICATES, SEED

EVERY_PATTERN = 14
"""Up to this many clips every pattern of signs is looked at."""
_PATTERNS = 10_000
_MOST_LOST = 0.05


def mean_interval(values: Sequence[float]) -> Interval | None:
    """The interval of a mean over clips; None for fewer than five."""
    if len(values) < FEWEST_CLIPS:
        return None
    data = np.asarray(values, float)
    if (data == 1).all() or (data == 0).all():
        bound = ((1 - LEVEL) / 2) ** (1 / len(data))  # Clopper and Pearson's for n of n
        low, high = (bound, 1.0) if data[0] == 1 else (0.0, 1.0 - bound)
        return Interval(low=low, high=high, level=LEVEL, method=EXACT_METHOD)
    return _between(data[_draws(len(data))].mean(axis=1), len(data))


def alpha_interval(units: Sequence[Sequence[Hashable]]) -> Interval | None:
    """The interval of `nominal_alpha` over clips; None for fewer than five, and where draws too often have no value."""
    found = drawn_alphas(units)
    usable = found[~np.isnan(found)]
    return _between(usable, len(units)) if len(usable) >= (1 - _MOST_LOST) * REPLICATES else None


def drawn_alphas(units: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """α of every draw of clips, NaN where a draw has none; empty for fewer than five clips.

    The formula of `nominal_alpha`, for all draws at once: how often each clip was drawn, times what the clip adds.
    """
    if len(units) < FEWEST_CLIPS:
        return np.empty(0)
    answers = {answer: column for column, answer in enumerate(dict.fromkeys(a for unit in units for a in unit))}
    counts = np.zeros((len(units), len(answers)))
    for row, unit in enumerate(units):
        for answer in unit:
            counts[row, answers[answer]] += 1
    sizes = counts.sum(axis=1)
    disagreement = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    drawn = np.zeros((REPLICATES, len(units)))
    np.add.at(drawn, (np.arange(REPLICATES)[:, None], _draws(len(units))), 1)
    n = drawn @ sizes
    expected = n**2 - ((drawn @ counts) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1.0 - (drawn @ disagreement) * (n - 1) / expected, np.nan)


def _draws(units: int) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(SEED)).integers(0, units, (REPLICATES, units))


def _between(values: np.ndarray, clips: int) -> Interval:
    tail = expanded_tail(clips)
    low, high = np.quantile(values, [tail, 1 - tail], method="inverted_cdf")
    return Interval(low=float(low), high=float(high), level=LEVEL, method=METHOD)


def expanded_tail(clips: int) -> float:
    """The share of draws below the interval: Φ(−√(n / (n − 1)) t), t the quantile of Student's t with n − 1 degrees.

    >>> round(expanded_tail(5), 5), round(expanded_tail(100_000), 5)
    (0.00095, 0.025)
    """
    from scipy.special import ndtr, stdtrit

    spread = math.sqrt(clips / (clips - 1)) * float(stdtrit(clips - 1, (1 + LEVEL) / 2))
    return float(ndtr(-spread))


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """Two-sided p of a mean of zero: the share of sign patterns at least as far from it; None for fewer than two.

    >>> sign_flip_p([1.0, 1.0, 1.0]), sign_flip_p([1.0, -1.0])
    (0.25, 1.0)
    """
    data = np.asarray(differences, float)
    if len(data) < 2:
        return None
    if len(data) <= EVERY_PATTERN:
        signs = np.array(list(product((1.0, -1.0), repeat=len(data))))
    else:
        drawn = np.random.Generator(np.random.PCG64(SEED)).integers(0, 2, (_PATTERNS - 1, len(data)))
        signs = np.vstack([np.ones((1, len(data))), 2.0 * drawn - 1.0])
    means = np.abs(signs @ data)
    return float(np.mean(means >= abs(float(data.sum())) - 1e-9))


def mcnemar_p(first: int, second: int) -> float:
    """Exact two-sided p of so uneven a split of the discordant pairs.

    >>> mcnemar_p(0, 0), mcnemar_p(0, 5), mcnemar_p(3, 3)
    (1.0, 0.0625, 1.0)
    """
    pairs, few = first + second, min(first, second)
    return min(1.0, 2 * sum(math.comb(pairs, k) for k in range(few + 1)) / 2**pairs) if pairs else 1.0
