"""The sign-flip test: could chance alone have made the mean difference this large?

If two systems are alike, either could have made either clip of a prompt, so each difference is as likely to have the
other sign. The test keeps the sizes and flips the signs, in every way there is: p is the share of the sign patterns
whose sum is at least as far from 0. That holds for any number of prompts, for ties (a difference of 0 has no sign and
tells nothing), for skewed values and for heavy tails, because it assumes no shape: only that the labels are
exchangeable. Where two systems have equal means but unlike shapes, differences can be skewed about a mean of 0; the
sum of squares is the same for every pattern, so the test is the one on Student's t as well, and is right as the
number of prompts grows. Wilcoxon's test, which ranks the sizes, would be wrong there at any number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rushes.core import Estimate, Why
from rushes.stats.intervals import Floats
from rushes.stats.special.beta import binomial_cdf
from rushes.stats.special.normal import normal_cdf

EXACT_PATTERNS = 22
"""Up to so many differences that are not 0, every pattern of their signs is counted."""
LARGEST_PATTERNS = 12
"""Beyond that, every pattern of so many of the largest."""
STORED = 1e-8
"""What storing with 8 decimals may move a difference by; sums that close are equal, which errs to the larger p."""
_CHUNK = 256


def sign_flip_p(differences: Sequence[Sequence[float]] | Floats) -> Floats:
    """Two-sided p of each row of differences, a column per prompt; 0 where a prompt is a tie or not shared.

    Formula     p = #{ε ∈ {−1, 1}ⁿ: |Σ εᵢ dᵢ| ≥ |Σ dᵢ|} / 2ⁿ over the n differences that are not 0
    Unit        probability, 2^(1 − n) to 1; see `fewest_prompts`
    Method      n ≤ `EXACT_PATTERNS`: all patterns, as the sums of two halves against each other. Sizes all equal
                (true/false): the exact sign test, which is the same. Else all patterns of the `LARGEST_PATTERNS`
                sizes, and the rest as a normal with their own variance, less the step of a grid that all sizes lie on.
                Against all patterns at n = 25 and 32 (normal, skewed, Cauchy, ratings, k/49): 0.99 to 1.5 times p
                down to 1e-5, and further above it beyond, because a bounded sum has less tail than a normal.
    Edge cases  nothing but zeros: 1. Deterministic: no draws, no seed.
    Reference   Fisher 1935 §21; Pitman 1937; Romano 1990 on unequal shapes
    """
    table = np.asarray(differences, dtype=np.float64)
    sizes, totals = -np.sort(-np.abs(table), axis=1), np.abs(np.sum(table, axis=1))
    changed = np.count_nonzero(table, axis=1)
    found = np.ones(len(table))
    for n in np.unique(changed[changed > 0]).tolist():
        alike = np.flatnonzero(changed == n)
        for start in range(0, len(alike), _CHUNK):
            rows = alike[start : start + _CHUNK]
            found[rows] = _of_n(sizes[rows, :n], totals[rows])
    return found


def sign_flip(differences: Sequence[float] | Floats) -> Estimate:
    """p of one row of differences, which counts those that are not 0; none of no difference at all.

    >>> sign_flip([1.0, 1.0, 1.0, 0.0])
    Estimate(value=0.25, count=3, interval=None, why=None)
    """
    if not len(differences):
        return Estimate.none(Why.NO_DATA)
    changed = int(np.count_nonzero(differences))
    p = float(sign_flip_p(np.asarray(differences)[None])[0])
    return Estimate(value=p, count=changed, why=None if changed else Why.NO_CHANGE)


def mcnemar_p(first: int, second: int) -> float:
    """Exact two-sided p of so uneven a split of the discordant pairs: the sign test on counts.

    >>> mcnemar_p(0, 0), mcnemar_p(0, 5), mcnemar_p(3, 3)
    (1.0, 0.0625, 1.0)
    """
    pairs, few = first + second, min(first, second)
    return min(1.0, 2 * sum(math.comb(pairs, k) for k in range(few + 1)) / 2**pairs) if pairs else 1.0


def _of_n(sizes: Floats, totals: Floats) -> Floats:
    """Rows with equally many differences, largest first, none of them 0."""
    if sizes.shape[1] <= EXACT_PATTERNS:
        return _all_patterns(sizes, totals)
    found = _largest_patterns(sizes, totals)
    for row in np.flatnonzero(sizes[:, 0] - sizes[:, -1] <= STORED):
        found[row] = _all_equal(sizes[row], float(totals[row]))
    return found


def least_p(prompts: int) -> float:
    """The least two-sided p that the signs of so many prompts can give: 2^(1 − n), at most 1.

    >>> least_p(5), least_p(0)
    (0.0625, 1.0)
    """
    return min(1.0, 2.0 ** (1 - prompts))


def fewest_prompts(tests: int, alpha: float) -> int:
    """So many prompts must differ before any of this many tests can reach α under Holm: 2^(1 − n) ≤ α / tests.

    >>> [fewest_prompts(tests, 0.05) for tests in (1, 15, 300)]
    [6, 10, 14]
    """
    return 1 + math.ceil(math.log2(max(tests, 1) / alpha))


def _slack(sizes: Floats) -> Floats:
    return np.asarray(np.maximum(STORED * sizes.shape[1], 1e-12 * np.sum(sizes, axis=1)))


def signed_sums(sizes: Floats) -> Floats:
    """Σ ±sizes over every sign pattern; sizes along the last axis, patterns along the last of the result."""
    sums = np.zeros((*sizes.shape[:-1], 1))
    for place in range(sizes.shape[-1]):
        size = sizes[..., place : place + 1]
        sums = np.concatenate([sums - size, sums + size], axis=-1)
    return sums


def _all_patterns(sizes: Floats, totals: Floats) -> Floats:
    one, other = (np.sort(signed_sums(half), axis=1) for half in (sizes[:, ::2], sizes[:, 1::2]))
    wanted = (totals - _slack(sizes))[:, None] - other
    short = [int(np.sum(np.searchsorted(*row))) for row in zip(one, wanted, strict=True)]
    reached = one.shape[1] * other.shape[1] - np.array(short)
    # By symmetry as many patterns are as far below 0; where the sum is 0, each would be counted twice.
    return np.asarray(np.minimum(1.0, 2.0 * reached / 2.0 ** sizes.shape[1]))


def _all_equal(sizes: Floats, total: float) -> float:
    n = len(sizes)
    rose = round((total / float(np.mean(sizes)) + n) / 2)
    return min(1.0, 2.0 * binomial_cdf(min(rose, n - rose), n, 0.5))


def _largest_patterns(sizes: Floats, totals: Floats) -> Floats:
    sums = signed_sums(sizes[:, :LARGEST_PATTERNS])
    spread = np.sqrt(np.sum(sizes[:, LARGEST_PATTERNS:] ** 2, axis=1))
    threshold = totals - _slack(sizes) - np.array([grid(row) for row in sizes])
    p = 2.0 * np.mean(normal_cdf((sums - threshold[:, None]) / spread[:, None]), axis=1)
    return np.asarray(np.clip(p, 2.0 ** (1.0 - sizes.shape[1]), 1.0), dtype=np.float64)


def grid(sizes: Floats) -> float:
    """The step that all sizes are whole multiples of, 0 where there is none worth the name.

    Ratings and counts have one, and so do shares of equally many frames (k/49). Sums of signed sizes are then two
    steps apart, and a normal that ignores it gives too small a p. Euclid's algorithm, with room for 8 stored decimals.

    >>> grid(np.array([6.0, 4.0, 10.0])), grid(np.array([1.0, 2**0.5, 3**0.5]))
    (2.0, 0.0)
    """
    room = max(100 * STORED, 1e-9 * float(np.max(sizes)))
    step = float(np.min(sizes))
    for size in np.unique(sizes):
        step = _common_step(float(size), step, room)
        if step <= 10 * room:
            return 0.0
    multiples = np.round(sizes / step)
    step = float(sizes @ multiples / (multiples @ multiples))
    return step if float(np.max(np.abs(sizes - multiples * step))) <= room else 0.0


def _common_step(one: float, other: float, room: float) -> float:
    while other > room:
        rest = one % other
        one, other = other, 0.0 if other - rest < room else rest
    return one
