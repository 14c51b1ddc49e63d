"""Just-objectionable differences: Thurstone's case V, scaled so that 1 JOD means that 75 % prefer the better.

Formula     P(i over j) = Φ((q_i − q_j)/σ), σ = 1.4826 ≈ 1/Φ⁻¹(0.75); q maximises Σ log P(votes) + Σ log(prior + 0.1)
            over the compared pairs, both ways round; Σ q = 0
Prior       keeps a distance finite where everybody agreed, k of n votes being the answer on a pair:
            bounded   1 for a pair with votes both ways; else max(0, 1/r − k/r²), r = max q − min q + 1: the prior of
                      pwcmp's published values, which the tests repeat to 0.0001
            gaussian  Σ_l a_ml / Σ_m a_ml, a_ml = P_m^k_l (1 − P_m)^(n_l − k_l): how well the answers l of all pairs fit
                      this pair's distance, a unanimous one taken as one vote short of it: pwcmp since 2023
            none      no prior
Interval    clustered by rater and prompt (`two_way`), from the information of the votes alone
Ties        have no place in the model: left out
Edge cases  a comparison graph in pieces, only ties; without a prior, a system that won everything: `RankingError`
Reference   Thurstone 1927; Perez-Ortiz & Mantiuk 2017 (arXiv 1712.03686) and their pwcmp
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from rushes.core import Why
from rushes.core.errors import InputError
from rushes.stats.clustered import summed_meat
from rushes.stats.intervals import LEVEL, Floats
from rushes.stats.minimum import minimum
from rushes.stats.special.logistic import softmax
from rushes.stats.special.normal import normal_log_cdf
from rushes.stats.votes.connection import RankingError, require_connected, require_finite
from rushes.stats.votes.estimation import prepared, sum_zero_inverse
from rushes.stats.votes.tally import WIN_A, WIN_B, PairCounts, Tally
from rushes.stats.votes.uncertainty import Uncertainty, clustered_uncertainty

JodPrior: TypeAlias = Literal["bounded", "gaussian", "none"]
JOD_PRIORS: tuple[JodPrior, ...] = get_args(JodPrior)
SIGMA = 1.4826
"""To the digits pwcmp uses."""
_OFFSET = 0.1


def jod(counts: PairCounts, *, prior: JodPrior = "bounded") -> Floats:
    """JOD of every system, in the order of `counts.systems`, mean 0.

    >>> q = jod(PairCounts.of_wins(["x", "y"], [[0, 75], [25, 0]]))
    >>> round(float(q[0] - q[1]), 3)
    1.0
    """
    if prior not in JOD_PRIORS:
        raise InputError(f"a JOD prior is {', '.join(JOD_PRIORS)}; got {prior!r}")
    decided = prepared(counts, "drop-tie")
    if not len(decided.first):
        raise RankingError("every vote is a tie, and JOD ignores ties")
    require_connected(decided)
    require_finite(decided, has_prior=prior != "none")
    found = minimum(lambda q: _loss(q, decided, prior), np.zeros(len(counts.systems)))
    if not np.isfinite(found).all() or np.abs(found).max() > 50.0:
        raise RankingError("the JOD fit did not converge: the votes are too close to one-sided")
    return np.asarray(found - found.mean())


def jod_uncertainty(q: Floats, votes: Tally, *, confidence: float = LEVEL) -> Uncertainty | Why:
    """The covariance of `q`, clustered by rater and prompt, or why there is none."""
    z = (q[votes.first] - q[votes.second]) / SIGMA
    up, down = (_hazard(z, normal_log_cdf(side)) / SIGMA for side in (z, -z))
    slope = np.where(votes.outcome == WIN_A, up, np.where(votes.outcome == WIN_B, -down, 0.0))
    decided = votes.count * (votes.outcome <= WIN_B)
    information = np.zeros((len(q), len(q)))
    for row, row_sign in ((votes.first, 1.0), (votes.second, -1.0)):
        for column, sign in ((votes.first, 1.0), (votes.second, -1.0)):
            np.add.at(information, (row, column), row_sign * sign * decided * up * down)
    scores, rows = np.zeros((len(z), len(q))), np.arange(len(z))
    scores[rows, votes.first], scores[rows, votes.second] = votes.count * slope, -votes.count * slope
    bread = sum_zero_inverse(information, len(q))
    return clustered_uncertainty(bread, summed_meat(scores), votes.clusters, confidence=confidence)


def _loss(q: Floats, counts: PairCounts, prior: JodPrior) -> tuple[float, Floats]:
    """Minus the log posterior, and its gradient."""
    d = (q[counts.first] - q[counts.second]) / SIGMA
    # Every pair both ways round, as pwcmp's priors see them; the likelihood counts each vote twice then, as there.
    z = np.concatenate([d, -d])
    won = np.concatenate([counts.wins_first, counts.wins_second])
    total = np.tile(counts.wins_first + counts.wins_second, 2)
    log_p, log_q = normal_log_cdf(z), normal_log_cdf(-z)
    up, down = _hazard(z, log_p), _hazard(z, log_q)
    # The origin is free: a small pull holds the mean at 0, and moves no difference.
    mean, half = float(q.mean()), len(d)
    value = float(won @ log_p + (total - won) @ log_q) - mean * mean
    slope, gradient = won * up - (total - won) * down, np.full(len(q), -2.0 * mean / len(q))
    if prior == "gaussian":
        near = np.where(won == 0.0, 1.0, np.where(won == total, total - 1.0, won))
        fits = softmax(np.outer(log_p, near) + np.outer(log_q, total - near), axis=0)
        likely = fits.sum(axis=1) + _OFFSET
        value += float(np.log(likely).sum())
        change = np.outer(up, near) - np.outer(down, total - near)
        slope = slope + (fits * change * (1.0 / likely[:, None] - (1.0 / likely) @ fits)).sum(axis=1)
    elif prior == "bounded":
        extra, per_range = _bounded(float(q.max() - q.min()) + 1.0, won[(won == 0.0) | (won == total)])
        value += extra
        gradient[int(q.argmax())] += per_range
        gradient[int(q.argmin())] -= per_range
    step = (slope[:half] - slope[half:]) / SIGMA
    np.add.at(gradient, counts.first, step)
    np.subtract.at(gradient, counts.second, step)
    return -value, -gradient


def _bounded(spread: float, unanimous: Floats) -> tuple[float, float]:
    """Σ log(prior + 0.1) of unanimous answers, won by so many votes each, and its derivative by the spread."""
    raw = 1.0 / spread - unanimous / spread**2
    likely = np.maximum(0.0, raw) + _OFFSET
    slope = np.where(raw > 0.0, -1.0 / spread**2 + 2.0 * unanimous / spread**3, 0.0)
    return float(np.log(likely).sum()), float((slope / likely).sum())


def _hazard(z: Floats, log_p: Floats) -> Floats:
    """φ(z)/Φ, in a form that does not overflow."""
    return np.asarray(np.exp(-0.5 * z * z - 0.5 * np.log(2.0 * np.pi) - log_p))
