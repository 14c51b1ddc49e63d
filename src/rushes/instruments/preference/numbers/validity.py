"""Metrics against votes: how far each number can be trusted to say what people prefer.

A vote is joined to its two clips by their ids (`Vote.clip_a`, `clip_b`). Every share comes with Wilson's interval
(votes independent) and the one clustered by rater and prompt; 0.5 is what a coin gives. `validity_measurements` is what
`rushes study validity` writes into a run directory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Definition, Estimate, Measurement
from rushes.core.selection import label
from rushes.instruments.preference.definitions import validity as d
from rushes.instruments.preference.definitions.conditions_of import ties_of
from rushes.instruments.preference.numbers.conditions import NO_RULE, Conditions, counted_votes, measured, rule_text
from rushes.instruments.preference.vote_share import vote_share
from rushes.instruments.preference.votes import Ties, Vote, Winner, points
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.stats.intervals import LEVEL
from rushes.stats.means import share
from rushes.stats.votes.thresholds import SuggestedThreshold, suggested_threshold

Direction: TypeAlias = Literal["higher", "lower", "higher (assumed)"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of votes with both intervals."""

    estimate: Estimate
    """Interval: clustered by rater and prompt, cut to 0–1."""
    wilson: Estimate
    nothing: str = ""
    """Why there is no vote to count, where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValidity:
    """How often one metric's better clip is the one people chose."""

    metric: Definition
    reading: str
    """The metric's signature, and which part of the clip it is about where it is about one (`reading_text`)."""
    direction: Direction
    shares: Mapping[Ties, Share]
    """By what an undecided vote is, a tie of people or equal values: left out, or half right."""
    missing: int
    """Votes without a value on both sides."""
    threshold: SuggestedThreshold


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCheck:
    """Does the clip that lost have the worse value, more so where raters gave the tag?"""

    tag: str
    metric: Definition
    reading: str
    tagged: Share
    untagged: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Everything that votes say about metrics and badges."""

    metrics: tuple[MetricValidity, ...]
    badges: Mapping[str, Share]
    """Per badge: share of decided votes won against clips of another badge."""
    tags: tuple[TagCheck, ...]
    votes: int
    joined: int
    """Votes whose two clips were both measured."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """One vote seen through one metric: values for winner and loser, or for both sides of a tie."""

    vote: Vote
    better: float
    """The preferred clip's value, turned so that higher is better; side a's in a tie."""
    worse: float
    pick: Winner
    """Which clip is better by the metric."""

    def points(self, ties: Ties) -> float | None:
        """1 when the metric picks the human winner, 0 when the other; what `ties` says when either did not decide."""
        return points("tie", "a", ties=ties) if self.pick == "tie" else self.vote.points(self.pick, ties=ties)


def validity(
    votes: Iterable[Vote],
    metrics: Mapping[str, Iterable[Measurement]],
    badges: Mapping[str, str] | None = None,
    *,
    confidence: float = LEVEL,
) -> Validity:
    """Join raw votes to the measurements (and badges) of their clips, by clip id.

    Inputs      votes with clip ids; per clip id its measurements, whose definitions tell which direction is better
    Edge cases  a vote without values on both sides is left out of that metric and counted; the same name under two
                signatures, or about two parts of a clip, is two metrics; a metric without a direction is read as
                higher-is-better and says so
    """
    raw = [vote for vote in votes if vote.counts_in_results]
    values, known = _values_by_reading(metrics)
    seen = {reading: _compared(raw, values[reading], _direction(metric)) for reading, metric in known.items()}
    return Validity(
        metrics=tuple(
            _metric_validity(metric, reading, seen[reading], len(raw), confidence) for reading, metric in known.items()
        ),
        badges=_badge_shares(raw, badges or {}, confidence),
        tags=tuple(
            _tag_check(tag, metric, reading, seen[reading], confidence)
            for tag, name in TAG_METRICS
            for reading, metric in known.items()
            if metric.name == name
        ),
        votes=len(raw),
        joined=sum(vote.clip_a in metrics and vote.clip_b in metrics for vote in raw),
    )


def reading_text(measurement: Measurement) -> str:
    """What tells a metric's readings apart: its signature, and what it is about where that is a part of the clip."""
    place = label(measurement, measurement.place)
    return f"{measurement.signature} at {place}" if place else measurement.signature


def _values_by_reading(
    metrics: Mapping[str, Iterable[Measurement]],
) -> tuple[dict[str, dict[str, float]], dict[str, Definition]]:
    """By reading: the values per clip, and the definition; readings in order of first sight over sorted clips."""
    values: dict[str, dict[str, float]] = defaultdict(dict)
    known: dict[str, Definition] = {}
    for clip in sorted(metrics):
        for measurement in metrics[clip]:
            reading = reading_text(measurement)
            known.setdefault(reading, measurement.definition)
            if measurement.value is not None:
                values[reading][clip] = float(measurement.value)
    return values, known


def _direction(definition: Definition) -> Direction:
    return definition.better if definition.better != "neither" else "higher (assumed)"


def _compared(raw: Sequence[Vote], values: Mapping[str, float], direction: Direction) -> list[_Compared]:
    sign = -1.0 if direction == "lower" else 1.0
    found = []
    for vote in raw:
        if vote.clip_a in values and vote.clip_b in values:
            a, b = sign * values[vote.clip_a], sign * values[vote.clip_b]
            better, worse = (b, a) if vote.winner == "b" else (a, b)
            found.append(_Compared(vote, better, worse, "tie" if a == b else "a" if a > b else "b"))
    return found


