"""Sign flips against Student's t on few clips: false alarms of families without a difference, and how much each finds.

    python benchmarks/paired_tests.py           18 metrics a family, 2,000 families: the table in docs/statistics.md

Every figure is a share in per cent, sign flips / Student's t, after Holm's rule at 0.05. Same seed, same figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from rushes.stats.sign_flip import sign_flip_p

Floats = NDArray[np.float64]
CLIPS = (4, 6, 8, 10, 12, 16, 24)
SHIFT = 1.5
"""Standard deviations that one metric is moved by, where power is counted."""
Draw = Callable[[tuple[int, int]], Floats]


def differences(rng: np.random.Generator) -> dict[str, Draw]:
    """Differences of clips between two runs that are alike: symmetric about 0, of many shapes."""
    return {
        "normal": lambda size: rng.normal(size=size),
        "even from -1 to 1": lambda size: rng.uniform(-1, 1, size=size),
        "Laplace": lambda size: rng.laplace(size=size),
        "Cauchy": lambda size: rng.standard_cauchy(size=size),
        "few frames of 49": lambda size: np.round((rng.poisson(1.0, size) - rng.poisson(1.0, size)) / 49, 8),
        "ratings 1 to 3": lambda size: (rng.integers(1, 4, size) - rng.integers(1, 4, size)).astype(float),
        "one size, either side": lambda size: np.round(
            rng.choice([-1, 1], size) * (1 + 0.05 * rng.normal(size=size)), 8
        ),
        "log-normal": lambda size: rng.lognormal(0, 1, size) - rng.lognormal(0, 1, size),
    }


def student_p(table: Floats) -> Floats:
    """Two-sided p of each row; the sign test where all differences are equal, as t has no spread to go by."""
    n = table.shape[1]
    with np.errstate(all="ignore"):
        p = 2 * student.sf(np.abs(table.mean(1)) / (table.std(1, ddof=1) / np.sqrt(n)), n - 1)
    equal = table.max(1) == table.min(1)
    return np.asarray(np.where(equal, np.where(table[:, 0] == 0, 1.0, 2.0 ** (1 - n)), p))


def told(p: Floats, family: int) -> float:
    """Per cent of families whose smallest p is 0.05 or less after Holm's rule."""
    return float(100 * np.mean(p.min(axis=1) * family <= 0.05))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", type=int, default=18)
    parser.add_argument("--families", type=int, default=2000)
    asked = parser.parse_args()
    family, count = asked.family, asked.families
    rng = np.random.default_rng(20260)
    draws = differences(rng)
    print("clips".ljust(24), *(f"{n:>11}" for n in CLIPS))
    for name, draw in draws.items():
        row = []
        for n in CLIPS:
            table = draw((count * family, n))
            found = [told(p.reshape(count, family), family) for p in (sign_flip_p(table), student_p(table))]
            row.append("/".join(f"{share:.1f}" for share in found).rjust(11))
        print(name.ljust(24), *row)
    print(f"one metric moved by {SHIFT} standard deviations: told")
    for name, deviation in (("normal", 1.0), ("Laplace", 2**0.5), ("even from -1 to 1", 3**-0.5)):
        row = []
        for n in CLIPS:
            table = draws[name]((count, n)) + SHIFT * deviation
            found = [told(p[:, None], family) for p in (sign_flip_p(table), student_p(table))]
            row.append("/".join(f"{share:.1f}" for share in found).rjust(11))
        print(name.ljust(24), *row)


if __name__ == "__main__":
    main()
