"""Maximum of a paired-comparison likelihood by Newton's method on counts.

The parameters are one vector x: θ of every system, then the tie parameter u where the model has one. Only differences
of θ matter, so steps and covariances are taken among vectors whose θ sum to zero.

What one vote says about one pair depends on how ties are treated. With d = θ_i − θ_j (log worths) and π = exp θ:

- Davidson (1970)      P(i) = π_i/D, P(tie) = ν√(π_i π_j)/D, D = π_i + π_j + ν√(π_i π_j); tie parameter u = log ν
- Rao–Kupper (1967)    P(i) = π_i/(π_i + ηπ_j), P(j) alike, P(tie) = the rest, η > 1; tie parameter u = log η
- half-tie, drop-tie   P(i) = π_i/(π_i + π_j); a tie is half a win for each, or is left out
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.intervals import Floats
from rushes.stats.special.logistic import expit, log_expit
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.tally import PairCounts
from rushes.stats.votes.tie_policies import TIE_POLICIES, TiePolicy

_STEPS = 200
_HALVINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likelihood:
    """Per pair (columns) at one point of the parameters; rows of `log_p` and the scores: i won, j won, tie."""

    log_p: Floats
    score_d: Floats
    """∂ log P(outcome) / ∂d for one vote."""
    score_u: Floats
    """∂ log P(outcome) / ∂u for one vote; zeros where the model has no tie parameter."""
    dd: Floats
    du: Floats
    uu: Floats
    """The pair's information about (d, u): minus the second derivatives, all its votes together."""


def check_policy(policy: str) -> None:
    if policy not in TIE_POLICIES:
        raise InputError(f"a tie policy is one of {', '.join(TIE_POLICIES)}; got {policy!r}")


def prepared(counts: PairCounts, policy: TiePolicy) -> PairCounts:
    """The counts as the policy's likelihood sees them."""
    if policy == "half-tie":
        half = counts.ties / 2.0
        return replace(counts, cells=counts.cells + np.stack([half, half, -counts.ties]))
    if policy == "drop-tie":
        kept = (counts.wins_first + counts.wins_second) > 0
        return counts.only(kept, counts.cells * [[1.0], [1.0], [0.0]])
    return counts


def has_tie_parameter(counts: PairCounts, policy: TiePolicy) -> bool:
    """Davidson and Rao–Kupper without a single tie are plain Bradley–Terry (ν = 0, η = 1)."""
    return policy in ("davidson", "rao-kupper") and bool(counts.ties.any())


def starting_u(counts: PairCounts, policy: TiePolicy) -> float:
    """The tie parameter that fits the share of ties when all systems are equal."""
    ties, wins = float(counts.ties.sum()), float(counts.wins_first.sum() + counts.wins_second.sum())
    if policy == "davidson":
        return float(np.log(2.0 * ties / wins))
    return float(np.log1p(2.0 * ties / wins))


def likelihood(d: Floats, u: float | None, counts: PairCounts, policy: TiePolicy) -> Likelihood:
    """The model's value and derivatives at d (per pair) and u (None: no tie parameter)."""
    if u is None:
        return _bradley_terry(d, counts)
    return _davidson(d, u, counts) if policy == "davidson" else _rao_kupper(d, u, counts)


def _bradley_terry(d: Floats, counts: PairCounts) -> Likelihood:
    p, q, zero = expit(d), expit(-d), np.zeros_like(d)
    won, lost = log_expit(d), log_expit(-d)
    return Likelihood(
        log_p=np.stack([won, lost, (won + lost) / 2.0]),
        score_d=np.stack([q, -p, (q - p) / 2.0]),
        score_u=np.stack([zero, zero, zero]),
        dd=(counts.wins_first + counts.wins_second) * p * q,
        du=zero,
        uu=zero,
    )


def _davidson(d: Floats, u: float, counts: PairCounts) -> Likelihood:
    # A multinomial logit with linear predictors d/2, −d/2 and u: observed and expected information agree.
    eta = np.stack([d / 2.0, -d / 2.0, np.full_like(d, u)])
    log_p = eta - np.logaddexp.reduce(eta, axis=0)
    p_i, p_j, p_tie = np.exp(log_p)
    lead = (p_i - p_j) / 2.0
    n = counts.wins_first + counts.wins_second + counts.ties
    return Likelihood(
        log_p=log_p,
        score_d=np.stack([0.5 - lead, -0.5 - lead, -lead]),
        score_u=np.stack([-p_tie, -p_tie, 1.0 - p_tie]),
        dd=n * ((p_i + p_j) / 4.0 - lead**2),
        du=-n * p_tie * lead,
        uu=n * p_tie * (1.0 - p_tie),
    )


def _rao_kupper(d: Floats, u: float, counts: PairCounts) -> Likelihood:
    # P(tie) = (η² − 1) P(i) P(j), so a tie counts once for each side and once for the tie parameter.
    p_i, p_j = expit(d - u), expit(-d - u)
    won, lost = log_expit(d - u), log_expit(-d - u)
    grown = np.expm1(2.0 * u)
    open_u = 2.0 + 2.0 / grown  # ∂ log(η² − 1) / ∂u
    for_i, for_j = counts.wins_first + counts.ties, counts.wins_second + counts.ties
    i_part, j_part = for_i * p_i * (1.0 - p_i), for_j * p_j * (1.0 - p_j)
    return Likelihood(
        log_p=np.stack([won, lost, won + lost + np.log(grown)]),
        score_d=np.stack([1.0 - p_i, p_j - 1.0, p_j - p_i]),
        score_u=np.stack([p_i - 1.0, p_j - 1.0, p_i + p_j - 2.0 + open_u]),
        dd=i_part + j_part,
        du=j_part - i_part,
        uu=i_part + j_part + counts.ties * 4.0 * (grown + 1.0) / grown**2,
    )


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
    raise RankingError(f"the fit did not converge in {_STEPS} steps: the votes are too close to one-sided; use a prior")


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
