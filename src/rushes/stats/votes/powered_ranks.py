"""Prediction-powered ranking: people voted on some pairs of clips, a judge on all, one set of possible ranks from both.

A system's share of wins is how often it wins where it takes part; a tie is a win for nobody. The judge's shares on the
comparisons without people, less those on the comparisons with them, correct people's shares by λ, as in
`prediction_powered`. A rank set holds every rank that the system may have: from 1 + the systems that are surely better
to the number of systems less those that are surely worse.

Formulas    A: comparisons × systems, (win − share) for the two systems of a comparison, else 0; A_h of people, A_j of
            the judge on the same n comparisons, A_N of the judge on the N others
            λ = tr(A_hᵀA_j / n) / ((1 + n/N) · tr(A_NᵀA_N / N)), cut to 0 … 1
            share = people's + λ (judge's on others − judge's on the same)
            Σ = S(A_h − λ A_j) + λ² S(A_N), S the sandwich Σ_g (Σ_{i∈g} A_i / c)(…)ᵀ · G/(G−1), c the comparisons of
            each system, g the groups (prompts) that comparisons come in
            surely better: difference > √(χ²_k(level) · its variance): all pairs at once (Scheffé), k systems
Published   `covariance="published"` is the authors' code: AᵀA/n² instead of S, without c and groups. That is too small
            by about (k/2)²: in 300 made studies of 12 systems and 990 votes its 95 % rank sets held every true rank in
            29 %, those of the sandwich in 100 %. It is here to be compared with.
Edge cases  fewer than two systems, a system without a comparison in either part: `InputError`
Reference   Chatzi, Straitouri, Thejaswi and Gomez Rodriguez 2024 (arXiv 2402.17826); their code as test oracle
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Estimate
from rushes.core.errors import InputError
from rushes.stats.clustered import summed_meat
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence, normal_interval
from rushes.stats.prediction_powered import METHOD
from rushes.stats.special.gamma import chi_square_quantile
from rushes.stats.votes.tally import WIN_A, WIN_B

Covariance: TypeAlias = Literal["sandwich", "published"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """Pairs of clips and who won them, one comparison a row. Outcomes are `WIN_A`, `WIN_B` and `TIE` of the tally."""

    first: Whole
    """The number of the system that WIN_A is a win of."""
    second: Whole
    judge: Whole
    people: Whole | None = None
    """On the same rows; None where only the judge was asked."""
    group: Whole | None = None
    """The number of the prompt, from 0; None where every comparison stands alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredRanks:
    """Shares of wins and rank sets, in the order of `systems`."""

    systems: tuple[str, ...]
    shares: tuple[Estimate, ...]
    """With an interval for each system alone; rank sets are for all of them at once."""
    ranks: tuple[tuple[int, int], ...]
    """Best and worst rank that a system may have; 1 is the best."""
    weight: float
    """λ, from 0 to 1: how much of the judge was used."""


def powered_ranks(
    systems: Sequence[str],
    voted: Compared,
    judged: Compared | None = None,
    *,
    level: float = LEVEL,
    covariance: Covariance = "sandwich",
) -> PoweredRanks:
    """Rank sets from votes of people and judge on `voted` and of the judge alone on `judged`; without it, of people."""
    check_confidence(level)
    if voted.people is None or len(systems) < 2:
        raise InputError(f"expected two systems or more and people's votes on some pairs; got {len(systems)} systems")
    size = len(systems)
    ours = _Scores.of(systems, voted, voted.people)
    share, scores, weight = ours.share, ours.rows, 0.0
    sigma = np.zeros((size, size))
    if judged is not None:
        same, others = _Scores.of(systems, voted, voted.judge), _Scores.of(systems, judged, judged.judge)
        weight = _weight(ours.rows, same.rows, others.rows)
        share = share + weight * (others.share - same.share)
        scores = scores - weight * same.rows
        sigma = weight**2 * _covariance(others.rows, judged, covariance)
    sigma = sigma + _covariance(scores, voted, covariance)
    method = f"{METHOD}-votes" if judged is not None else "sandwich"
    return PoweredRanks(
        systems=tuple(systems),
        shares=tuple(
            Estimate(value=s, count=c, interval=normal_interval(s, v, method, level=level).within(0.0, 1.0))
            for s, c, v in zip(share.tolist(), ours.count.tolist(), sigma.diagonal().tolist(), strict=True)
        ),
        ranks=_rank_sets(share, sigma, level),
        weight=weight,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """Shares of wins, and A."""

    share: Floats
    rows: Floats
    count: Whole

    @classmethod
    def of(cls, systems: Sequence[str], compared: Compared, outcome: Whole) -> _Scores:
        size, rows = len(systems), np.arange(len(outcome))
        count = np.bincount(compared.first, minlength=size) + np.bincount(compared.second, minlength=size)
        if without := [name for name, met in zip(systems, count, strict=True) if not met]:
            raise InputError(f"expected a comparison of every system in both parts; {', '.join(without)} has none")
        wins = ((compared.first, outcome == WIN_A), (compared.second, outcome == WIN_B))
        share = sum(np.bincount(who, weights=won, minlength=size) for who, won in wins) / count
        scores = np.zeros((len(outcome), size))
        for who, won in wins:
            scores[rows, who] = won - share[who]
        return cls(np.asarray(share), scores, count)


def _weight(ours: Floats, same: Floats, others: Floats) -> float:
    """λ: traces of cross products are sums of products."""
    spread = float((others**2).sum()) / len(others)
    if spread <= 0:
        return 0.0
    together = float((ours * same).sum()) / len(ours)
    return min(1.0, max(0.0, together / ((1 + len(ours) / len(others)) * spread)))


def _covariance(scores: Floats, compared: Compared, kind: Covariance) -> Floats:
    number, size = scores.shape
    if kind == "published":
        return np.asarray(scores.T @ scores / number**2)
    count = np.bincount(compared.first, minlength=size) + np.bincount(compared.second, minlength=size)
    group = np.arange(number) if compared.group is None else compared.group
    groups = len(np.unique(group))
    return summed_meat(scores / count)(group) * (groups / max(groups - 1.0, 1.0))


def _rank_sets(share: Floats, sigma: Floats, level: float) -> tuple[tuple[int, int], ...]:
    size, own = len(share), sigma.diagonal()
    ahead = share[:, None] - share[None, :]
    variance = np.maximum(own[:, None] + own[None, :] - 2 * sigma, 0.0)
    sure = np.abs(ahead) > np.sqrt(variance * chi_square_quantile(1 - level, size))
    better, worse = (sure & (ahead < 0)).sum(axis=1), (sure & (ahead > 0)).sum(axis=1)
    return tuple((1 + int(b), size - int(w)) for b, w in zip(better, worse, strict=True))
