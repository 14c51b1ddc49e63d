"""Many tests at once: the chance of a single false alarm among all of them stays below the level."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p of each test, in the order given: at most α of such families have a false alarm at p ≤ α.

    Formula     p sorted upwards: adjusted(k) = max over j ≤ k of min(1, (m − j + 1) · p(j)), m tests, k from 1
    Unit        probability, never below the p that went in; equal p stay equal
    Edge cases  no test: none. Holds for tests that depend on each other in any way.
    Reference   Holm 1979, "A simple sequentially rejective multiple test procedure"

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for done, i in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - done) * p_values[i]))
        adjusted[i] = highest
    return adjusted
