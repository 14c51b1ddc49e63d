"""Do 95 % intervals hold the truth? Simulated studies whose raters and prompts differ.

Four systems, Davidson's model with ν = 0.5. A rater's taste and a prompt's leaning are normal, one number per system;
every rater votes on pairs drawn without replacement from prompts × 6 pairs of systems. The truth is the fit to the
whole population of raters and prompts. Run: python benchmarks/interval_coverage.py
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np

from rushes.stats.clustered import IntervalKind
from rushes.stats.intervals import Floats
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import PairCounts, Tally, tally_arrays
from rushes.stats.votes.uncertainty import strength_estimates, uncertainty

SYSTEMS = ["a", "b", "c", "d"]
FIRST, SECOND = np.triu_indices(4, 1)
STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])
KINDS: tuple[IntervalKind, ...] = ("fisher", "rater-clustered", "rater- and prompt-clustered")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """How a simulated study is made."""

    raters: int
    votes: int
    prompts: int = 20
    taste: float = 0.0
    """Standard deviation over raters, in logits."""
    leaning: float = 0.0
    """Standard deviation over prompts."""


SCENARIOS = {
    "12 raters × 60, prompts": Scenario(raters=12, votes=60, leaning=0.6),
    "50 raters × 20, prompts": Scenario(raters=50, votes=20, leaning=0.6),
    "12 raters × 60, tastes": Scenario(raters=12, votes=60, taste=0.6),
    "12 raters × 60, tastes and prompts": Scenario(raters=12, votes=60, taste=0.6, leaning=0.6),
    "50 raters × 20, tastes and prompts": Scenario(raters=50, votes=20, taste=0.6, leaning=0.6),
    "12 raters × 60, neither": Scenario(raters=12, votes=60),
    "6 raters × 30, 10 prompts, both": Scenario(raters=6, votes=30, prompts=10, taste=0.6, leaning=0.6),
}


def _shares(d: Floats) -> Floats:
    raw = np.stack([np.exp(d / 2), np.exp(-d / 2), np.full_like(d, 0.5)], axis=-1)
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))


@cache
def truth(spread: float) -> tuple[float, ...]:
    """Strengths that fit the whole population, whose members differ by this much."""
    members = STRENGTH + np.random.default_rng(99).normal(0, 1, (200_000, 4)) * spread
    shares = _shares(members[:, FIRST] - members[:, SECOND]).mean(axis=0) * 1e6
    counts = PairCounts(systems=tuple(SYSTEMS), first=FIRST, second=SECOND, cells=shares.T)
    return tuple(rank(counts).log_worth)


def study(scenario: Scenario, seed: int) -> Tally:
    """One simulated study."""
    draw, cells = np.random.default_rng(seed), scenario.prompts * 6
    tastes = draw.normal(0, scenario.taste, (scenario.raters, 4))
    leanings = draw.normal(0, scenario.leaning, (scenario.prompts, 4))
    rater = np.repeat(np.arange(scenario.raters), scenario.votes)
    drawn = np.concatenate([draw.permutation(cells)[: scenario.votes] for _ in range(scenario.raters)])
    prompt, first, second = drawn // 6, FIRST[drawn % 6], SECOND[drawn % 6]
    own = STRENGTH + tastes[rater] + leanings[prompt]
    row = np.arange(len(rater))
    luck = draw.random(len(rater))[:, None]
    outcome = (luck > _shares(own[row, first] - own[row, second]).cumsum(axis=1)[:, :2]).sum(axis=1)
    return tally_arrays(SYSTEMS, first, second, outcome, rater=rater, prompt=prompt)


def coverage(scenario: Scenario, *, runs: int) -> dict[str, float]:
    """Share of intervals that hold the truth, per kind, over `runs` studies of seeds 0, 1, …"""
    true = truth(float(np.hypot(scenario.taste, scenario.leaning)))
    hits: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for seed in range(runs):
        votes = study(scenario, seed)
        fit = rank(votes)
        for kind in KINDS:
            strengths = strength_estimates(fit, uncertainty(fit, votes, kind=kind))
            bounds = [one.interval for one in strengths if one.interval is not None]
            hits[kind] += [b.low <= t <= b.high for b, t in zip(bounds, true, strict=True)]
    return {kind: float(np.mean(found)) for kind, found in hits.items()}


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for name, scenario in SCENARIOS.items():
        found = coverage(scenario, runs=number)
        print(f"{name:40}", "  ".join(f"{kind} {share:.3f}" for kind, share in found.items()))
