"""Power of a study that asks for the best and the worst of several clips, by simulation (`plan` has that of pairs).

Model       a clip is worth θ_system + the rater's taste + the prompt's leaning + a Gumbel error, new each time; the
            best of a set is the one worth most, the worst the one worth least. So any two clips alone are a pair of
            Bradley and Terry's model, and θ is as in `plan`
Study       as `rushes study create --method best-worst` makes it: every prompt's systems in sets of 3 to `size`, each
            answered by `raters_per_set` raters
Found       as of pairs, from the votes that the answers imply: the best over every other clip of its set, every other
            over the worst
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.intervals import LEVEL, check_confidence
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.plan import Power, preference_gap
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import Tally, tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, significant_pairs, uncertainty

FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDesign:
    """A best–worst study as it is planned; preference, taste and leaning are those of `plan.Design`."""

    preference: float = 0.6
    systems: int = 4
    size: int = 4
    """The most clips of a set."""
    raters: int = 10
    prompts: int = 50
    sets_per_rater: int = 40
    min_raters: int | None = None
    """Raters per set; None: as many as their answers are enough for."""
    taste: float = 0.5
    leaning: float = 0.5
    confidence: float = LEVEL

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not 0.5 < self.preference < 1.0:
            raise InputError(f"a preference to find is between 0.5 and 1, such as 0.6; got {self.preference}")
        if not FEWEST <= self.size <= 5 or self.systems < FEWEST:
            raise InputError(f"best–worst needs 3 systems or more, 3 to 5 in a set; got {self.systems} and {self.size}")
        if self.raters < 2 or self.prompts < 2 or min(self.taste, self.leaning) < 0.0:
            raise InputError(
                "a plan needs two raters, two prompts and spreads of 0 or more; "
                f"got {self.raters}, {self.prompts}, {self.taste} and {self.leaning}"
            )
        if not 1 <= self.sets_per_rater <= self.sets:
            raise InputError(f"a rater answers 1 to {self.sets} sets, each once; got {self.sets_per_rater}")
        if not 2 <= self.raters_per_set <= min(self.raters, self.raters * self.sets_per_rater // self.sets):
            raise InputError(
                f"{self.raters} raters with {self.sets_per_rater} answers are fewer than {self.min_raters or 'two'} "
                f"for each of {self.sets} sets; take more raters or fewer prompts"
            )

    @property
    def groups(self) -> int:
        """Sets of one prompt, as `trials_of` makes them."""
        return max(1, min(-(-self.systems // self.size), self.systems // FEWEST))

    @property
    def sets(self) -> int:
        return self.prompts * self.groups

    @property
    def raters_per_set(self) -> int:
        return self.min_raters or min(self.raters, self.raters * self.sets_per_rater // self.sets)

    @property
    def answers(self) -> int:
        return self.sets * self.raters_per_set

    @property
    def gap(self) -> float:
        return preference_gap(self.preference, math.sqrt(2.0 * (self.taste**2 + self.leaning**2)))


def set_power(design: SetDesign, *, runs: int = 300, seed: int = 1) -> Power:
    """Simulate the study so many times; the same seed gives the same studies."""
    if runs < 1:
        raise InputError(f"a simulation needs at least one run; got {runs}")
    found = sum(finds_sets(design, np.random.default_rng([seed, number])) for number in range(runs))
    return Power(runs=runs, found=found, design_effect=math.nan, votes=design.answers)


def simulated_sets(design: SetDesign, draw: np.random.Generator) -> Tally:
    """The votes that one study's answers imply."""
    strength = np.zeros(design.systems)
    strength[0], strength[1] = design.gap / 2.0, -design.gap / 2.0
    own = strength + draw.normal(0, design.taste, (design.raters, design.systems))
    leaning = draw.normal(0, design.leaning, (design.prompts, design.systems))
    turns, rows, turn = draw.permutation(design.raters), [], 0
    for prompt in draw.permutation(design.prompts):
        order = draw.permutation(design.systems)
        for group in range(design.groups):
            shown = order[group :: design.groups]
            for _ in range(design.raters_per_set):
                rater = turns[turn % design.raters]
                worth = own[rater, shown] + leaning[prompt, shown] + draw.gumbel(size=len(shown))
                ranked = shown[np.argsort(-worth)]
                over = [(ranked[0], other) for other in ranked[1:]]
                over += [(other, ranked[-1]) for other in ranked[1:-1]]
                rows += [(winner, loser, 0, rater, prompt) for winner, loser in over]
                turn += 1
    first, second, outcome, rater, prompt = np.array(rows, dtype=np.int64).T
    names = [f"{k:04d}" for k in range(design.systems)]
    return tally_arrays(names, first, second, outcome, rater=rater, prompt=prompt)


def finds_sets(design: SetDesign, draw: np.random.Generator) -> bool:
    """Whether one simulated study ranks the better of the two systems above the worse."""
    votes = simulated_sets(design, draw)
    try:
        ranking = rank(votes)
    except RankingError:
        return False
    spread = uncertainty(ranking, votes, confidence=design.confidence)
    better = "0000", "0001"
    return isinstance(spread, Uncertainty) and better in significant_pairs(ranking, spread, design.confidence)