def _metric_validity(
    metric: Definition, reading: str, seen: list[_Compared], votes: int, confidence: float
) -> MetricValidity:
    nothing: dict[Ties, str] = {
        "drop": "no vote where people and the metric both decided",
        "half": "no vote with a value on both sides",
    }
    return MetricValidity(
        metric=metric,
        reading=reading,
        direction=_direction(metric),
        shares={ties: _share(seen, ties, why, confidence) for ties, why in nothing.items()},
        missing=votes - len(seen),
        threshold=_threshold(metric, seen),
    )


def _threshold(metric: Definition, seen: list[_Compared]) -> SuggestedThreshold:
    if metric.better == "neither":
        return SuggestedThreshold.none("the metric has no better direction")
    clear = [one for one in seen if one.vote.winner != "tie"]
    sign = -1.0 if metric.better == "lower" else 1.0
    return suggested_threshold(
        won=np.array([sign * one.better for one in clear]),
        lost=np.array([sign * one.worse for one in clear]),
        better=metric.better,
    )


def _share(seen: Iterable[_Compared], ties: Ties, nothing: str, confidence: float) -> Share:
    return _share_of([(one.vote, one.points(ties)) for one in seen], nothing, confidence)


def _share_of(scored: Sequence[tuple[Vote, float | None]], nothing: str, confidence: float) -> Share:
    estimate = vote_share(scored, confidence=confidence)
    total = sum(points or 0.0 for _, points in scored)
    return Share(
        estimate=estimate,
        wilson=share(total, estimate.count, level=confidence),
        nothing="" if estimate.count else nothing,
    )


def _badge_shares(raw: Sequence[Vote], badges: Mapping[str, str], confidence: float) -> dict[str, Share]:
    """Wins of each badge over the others, among decided votes between two different badges."""
    scored: dict[str, list[tuple[Vote, float | None]]] = defaultdict(list)
    ties = ties_of(d.BADGE_WIN_SHARE)
    for vote in raw:
        a, b = badges.get(vote.clip_a), badges.get(vote.clip_b)
        if a is None or b is None or a == b or vote.points("a", ties=ties) is None:
            continue
        scored[a].append((vote, vote.points("a", ties=ties)))
        scored[b].append((vote, vote.points("b", ties=ties)))
    return {badge: _share_of(scored[badge], "", confidence) for badge in sorted(scored)}


def _tag_check(tag: str, metric: Definition, reading: str, seen: Sequence[_Compared], confidence: float) -> TagCheck:
    ties = ties_of(d.TAG_METRIC_CHECK)
    given = [one for one in seen if tag in (one.vote.primary_tag, *one.vote.secondary_tags)]
    others = [one for one in seen if tag not in (one.vote.primary_tag, *one.vote.secondary_tags)]
    nothing = "no decided vote {} the tag has different values"
    return TagCheck(
        tag=tag,
        metric=metric,
        reading=reading,
        tagged=_share(given, ties, nothing.format("with"), confidence),
        untagged=_share(others, ties, nothing.format("without"), confidence),
    )


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

    `metrics` and `badges` are by clip id, as in `Vote.clip_a`. Which metric a number is about is its `at`: the metric's
    name, and its reading (`reading_text`), because one name may have several.
    """
    raw = counted_votes(votes, excluded=excluded if rule_text(exclusion_rule) != NO_RULE else ())
    conditions = Conditions(
        rubric_version=rubric_version,
        exclusion_rule=exclusion_rule,
        confidence=confidence,
        simulated=simulated,
        pairing=pairing,
    )
    return as_measurements(validity(raw, metrics, badges, confidence=confidence), conditions)


def as_measurements(found: Validity, conditions: Conditions) -> tuple[Measurement, ...]:
    """The shares, checks and thresholds of a `Validity` with their definitions."""
    return tuple(
        chain(
            chain.from_iterable(_metric_numbers(one, conditions) for one in found.metrics),
            (
                _share_number(d.BADGE_WIN_SHARE, share, conditions, {"badge": badge})
                for badge, share in found.badges.items()
            ),
            chain.from_iterable(_tag_numbers(check, conditions) for check in found.tags),
        )
    )


def _metric_numbers(one: MetricValidity, conditions: Conditions) -> Iterator[Measurement]:
    at = {"metric": one.metric.name, "reading": one.reading}
    note = f"{one.missing} votes without both values left out" if one.missing else ""
    for ties, found in one.shares.items():
        yield _share_number(d.METRIC_PICKS_WINNER, found, conditions, at, note, ties=ties, direction=one.direction)
    line = one.threshold
    for definition, value in (
        (d.SUGGESTED_THRESHOLD, line.value),
        (d.SUGGESTED_THRESHOLD_ACCURACY, line.balanced_accuracy),
    ):
        note = line.reason or "fitted and judged on the same votes"
        yield measured(definition, Estimate(value=value, count=line.clips), conditions, at, note=note)


def _tag_numbers(check: TagCheck, conditions: Conditions) -> Iterator[Measurement]:
    for tagged, found in (("yes", check.tagged), ("no", check.untagged)):
        at = {"metric": check.metric.name, "reading": check.reading, "tag": check.tag, "tagged": tagged}
        yield _share_number(d.TAG_METRIC_CHECK, found, conditions, at)


def _share_number(
    definition: Definition, share: Share, conditions: Conditions, at: Mapping[str, str], note: str = "", **params: str
) -> Measurement:
    """The estimate with its clustered interval; the note gives Wilson's, for votes taken as independent."""
    wilson = share.wilson.interval
    independent = "" if wilson is None else f"Wilson interval {wilson.text()}"
    words = "; ".join(filter(None, (share.nothing or note, independent)))
    return measured(definition, share.estimate, conditions, at, note=words, clusters=CLUSTERS[TWO_WAY], **params)
