"""What one vote says about one pair, under each way to treat ties: probabilities, scores and information.

With d = θ_i − θ_j (log worths) and π = exp θ:

- Davidson (1970)      P(i) = π_i/D, P(tie) = ν√(π_i π_j)/D, D = π_i + π_j + ν√(π_i π_j); tie parameter u = log ν
- Rao–Kupper (1967)    P(i) = π_i/(π_i + ηπ_j), P(j) alike, P(tie) = the rest, η > 1; tie parameter u = log η
- half-tie, drop-tie   P(i) = π_i/(π_i + π_j); a tie is half a win for each, or is left out
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, log_expit

from rushes.core.errors import InputError
from rushes.stats.quantiles import Floats
from rushes.stats.votes.tally import PairCounts
from rushes.stats.votes.tie_policies import TIE_POLICIES, TiePolicy


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
