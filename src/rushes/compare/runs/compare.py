"""Two runs over the same clips, metric by metric, and what may be said of each after Holm's rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rushes.compare.comparison import (
    Outcome,
    Refused,
    WhyNot,
    change_outcome,
    column_statistics,
    holm_tests,
    spread_difference,
)
from rushes.compare.definitions.agreement import require_same_definitions
from rushes.compare.readings.alike_columns import whatever_input
from rushes.compare.readings.clip_pairing import Pairing, called_alike, pair_subjects
from rushes.compare.readings.file_facts import FILE_FACTS
from rushes.compare.readings.media_facts import MediaPairs
from rushes.compare.readings.sampled_runs import Declared, sample_means
from rushes.compare.runs.changes import Changes, UnlikeClips
from rushes.compare.runs.chosen import Only, chosen_readings
from rushes.compare.runs.results import MetricComparison, RunComparison, badge_transitions, why_unlike
from rushes.compare.runs.set_distances import are_distances, distance_changes
from rushes.compare.runs.signals import signal_change
from rushes.core import Measurement
from rushes.core.definition import describe_difference
from rushes.core.errors import InputError
from rushes.core.reading import Same
from rushes.core.selection import differing_keys, label, reading_names
from rushes.instruments.clip.input_param import alike_form
from rushes.stats.means import deviation
from rushes.stats.rounding import stored_floats
from rushes.stats.sign_flip import fewest_prompts
from rushes.storage.columns import ReadingColumn, reading_columns, with_subjects
from rushes.storage.runs import Run, read_run

SURE = 0.05
"""What a probability is at the most, after Holm's rule, where a change is called one."""


def compare_two(
    first: Path | str | Run,
    second: Path | str | Run,
    *,
    top: int = 5,
    letters: tuple[str, str] = ("A", "B"),
    prompts: Declared = None,
    only: Only = (),
) -> RunComparison:
    """`compare_runs` of two; `letters` are what the runs are called."""
    a, b = (run if isinstance(run, Run) else read_run(run) for run in (first, second))
    require_one_instrument((a, b))
    require_same_definitions((a, b))
    (a, b), remarks = sample_means((a, b), prompts)
    a, b = with_subjects(a), called_alike(a, with_subjects(b))
    pairing = pair_subjects(a, b)
    paired = pairing.paired
    distances = distance_changes(a, b) if are_distances(a, b) else ()
    if not paired:
        raise InputError(_nothing_shared(a, b, pairing))
    sides = [{one.same: one for one in reading_columns(run, paired)} for run in (a, b)]
    readings_a, readings_b = chosen_readings((a, b), sides, only)
    left_out = sides[0].keys() - readings_a.keys()
    distances = tuple(change for change in distances if (change.first.signature, change.first.at) not in left_out)
    shared = [key for key, one in readings_a.items() if key in readings_b and (one.there & readings_b[key].there).any()]
    refused, unshared = unmatched(readings_a, readings_b, set(shared))
    media = MediaPairs(list(zip(pairing.first, pairing.second, strict=True)))
    apart = {change.first.signature: change for change in distances if change.why}
    # The same constants, but another ground truth.
    refused += tuple(
        Refused(name=change.first.name, first=signature, second=change.second.signature, why=change.why)
        for signature, change in apart.items()
        if signature in {key[0] for key in shared}
    )
    shared = [key for key in shared if key[0] not in apart]
    every = [_compare(readings_a[key], readings_b[key], media, top, letters) for key in shared]
    every = _one_form_each(every)
    # Called as they are beside all that both runs have.
    others = [one.sample for key, one in sides[0].items() if key in sides[1] and key in left_out]
    names = reading_names([*(metric.reading for metric in every), *others])
    every = [replace(metric, name=name) for metric, name in zip(every, names, strict=False)]
    metrics = judged([one for one in every if one.reading.name not in FILE_FACTS])
    facts = [replace(one, why=WhyNot.NOT_TESTED) for one in every if one.reading.name in FILE_FACTS]
    transitions, why = badge_transitions(a, b, pairing)
    if not every and not transitions and not distances:
        detail = refused[0].why if refused else "no metric is in both"
        raise InputError(f"{a.path} and {b.path} share {len(paired)} clips, but no values can be compared: {detail}")
    return RunComparison(
        first=a,
        second=b,
        paired=paired,
        only_first=pairing.only_first,
        only_second=pairing.only_second,
        doubtful=pairing.doubtful,
        metrics=tuple(metrics),
        facts=tuple(facts),
        signals=signal_change(a, b, pairing) if transitions else None,
        refused=refused,
        unshared=unshared,
        transitions=transitions,
        transitions_refused=why,
        distances=distances,
        columns=tuple(readings_a.values()),
        remarks=remarks,
    )


