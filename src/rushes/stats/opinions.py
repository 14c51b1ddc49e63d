"""Opinion scores: differences between groups of ratings, and scores with each subject's bias removed.

One person's ratings resemble each other, and so do all ratings on one prompt, so intervals cluster by both
(`clustered.py`). `subject_model` separates what a clip is worth from who rated it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rushes.core import Estimate, Interval, Why
from rushes.stats.clustered import ONE_WAY, TWO_WAY, Clusters, numbered, two_way_error
from rushes.stats.intervals import LEVEL, Floats, check_confidence, normal_quantile, student_quantile
from rushes.stats.special.beta import student_cdf

_MOST_STEPS = 1000
_CLOSE = 1e-8
_LEAST_VARIANCE = 1e-8
_SINGULAR = 1e-3
"""Constants of P.913's reference implementation."""


@dataclass(frozen=True, slots=True, eq=False)
class SubjectModel:
    """Ratings taken apart: o_ij = ψ_j + Δ_i + υ_i·noise."""

    scores: Floats
    """ψ: what each clip is worth."""
    errors: Floats
    """Standard deviation of each score."""
    bias: Floats
    """Δ: how much higher than the others each subject rates; their mean is 0."""
    inconsistency: Floats
    """υ: how far a subject's ratings scatter."""

    @property
    def follows_one(self) -> bool:
        """Whether the fit ran into the model's singularity: one subject is taken to be never wrong, so that all scores
        are theirs alone. It happens with few subjects, and such scores mean nothing."""
        return bool(self.inconsistency.min() < _SINGULAR < self.inconsistency.max())


def subject_model(ratings: Floats, *, weighted: bool = True) -> SubjectModel:
    """Scores with subject bias removed and inconsistent subjects weighted down, by alternating projection.

    Formula     begin with ψ_j = mean_i o_ij, Δ_i = mean_j (o_ij − ψ_j); then until ψ changes by less than 1e−8:
                r = o − ψ − Δ; υ_i = std_j r_ij; ψ_j = Σ_i w_i (o_ij − Δ_i) / Σ_i w_i, w_i = 1 / (υ_i² + 1e−8);
                Δ_i = mean_j (o_ij − ψ_j). Last, the mean of Δ moves to ψ. Error of ψ_j: std_i r_ij / √n_j
    Unweighted  w_i = 1: bias alone is removed (P.913 clause 12.4), and no subject can take over
    Inputs      clips × subjects; NaN where a subject did not rate a clip. Every row and column has a rating.
    Edge cases  one subject: ψ is what they said, Δ is 0. Few subjects: see `SubjectModel.follows_one`
    Reference   ITU-T P.913 clause 12.6; Li, Bampis, Janowski and Katsavounidis 2020, "A simple model for subject
                behavior in subjective experiments"

    >>> found = subject_model(np.array([[5.0, 4.0], [3.0, 2.0]]))
    >>> found.scores.tolist(), found.bias.tolist()
    ([4.5, 2.5], [0.5, -0.5])
    """
    scores = np.nanmean(ratings, axis=1)
    bias = np.nanmean(ratings - scores[:, None], axis=0)
    for _ in range(_MOST_STEPS):
        before, residual = scores, ratings - scores[:, None] - bias
        inconsistency, spread = np.nanstd(residual, axis=0), np.nanstd(residual, axis=1)
        trust = 1.0 / (inconsistency**2 + _LEAST_VARIANCE) if weighted else np.ones(ratings.shape[1])
        weight = np.where(np.isnan(ratings), 0.0, trust)
        scores = np.nansum((ratings - bias) * weight, axis=1) / weight.sum(axis=1)
        bias = np.nanmean(ratings - scores[:, None], axis=0)
        if float(np.linalg.norm(before - scores)) < _CLOSE:
            break
    errors = spread / np.sqrt((~np.isnan(ratings)).sum(axis=1))
    shift = float(bias.mean())
    return SubjectModel(scores + shift, errors, bias - shift, inconsistency)


def clustered_difference(
    values: Sequence[float],
    groups: Sequence[bool],
    raters: Sequence[str],
    prompts: Sequence[str],
    *,
    confidence: float = LEVEL,
    step: float = 1.0,
) -> tuple[Estimate, float | None]:
    """The mean where `groups` is true minus the mean where it is false, and the p of no difference.

    Formula     d ± t(df) · se; each rating contributes ±(v − mean of its group) · n / n_group, which is clustered by
                rater and prompt as in `clustered.py`, so what a rater or a prompt adds to both groups cancels;
                df = min(raters, prompts) − 1
    Floor       no narrower than `step` · z²/(n* + z²) either way, n* the effective count (`clustered_mean`): what
                equal answers leave open
    Edge cases  a group without ratings: none. Fewer than two raters: no interval and no p. One prompt: raters alone.
    """
    check_confidence(confidence)
    data, first = np.asarray(values, dtype=float), np.asarray(groups, dtype=bool)
    number, of_first = len(data), int(first.sum())
    if not of_first or of_first == number:
        return Estimate.none(Why.NO_DATA), None
    means = float(data[first].mean()), float(data[~first].mean())
    gap = means[0] - means[1]
    rater, people = numbered(raters)
    if people < 2:
        return Estimate(value=gap, count=number, why=Why.NEEDS_TWO_RATERS), None
    parts = np.where(first, (data - means[0]) * number / of_first, (means[1] - data) * number / (number - of_first))
    prompt, many = numbered(prompts)
    if many > 1:
        kind, freedom, error = (
            TWO_WAY,
            min(people, many) - 1,
            two_way_error(parts, Clusters(rater, people, prompt, many)),
        )
    else:
        sums = np.bincount(rater, weights=parts)
        kind, freedom = ONE_WAY, people - 1
        error = math.sqrt(people / (people - 1.0) * float(sums @ sums)) / number
    critical, z2 = student_quantile(0.5 + confidence / 2.0, freedom), normal_quantile(0.5 + confidence / 2.0) ** 2
    effective = min(float(number), float(parts.var()) / error**2) if error > 0 else freedom + 1.0
    half = max(critical * error, step * z2 / (effective + z2))
    interval = Interval(low=gap - half, high=gap + half, level=confidence, method=kind)
    # The p of the interval that is shown: 0 lies outside it exactly where p is below 1 − confidence.
    p = 2.0 * student_cdf(-abs(gap) * critical / half, freedom)
    why = None if many > 1 else Why.ONE_PROMPT
    return Estimate(value=gap, count=number, interval=interval, why=why), p
