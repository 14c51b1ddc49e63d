"""Metrics against votes: how far each number can be trusted to say what people prefer.

A vote is joined to its two clips by their ids (`Vote.clip_a`, `clip_b`). Every share comes with Wilson's interval
(votes independent) and the one clustered by rater and prompt; 0.5 is what a coin gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Definition, Measurement
from rushes.core.selection import label
from rushes.preference.statistics.intervals import CONFIDENCE, Bounds, Estimate, clustered_mean, wilson
from rushes.preference.statistics.thresholds import SuggestedThreshold, suggested_threshold
from rushes.preference.votes import Side, Vote

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
    wilson: Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValidity:
    """How often one metric's better clip is the one people chose."""

    metric: Definition
    reading: str
    """The metric's signature, and which part of the clip it is about where it is about one (`reading_text`)."""
    direction: Direction
    without_ties: Share
    """Over votes where people and the metric both decided."""
    with_ties: Share
    """Over all joined votes: a tie of people, or equal values, is half right."""
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

    @property
    def credit(self) -> float:
        """1 when the metric picks the human winner, 0 when the other, ½ when either did not decide."""
        if self.vote.winner == "tie" or self.better == self.worse:
            return 0.5
        return float(self.better > self.worse)

    @property
    def decided(self) -> bool:
        return self.vote.winner != "tie" and self.better != self.worse


def validity(
    votes: Iterable[Vote],
    metrics: Mapping[str, Iterable[Measurement]],
    badges: Mapping[str, str] | None = None,
    *,
    confidence: float = CONFIDENCE,
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
            found.append(_Compared(vote, b, a) if vote.winner == "b" else _Compared(vote, a, b))
    return found


def _metric_validity(
    metric: Definition, reading: str, seen: list[_Compared], votes: int, confidence: float
) -> MetricValidity:
    direction, decided = _direction(metric), [one for one in seen if one.decided]
    return MetricValidity(
        metric=metric,
        reading=reading,
        direction=direction,
        without_ties=_share(decided, "no vote where people and the metric both decided", confidence),
        with_ties=_share(seen, "no vote with a value on both sides", confidence),
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


def _share(seen: Sequence[_Compared], nothing: str, confidence: float) -> Share:
    return _share_of([one.credit for one in seen], [one.vote for one in seen], nothing, confidence)


def _share_of(credits: Sequence[float], votes: Sequence[Vote], nothing: str, confidence: float) -> Share:
    if not credits:
        return Share(estimate=Estimate.undefined(nothing), wilson=Bounds.undefined(nothing))
    raters, prompts = [vote.rater for vote in votes], [vote.prompt_key for vote in votes]
    clustered = clustered_mean(credits, raters, prompts, confidence=confidence).within(0.0, 1.0)
    total, number = float(sum(credits)), len(credits)
    return Share(
        estimate=Estimate(value=total / number, count=number, interval=clustered),
        wilson=wilson(total, number, confidence=confidence),
    )


def _badge_shares(raw: Sequence[Vote], badges: Mapping[str, str], confidence: float) -> dict[str, Share]:
    """Wins of each badge over the others, among decided votes between two different badges."""
    credits: dict[str, list[float]] = defaultdict(list)
    given: dict[str, list[Vote]] = defaultdict(list)
    for vote in raw:
        a, b = badges.get(vote.clip_a), badges.get(vote.clip_b)
        if a is None or b is None or a == b or vote.winner == "tie":
            continue
        sides: tuple[tuple[Side, str], ...] = (("a", a), ("b", b))
        for side, badge in sides:
            credits[badge].append(float(vote.winner == side))
            given[badge].append(vote)
    return {badge: _share_of(credits[badge], given[badge], "", confidence) for badge in sorted(credits)}


def _tag_check(tag: str, metric: Definition, reading: str, seen: Sequence[_Compared], confidence: float) -> TagCheck:
    decided = [one for one in seen if one.decided]
    given = [one for one in decided if tag in (one.vote.primary_tag, *one.vote.secondary_tags)]
    others = [one for one in decided if tag not in (one.vote.primary_tag, *one.vote.secondary_tags)]
    nothing = "no decided vote {} the tag has different values"
    return TagCheck(
        tag=tag,
        metric=metric,
        reading=reading,
        tagged=_share(given, nothing.format("with"), confidence),
        untagged=_share(others, nothing.format("without"), confidence),
    )
