"""Wins to strengths: Bradley–Terry with ties, by maximum likelihood on counts.

Formula     θ maximises Σ log P(outcome); Σθ = 0; Elo-like score = 1000 + 400/ln10 · θ
Ties        Davidson by default; Rao–Kupper, half-tie and drop-tie under their own labels (`estimation`)
Edge cases  a comparison graph in pieces, a group that won everything, or only ties: `RankingError`; a prior
            N(0, 1/prior) on θ makes the second case finite and is part of every signature that used it
Reference   Bradley & Terry 1952; Davidson 1970; Rao & Kupper 1967
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.intervals import Floats
from rushes.stats.special.gamma import chi_square_tail
from rushes.stats.votes.connection import RankingError, require_connected, require_finite
from rushes.stats.votes.estimation import Problem, check_policy, maximum, prepared
from rushes.stats.votes.tally import PairCounts, Tally
from rushes.stats.votes.tie_policies import TiePolicy

ELO_CENTRE = 1000.0
ELO_PER_LOGIT = 400.0 / math.log(10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodness:
    """How far the fitted probabilities are from the counts: likelihood-ratio G², Pearson X², degrees of freedom."""

    g2: float
    x2: float
    df: int

    @property
    def p_value(self) -> float | None:
        """Chance of a worse G² if the model holds; None without degrees of freedom."""
        return chi_square_tail(self.g2, self.df) if self.df > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Fitted strengths of all systems. Intervals and, rank ranges in `uncertainty`."""

    problem: Problem
    x: Floats
    """θ of every system, mean 0, then the tie parameter where the model has one."""
    votes: float
    """All votes given, ties included."""
    ties: float

    @property
    def systems(self) -> tuple[str, ...]:
        return self.problem.counts.systems

    @property
    def tie_policy(self) -> TiePolicy:
        return self.problem.policy

    @property
    def log_worth(self) -> Floats:
        """θ, mean 0, in the order of `systems`."""
        return self.x[: self.problem.size]

    @property
    def tie_parameter(self) -> float | None:
        """ν (Davidson: 0 without ties) or η (Rao–Kupper: 1 without ties); None for the other policies."""
        if self.tie_policy in ("half-tie", "drop-tie"):
            return None
        if self.problem.has_tie:
            return math.exp(float(self.x[-1]))
        return 0.0 if self.tie_policy == "davidson" else 1.0

    @property
    def elo(self) -> Floats:
        return ELO_CENTRE + ELO_PER_LOGIT * self.log_worth

    @property
    def worth(self) -> Floats:
        """π, summing to 1."""
        raw = np.exp(self.log_worth - self.log_worth.max())
        return np.asarray(raw / raw.sum())

    @property
    def order(self) -> tuple[str, ...]:
        """Systems from strongest to weakest; equals in text order."""
        return tuple(name for _, name in sorted(zip(-self.log_worth.round(9), self.systems, strict=True)))

    @property
    def log_likelihood(self) -> float:
        """Without the prior's term."""
        return self.problem.log_likelihood(self.x)

    @property
    def goodness(self) -> Goodness | None:
        """Fit to the counts; None for half-tie (half counts are no frequencies) and under a prior."""
        if self.tie_policy == "half-tie" or self.problem.prior:
            return None
        counts, outcomes = self.problem.counts, 3 if self.problem.has_tie else 2
        seen = counts.cells[:outcomes]
        expected = np.exp(self.problem.at(self.x).log_p[:outcomes]) * seen.sum(axis=0)
        logs = np.log(np.where(seen > 0, seen, expected) / expected)
        return Goodness(
            g2=float(2.0 * (seen * logs).sum()),
            x2=float(((seen - expected) ** 2 / expected).sum()),
            df=seen.shape[1] * (outcomes - 1) - (len(self.x) - 1),
        )


def rank(votes: Tally | PairCounts, *, tie_policy: TiePolicy = "davidson", prior: float = 0.0) -> Ranking:
    """Fit the model to counted votes.

    >>> from rushes.stats.votes.tally import PairCounts
    >>> fit = rank(PairCounts.of_wins(["x", "y"], [[0, 3], [1, 0]]))
    >>> [round(float(value), 6) for value in fit.log_worth]  # ±½ ln 3
    [0.549306, -0.549306]
    """
    check_policy(tie_policy)
    if not (math.isfinite(prior) and prior >= 0.0):
        raise InputError(f"a prior's precision is 0 (none) or more; got {prior}")
    raw = votes.pairs() if isinstance(votes, Tally) else votes
    counts = prepared(raw, tie_policy)
    require_connected(raw)
    if tie_policy == "drop-tie" and not len(counts.first):
        raise RankingError("every vote is a tie and drop-tie leaves none: the strengths are undefined")
    return fit(Problem(counts=counts, policy=tie_policy, prior=prior), votes=raw.total, ties=float(raw.ties.sum()))


def fit(problem: Problem, *, votes: float, ties: float) -> Ranking:
    """Check that the prepared counts can be ranked, and rank them."""
    require_connected(problem.counts)
    require_finite(problem.counts, has_prior=problem.prior > 0.0)
    return Ranking(problem=problem, x=maximum(problem), votes=votes, ties=ties)
