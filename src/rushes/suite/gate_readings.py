"""What a gate looks at: each reading of the baseline, its values in the candidate, and its values in the repeats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.core.selection import differing_keys, label
from rushes.runs import Run
from rushes.suite.compare_results import MetricComparison, RunComparison

Key: TypeAlias = tuple[str, At]
_Index: TypeAlias = Mapping[Key, Mapping[str, Measurement]]
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPair:
    """One clip's value in the baseline and in the candidate."""

    clip: str
    baseline: Measurement
    candidate: Measurement

    @property
    def change(self) -> float:
        """Candidate − baseline, of the values as files have them."""
        return round(_number(self.candidate) - _number(self.baseline), 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReading:
    """One number of the baseline, clip by clip, beside the candidate's and those of the repeats."""

    label: str
    sample: Measurement
    """One of its values: which reading this is, and what it is about."""
    pairs: tuple[ClipPair, ...]
    """Clips with a value in both that compare."""
    unchecked: str
    """Which clips of the baseline were not checked, and why; "" where all were."""
    repeats: tuple[tuple[float, ...], ...]
    """One row per clip: its value in the baseline and in each repeat that has the reading; () where none has."""
    why_not: str = ""
    """Why the candidate has no such number to compare; "" where it has."""

    @property
    def definition(self) -> Definition:
        return self.sample.definition

    @property
    def is_part(self) -> bool:
        """About a part (PCK of one joint) of what its definition is about."""
        return bool(set(self.sample.place) - set(self.definition.places))

    @property
    def runs(self) -> int:
        """Runs of the baseline that its noise rests on."""
        return len(self.repeats[0]) if self.repeats else 1

    @property
    def is_flag(self) -> bool:
        return all(isinstance(m.value, bool) for pair in self.pairs for m in (pair.baseline, pair.candidate))


def gate_readings(found: RunComparison, repeats: Sequence[RunComparison]) -> list[GateReading]:
    """Every reading of the baseline that has a value, in its order; `repeats` are the baseline against its repeats."""
    clips = [*found.paired, *found.only_first, *found.doubtful]
    ours, theirs = _index(found.first, clips), _index(found.second, found.paired)
    compared = {_key(m.reading): m for m in found.metrics}
    others = [(_index(r.second, r.paired), {_key(m.reading): m for m in r.metrics}) for r in repeats]
    whole = {key: values for key, values in ours.items() if any(m.value is not None for m in values.values())}
    labels = reading_labels([next(iter(values.values())) for values in whole.values()])
    return [
        GateReading(
            label=name,
            sample=next(m for m in values.values() if m.value is not None),
            pairs=tuple(_pairs(values, theirs.get(key, {}), compared[key])) if key in compared else (),
            unchecked=_unchecked(values, theirs.get(key, {}), compared.get(key)),
            repeats=_rows(values, [(index[key], m[key]) for index, m in others if key in m]),
            why_not="" if key in compared else _why_not(found, key[0]),
        )
        for name, (key, values) in zip(labels, whole.items(), strict=True)
    ]


def reading_labels(samples: Sequence[Measurement]) -> list[str]:
    """What to call each: its name, with what tells it from its namesakes: "pck (joint left_wrist, k 20)"."""
    namesakes: dict[str, list[Measurement]] = {}
    for m in samples:
        namesakes.setdefault(m.name, []).append(m)
    keys = {name: differing_keys(found) for name, found in namesakes.items()}
    return [f"{m.name} ({words})" if (words := label(m, keys[m.name])) else m.name for m in samples]


def _key(m: Measurement) -> Key:
    return m.signature, m.at


def _index(run: Run, clips: Iterable[str]) -> _Index:
    found: dict[Key, dict[str, Measurement]] = {}
    for clip in clips:
        for m in run.measurements.get(clip, ()):
            found.setdefault(_key(m), {})[clip] = m
    return found


def _number(m: Measurement) -> float:
    assert m.stored_value is not None
    return float(m.stored_value)


def _pairs(
    ours: Mapping[str, Measurement], theirs: Mapping[str, Measurement], compared: MetricComparison
) -> Iterable[ClipPair]:
    apart = {clip.subject for clip in compared.unlike}
    for clip, m in ours.items():
        other = theirs.get(clip)
        if clip not in apart and m.value is not None and other is not None and other.value is not None:
            yield ClipPair(clip=clip, baseline=m, candidate=other)


def _unchecked(
    ours: Mapping[str, Measurement], theirs: Mapping[str, Measurement], compared: MetricComparison | None
) -> str:
    """A clip that the candidate has no value for may be the one that broke: it is never left out in silence."""
    had = [clip for clip, m in ours.items() if m.value is not None]
    lost = [clip for clip in had if clip not in theirs or theirs[clip].value is None]
    parts = []
    if lost and compared is not None:
        notes = [theirs[clip].note for clip in lost if clip in theirs]
        reason = f"; the first: {notes[0]}" if notes else ""
        parts.append(f"{_many(lost, had)} without a value in the candidate ({_names(lost)}{reason})")
    if compared is not None and compared.unlike:
        unlike = [clip.subject for clip in compared.unlike]
        parts.append(f"{_many(unlike, had)} not comparable ({_in_words(compared.why_unlike)})")
    return "; ".join(parts)


def _in_words(why: str) -> str:
    """A comparison's letters as a gate calls them."""
    return re.sub(r" in B\b", " in the candidate", re.sub(r" in A\b", " in the baseline", why))


def _many(some: Sequence[str], of: Sequence[str]) -> str:
    return f"{len(some)} of {len(of)} clips {'is' if len(some) == 1 else 'are'}"


def _names(clips: Sequence[str]) -> str:
    return ", ".join(clips[:_SHOWN]) + (", …" if len(clips) > _SHOWN else "")


def _rows(
    ours: Mapping[str, Measurement], others: Sequence[tuple[Mapping[str, Measurement], MetricComparison]]
) -> tuple[tuple[float, ...], ...]:
    """Clips that have a comparable value in the baseline and in every repeat that has the reading."""
    if not others:
        return ()
    rows = []
    for clip, m in ours.items():
        values = [m, *(theirs.get(clip) for theirs, _ in others)]
        apart = any(clip == unlike.subject for _, compared in others for unlike in compared.unlike)
        numbers = [_number(v) for v in values if v is not None and v.value is not None]
        if not apart and len(numbers) == len(values):
            rows.append(tuple(numbers))
    return tuple(rows)


def _why_not(found: RunComparison, signature: str) -> str:
    for refusal in found.refused:
        if signature in (refusal.first, refusal.second):
            return refusal.why
    return "the candidate has no such number"
