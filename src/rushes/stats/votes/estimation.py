"""Maximum of a paired-comparison likelihood by Newton's method on counts.

The parameters are one vector x: θ of every system, then the tie parameter u where the model has one. Only differences
of θ matter, so steps and covariances are taken among vectors whose θ sum to zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rushes.stats.quantiles import Floats
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.tally import PairCounts
from rushes.stats.votes.tie_models import Likelihood, has_tie_parameter, likelihood, starting_u
from rushes.stats.votes.tie_policies import TiePolicy

_STEPS = 200
_HALVINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """What is maximised: prepared counts, a tie policy, and the precision of a normal prior on θ (0: none)."""

    counts: PairCounts
    policy: TiePolicy
    prior: float

    @property
    def size(self) -> int:
        return len(self.counts.systems)

    @property
    def has_tie(self) -> bool:
        return has_tie_parameter(self.counts, self.policy)

    def start(self) -> Floats:
        x = np.zeros(self.size + self.has_tie)
        if self.has_tie:
            x[-1] = starting_u(self.counts, self.policy)
        return x

    def at(self, x: Floats) -> Likelihood:
        d = x[self.counts.first] - x[self.counts.second]
        return likelihood(d, float(x[-1]) if self.has_tie else None, self.counts, self.policy)

    def log_likelihood(self, x: Floats) -> float:
        log_p = self.at(x).log_p
        total = self.counts.wins_first @ log_p[0] + self.counts.wins_second @ log_p[1]
        return float(total + self.counts.ties @ log_p[2] if self.has_tie else total)

    def value(self, x: Floats) -> float:
        """The objective: log likelihood and prior; −∞ outside the parameter's range."""
        if self.has_tie and self.policy == "rao-kupper" and x[-1] <= 0.0:
            return -math.inf
        theta = x[: self.size]
        return self.log_likelihood(x) - self.prior / 2.0 * float(theta @ theta)

    def gradient(self, x: Floats) -> Floats:
        at, counts = self.at(x), self.counts
        slope = (counts.cells * at.score_d).sum(axis=0)
        found = np.zeros(len(x))
        np.add.at(found, counts.first, slope)
        np.subtract.at(found, counts.second, slope)
        if self.has_tie:
            found[-1] = (counts.cells * at.score_u).sum()
        found[: self.size] -= self.prior * x[: self.size]
        return found

    def information(self, x: Floats) -> Floats:
        """Minus the second derivatives, prior included."""
        at, first, second = self.at(x), self.counts.first, self.counts.second
        found = np.zeros((len(x), len(x)))
        for row, column, sign in ((first, first, 1), (second, second, 1), (first, second, -1), (second, first, -1)):
            np.add.at(found, (row, column), sign * at.dd)
        if self.has_tie:
            cross = np.zeros(len(x))
            np.add.at(cross, first, at.du)
            np.subtract.at(cross, second, at.du)
            found[-1, :] = found[:, -1] = cross
            found[-1, -1] = at.uu.sum()
        found[np.arange(self.size), np.arange(self.size)] += self.prior
        return found


def maximum(problem: Problem) -> Floats:
    """The maximising x, θ summing to zero. `RankingError` where the search does not settle."""
    x = problem.start()
    value = problem.value(x)
    for _ in range(_STEPS):
        gradient = problem.gradient(x)
        step = sum_zero_inverse(problem.information(x), problem.size) @ gradient
        # The last step is taken too: Newton's steps shrink quadratically, so it only sharpens the digits.
        settled = float(gradient @ step) <= 1e-14 * max(1.0, abs(value))
        x, value = _climbed(problem, x, step, value)
        if settled:
            x[: problem.size] -= x[: problem.size].mean()
            return x
    raise RankingError(f"the fit did not settle in {_STEPS} steps: the votes are too close to one-sided; use a prior")


def _climbed(problem: Problem, x: Floats, step: Floats, value: float) -> tuple[Floats, float]:
    """x after the step, halved until the objective does not fall (it is concave, so a short enough step climbs)."""
    for halvings in range(_HALVINGS):
        new = x + step / 2.0**halvings
        new_value = problem.value(new)
        if new_value >= value - 1e-12 * abs(value):
            return new, new_value
    return x, value


def sum_zero_inverse(information: Floats, size: int) -> Floats:
    """Inverse of the information among vectors whose first `size` entries (θ) sum to zero.

    Formula     the leading block of [[I, c], [cᵀ, 0]]⁻¹ with c = 1 for θ and 0 for the tie parameter
    """
    width = len(information)
    bordered = np.zeros((width + 1, width + 1))
    bordered[:width, :width] = information
    bordered[:size, width] = bordered[width, :size] = 1.0
    try:
        return np.asarray(np.linalg.inv(bordered)[:width, :width], dtype=np.float64)
    except np.linalg.LinAlgError:
        raise RankingError("the votes do not determine every strength; collect more, or use a prior") from None
