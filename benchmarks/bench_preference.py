"""Bradley–Terry on a million votes, beside choix on the same votes. Run: python benchmarks/bench_preference.py"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import choix
import numpy as np

from recording import record
from rushes.instruments.preference.tallies import tally
from rushes.instruments.preference.votes import Vote
from rushes.stats.votes.fragility import drop_k
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import Tally, tally_arrays
from rushes.stats.votes.uncertainty import uncertainty

VOTES, SYSTEMS, RATERS, REPEATS = 1_000_000, 50, 200, 5
NAMES = [f"system{k:02d}" for k in range(SYSTEMS)]


def votes(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Winners, losers and raters, without ties (choix has none)."""
    draw = np.random.default_rng(seed)
    strength = draw.normal(0, 0.7, SYSTEMS)
    first = draw.integers(0, SYSTEMS, VOTES)
    second = (first + draw.integers(1, SYSTEMS, VOTES)) % SYSTEMS
    first_wins = draw.random(VOTES) < 1 / (1 + np.exp(strength[second] - strength[first]))
    won, lost = np.where(first_wins, first, second), np.where(first_wins, second, first)
    return won, lost, draw.integers(0, RATERS, VOTES)


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    won, lost, rater = votes()
    pairs = list(zip(won.tolist(), lost.tolist(), strict=True))
    first_won = np.zeros(VOTES, dtype=np.int64)

    def from_columns() -> Tally:
        return tally_arrays(NAMES, won, lost, first_won, rater=rater)

    def from_pairs() -> Tally:
        columns = np.array(pairs)
        return tally_arrays(NAMES, columns[:, 0], columns[:, 1], first_won)

    counted = from_columns()
    fit = rank(counted)
    columns_s = seconds(lambda: rank(from_columns()))
    pairs_s = seconds(lambda: rank(from_pairs()))
    spread_s = seconds(lambda: uncertainty(fit, counted))
    fragile_s = seconds(lambda: drop_k(fit), 3)
    objects = [
        Vote.seen(sample="s", left=NAMES[i], right=NAMES[j], choice="left", rater=str(r))
        for i, j, r in zip(won.tolist(), lost.tolist(), rater.tolist(), strict=True)
    ]
    objects_s = seconds(lambda: rank(tally(objects)), 3)
    start = time.perf_counter()
    reference = choix.opt_pairwise(SYSTEMS, pairs)
    choix_s = time.perf_counter() - start
    gap = float(np.abs(reference - reference.mean() - fit.log_worth).max())
    record(
        "preference",
        "Bradley–Terry on 1,000,000 votes × 50 systems",
        [
            ("count and fit, votes as columns", "≤ 2 s", f"{columns_s:.3f} s"),
            ("count and fit, votes as a list of (winner, loser)", "≤ 2 s", f"{pairs_s:.3f} s"),
            ("count and fit, votes as `Vote` objects", "≤ 2 s", f"{objects_s:.3f} s"),
            ("choix.opt_pairwise, the same list", "", f"{choix_s:.2f} s"),
            ("faster than choix, the same list", "≥ 10×", f"{choix_s / pairs_s:.0f}×"),
            ("largest difference of log worth from choix", "", f"{gap:.1e}"),
            ("rater-clustered covariance (200 raters)", "", f"{spread_s:.3f} s"),
            ("drop-k fragility", "", f"{fragile_s:.2f} s"),
        ],
        how=f"Medians of {REPEATS} (objects, drop-k: 3; choix: one run), seeded votes without ties, counting included.",
    )


if __name__ == "__main__":
    main()
