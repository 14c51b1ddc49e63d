"""How many raters, prompts and votes does a study need? Power by simulation, under the interval that results will have.

Model       better and worse system differ by θ; a rater's taste and a prompt's leaning are normal, one number per
            system; ties by Davidson. θ is such that over all raters and prompts the better wins `preference` of the
            decided votes
Study       every rater votes on so many pairs, drawn without replacement from prompts × pairs of systems
Found       the interval of the difference, clustered by rater and prompt, leaves out 0 on the right side
Power       share of simulated studies that find it
Design      effect: how many times larger the variance is than that of as many independent votes
Speed       of two systems the maximum likelihood is ln(wins/losses), whose clustered variance is a sum: no fit needed
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from rushes.core.errors import InputError
from rushes.stats.clustered import Clusters, two_way_error
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence, student_quantile
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, uncertainty

MOST_RATERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A study as it is planned."""

    preference: float = 0.6
    """Share of decided votes that the better of two systems wins, over all raters and prompts."""
    systems: int = 2
    """The two that are told apart, and others that stand between them."""
    raters: int = 10
    prompts: int = 50
    votes_per_rater: int = 40
    taste: float = 0.5
    """Standard deviation of a rater's taste per system, in logits."""
    leaning: float = 0.5
    """The same of a prompt."""
    tie_share: float = 0.15
    """Ties among votes between equals."""
    confidence: float = LEVEL

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not 0.5 < self.preference < 1.0:
            raise InputError(f"a preference to find is between 0.5 and 1, such as 0.6; got {self.preference}")
        if not 0.0 <= self.tie_share < 1.0 or min(self.taste, self.leaning) < 0.0:
            raise InputError(
                "ties are a share below 1 and spreads are 0 or more; "
                f"got {self.tie_share}, {self.taste} and {self.leaning}"
            )
        if self.systems < 2 or self.raters < 2 or self.prompts < 2 or self.votes_per_rater < 1:
            raise InputError(
                "a plan needs two systems, two raters, two prompts and a vote per rater; "
                f"got {self.systems}, {self.raters}, {self.prompts} and {self.votes_per_rater}"
            )
        if self.votes_per_rater > self.cells:
            raise InputError(
                f"a rater sees each pair once, so at most {self.cells} of {self.prompts} prompts and {self.systems} "
                f"systems; got {self.votes_per_rater} votes per rater"
            )

    @property
    def cells(self) -> int:
        """Pairs that can be shown: prompts times pairs of systems."""
        return self.prompts * (self.systems * (self.systems - 1) // 2)

    @property
    def votes(self) -> int:
        return self.raters * self.votes_per_rater

    @property
    def gap(self) -> float:
        """θ of the better less θ of the worse, so that the population prefers as asked."""
        return _gap(self.preference, math.sqrt(2.0 * (self.taste**2 + self.leaning**2)))


@lru_cache(maxsize=64)
def _gap(preference: float, spread: float) -> float:
    """d with E expit(d + spread · Z) = preference, Z normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    shares = weights / weights.sum()
    return float(brentq(lambda d: float(shares @ expit(d + spread * nodes)) - preference, 0.0, 60.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What simulated studies of a design find."""

    design: Design
    runs: int
    found: int
    design_effect: float
    """NaN where no simulated study has a finite difference."""

    @property
    def power(self) -> float:
        return self.found / self.runs


def simulated_power(design: Design, *, runs: int = 300, seed: int = 1) -> Power:
    """Simulate the study so many times; the same seed gives the same studies."""
    if runs < 1:
        raise InputError(f"a simulation needs a run or more; got {runs}")
    found, effects = 0, []
    for number in range(runs):
        hit, effect = _one(design, np.random.default_rng([seed, number]))
        found += hit
        effects += [effect] if effect is not None else []
    return Power(design=design, runs=runs, found=found, design_effect=float(np.mean(effects)) if effects else math.nan)


def raters_needed(design: Design, *, power: float = 0.8, runs: int = 100, seed: int = 1) -> int | None:
    """The fewest raters found with this power, all else as planned; None where `MOST_RATERS` do not reach it."""
    if not 0.0 < power < 1.0:
        raise InputError(f"power is a share between 0 and 1; got {power}")

    def enough(raters: int) -> bool:
        return _reaches(replace(design, raters=raters), power, runs, seed)

    low, high = 1, 4
    while not enough(high):
        if high >= MOST_RATERS:
            return None
        low, high = high, min(high * 2, MOST_RATERS)
    while high - low > max(1, low // 20):  # to one in twenty: a simulation knows no more
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _reaches(design: Design, power: float, runs: int, seed: int) -> bool:
    """Whether so many runs have this power; stops as soon as the rest cannot change the answer."""
    wanted, found = math.ceil(power * runs - 1e-9), 0
    for number in range(runs):
        found += _one(design, np.random.default_rng([seed, number]))[0]
        if found >= wanted or found + runs - number - 1 < wanted:
            break
    return found >= wanted


def _one(design: Design, draw: np.random.Generator) -> tuple[bool, float | None]:
    """Whether one simulated study finds the better system, and its design effect."""
    first, second, outcome, rater, prompt = _study(design, draw)
    if design.systems == 2:
        return _found_of_two(design, outcome, rater, prompt)
    votes = tally_arrays(
        [f"{k:04d}" for k in range(design.systems)], first, second, outcome, rater=rater, prompt=prompt
    )
    try:
        ranking = rank(votes)
    except RankingError:
        return False, None
    spread = uncertainty(ranking, votes, confidence=design.confidence)
    alone = uncertainty(ranking, votes, kind="sandwich")
    if not isinstance(spread, Uncertainty) or not isinstance(alone, Uncertainty):
        return False, None
    lead, error = float(ranking.log_worth[0] - ranking.log_worth[1]), spread.difference_se(0, 1)
    return lead > spread.critical * error, (error / alone.difference_se(0, 1)) ** 2


def _study(design: Design, draw: np.random.Generator) -> tuple[Whole, Whole, Whole, Whole, Whole]:
    """Columns of one simulated study: first, second, outcome, rater, prompt."""
    ends_a, ends_b = np.triu_indices(design.systems, 1)
    pairs, width = len(ends_a), design.votes_per_rater
    rater = np.repeat(np.arange(design.raters), width)
    drawn = draw.random((design.raters, design.cells)).argsort(axis=1)[:, :width].ravel()
    prompt, first, second = drawn // pairs, ends_a[drawn % pairs], ends_b[drawn % pairs]
    strength = np.zeros(design.systems)
    strength[0], strength[1] = design.gap / 2.0, -design.gap / 2.0
    own = strength + draw.normal(0, design.taste, (design.raters, design.systems))[rater]
    own = own + draw.normal(0, design.leaning, (design.prompts, design.systems))[prompt]
    row = np.arange(len(rater))
    outcome = _outcomes(own[row, first] - own[row, second], design.tie_share, draw)
    return first.astype(np.int64), second.astype(np.int64), outcome, rater.astype(np.int64), prompt.astype(np.int64)


def _outcomes(d: Floats, tie_share: float, draw: np.random.Generator) -> Whole:
    tie = 2.0 * tie_share / (1.0 - tie_share)  # Davidson's ν: so many ties between equals
    raw = np.stack([np.exp(d / 2.0), np.exp(-d / 2.0), np.full_like(d, tie)])
    upto = (raw / raw.sum(axis=0)).cumsum(axis=0)[:2]
    return np.asarray((draw.random(len(d)) > upto).sum(axis=0), dtype=np.int64)


def _found_of_two(design: Design, outcome: Whole, rater: Whole, prompt: Whole) -> tuple[bool, float | None]:
    """Of two systems, θ is ln(wins/losses): each vote's influence on it is 1/wins, −1/losses or 0."""
    wins, losses = int((outcome == 0).sum()), int((outcome == 1).sum())
    if not wins or not losses:
        return False, None
    pull = np.where(outcome == 0, 1.0 / wins, np.where(outcome == 1, -1.0 / losses, 0.0))
    names, there = np.unique(prompt, return_inverse=True)
    error = len(pull) * two_way_error(pull, Clusters(rater, design.raters, there, len(names)))
    critical = student_quantile(0.5 + design.confidence / 2.0, min(design.raters, len(names)) - 1)
    return math.log(wins / losses) > critical * error, error**2 / float(pull @ pull)
