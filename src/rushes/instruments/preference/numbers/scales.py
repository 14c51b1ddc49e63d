"""The same votes on another scale, and the side they were shown on: JOD and the side effect as measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushes.core import Estimate, Measurement, Why
from rushes.instruments.preference.definitions import study as d
from rushes.instruments.preference.numbers.conditions import Conditions, measured
from rushes.instruments.preference.numbers.ranking import Choices
from rushes.instruments.preference.tallies import sided_votes, tally
from rushes.instruments.preference.votes import Vote
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.jod import JodPrior, jod, jod_uncertainty
from rushes.stats.votes.side_effect import side_effect
from rushes.stats.votes.tally import TIE

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
            nothing = Estimate.none(Why.NOT_RANKABLE, count=met[system])
            yield measured(d.JOD, nothing, conditions, {"system": system}, note=str(error), **params)
        return
    for k, system in enumerate(votes.systems):
        value, count = float(values[k]), met[system]
        if isinstance(spread, Why):
            estimate = Estimate(value=value, count=count, why=spread)
        else:
            estimate = Estimate(value=value, count=count, interval=spread.interval(value, k))
        yield measured(d.JOD, estimate, conditions, {"system": system}, **params)


def side_numbers(raw: Sequence[Vote], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """What standing on the left is worth."""
    votes = sided_votes(raw, ties=chosen.ties != "drop-tie")
    params = {"ties": chosen.ties, "clusters": CLUSTERS[TWO_WAY]}
    note = "" if len(votes) else "no vote with a known side"
    try:
        found = side_effect(votes, tie_policy=chosen.ties, confidence=conditions.confidence)
    except RankingError as error:
        found, note = Estimate.none(Why.NOT_RANKABLE, count=len(votes)), str(error)
    yield measured(d.BT_SIDE_EFFECT, found, conditions, note=note, **params)