def require_one_instrument(runs: Sequence[Run]) -> None:
    """Raise `InputError` where two runs are of different instruments."""
    first = runs[0]
    for run in runs[1:]:
        if run.instrument != first.instrument:
            raise InputError(
                f"{first.place} is a run of {first.instrument} and {run.place} one of {run.instrument}; "
                "runs of one instrument can be compared; for several, use rushes board"
            )


def _nothing_shared(a: Run, b: Run, pairing: Pairing) -> str:
    """Why no clip of one run goes with one of the other, in one line."""
    if pairing.doubtful:
        name = pairing.doubtful[0]
        one, other = (next(s.path for s in run.subjects if s.id == name) for run in (a, b))
        return (
            f"{a.place} and {b.place}: {name} is {one} in one and {other} in the other, which are two different clips"
        )
    samples = [(run, run.subjects[0].id if run.subjects else "none") for run in (a, b)]
    shown = [f"{run.place} ({len(run.subjects)}, such as {sample})" for run, sample in samples]
    return f"no subject has the same id in both runs: {' and '.join(shown)}; give matching clips the same name"


def _compare(
    a: ReadingColumn, b: ReadingColumn, media: MediaPairs, top: int, letters: tuple[str, str]
) -> MetricComparison:
    """One reading, before it is named and judged beside the others."""
    both = a.there & b.there
    differences, codes = media.differences(a.definition)
    apart = a.valued & b.valued & np.array([bool(one) for one in differences], dtype=bool)[codes]
    places = np.flatnonzero(apart)
    unlike = UnlikeClips([a.subjects[place] for place in places.tolist()], codes[places].tolist(), differences)
    alike = both & ~apart
    changes = Changes(a, b, media.places if alike.all() else np.flatnonzero(alike))
    statistics = column_statistics(
        a.definition,
        a.at,
        changes.first,
        changes.second,
        flags=changes.is_flag,
        unlike=len(unlike),
        why_unlike=why_unlike(unlike, letters),
    )
    return MetricComparison(
        reading=a.number(int(np.argmax(both))),
        name="",
        first=letters[0],
        second=letters[1],
        difference=statistics.mean,
        p=statistics.p,
        adjusted_p=statistics.p,
        outcome=Outcome.CANNOT_TELL,
        statistics=statistics,
        spread=spread_difference(statistics, changes.values),
        top=top,
        unlike=unlike,
        changes=changes,
        most=changes.most(top),
    )


def _one_form_each(metrics: Sequence[MetricComparison]) -> list[MetricComparison]:
    """Of a metric of clips as they are and of their common form, the one that compares more clips; the first of equals.

    The same metric then counts once among the tests, as on a board.
    """
    best: dict[object, MetricComparison] = {}
    for one in metrics:
        key = (whatever_input(one.reading.definition), one.reading.at)
        if key not in best or len(one.changes) > len(best[key].changes):
            best[key] = one
    kept = {id(one) for one in best.values()}
    return [one for one in metrics if id(one) in kept or not _has_form(one, metrics)]


def _has_form(one: MetricComparison, metrics: Sequence[MetricComparison]) -> bool:
    """Whether the metric was measured in a common form, here or in another of these comparisons."""
    topic = whatever_input(one.reading.definition)
    return any(
        alike_form(other.reading.definition) is not None and whatever_input(other.reading.definition) == topic
        for other in metrics
    )


