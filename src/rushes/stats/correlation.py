"""How far two readings of the same clips go together: Kendall, Spearman, Pearson, and pairs of clips put in order.

All of them are made of a few sums (`Sums`), and the sums of several groups of clips add up. So a statistic *within
prompts* is the ratio of the summed numerators to the summed denominators: only clips of one prompt are held against
each other, and what a prompt shifts for all systems alike drops out. With one group it is the textbook's statistic.

Formulas    S = #concordant − #discordant pairs, T_x and T_y the pairs with different x and with different y, n clips,
            m the smaller number of distinct values, k the ranks (mean rank for equals) less their mean:
            τ-b   ΣS / √(ΣT_x ΣT_y)
            τ-c   ΣS / Σ(n² (m − 1) / 2m)
            ρ     Σ k_x k_y / √(Σk_x² Σk_y²)
            r     Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² Σ(y − ȳ)²)
            accuracy  (agreeing + ½ · pairs that x leaves equal) / pairs that y orders
Range       −1 to 1; accuracy 0 to 1, a coin gives ½
Edge cases  nothing varies, or no pair is ordered: None
Reference   Kendall 1945 (τ-b); Stuart 1953 (τ-c); Spearman 1904; Pearson 1895; scipy.stats as test oracle
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.stats.intervals import Floats, Whole

Statistic: TypeAlias = Literal["kendall_tau_b", "kendall_tau_c", "spearman", "pearson", "pairwise_accuracy"]
STATISTICS: tuple[Statistic, ...] = ("kendall_tau_b", "kendall_tau_c", "spearman", "pearson", "pairwise_accuracy")

_FIELDS = ("s", "t_x", "t_y", "t_xy", "c", "k_xy", "k_xx", "k_yy", "d_xy", "d_xx", "d_yy")
_WIDEST = 64
"""Clips of a group up to which all groups are summed at once, pair by pair."""
_FEW = 48
"""Different values up to which pairs are counted value by value: of more, merging is quicker."""
_ROUNDING = 1e-12
"""Below this share of Σx², a spread is the rounding of equal values."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What the statistics are made of: one row per group of clips, columns as named."""

    rows: Floats

    def without(self, rows: Whole) -> Sums:
        """All groups but these."""
        return Sums(np.delete(self.rows, rows, axis=0))

    def pooled(self) -> Sums:
        """All groups as one."""
        return Sums(self.rows.sum(axis=0)[None, :])

    def value(self, statistic: Statistic) -> float | None:
        """The statistic over all groups; None where it is undefined."""
        value = float(self.pooled().each(statistic)[0])
        return None if math.isnan(value) else value

    def each(self, statistic: Statistic) -> Floats:
        """The statistic of every group on its own; NaN where it is undefined."""
        t = dict(zip(_FIELDS, self.rows.T, strict=True))
        if statistic == "kendall_tau_b":
            return _ratio(t["s"], np.sqrt(t["t_x"] * t["t_y"]))
        if statistic == "kendall_tau_c":
            return _ratio(t["s"], t["c"])
        if statistic == "spearman":
            return _ratio(t["k_xy"], np.sqrt(t["k_xx"] * t["k_yy"]))
        if statistic == "pearson":
            return _ratio(t["d_xy"], np.sqrt(t["d_xx"]) * np.sqrt(t["d_yy"]))
        # S = right − wrong; pairs that both order = right + wrong; those that y alone orders count ½
        right = (t["s"] + t["t_xy"]) / 2 + (t["t_y"] - t["t_xy"]) / 2
        return _ratio(right, t["t_y"])


