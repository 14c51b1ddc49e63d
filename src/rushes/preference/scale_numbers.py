"""The same votes on another scale, and the side they were shown on: JOD and the side effect as measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushes.core import Measurement
from rushes.preference import definitions as d
from rushes.preference.conditions import Conditions, measured
from rushes.preference.ranking_numbers import Choices
from rushes.preference.statistics.connection import RankingError
from rushes.preference.statistics.intervals import CLUSTERS, TWO_WAY, Bounds, Estimate
from rushes.preference.statistics.jod import JodPrior, jod, jod_uncertainty
from rushes.preference.statistics.side_effect import side_effect
from rushes.preference.statistics.tally import TIE, tally
from rushes.preference.votes import Vote

JOD_PRIOR: JodPrior = "bounded"


def jod_numbers(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """JOD of every system, with intervals clustered by rater and prompt."""
    votes = tally(raw)
    params = {"clusters": CLUSTERS[TWO_WAY], "prior": f"pwcmp {JOD_PRIOR}"}
    decided = votes.outcome != TIE
    met = {
        name: int(votes.count[decided & ((votes.first == k) | (votes.second == k))].sum())
        for k, name in enumerate(votes.systems)
    }
    try:
        values = jod(votes.pairs(), prior=JOD_PRIOR)
        spread = jod_uncertainty(values, votes, confidence=conditions.confidence)
    except RankingError as error:
        for system in votes.systems:
            nothing = Estimate.undefined(str(error), count=met[system])
            yield measured(d.JOD, nothing, conditions, {"system": system}, **params)
        return
    errors = None if isinstance(spread, str) else spread.critical * spread.standard_errors()
    method = TWO_WAY if isinstance(spread, str) else spread.kind
    for k, system in enumerate(votes.systems):
        value = float(values[k])
        interval = (
            Bounds.undefined(str(spread))
            if errors is None
            else Bounds(lower=value - float(errors[k]), upper=value + float(errors[k]))
        )
        estimate = Estimate(value=value, count=met[system], interval=interval)
        yield measured(d.JOD, estimate, conditions, {"system": system}, method=method, **params)


def side_numbers(raw: Sequence[Vote], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """What standing on the left is worth."""
    found = side_effect(raw, tie_policy=chosen.ties, confidence=conditions.confidence)
    params = {"ties": chosen.ties, "clusters": CLUSTERS[TWO_WAY]}
    yield measured(d.BT_SIDE_EFFECT, found, conditions, method=TWO_WAY, **params)