def judged(metrics: Sequence[MetricComparison]) -> list[MetricComparison]:
    """The comparisons with what each says among all of them: Holm's rule over those on which a clip changed."""
    adjusted = holm_tests([metric.statistics for metric in metrics])
    return [
        replace(metric, adjusted_p=p, outcome=outcome, why=why)
        for metric, p in zip(metrics, adjusted, strict=True)
        for outcome, why in (_outcome(metric, p),)
    ]


def _outcome(m: MetricComparison, adjusted: Measurement) -> tuple[Outcome, WhyNot | None]:
    """Where every clip changed by the same, there is no spread to draw an interval from, and p decides."""
    s = m.statistics
    if s.mean.value is None:
        return Outcome.NOT_COMPARABLE, WhyNot.MEDIA_DIFFER if m.unlike else WhyNot.NOTHING_SHARED
    if not (s.rose.value or s.fell.value):
        return Outcome.SAME, None
    together, alone = (change_outcome(s.metric, s.mean, float(p.value or 0), alpha=SURE) for p in (adjusted, m.p))
    if together[0] is not Outcome.CANNOT_TELL:
        return together
    if alone[0].is_change:
        return Outcome.CANNOT_TELL, WhyNot.AMONG_MANY
    return Outcome.CANNOT_TELL, WhyNot.TOO_FEW if m.p.count < fewest_prompts(1, SURE) else together[1]


def change_in_spreads(metric: MetricComparison) -> dict[str, float]:
    """By clip, its change in units of the metric's spread; clips that did not change are left out."""
    changes = metric.changes
    unit = deviation(changes.values)
    if not unit:
        return {}
    sizes = stored_floats(changes.second - changes.first)
    moved = np.flatnonzero(np.nan_to_num(sizes)).tolist()
    names = changes.subjects
    return {names[place]: float(sizes[place]) / unit for place in moved}


def unmatched(
    a: Mapping[Same, ReadingColumn], b: Mapping[Same, ReadingColumn], shared: set[Same]
) -> tuple[tuple[Refused, ...], tuple[str, ...]]:
    """Readings without a partner: refused where the other run has the same metric read differently."""
    left = [reading.sample for side in (a, b) for key, reading in side.items() if key not in shared]
    alone_a, alone_b = _alone(a, b), _alone(b, a)
    pairs = dict.fromkeys((m.signature, rival.signature) for m in alone_a if (rival := _nearest(m, alone_b)))
    taken = {second for _, second in pairs}
    others = [m for m in alone_b if m.signature not in taken]
    pairs |= dict.fromkeys((rival.signature, m.signature) for m in others if (rival := _nearest(m, alone_a)))
    names = {m.signature: m.name for m in left}
    refused = tuple(
        Refused(name=names[one], first=one, second=other, why=describe_difference(one, other)) for one, other in pairs
    )
    named = {signature for pair in pairs for signature in pair}
    return refused, tuple(dict.fromkeys(about(m) for m in left if m.signature not in named))


def _alone(ours: Mapping[Same, ReadingColumn], theirs: Mapping[Same, ReadingColumn]) -> list[Measurement]:
    """One number of each signature that the other run does not have."""
    known = {signature for signature, _ in theirs}
    found = {key[0]: reading.sample for key, reading in ours.items() if key[0] not in known}
    return list(found.values())


def _nearest(measurement: Measurement, others: Iterable[Measurement]) -> Measurement | None:
    """The other reading of the same metric that differs in the fewest settings."""
    rivals = [m for m in others if m.name == measurement.name]
    return min(rivals, key=lambda m: len(differing_keys((m, measurement))), default=None)


def about(measurement: Measurement) -> str:
    """How a number was measured and what it is about: "pck|k:20|v:1 (joint left_wrist)"."""
    place = label(measurement, measurement.place)
    return measurement.signature + (f" ({place})" if place else "")
