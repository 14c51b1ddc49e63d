"""Monte-Carlo statistics over repeated runs: how steady the judge's confidence and entropy are.

CSI (Confidence Stability Index)
    Formula     1 − min(1, population variance of the confidences / 0.25)
    Unit        ratio, 0 to 1; higher is steadier. 0.25 is the largest variance that numbers in 0 to 1 can have.
    Edge cases  one confidence: 1.0
EDM (Entropy Drift Metric)
    Formula     mean |H − H of the baseline run|
    Unit        nats, as the judge reports its entropy; lower is steadier
    Edge cases  a baseline without entropy: no EDM
Both
    Inputs      the runs whose last record carries `confidence_score` or `output_entropy` (in `rich_summary` or beside
                it), pooled per axis value as for ESI; runs without are left out and counted, and so are numbers past
                1e100, whose squares are none any more: they are named in the report's remarks
    Rounding    8 decimals when stored; an overall score is the mean of the stored value scores, rounded
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rushes.instruments.robustness.seed.metrics import mean_score, stored_score
from rushes.instruments.robustness.seed.scores import RunScore, by_value
from rushes.instruments.robustness.seed.surface import population_variance

_LARGEST_VARIANCE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloMetric:
    """CSI or EDM of one axis, with the mean and variance of what it rests on."""

    axis: str
    value_scores: dict[str, float]
    overall_score: float
    value_means: dict[str, float]
    value_variances: dict[str, float]
    value_counts: dict[str, int]
    """Runs that carried the number, by encoded value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloResult:
    """CSI and EDM per axis, sorted by axis; empty where no run carries the number."""

    csi: tuple[MonteCarloMetric, ...]
    edm: tuple[MonteCarloMetric, ...]


def monte_carlo(axes: Iterable[str], scores: Sequence[RunScore]) -> MonteCarloResult:
    """Confidence and entropy statistics of a sweep; `scores[0]` is the baseline."""
    names = sorted(axes)
    csi = [_metric(axis, scores, lambda score: score.confidence, confidence_stability) for axis in names]
    baseline = scores[0].entropy
    if baseline is None:
        return MonteCarloResult(csi=tuple(m for m in csi if m), edm=())
    edm = [_metric(axis, scores, lambda score: score.entropy, lambda h: entropy_drift(h, baseline)) for axis in names]
    return MonteCarloResult(csi=tuple(m for m in csi if m), edm=tuple(m for m in edm if m))


def confidence_stability(confidences: Sequence[float]) -> float:
    """CSI of these confidences, as stored.

    >>> confidence_stability([0.0, 1.0]), confidence_stability([0.7]), confidence_stability([0.5, 0.6])
    (0.0, 1.0, 0.99)
    """
    return stored_score(1.0 - min(1.0, population_variance(confidences) / _LARGEST_VARIANCE))


def entropy_drift(entropies: Sequence[float], baseline: float) -> float:
    """EDM of these entropies, as stored.

    >>> entropy_drift([1.0, 2.5], 2.0)
    0.75
    """
    return mean_score([abs(entropy - baseline) for entropy in entropies])


def _metric(
    axis: str,
    scores: Iterable[RunScore],
    number: Callable[[RunScore], float | None],
    score_of: Callable[[Sequence[float]], float],
) -> MonteCarloMetric | None:
    groups = {
        value: [found for score in group if (found := number(score)) is not None]
        for value, group in by_value(axis, scores).items()
    }
    groups = {value: numbers for value, numbers in groups.items() if numbers}
    if not groups:
        return None
    stored = {value: score_of(numbers) for value, numbers in groups.items()}
    return MonteCarloMetric(
        axis=axis,
        value_scores=stored,
        overall_score=mean_score(list(stored.values())),
        value_means={value: mean_score(numbers) for value, numbers in groups.items()},
        value_variances={value: stored_score(population_variance(numbers)) for value, numbers in groups.items()},
        value_counts={value: len(numbers) for value, numbers in groups.items()},
    )
