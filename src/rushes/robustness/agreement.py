"""Krippendorff's α for nominal answers: stability beyond what chance would give.

Formula     α = 1 − D_o / D_e. Over units u with m_u ≥ 2 values, n = Σ m_u, n_c of them c:
            D_o = Σ_u (m_u² − Σ_c n_uc²) / (m_u − 1) / n;   D_e = (n² − Σ_c n_c²) / (n (n − 1))
Unit        1; 1 is perfect, 0 is chance, below 0 is worse than chance
Edge cases  fewer than two units with two values, or every value alike: None
Reference   Krippendorff 2011, Computing Krippendorff's Alpha-Reliability
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def nominal_alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """α of these units, each a list of values that ought to be alike.

    >>> round(nominal_alpha([["a", "a"], ["a", "b"], ["b", "b"]]), 6)
    0.444444
    >>> nominal_alpha([["a", "a"], ["a", "a"]]) is None
    True
    """
    counted = [Counter(unit) for unit in units if len(unit) > 1]
    total = sum((Counter(unit) for unit in counted), Counter())
    n = sum(total.values())
    expected = n * n - sum(count * count for count in total.values())
    if len(counted) < 2 or not expected:
        return None
    observed = sum(_disagreement(unit) for unit in counted)
    return 1.0 - observed * (n - 1) / expected


def _disagreement(unit: Counter[Hashable]) -> float:
    size = sum(unit.values())
    return (size * size - sum(count * count for count in unit.values())) / (size - 1)
