"""How many votes does active pairing need for the order that a full round robin finds?

    python benchmarks/active_pairing.py --systems 8 --spread 1 --worlds 100

Systems have true strengths ~ N(0, spread²) in logits; raters vote by Bradley–Terry; a sample gets two votes and a third
where they differ, as in a study. Round robin gives every match-up `--votes` votes; active pairing begins the sample
whose match-up says most about the order. Both judge the same worlds. The rank error is the share of two systems in the
wrong order. Printed: both curves, and the share of the round robin's votes at which active pairing has its error.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from rushes.study.raters.active_pairing import order_gains, posterior

FRACTIONS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)


def curve(strengths: np.ndarray, *, active: bool, checks: list[int], rng: np.random.Generator) -> list[float]:
    """The rank error when so many votes are in."""
    count = len(strengths)
    pairs, wins, none = list(combinations(range(count), 2)), np.zeros((count, count)), np.zeros((count, count))
    turn: list[int] = []
    errors: list[float] = []
    while len(errors) < len(checks):
        if active:
            chosen = int(np.argmax(np.round(order_gains(wins, none), 9)))
        else:
            turn = turn or [int(one) for one in rng.permutation(len(pairs))]
            chosen = turn.pop()
        one, other = pairs[chosen]
        share = 1 / (1 + np.exp(strengths[other] - strengths[one]))
        ballots = [bool(rng.random() < share) for _ in range(2)]
        if ballots[0] != ballots[1]:
            ballots.append(bool(rng.random() < share))
        for ballot in ballots:
            wins[one, other] += ballot
            wins[other, one] += not ballot
            if len(errors) < len(checks) and wins.sum() == checks[len(errors)]:
                errors.append(rank_error(posterior(wins, none)[0], strengths))
    return errors


def rank_error(found: np.ndarray, true: np.ndarray) -> float:
    return float(np.mean([(found[i] > found[j]) != (true[i] > true[j]) for i, j in combinations(range(len(true)), 2)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--spread", type=float, default=1.0, help="standard deviation of the strengths, in logits")
    parser.add_argument("--votes", type=int, default=20, help="votes for each match-up in the full round robin")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=18)
    asked = parser.parse_args()
    full = asked.votes * asked.systems * (asked.systems - 1) // 2
    checks = [round(full * part) for part in FRACTIONS]
    worlds = np.random.default_rng(asked.seed).normal(0, asked.spread, (asked.worlds, asked.systems))
    rng = np.random.default_rng(asked.seed + 1)
    robin = np.array([curve(world, active=False, checks=checks, rng=rng) for world in worlds for _ in range(3)])
    active = np.array([curve(world, active=True, checks=checks, rng=rng) for world in worlds])
    print(f"{asked.systems} systems, spread {asked.spread:g}, {asked.worlds} worlds, seed {asked.seed}")
    print("votes       ", *(f"{one:7d}" for one in checks))
    print("round robin ", *(f"{one:7.4f}" for one in robin.mean(0)))
    print("active      ", *(f"{one:7.4f}" for one in active.mean(0)))
    falling = np.minimum.accumulate(active.mean(0))
    needed = float(np.interp(-robin.mean(0)[-1], -falling, checks)) / full
    print(f"active pairing has the round robin's error with {needed:.0%} of its votes")


if __name__ == "__main__":
    main()
