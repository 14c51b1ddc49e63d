"""Best–worst answers and graded pairs as numbers: counts, and comparison scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rushes.core import Definition, Measurement
from rushes.instruments.preference.definitions import opinions as d
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.numbers.conditions import Conditions, measured
from rushes.instruments.preference.votes import Vote
from rushes.stats.clustered import CLUSTERS, TWO_WAY, clustered_mean

Scored = tuple[float, str, str]
"""A value, who gave it and on which prompt."""


def best_worst_scores(raw: Sequence[Judgement], conditions: Conditions) -> Iterator[Measurement]:
    """Per system: best minus worst, over the times it was shown."""
    given: dict[str, list[Scored]] = defaultdict(list)
    for one in raw:
        for name in one.systems:
            given[name].append((float((name == one.best) - (name == one.worst)), one.rater, one.prompt_key))
    for name in sorted(given):
        yield _mean(given[name], d.BEST_WORST_SCORE, {"system": name}, conditions, limit=1.0)


def comparison_scores(raw: Iterable[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Per two systems that met, both ways: how much better than the other the one was found."""
    given: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for vote in raw:
        gap = {"a": 1, "b": -1, "tie": 0}[vote.winner] * (vote.degree or 0)
        given[vote.system_a, vote.system_b].append((float(gap), vote.rater, vote.prompt_key))
        given[vote.system_b, vote.system_a].append((float(-gap), vote.rater, vote.prompt_key))
    for system, against in sorted(given):
        at = {"against": against, "system": system}
        yield _mean(given[system, against], d.CMOS, at, conditions, limit=3.0)


def _mean(
    scored: Sequence[Scored], definition: Definition, at: dict[str, str], conditions: Conditions, *, limit: float
) -> Measurement:
    values, raters, prompts = zip(*scored, strict=True)
    scale = {"lowest": -limit, "highest": limit, "step": 1.0}
    mean = clustered_mean(list(values), raters, prompts, confidence=conditions.confidence, **scale)
    return measured(definition, mean, conditions, at, clusters=CLUSTERS[TWO_WAY])
