"""Do 95 % intervals hold the truth? Simulated studies whose raters and prompts differ.

Four systems, Davidson's model with ν = 0.5. A rater's taste and a prompt's leaning are normal, one number per system;
every rater votes on pairs drawn without replacement from prompts × 6 pairs of systems. The truth is the fit to the
whole population of raters and prompts. Run: python benchmarks/interval_coverage.py

The second table is of counts, as `rushes rank` takes them: every rater votes on every pair of every prompt, and nobody
knows which vote is whose. Intervals over prompts promise other prompts with the same raters, so there the truth is the
fit to these raters on all prompts; the last column is against all raters too, which they do not promise.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np

from rushes.stats.clustered import BY_PROMPT, IntervalKind
from rushes.stats.intervals import Floats
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.shares import head_to_head
from rushes.stats.votes.tally import PairCounts, Tally, tally_arrays
from rushes.stats.votes.uncertainty import rank_ranges, strength_estimates, uncertainty

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


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Raters who vote on every pair of every prompt, published as counts."""

    raters: int
    prompts: int
    taste: float = 0.0
    leaning: float = 0.0


PANELS = {
    "5 prompts × 15 raters, neither": Panel(raters=15, prompts=5),
    "5 prompts × 15 raters, prompts": Panel(raters=15, prompts=5, leaning=0.6),
    "5 prompts × 15 raters, tastes": Panel(raters=15, prompts=5, taste=0.6),
    "5 prompts × 15 raters, both": Panel(raters=15, prompts=5, taste=0.6, leaning=0.6),
    "20 prompts × 3 raters, both": Panel(raters=3, prompts=20, taste=0.6, leaning=0.6),
    "20 prompts × 15 raters, prompts": Panel(raters=15, prompts=20, leaning=0.6),
    "20 prompts × 15 raters, both": Panel(raters=15, prompts=20, taste=0.6, leaning=0.6),
    "100 prompts × 5 raters, both": Panel(raters=5, prompts=100, taste=0.6, leaning=0.6),
}
_LEANINGS = np.random.default_rng(5).normal(0, 1, (1500, 4))
"""Prompts of the population."""


def panel_counts(panel: Panel, seed: int) -> tuple[Tally, Floats]:
    """The counts of a panel, and the shares (pair × outcome) of its raters over all prompts."""
    draw = np.random.default_rng(seed)
    tastes = draw.normal(0, panel.taste, (panel.raters, 4))
    leanings = draw.normal(0, panel.leaning, (panel.prompts, 4))
    own = STRENGTH + tastes[:, None] + leanings[None]
    p = _shares(own[..., FIRST] - own[..., SECOND])
    outcome = (draw.random(p.shape[:3])[..., None] > p.cumsum(axis=-1)[..., :2]).sum(axis=-1)
    _, prompt, pair = np.indices(outcome.shape)
    votes = tally_arrays(SYSTEMS, FIRST[pair].ravel(), SECOND[pair].ravel(), outcome.ravel(), prompt=prompt.ravel())
    every = STRENGTH + tastes[:, None] + panel.leaning * _LEANINGS[None]
    return votes, _shares(every[..., FIRST] - every[..., SECOND]).mean(axis=(0, 1))


def panel_coverage(panel: Panel, *, runs: int) -> dict[str, float]:
    """Shares of studies of seeds 0, 1, …: strengths, whole rankings and shares held, and strengths of all raters."""
    population = truth(float(np.hypot(panel.taste, panel.leaning)))
    hits: dict[str, list[bool]] = {"strength": [], "ranking": [], "share": [], "other raters too": []}
    for seed in range(runs):
        votes, shares = panel_counts(panel, seed)
        true = rank(PairCounts(systems=tuple(SYSTEMS), first=FIRST, second=SECOND, cells=shares.T * 1e6)).log_worth
        fit = rank(votes)
        spread = uncertainty(fit, votes, kind=BY_PROMPT)
        bounds = [one.interval for one in strength_estimates(fit, spread)]
        for name, at in (("strength", true), ("other raters too", population)):
            hits[name] += [b is not None and b.low <= t <= b.high for b, t in zip(bounds, at, strict=True)]
        place = {system: 1 + int((true > own).sum()) for system, own in zip(SYSTEMS, true, strict=True)}
        hits["ranking"].append(all(r.best <= place[r.system] <= r.worst for r in rank_ranges(fit, spread)))
        for pair, (i, j) in enumerate(zip(FIRST, SECOND, strict=True)):
            exact = shares[pair, 0] + shares[pair, 2] / 2
            found = next(
                s for s in head_to_head(votes, kind=BY_PROMPT) if (s.system, s.against) == (SYSTEMS[i], SYSTEMS[j])
            )
            b = found.estimate.interval
            hits["share"].append(b is not None and b.low <= exact <= b.high)
    return {name: float(np.mean(found)) for name, found in hits.items()}


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for name, scenario in SCENARIOS.items():
        found = coverage(scenario, runs=number)
        print(f"{name:40}", "  ".join(f"{kind} {share:.3f}" for kind, share in found.items()))
    for name, panel in PANELS.items():
        found = panel_coverage(panel, runs=number)
        print(f"{name:40}", "  ".join(f"{kind} {share:.3f}" for kind, share in found.items()))
