"""What votes say about metrics, as labelled measurements: what `rushes study validity` writes into a run directory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from rushes.core import Definition, Measurement
from rushes.core.definition import Setting
from rushes.preference import definitions as d
from rushes.preference.conditions import NO_RULE, Conditions, bounded, counted_votes, measured
from rushes.preference.statistics.intervals import CONFIDENCE, Estimate
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
) -> tuple[Measurement, ...]:
    """Every number of the metrics-against-votes comparison, after the declared exclusions.

    `metrics` and `badges` are by clip id, as in `Vote.clip_a`. A metric's whole signature is part of the number's own,
    with `;` for `|`.
    """
    raw = counted_votes(votes, excluded=excluded if exclusion_rule != NO_RULE else ())
    conditions = Conditions(
        rubric_version=rubric_version,
        exclusion_rule=exclusion_rule,
        raters=len({vote.rater for vote in raw}),
        confidence=confidence,
        simulated=simulated,
    )
    return as_measurements(validity(raw, metrics, badges, confidence=confidence), conditions)


def as_measurements(found: Validity, conditions: Conditions) -> tuple[Measurement, ...]:
    """The shares, checks and thresholds of a `Validity` with their definitions."""
    rows: list[Measurement] = []
    for one in found.metrics:
        rows += _metric(one, conditions)
    for badge, share in found.badges.items():
        rows += _share(d.BADGE_WIN_SHARE, share, conditions, badge=badge)
    for check in found.tags:
        rows += _tag(check, conditions)
    return tuple(rows)


def metric_text(definition: Definition) -> str:
    """A metric's signature as it stands inside another signature.

    >>> from rushes.core import Definition, signature_params
    >>> metric_text(Definition(name="blur_score", unit="1", lowest=None, highest=None, better="higher", summary="s",
    ...                        formula="f", params=signature_params(plane="luma")))
    'blur_score;plane:luma;v:1'
    """
    return definition.signature.replace("|", ";")


def _metric(one: MetricValidity, conditions: Conditions) -> Iterator[Measurement]:
    name = metric_text(one.metric)
    for ties, share in (("drop", one.without_ties), ("half", one.with_ties)):
        note = f"{one.missing} votes without both values left out" if one.missing else ""
        noted = replace(share, estimate=replace(share.estimate, reason=share.estimate.reason or note))
        yield from _share(d.METRIC_PICKS_WINNER, noted, conditions, metric=name, ties=ties, direction=one.direction)
    line = one.threshold
    for definition, value in (
        (d.SUGGESTED_THRESHOLD, line.value),
        (d.SUGGESTED_THRESHOLD_ACCURACY, line.balanced_accuracy),
    ):
        note = line.reason or "fitted and judged on the same votes"
        yield measured(definition, Estimate(value=value, count=line.clips, reason=note), conditions, metric=name)


def _tag(check: TagCheck, conditions: Conditions) -> Iterator[Measurement]:
    for tagged, share in (("yes", check.tagged), ("no", check.untagged)):
        yield from _share(
            d.TAG_METRIC_CHECK, share, conditions, tag=check.tag, metric=metric_text(check.metric), tagged=tagged
        )


def _share(definition: Definition, share: Share, conditions: Conditions, **settings: Setting) -> Iterator[Measurement]:
    """The estimate, its rater-clustered bounds and Wilson's."""
    yield from bounded(definition, share.estimate, conditions, interval="rater-clustered", **settings)
    independent = replace(share.estimate, interval=share.wilson)
    yield from bounded(definition, independent, conditions, interval="wilson", **settings)[1:]