def _ratio(above: Floats, below: Floats) -> Floats:
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return np.asarray(np.clip(found, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class Coded:
    """Values, each with its place among the distinct ones, and how often each of those occurs."""

    values: Floats
    codes: Whole
    counts: Whole

    @classmethod
    def of(cls, values: Floats) -> Coded:
        _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        return cls(values, codes.astype(np.int64), counts.astype(np.int64))

    def take(self, rows: Whole) -> Coded:
        """The same of some of the values, which are not sorted anew."""
        codes = self.codes[rows]
        counts = np.bincount(codes, minlength=len(self.counts))
        there = counts > 0
        return Coded(self.values[rows], (np.cumsum(there) - 1)[codes], counts[there])


def sums(x: Floats | Coded, y: Floats | Coded, group: Whole | None = None) -> Sums:
    """The sums of each group of clips, in the order of `group_names`; one group where none is given."""
    if group is None:
        return Sums(_one_group(_coded(x), _coded(y))[None, :])
    order = np.argsort(group, kind="stable")
    names, start, size = np.unique(group[order], return_index=True, return_counts=True)
    if not len(names) or size.max() > _WIDEST:
        x, y = _coded(x), _coded(y)
        each = [_one_group(x.take(p), y.take(p)) for p in np.split(order, start[1:])]
        return Sums(np.array(each).reshape(-1, len(_FIELDS)))
    row = np.repeat(np.arange(len(names)), size)
    column = np.arange(len(order)) - np.repeat(start, size)
    both = np.full((2, len(names), int(size.max())), np.nan)
    both[0, row, column], both[1, row, column] = _values(x)[order], _values(y)[order]
    return Sums(_small_groups(both[0], both[1], size))


def _coded(values: Floats | Coded) -> Coded:
    return values if isinstance(values, Coded) else Coded.of(values)


def _values(values: Floats | Coded) -> Floats:
    return values.values if isinstance(values, Coded) else values


def row_sums(x: Floats, y: Floats) -> Sums:
    """The sums of every row of two tables of the same shape, without gaps."""
    if x.shape[1] > _WIDEST:
        return Sums(np.array([_one_group(Coded.of(a), Coded.of(b)) for a, b in zip(x, y, strict=True)]))
    return Sums(_small_groups(x, y, np.full(len(x), x.shape[1])))


def group_names(group: Whole) -> Whole:
    """The groups in the order of the rows of `sums`."""
    return np.unique(group)


def correlate(x: Floats, y: Floats, statistic: Statistic, group: Whole | None = None) -> float | None:
    """One statistic of two readings of the same clips, pooled or within groups; None where it is undefined.

    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    >>> round(correlate(x, y, "kendall_tau_b"), 6), correlate(x, y, "spearman")  # 5 of 6 pairs agree, 1 does not
    (0.666667, 0.8)
    >>> round(correlate(x, y, "pairwise_accuracy"), 6)
    0.833333
    """
    return sums(x, y, group).value(statistic)


def _one_group(x: Coded, y: Coded) -> Floats:
    n = len(x.values)
    if n < 2:
        return np.zeros(len(_FIELDS))
    pairs = n * (n - 1) / 2
    discordant, tied_both = _discordant(x, y)
    tied_x, tied_y = (_pairs(one.counts) for one in (x, y))
    ordered_by_both = pairs - tied_x - tied_y + tied_both
    s = ordered_by_both - 2 * discordant
    m = min(len(x.counts), len(y.counts))
    k_x, k_y = (_mid_ranks(one.codes, one.counts) for one in (x, y))
    d_x, d_y = _deviations(x.values), _deviations(y.values)
    c = n * n * (m - 1) / (2 * m)
    products = (k_x @ k_y, k_x @ k_x, k_y @ k_y, d_x @ d_y, d_x @ d_x, d_y @ d_y)
    return np.array([s, pairs - tied_x, pairs - tied_y, ordered_by_both, c, *products], dtype=np.float64)


def _pairs(counts: Whole) -> int:
    """Pairs within groups of these sizes."""
    return int((counts * (counts - 1)).sum()) // 2


def _small_groups(x: Floats, y: Floats, size: Whole) -> Floats:
    """The sums of many small groups, one a row, NaN behind the last clip."""
    one, other = np.triu_indices(x.shape[1], 1)
    signs = [np.nan_to_num(np.sign(v[:, one] - v[:, other])) for v in (x, y)]
    s_x, s_y = signs
    t_x, t_y = (np.abs(s).sum(axis=1) for s in signs)
    distinct = [1 + (np.diff(np.sort(v, axis=1), axis=1) > 0).sum(axis=1) for v in (x, y)]
    m = np.minimum(*distinct)
    c = size * size * (m - 1) / (2 * m)
    ends = np.zeros((len(one), x.shape[1]))  # half the signs of a clip against the others is its centred mean rank
    ends[np.arange(len(one)), one], ends[np.arange(len(one)), other] = 0.5, -0.5
    k_x, k_y = (s @ ends for s in signs)
    d_x, d_y = _row_deviations(x, size), _row_deviations(y, size)
    products = ((k_x, k_y), (k_x, k_x), (k_y, k_y), (d_x, d_y), (d_x, d_x), (d_y, d_y))
    columns = [(s_x * s_y).sum(axis=1), t_x, t_y, np.abs(s_x * s_y).sum(axis=1), c]
    rows = [*columns, *((a * b).sum(axis=1) for a, b in products)]
    return np.asarray(np.stack(rows, axis=1), dtype=np.float64)


def _row_deviations(values: Floats, size: Whole) -> Floats:
    d: Floats = np.nan_to_num(values - (np.nansum(values, axis=1) / size)[:, None])
    equal = (d * d).sum(axis=1) <= _ROUNDING**2 * np.nansum(values * values, axis=1)
    d[equal] = 0.0
    return d


def _mid_ranks(codes: Whole, counts: Whole) -> Floats:
    """Ranks, equals at their mean, less the mean of all ranks."""
    last = np.cumsum(counts)
    ranks = last - (counts - 1) / 2
    return np.asarray(ranks[codes] - (len(codes) + 1) / 2, dtype=np.float64)


def _deviations(values: Floats) -> Floats:
    """From the mean; exactly 0 where all values are equal or differ by no more than rounding."""
    d = values - values.mean()
    return np.zeros_like(d) if d @ d <= _ROUNDING**2 * (values @ values) else d


def _discordant(x: Coded, y: Coded) -> tuple[int, int]:
    """Pairs that x and y order the opposite way, ties of either not counted, and pairs that are tied in both."""
    x, y = (x, y) if len(y.counts) <= len(x.counts) else (y, x)
    if len(y.counts) > _FEW:
        joint = np.unique(x.codes * len(y.counts) + y.codes, return_counts=True)[1]
        return _inversions(y.codes[np.lexsort((y.codes, x.codes))]), _pairs(joint)
    discordant = tied = 0
    greater = np.zeros(len(x.counts), dtype=np.int64)
    for level in reversed(range(len(y.counts))):  # people's ratings are few different values
        here = np.bincount(x.codes[y.codes == level], minlength=len(x.counts))
        discordant += int(((np.cumsum(greater) - greater) * here).sum())  # those with less x and greater y
        tied += _pairs(here)
        greater += here
    return discordant, tied


def _inversions(values: Whole) -> int:
    """Pairs of which the first is greater.

    Merged bottom up; at each width one sort of (block, value) counts, for the right half of every block, the values of
    its left half that are greater.
    """
    n, span, found, width = len(values), int(values.max()) + 1, 0, 1
    place = np.arange(n)
    while width < n:
        block = place // (2 * width)
        keyed = block * span + values
        left = (place // width) % 2 == 0
        lefts = np.sort(keyed[left])
        ends = np.searchsorted(lefts, (block[~left] + 1) * span)
        found += int((ends - np.searchsorted(lefts, keyed[~left], side="right")).sum())
        width *= 2
    return found
