"""What votes say about metrics, as labelled measurements: what `rushes study validity` writes into a run directory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from rushes.core import Definition, Measurement
from rushes.preference import validity_definitions as d
from rushes.preference.conditions import NO_RULE, Conditions, counted_votes, measured, rule_text
from rushes.preference.statistics.intervals import CLUSTERS, CONFIDENCE, TWO_WAY, Estimate
from rushes.preference.statistics.validity import MetricValidity, Share, TagCheck, Validity, validity
from rushes.preference.votes import Vote


def validity_measurements(
    votes: Iterable[Vote],
    metrics: Mapping[str, Iterable[Measurement]],
    badges: Mapping[str, str] | None = None,
    *,
    rubric_version: str,
    exclusion_rule: str = NO_RULE,
    excluded: Collection[str] = (),
    confidence: float = CONFIDENCE,
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
            chain.from_iterable(_metric(one, conditions) for one in found.metrics),
            (_share(d.BADGE_WIN_SHARE, share, conditions, {"badge": badge}) for badge, share in found.badges.items()),
            chain.from_iterable(_tag(check, conditions) for check in found.tags),
        )
    )


def _metric(one: MetricValidity, conditions: Conditions) -> Iterator[Measurement]:
    at = {"metric": one.metric.name, "reading": one.reading}
    note = f"{one.missing} votes without both values left out" if one.missing else ""
    for ties, share in (("drop", one.without_ties), ("half", one.with_ties)):
        noted = replace(share, estimate=replace(share.estimate, reason=share.estimate.reason or note))
        yield _share(d.METRIC_PICKS_WINNER, noted, conditions, at, ties=ties, direction=one.direction)
    line = one.threshold
    for definition, value in (
        (d.SUGGESTED_THRESHOLD, line.value),
        (d.SUGGESTED_THRESHOLD_ACCURACY, line.balanced_accuracy),
    ):
        note = line.reason or "fitted and judged on the same votes"
        yield measured(definition, Estimate(value=value, count=line.clips, reason=note), conditions, at)


def _tag(check: TagCheck, conditions: Conditions) -> Iterator[Measurement]:
    for tagged, share in (("yes", check.tagged), ("no", check.untagged)):
        at = {"metric": check.metric.name, "reading": check.reading, "tag": check.tag, "tagged": tagged}
        yield _share(d.TAG_METRIC_CHECK, share, conditions, at)


def _share(
    definition: Definition, share: Share, conditions: Conditions, at: Mapping[str, str], **params: str
) -> Measurement:
    """The estimate with its clustered interval; the note gives Wilson's, for votes taken as independent."""
    wilson = share.wilson.as_interval(conditions.confidence, "wilson")
    reasons = (share.estimate.reason, "" if wilson is None else f"Wilson interval {wilson.text()}")
    estimate = replace(share.estimate, reason="; ".join(filter(None, reasons)))
    return measured(definition, estimate, conditions, at, method=TWO_WAY, clusters=CLUSTERS[TWO_WAY], **params)
