"""From `rushes believe` to a credential."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rushes.compare.agreement.credential import Agreed, Credential, RatedData, Seen
from rushes.compare.agreement.human_scores import MEANS
from rushes.compare.agreement.result import Believed, MetricAgreement
from rushes.compare.agreement.statistics import Level
from rushes.compare.agreement.tables import labels
from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.provenance import bytes_digest
from rushes.core.words.options import option
from rushes.stats.correlation import Statistic

_PAIRS: tuple[Level, Statistic] = ("within-prompt", "pairwise_accuracy")


def credential_of(
    found: MetricAgreement,
    metric: str = "",
    dimension: str = "",
    *,
    data: str = "",
    kind: str = "",
    seen: Seen = "unknown",
) -> Credential:
    """The credential of one metric on one question, whatever it is worth.

    `metric` and `dimension` may be left out where there is one; `data` is what the ratings are called, by default the
    name of their folder. Raises `InputError` where the choice is open or pairs within prompts have no interval.
    """
    one = _chosen(found, metric, dimension)
    pairs = _agreed(found, one, _PAIRS)
    if pairs is None:
        m = one.numbers.get(_PAIRS)
        why = "no prompt has two systems" if m is None else m.note or "there is no interval"
        raise InputError(
            f"no credential for {one.metric.definition.name} on {one.dimension}: pairs within prompts: {why}"
        )
    rated = found.rated[one.dimension]
    keys = sorted(key for key in rated if key in one.metric.per_clip)
    rows = [(*key, rater, rating) for key in keys for rater, rating in rated[key].items()]
    return Credential(
        question=one.dimension,
        metric=one.metric.definition.name,
        signature=one.metric.definition.signature,
        better=one.metric.definition.better,
        kind=kind,
        seen=seen,
        confidence=found.confidence,
        data=RatedData(
            name=data or Path(found.humans.source).resolve().parent.name or found.humans.source,
            digest=ratings_digest(rows),
            systems=tuple(sorted({system for system, _ in keys})),
            prompts=len({prompt for _, prompt in keys}),
            raters=len({rater for key in keys for rater in rated[key]} - {MEANS}),
            clips=len(keys),
        ),
        pairs_right=pairs,
        all_clips=_agreed(found, one, ("clip", "spearman")),
        within_system=_agreed(found, one, ("within-system", "spearman")),
        at=one.metric.at,
    )


def ratings_digest(rows: Iterable[tuple[str, str, str, float]]) -> str:
    """Of (system, prompt, rater, rating) in any order: which ratings a credential rests on."""
    return bytes_digest(canonical_json([list(row) for row in sorted(rows)]).encode())


def _chosen(found: MetricAgreement, metric: str, dimension: str) -> Believed:
    names = labels(found)
    if not dimension and len(found.humans.dimensions) > 1:
        raise InputError(
            f"a credential is about one question: {option('--dimension NAME')}, one of "
            f"{', '.join(found.humans.dimensions)}"
        )
    question = dimension or found.humans.dimensions[0]
    choices = [one for one in found.of(question) if one.metric.per_clip]
    called = [one for one in choices if metric in (names[one.metric.same], one.metric.definition.signature)]
    called = called or [one for one in choices if one.metric.definition.name == metric]
    if not metric and len(choices) == 1:
        called = choices
    if len(called) != 1:
        listed = ", ".join(names[one.metric.same] for one in (called or choices)[:12])
        what = (
            f"{metric!r} is {'several metrics' if called else 'none of the metrics'}" if metric else "name the metric"
        )
        raise InputError(
            f"a credential is about one metric: {what}; {option('--metric', 'metric')} takes one of {listed}"
        )
    return called[0]


def _agreed(found: MetricAgreement, one: Believed, key: tuple[Level, Statistic]) -> Agreed | None:
    m, person = one.numbers.get(key), found.ceilings.get((one.dimension, *key))
    if m is None or m.value is None or m.interval is None:
        return None
    top = None if person is None or person.value is None else float(person.value)
    return Agreed(value=float(m.value), low=m.interval.low, high=m.interval.high, one_person=top)
