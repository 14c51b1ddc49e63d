"""`rushes compare` in Python: two runs over the same clips, metric by metric; several against the first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, overload

from rushes.core import Measurement, difference
from rushes.errors import InputError
from rushes.paired.statistics import paired_statistics
from rushes.runs import Run, Subject, read_run
from rushes.suite.compare_badges import badge_transitions
from rushes.suite.compare_readings import readings_of, unmatched
from rushes.suite.compare_refusals import nothing_shared, require_one_instrument
from rushes.suite.compare_results import Change, MetricComparison, Refused, RunComparison, Unlike, why_unlike
from rushes.suite.medium import differing_facts
from rushes.suite.pairing import pair_subjects
from rushes.suite.same_truth import called_alike
from rushes.suite.set_distances import DistanceChange, are_distances, distance_changes

if TYPE_CHECKING:
    from rushes.suite.compare_many import RunsComparison


@overload
def compare_runs(first: Path | str | Run, second: Path | str | Run, *, top: int = 5) -> RunComparison: ...
@overload
def compare_runs(
    first: Path | str | Run, second: Path | str | Run, third: Path | str | Run, /, *more: Path | str | Run, top: int = 5
) -> RunsComparison: ...


def compare_runs(
    first: Path | str | Run, second: Path | str | Run, *more: Path | str | Run, top: int = 5
) -> RunComparison | RunsComparison:
    """Compare runs clip by clip, subjects paired by id, which comes from the path of a clip.

    Numbers pair by signature and by what they are about; a metric that both runs have under different signatures is
    refused by name, with what differs. A clip whose two files differ in a fact that a metric depends on (frame size,
    rate …) is left out of that metric's statistics, and named in its `unlike`. `top` is how many of the most changed
    clips to keep per metric. Three runs or more give a `RunsComparison`: every one against the first, judged together.
    Raises `InputError` when nothing can be compared.
    """
    if more:
        from rushes.suite.compare_many import compare_all  # which compares two by two, and so needs this module

        return compare_all((first, second, *more), top=top)
    return compare_two(first, second, top=top)


def compare_two(first: Path | str | Run, second: Path | str | Run, *, top: int = 5) -> RunComparison:
    """`compare_runs` of two."""
    a, b = (run if isinstance(run, Run) else read_run(run) for run in (first, second))
    require_one_instrument((a, b))
    b = called_alike(a, b)
    pairing = pair_subjects(a, b)
    paired = pairing.paired
    distances = distance_changes(a, b) if are_distances(a, b) else ()
    if not paired:
        raise InputError(nothing_shared(a, b, pairing))
    readings_a, readings_b = readings_of(a, paired), readings_of(b, paired)
    shared = [key for key, values in readings_a.items() if values.keys() & readings_b.get(key, {}).keys()]
    refused, unshared = unmatched(readings_a, readings_b, set(shared))
    subjects_a, subjects_b = ({subject.id: subject for subject in run.subjects} for run in (a, b))
    media = {name: (subjects_a[name], subjects_b[name]) for name in paired}
    apart = {change.first.signature: change for change in distances if change.why}
    if distances:  # the same constants, but another ground truth
        refused += tuple(
            _refused(change) for change in apart.values() if change.first.signature in {k[0] for k in shared}
        )
        shared = [key for key in shared if key[0] not in apart]
    metrics = tuple(_compare(readings_a[key], readings_b[key], media, top) for key in shared)
    transitions, why = badge_transitions(a, b, paired)
    if not metrics and not transitions and not distances:
        detail = refused[0].why if refused else "no metric is in both"
        raise InputError(f"{a.path} and {b.path} share {len(paired)} subjects but no number compares: {detail}")
    return RunComparison(
        first=a,
        second=b,
        paired=paired,
        only_first=pairing.only_first,
        only_second=pairing.only_second,
        doubtful=pairing.doubtful,
        metrics=metrics,
        refused=refused,
        unshared=unshared,
        transitions=transitions,
        transitions_refused=why,
        distances=distances,
    )


def _refused(change: DistanceChange) -> Refused:
    return Refused(name=change.first.name, first=change.first.signature, second=change.second.signature, why=change.why)


def _compare(
    a: Mapping[str, Measurement],
    b: Mapping[str, Measurement],
    media: Mapping[str, tuple[Subject, Subject]],
    top: int,
) -> MetricComparison:
    both = {name: (a[name], b[name]) for name in a if name in b}
    unlike = _unlike(both, media)
    apart = {clip.subject for clip in unlike}
    alike = {name: pair for name, pair in both.items() if name not in apart}
    changes = [Change(subject=name, first=x, second=y, difference=difference(y, x)) for name, (x, y) in alike.items()]
    moved = [change for change in changes if change.difference.stored_value]
    moved.sort(key=lambda change: -abs(float(change.difference.value or 0)))
    return MetricComparison(
        reading=next(iter(both.values()))[0],
        statistics=paired_statistics(
            list(alike.values()), unlike=[both[clip.subject] for clip in unlike], why_unlike=why_unlike(unlike)
        ),
        largest=tuple(moved[:top]),
        unlike=unlike,
        changes=tuple(changes),
    )


def _unlike(
    both: Mapping[str, tuple[Measurement, Measurement]], media: Mapping[str, tuple[Subject, Subject]]
) -> tuple[Unlike, ...]:
    """The clips that have both values, of media that differ in what the metric depends on."""
    found = []
    for name, (x, y) in both.items():
        if x.value is None or y.value is None:
            continue
        if why := differing_facts(x.definition, *media[name]):
            found.append(Unlike(subject=name, why=why))
    return tuple(found)
