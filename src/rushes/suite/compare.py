"""`rushes compare` in Python: two runs over the same clips, metric by metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core import Measurement, difference, parse_signature
from rushes.core.definition import describe_difference
from rushes.errors import InputError
from rushes.paired.definitions import BADGE_TRANSITIONS
from rushes.paired.statistics import PairedStatistics, paired_statistics
from rushes.runs import Run, read_run

BADGES = ("pass", "flagged", "reject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One clip's value in both runs; the difference is second − first."""

    subject: str
    first: Measurement
    second: Measurement
    difference: Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric over the clips in both runs."""

    statistics: PairedStatistics
    largest: tuple[Change, ...]
    """The clips that changed most, most first; of equals, in the first run's order. Unchanged clips are not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A metric whose two readings do not compare, and in what they differ."""

    name: str
    first: str
    second: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs, side by side."""

    first: Run
    second: Run
    paired: tuple[str, ...]
    only_first: tuple[str, ...]
    """Subjects without a partner in the second run."""
    only_second: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    refused: tuple[Refused, ...]
    unshared: tuple[str, ...]
    """Signatures of metrics that one run does not have at all."""
    transitions: tuple[Measurement, ...]
    """Nine counts, before pass, flagged, reject by after pass, flagged, reject; () when badges do not compare."""
    transitions_refused: str = ""

    def find(self, name: str) -> list[MetricComparison]:
        """The comparisons of this metric name or signature; `InputError` says why there is none."""
        found = [m for m in self.metrics if name in (m.statistics.metric.name, m.statistics.metric.signature)]
        if found:
            return found
        for refusal in self.refused:
            if name in (refusal.name, refusal.first, refusal.second):
                raise InputError(f"{name} was not compared: {refusal.why}")
        have = ", ".join(dict.fromkeys(m.statistics.metric.name for m in self.metrics))
        raise InputError(f"{name}: the two runs do not both have it; they share {have}")


def compare_runs(first: Path | str | Run, second: Path | str | Run, *, top: int = 5) -> Comparison:
    """Compare two runs clip by clip, subjects paired by id.

    Metrics pair by signature; one that both runs have under different signatures is refused by name, with what
    differs. `top` is how many of the most changed clips to keep per metric. Raises `InputError` when nothing can be
    compared.
    """
    a, b = (run if isinstance(run, Run) else read_run(run) for run in (first, second))
    ids_a, ids_b = ([subject.id for subject in run.subjects] for run in (a, b))
    there, here = set(ids_b), set(ids_a)
    paired = tuple(name for name in ids_a if name in there)
    if not paired:
        raise InputError(_nothing_shared(a, b))
    readings_a, readings_b = _readings(a, paired), _readings(b, paired)
    shared = [s for s, values in readings_a.items() if values.keys() & readings_b.get(s, {}).keys()]
    refused, unshared = _unmatched(*([s for s in readings if s not in shared] for readings in (readings_a, readings_b)))
    metrics = tuple(_compare(readings_a[signature], readings_b[signature], top) for signature in shared)
    transitions, why = _transitions(a, b, paired)
    if not metrics and not transitions:
        detail = refused[0].why if refused else "no metric is in both"
        raise InputError(f"{a.path} and {b.path} share {len(paired)} subjects but no number compares: {detail}")
    return Comparison(
        first=a,
        second=b,
        paired=paired,
        only_first=tuple(name for name in ids_a if name not in there),
        only_second=tuple(name for name in ids_b if name not in here),
        metrics=metrics,
        refused=refused,
        unshared=unshared,
        transitions=transitions,
        transitions_refused=why,
    )


def regression(comparison: Comparison, metric: str, amount: float) -> list[PairedStatistics]:
    """The readings of a metric whose mean got worse by more than `amount`; [] when the gate holds.

    Worse is down for a metric where higher is better, up where lower is. Raises `InputError` for a metric without a
    direction, one that was not compared, and one without a single clip that has both values.
    """
    broken = []
    for found in comparison.find(metric):
        statistics = found.statistics
        if statistics.metric.better == "neither":
            raise InputError(f"{metric}: neither direction is better, so there is no regression to guard against")
        if statistics.mean.value is None:
            raise InputError(f"{metric}: {statistics.mean.note}, so the gate cannot be checked")
        moved = float(statistics.mean.value)
        if (-moved if statistics.metric.better == "higher" else moved) > amount:
            broken.append(statistics)
    return broken


def _nothing_shared(a: Run, b: Run) -> str:
    shown = [f"{run.place} ({len(run.subjects)}, such as {_sample(run)})" for run in (a, b)]
    return f"no subject has the same id in both runs: {' and '.join(shown)}; name the clips alike"


def _sample(run: Run) -> str:
    return run.subjects[0].id if run.subjects else "none"


def _readings(run: Run, subjects: Iterable[str]) -> dict[str, dict[str, Measurement]]:
    """Measurements by signature and subject, signatures in order of first appearance."""
    found: dict[str, dict[str, Measurement]] = {}
    for name in subjects:
        for m in run.measurements.get(name, ()):
            found.setdefault(m.signature, {})[name] = m
    return found


def _unmatched(left_a: Sequence[str], left_b: Sequence[str]) -> tuple[tuple[Refused, ...], tuple[str, ...]]:
    """Readings without a partner: refused where the other run has the same metric read differently."""
    pairs: dict[tuple[str, str], None] = {}
    for signature in left_a:
        if (nearest := _nearest(signature, left_b)) is not None:
            pairs[signature, nearest] = None
    taken = {second for _, second in pairs}
    for signature in left_b:
        if signature not in taken and (nearest := _nearest(signature, left_a)) is not None:
            pairs[nearest, signature] = None
    refused = tuple(
        Refused(name=_name(one), first=one, second=other, why=describe_difference(one, other)) for one, other in pairs
    )
    named = {signature for pair in pairs for signature in pair}
    return refused, tuple(s for s in dict.fromkeys((*left_a, *left_b)) if s not in named)


def _nearest(signature: str, others: Sequence[str]) -> str | None:
    """The other reading of the same metric that differs in the fewest settings."""
    rivals = [s for s in others if _name(s) == _name(signature) and s != signature]
    return min(rivals, key=lambda s: len(set(s.split("|")) ^ set(signature.split("|"))), default=None)


def _name(signature: str) -> str:
    return parse_signature(signature)[0]


def _compare(a: dict[str, Measurement], b: dict[str, Measurement], top: int) -> MetricComparison:
    both = [(name, a[name], b[name]) for name in a if name in b]
    changes = [Change(subject=name, first=x, second=y, difference=difference(y, x)) for name, x, y in both]
    moved = [change for change in changes if change.difference.stored_value]
    moved.sort(key=lambda change: -abs(float(change.difference.value or 0)))
    return MetricComparison(statistics=paired_statistics([(x, y) for _, x, y in both]), largest=tuple(moved[:top]))


def _transitions(a: Run, b: Run, paired: Sequence[str]) -> tuple[tuple[Measurement, ...], str]:
    """How many clips went from each badge to each; or () and why badges do not compare."""
    badges = [{subject.id: subject.badge for subject in run.subjects} for run in (a, b)]
    moves = [(badges[0][name], badges[1][name]) for name in paired]
    judged = [move for move in moves if move[0] in BADGES and move[1] in BADGES]
    if not judged:
        return (), "no subject has a badge in both runs"
    asked, also = ({key: _setting(run, key) for key in ("tier", "profile", "profile_sha256")} for run in (a, b))
    for key in ("tier", "profile_sha256"):
        if asked[key] != also[key]:
            shown = "profile" if key == "profile_sha256" else key
            detail = "with other rules" if asked[shown] == also[shown] else "in the other"
            return (), f"badges: {shown} is {asked[shown]} in one and {also[shown]} {detail}; badges do not compare"
    profile = f"{asked['profile']}-{asked['profile_sha256'][:12]}"
    settled = BADGE_TRANSITIONS.with_params(profile=profile, tier=asked["tier"])
    return tuple(
        Measurement(
            definition=settled.with_params(before=before, after=after),
            value=judged.count((before, after)),
            count=len(judged),
        )
        for before in BADGES
        for after in BADGES
    ), ""


def _setting(run: Run, key: str) -> str:
    settings = run.info.get("settings")
    return str(settings.get(key, "none")) if isinstance(settings, dict) else "none"
