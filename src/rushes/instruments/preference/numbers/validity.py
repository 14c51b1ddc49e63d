"""Metrics against votes: how far each number can be trusted to say what people prefer.

A vote is joined to its two clips by their ids (`Vote.clip_a`, `clip_b`). Every share comes with Wilson's interval
(votes independent) and the one clustered by rater and prompt; 0.5 is what a coin gives. `validity_measurements` is what
`rushes study validity` writes into a run directory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rushes.core import Definition, Estimate, Measurement
from rushes.core.selection import full_name, label
from rushes.instruments.preference.definitions import validity as d
from rushes.instruments.preference.definitions.conditions_of import ties_of
from rushes.instruments.preference.numbers.conditions import (
    NO_RULE,
    Conditions,
    counted_votes,
    measured,
    rule_text,
    some_bent,
)
from rushes.instruments.preference.vote_share import Scored, both_ways, vote_share
from rushes.instruments.preference.votes import Ties, Vote, Winner, points
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.stats.intervals import LEVEL
from rushes.stats.means import share
from rushes.stats.votes.thresholds import SuggestedThreshold, suggested_threshold

TAG_METRICS: tuple[tuple[str, str], ...] = (
    ("Flicker / temporal jitter", "flicker_score"),
    ("Flicker / temporal jitter", "frame_diff_spike_count"),
    ("Flicker / temporal jitter", "landmark_jitter"),
    ("Entity drift / attribute leakage", "landmark_jitter"),
    ("Identity swap", "face_present_ratio"),
    ("Scene reset / teleporting", "scene_cut_count"),
    ("Scene reset / teleporting", "frame_diff_spike_count"),
    ("Wrong timing/order of events", "mouth_audio_corr"),
    ("Physics break / unnatural motion", "freeze_frame_ratio"),
    ("Physics break / unnatural motion", "face_bbox_jitter"),
    ("Artifacts / blur / distortion", "blur_score"),
)
"""Which metric should be worse on the losing clip when raters give a tag."""


_NOTHING: Mapping[Ties, str] = {
    "drop": "no vote where people and the metric both decided",
    "half": "no vote with a value on both sides",
}
"""Why a metric has no share, by what an undecided vote is, a tie of people or equal values: left out, or half right."""


class _Compared(NamedTuple):
    """One vote seen through one metric."""

    vote: Vote
    a: float
    """The value of system a's clip, turned so that higher is better."""
    b: float

    def points(self, ties: Ties) -> float | None:
        """1 when the metric picks the human winner, 0 when the other; what `ties` says when either did not decide."""
        pick: Winner = "tie" if self.a == self.b else "a" if self.a > self.b else "b"
        return points("tie", "a", ties=ties) if pick == "tie" else self.vote.points(pick, ties=ties)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metric:
    """One metric against the votes whose two clips have a value of it."""

    definition: Definition
    reading: str
    """The metric's signature, and which part of the clip it is about where it is about one (`reading_text`)."""
    seen: Sequence[_Compared]

    @property
    def at(self) -> dict[str, str]:
        return {"metric": full_name(self.definition), "reading": self.reading}


def validity_measurements(
    votes: Iterable[Vote],
    metrics: Mapping[str, Iterable[Measurement]],
    badges: Mapping[str, str] | None = None,
    *,
    rubric_version: str,
    exclusion_rule: str = NO_RULE,
    excluded: Collection[str] = (),
    confidence: float = LEVEL,
    simulated: bool = False,
    pairing: str = "round-robin",
) -> tuple[Measurement, ...]:
    """Every number of the metrics-against-votes comparison, after the declared exclusions.

    Inputs      votes with clip ids; by clip id, as in `Vote.clip_a`, its measurements, whose definitions tell which
                direction is better, and its badge
    About       which metric a number is about is its `at`: the metric's name, and its reading (`reading_text`), because
                one name may have several
    Edge cases  a vote without values on both sides is left out of that metric and counted; the same name under two
                signatures, or about two parts of a clip, is two metrics; a metric without a direction is read as
                higher-is-better and says so
    """
    raw = counted_votes(votes, excluded=excluded if rule_text(exclusion_rule) != NO_RULE else ())
    conditions = Conditions(
        rubric_version=rubric_version,
        exclusion_rule=exclusion_rule,
        lenient=some_bent(raw),
        confidence=confidence,
        simulated=simulated,
        pairing=pairing,
    )
    return tuple(_all_numbers(raw, _against(raw, metrics), badges or {}, conditions))


def reading_text(measurement: Measurement) -> str:
    """What tells a metric's readings apart: its signature, and what it is about where that is a part of the clip."""
    place = label(measurement, measurement.place)
    return f"{measurement.signature} at {place}" if place else measurement.signature


