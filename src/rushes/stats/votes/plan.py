"""How many raters, prompts and votes does a study need? Power by simulation, under the interval that results will have.

Model       better and worse system differ by θ; a rater's taste and a prompt's leaning are normal, one number per
            system; ties by Davidson. θ is such that over all raters and prompts the better wins `preference` of the
            decided votes
Study       as `rushes study create` makes it: every pair (a prompt and two systems) gets `min_raters` raters and, where
            they disagree, one more; pairs come in random order, raters take turns, and none gives more votes than
            `votes_per_rater`
Found       the ranks that the report calls possible put the better above the worse: the interval of their difference,
            clustered by rater and prompt, at the level for all n(n−1)/2 differences together (Bonferroni), leaves out 0
            on the right side. Of two systems that is the one interval
Power       share of simulated studies that find it
Design      effect: how many times larger the variance is than that of as many independent votes
Speed       of two systems the maximum likelihood is ln(wins/losses), whose clustered variance is a sum: no fit needed
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.clustered import Clusters, two_way_error
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence, student_quantile
from rushes.stats.special.logistic import expit
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
    """The most votes a rater gives."""
    min_raters: int | None = None
    """Raters per pair before agreement is looked at; None: as many as the raters' votes are enough for."""
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
        if self.min_raters is not None and not 2 <= self.min_raters <= self.raters:
            raise InputError(f"expected 2 to {self.raters} raters per pair; got {self.min_raters}")
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
        """The most votes that the raters give."""
        return self.raters * self.votes_per_rater

    @property
    def raters_per_pair(self) -> int:
        """As declared, or as many as leave half a vote per pair for another opinion; 2 at least."""
        if self.min_raters is not None:
            return self.min_raters
        return max(2, min(self.raters - 1, (2 * self.votes - self.cells) // (2 * self.cells)))

    @property
    def gap(self) -> float:
        """θ of the better less θ of the worse, so that the population prefers as asked."""
        return preference_gap(self.preference, math.sqrt(2.0 * (self.taste**2 + self.leaning**2)))


@lru_cache(maxsize=64)
def preference_gap(preference: float, spread: float) -> float:
    """d with E expit(d + spread · Z) = preference, Z normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    shares = weights / weights.sum()
    low, high = 0.0, 60.0
    while low < (middle := (low + high) / 2.0) < high:  # until no number lies between them
        low, high = (middle, high) if float(shares @ expit(middle + spread * nodes)) < preference else (low, middle)
    return high


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What simulated studies of a design find."""

    runs: int
    found: int
    design_effect: float
    """NaN where no simulated study has a finite difference."""
    votes: float = 0.0
    """Mean over the simulated studies."""

    @property
    def power(self) -> float:
        return self.found / self.runs


def simulated_power(design: Design, *, runs: int = 300, seed: int = 1) -> Power:
    """Simulate the study so many times; the same seed gives the same studies."""
    if runs < 1:
        raise InputError(f"a simulation needs at least one run; got {runs}")
    found, votes, effects = 0, 0, []
    for number in range(runs):
        hit, effect, given = _one(design, np.random.default_rng([seed, number]))
        found, votes = found + hit, votes + given
        effects += [effect] if effect is not None else []
    effect = float(np.mean(effects)) if effects else math.nan
    return Power(runs=runs, found=found, design_effect=effect, votes=votes / runs)


def raters_needed(design: Design, *, power: float = 0.8, runs: int = 100, seed: int = 1) -> int | None:
    """The fewest raters found with this power, each pair given to as many of them as their votes are enough for.

    None where `MOST_RATERS` do not reach it.
    """

    def finds(raters: int, number: int) -> bool:
        planned = replace(design, raters=raters, min_raters=None)
        return _one(planned, np.random.default_rng([seed, number]))[0]

    return fewest_raters(finds, power=power, runs=runs)


def fewest_raters(
    finds: Callable[[int, int], bool], *, power: float, runs: int, fewest: int = 1, most: int = MOST_RATERS
) -> int | None:
    """The fewest raters, more than `fewest`, with whom a study finds its difference with this power; to one in twenty.

    `finds` simulates the study of so many raters, of this number, and says whether it does. None where `most` raters do
    not reach it.
    """
    if not 0.0 < power < 1.0:
        raise InputError(f"power is a share between 0 and 1; got {power}")
    low, high = fewest, min(max(4, 2 * fewest), most)
    while not _reaches(finds, high, power, runs):
        if high >= most:
            return None
        low, high = high, min(high * 2, most)
    while high - low > max(1, low // 20):  # a simulation knows no more
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(finds, middle, power, runs) else (middle, high)
    return high


def _reaches(finds: Callable[[int, int], bool], raters: int, power: float, runs: int) -> bool:
    """Whether so many runs have this power; stops as soon as the rest cannot change the answer."""
    wanted, found = math.ceil(power * runs - 1e-9), 0
    for number in range(runs):
        found += finds(raters, number)
        if found >= wanted or found + runs - number - 1 < wanted:
            break
    return found >= wanted


def _one(design: Design, draw: np.random.Generator) -> tuple[bool, float | None, int]:
    """Whether one simulated study finds the better system, its design effect, and its votes."""
    first, second, outcome, rater, prompt = _study(design, draw)
    if design.systems == 2:
        return *_found_of_two(design, outcome, rater, prompt), len(outcome)
    votes = tally_arrays(
        [f"{k:04d}" for k in range(design.systems)], first, second, outcome, rater=rater, prompt=prompt
    )
    try:
        ranking = rank(votes)
    except RankingError:
        return False, None, len(outcome)
    spread = uncertainty(ranking, votes, confidence=design.confidence)
    alone = uncertainty(ranking, votes, kind="sandwich")
    if not isinstance(spread, Uncertainty) or not isinstance(alone, Uncertainty):
        return False, None, len(outcome)
    lead, error = float(ranking.log_worth[0] - ranking.log_worth[1]), spread.difference_se(0, 1)
    tail = (1.0 - design.confidence) / (design.systems * (design.systems - 1))
    critical = student_quantile(1.0 - tail, float(spread.freedom or 1))
    return lead > critical * error, (error / alone.difference_se(0, 1)) ** 2, len(outcome)


def _study(design: Design, draw: np.random.Generator) -> tuple[Whole, Whole, Whole, Whole, Whole]:
    """Columns of one simulated study: first, second, outcome, rater, prompt."""
    ends_a, ends_b = np.triu_indices(design.systems, 1)
    strength = np.zeros(design.systems)
    strength[0], strength[1] = design.gap / 2.0, -design.gap / 2.0
    own = strength + draw.normal(0, design.taste, (design.raters, design.systems))
    leaning = draw.normal(0, design.leaning, (design.prompts, design.systems))
    each, turns = design.raters_per_pair, draw.permutation(design.raters)
    width = min(each + 1, design.raters)  # so many opinions a pair may need; without another rater there is no third
    cells = draw.permutation(design.cells)
    prompt, a, b = cells // len(ends_a), ends_a[cells % len(ends_a)], ends_b[cells % len(ends_a)]
    # Raters take turns: the next pair begins where this one ended, so that all work alike and nobody sees one twice.
    start = np.arange(len(cells)) * (each + 0.5)
    rater = turns[(start.astype(np.int64)[:, None] + np.arange(width)) % design.raters]
    d = own[rater, a[:, None]] - own[rater, b[:, None]] + (leaning[prompt, a] - leaning[prompt, b])[:, None]
    outcome = _outcomes(d.ravel(), design.tie_share, draw).reshape(d.shape)
    split = (outcome[:, :each] != outcome[:, :1]).any(axis=1)
    given = np.where(np.arange(width) < each, True, split[:, None])
    spent = given.sum(axis=1).cumsum() - given.sum(axis=1)
    given &= (spent[:, None] + np.arange(width)) < design.votes
    row, column = np.nonzero(given)
    pick = row, column
    return a[row], b[row], outcome[pick], rater[pick].astype(np.int64), prompt[row]


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
