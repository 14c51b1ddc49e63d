"""`rushes compare` in Python: two runs over the same clips, metric by metric; several against the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, overload

from rushes.core import Measurement, difference
from rushes.core.definition import describe_difference
from rushes.core.measurement import At
from rushes.core.selection import differing_keys, label
from rushes.errors import InputError
from rushes.paired.statistics import PairedStatistics, paired_statistics
from rushes.runs import Run, Subject, read_run
from rushes.suite.compare_badges import BADGES as BADGES
from rushes.suite.compare_badges import badge_transitions
from rushes.suite.compare_refusals import nothing_shared, require_one_instrument
from rushes.suite.medium import differing_facts
from rushes.suite.pairing import pair_subjects
from rushes.suite.same_truth import called_alike
from rushes.suite.set_distances import DistanceChange, are_distances, distance_changes

if TYPE_CHECKING:
    from rushes.suite.compare_many import RunsComparison

_Key: TypeAlias = tuple[str, At]
"""Numbers of two runs pair when they were measured alike (signature) and are about the same thing (`at`)."""
_Readings: TypeAlias = Mapping[_Key, Mapping[str, Measurement]]
"""By key and subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One clip's value in both runs; the difference is second − first."""

    subject: str
    first: Measurement
    second: Measurement
    difference: Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A clip that a metric cannot be compared on, and which facts of the two files differ."""

    subject: str
    why: str
    """ "frame size 640×360 in A, 320×180 in B"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric over the clips in both runs, about one thing where it has places (one joint, one system)."""

    reading: Measurement
    """One of its numbers in the first run: which reading of the metric this is, and what it is about."""
    statistics: PairedStatistics
    largest: tuple[Change, ...]
    """The clips that changed most, most first; of equals, in the first run's order. Unchanged clips are not listed."""
    unlike: tuple[Unlike, ...] = ()
    """Clips with both values that the statistics leave out, because facts that the metric depends on differ."""
    changes: tuple[Change, ...] = ()
    """Every clip that the statistics rest on, in the first run's order; unchanged ones and missing values too."""

    @property
    def why_unlike(self) -> str:
        """What differs, in words: the commonest difference first, and on how many clips."""
        return _why_unlike(self.unlike)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A metric whose two readings do not compare, and in what they differ."""

    name: str
    first: str
    second: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs, side by side."""

    first: Run
    second: Run
    paired: tuple[str, ...]
    only_first: tuple[str, ...]
    """Subjects without a partner in the second run."""
    only_second: tuple[str, ...]
    doubtful: tuple[str, ...]
    """Ids that both runs have for clips that, by their paths, are two different ones; not compared."""
    metrics: tuple[MetricComparison, ...]
    refused: tuple[Refused, ...]
    unshared: tuple[str, ...]
    """Metrics that one run does not have at all: signatures, with what they are about."""
    transitions: tuple[Measurement, ...]
    """Nine counts, before pass, flagged, reject by after pass, flagged, reject; () when badges do not compare."""
    transitions_refused: str = ""
    distances: tuple[DistanceChange, ...] = ()
    """Two runs of distances between sets: both values of each. `metrics` then serves gates alone."""

    def find(self, name: str, **at: str) -> list[MetricComparison]:
        """The comparisons of this metric name or signature, about this: `find("pck", joint="left_wrist")`.

        Raises `InputError`, saying why, where there is none.
        """
        named = [m for m in self.metrics if name in (m.reading.name, m.reading.signature)]
        if found := [m for m in named if at.items() <= m.reading.place.items()]:
            return found
        if named:
            raise InputError(f"{name} was compared, but not at {at}")
        for refusal in self.refused:
            if name in (refusal.name, refusal.first, refusal.second):
                raise InputError(f"{name} was not compared: {refusal.why}")
        have = ", ".join(dict.fromkeys(m.reading.name for m in self.metrics))
        raise InputError(f"{name}: the two runs do not both have it; they share {have}")


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
    readings_a, readings_b = _readings(a, paired), _readings(b, paired)
    shared = [key for key, values in readings_a.items() if values.keys() & readings_b.get(key, {}).keys()]
    refused, unshared = _unmatched(readings_a, readings_b, set(shared))
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


def regression(comparison: RunComparison, metric: str, amount: float) -> list[PairedStatistics]:
    """The readings of a metric whose mean got worse by more than `amount`; [] when the gate holds.

    Worse is down for a metric where higher is better, up where lower is: the gate is the asker's own rule, so a metric
    whose changes are no verdict can have one. Raises `InputError` for a metric without a direction, one that was not
    compared, one without a single clip that has both values, and one that is not comparable on a clip.
    """
    broken = []
    for found in comparison.find(metric):
        statistics = found.statistics
        if statistics.metric.better == "neither":
            raise InputError(f"{metric}: neither direction is better, so there is no regression to guard against")
        if found.unlike:
            n, total = len(found.unlike), len(found.unlike) + statistics.mean.count
            what = f"{n} of {total} clips {'is' if n == 1 else 'are'} not comparable ({found.why_unlike})"
            raise InputError(f"{metric}: {what}, so the gate cannot be checked")
        if statistics.mean.value is None:
            raise InputError(f"{metric}: {statistics.mean.note}, so the gate cannot be checked")
        moved = float(statistics.mean.value)
        if (-moved if statistics.metric.better == "higher" else moved) > amount:
            broken.append(statistics)
    return broken


def _readings(run: Run, subjects: Iterable[str]) -> _Readings:
    """Keys in order of first appearance."""
    found: dict[_Key, dict[str, Measurement]] = {}
    for name in subjects:
        for m in run.measurements.get(name, ()):
            found.setdefault((m.signature, m.at), {})[name] = m
    return found


def _unmatched(a: _Readings, b: _Readings, shared: set[_Key]) -> tuple[tuple[Refused, ...], tuple[str, ...]]:
    """Readings without a partner: refused where the other run has the same metric read differently."""
    left = [next(iter(values.values())) for side in (a, b) for key, values in side.items() if key not in shared]
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


def _alone(ours: _Readings, theirs: _Readings) -> list[Measurement]:
    """One number of each signature that the other run does not have."""
    known = {signature for signature, _ in theirs}
    found = {key[0]: next(iter(values.values())) for key, values in ours.items() if key[0] not in known}
    return list(found.values())


def _nearest(measurement: Measurement, others: Iterable[Measurement]) -> Measurement | None:
    """The other reading of the same metric that differs in the fewest settings."""
    rivals = [m for m in others if m.name == measurement.name]
    return min(rivals, key=lambda m: len(differing_keys((m, measurement))), default=None)


def about(measurement: Measurement) -> str:
    """How a number was measured and what it is about: "pck|k:20|v:1 (joint left_wrist)"."""
    place = label(measurement, measurement.place)
    return measurement.signature + (f" ({place})" if place else "")


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
            list(alike.values()), unlike=[both[clip.subject] for clip in unlike], why_unlike=_why_unlike(unlike)
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


def _why_unlike(unlike: Sequence[Unlike]) -> str:
    kinds = Counter(clip.why for clip in unlike).most_common()
    if len(kinds) < 2:
        return "".join(why for why, _ in kinds)
    why, count = kinds[0]
    return f"{why} on {count} of them, other differences on the rest"