def _against(raw: Sequence[Vote], metrics: Mapping[str, Iterable[Measurement]]) -> list[_Metric]:
    """Every reading against the votes, in order of first sight over sorted clips."""
    values: dict[str, dict[str, float]] = defaultdict(dict)
    known: dict[str, Definition] = {}
    for clip in sorted(metrics):
        for measurement in metrics[clip]:
            reading = reading_text(measurement)
            known.setdefault(reading, measurement.definition)
            if measurement.value is not None:
                values[reading][clip] = _sign(measurement.definition) * float(measurement.value)
    return [
        _Metric(
            definition=definition,
            reading=reading,
            seen=[
                _Compared(vote, has[vote.clip_a], has[vote.clip_b])
                for vote in raw
                if vote.clip_a in (has := values[reading]) and vote.clip_b in has
            ],
        )
        for reading, definition in known.items()
    ]


def _sign(definition: Definition) -> float:
    return -1.0 if definition.better == "lower" else 1.0


def _all_numbers(
    raw: Sequence[Vote], metrics: Sequence[_Metric], badges: Mapping[str, str], conditions: Conditions
) -> Iterator[Measurement]:
    for metric in metrics:
        yield from _metric_numbers(metric, len(raw), conditions)
    apart = [vote for vote in raw if len({badges.get(vote.clip_a), badges.get(vote.clip_b)} - {None}) == 2]
    ties = ties_of(d.BADGE_WIN_SHARE)
    counted = [vote for vote in apart if vote.points("a", ties=ties) is not None]
    wins = both_ways(counted, lambda vote: (badges[vote.clip_a], badges[vote.clip_b]), ties=ties)
    for badge in sorted(wins):
        yield _share_number(d.BADGE_WIN_SHARE, wins[badge], conditions, {"badge": badge})
    for tag, name in TAG_METRICS:
        for metric in metrics:
            if metric.definition.name == name:
                yield from _tag_numbers(tag, metric, conditions)


def _metric_numbers(metric: _Metric, votes: int, conditions: Conditions) -> Iterator[Measurement]:
    better, missing = metric.definition.better, votes - len(metric.seen)
    direction = "higher (assumed)" if better == "neither" else better
    note = f"{missing} votes without both values left out" if missing else ""
    for ties, nothing in _NOTHING.items():
        scored = [(one.vote, one.points(ties)) for one in metric.seen]
        words, params = {"note": note, "nothing": nothing}, {"ties": ties, "direction": direction}
        yield _share_number(d.METRIC_PICKS_WINNER, scored, conditions, metric.at, **words, **params)
    line = _threshold(metric)
    note = line.reason or "fitted and judged on the same votes"
    for definition, value in (
        (d.SUGGESTED_THRESHOLD, line.value),
        (d.SUGGESTED_THRESHOLD_ACCURACY, line.balanced_accuracy),
    ):
        yield measured(definition, Estimate(value=value, count=line.clips), conditions, metric.at, note=note)


def _threshold(metric: _Metric) -> SuggestedThreshold:
    """Where the votes would draw the line, in the metric's own values."""
    if metric.definition.better == "neither":
        return SuggestedThreshold.none("the metric has no better direction")
    clear = [(one.a, one.b) if one.vote.winner == "a" else (one.b, one.a) for one in metric.seen if one.vote.decided]
    won, lost = _sign(metric.definition) * np.array(clear).reshape(-1, 2).T
    return suggested_threshold(won=won, lost=lost, better=metric.definition.better)


def _tag_numbers(tag: str, metric: _Metric, conditions: Conditions) -> Iterator[Measurement]:
    """Does the clip that lost have the worse value, more so where raters gave the tag?"""
    ties = ties_of(d.TAG_METRIC_CHECK)
    for tagged, words in (("yes", "with"), ("no", "without")):
        given = [one for one in metric.seen if (tag in one.vote.tags) == (tagged == "yes")]
        scored = [(one.vote, one.points(ties)) for one in given]
        at = {**metric.at, "tag": tag, "tagged": tagged}
        nothing = f"no decided vote {words} the tag has different values"
        yield _share_number(d.TAG_METRIC_CHECK, scored, conditions, at, nothing=nothing)


def _share_number(
    definition: Definition,
    scored: Sequence[Scored],
    conditions: Conditions,
    at: Mapping[str, str],
    *,
    note: str = "",
    nothing: str = "",
    **params: str,
) -> Measurement:
    """The share with its clustered interval; the note gives Wilson's, for votes taken as independent.

    `nothing` says why there is no vote to count, where there is none.
    """
    estimate = vote_share(scored, confidence=conditions.confidence)
    total = sum(points or 0.0 for _, points in scored)
    wilson = share(total, estimate.count, level=conditions.confidence).interval
    independent = "" if wilson is None else f"Wilson interval {wilson.text()}"
    words = "; ".join(filter(None, ((not estimate.count and nothing) or note, independent)))
    return measured(definition, estimate, conditions, at, note=words, clusters=CLUSTERS[TWO_WAY], **params)
