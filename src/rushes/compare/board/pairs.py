"""Every two systems on a reading that has one value per prompt: which prompts compare, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.compare.board.model import BoardData, Contrast, Reading
from rushes.compare.comparison import WhyNot
from rushes.compare.definitions.comparisons import MEAN_DIFFERENCE, SIGN_FLIP, of
from rushes.compare.readings.media_facts import differing_facts, medium_fact
from rushes.compare.runs.results import commonest
from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.stats.intervals import LEVEL, Floats
from rushes.stats.means import mean_change
from rushes.stats.sign_flip import sign_flip_p
from rushes.storage.runs import Subject

Why: TypeAlias = NDArray[np.object_]
"""By prompt: why the two clips do not compare, "" where they do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPair:
    """What a contrast is made from."""

    first: str
    second: str
    differences: Floats
    """Second − first as stored, by prompt; NaN where a prompt is left out."""
    note: str = ""
    """Which prompts were left out, and why; required where all were."""
    why: WhyNot | None = None
    """Why none is left, where none is."""


def paired_contrasts(
    reading: Reading, pairs: Sequence[SystemPair], *, binary: bool = False, level: float = LEVEL
) -> list[Contrast]:
    """Every pair's mean difference with its interval, its p and its counts.

    Formula     see the definitions: `rushes metrics paired_mean_difference`, `rushes metrics sign_flip_p`
    Inputs      `binary`: whether the reading is true or false
    Edge cases  no prompt left: no value, the note says why. A difference of 0 in 8 decimals is a tie
    """
    if not pairs:
        return []
    differences = [np.round(pair.differences, 8) for pair in pairs]
    p_values = sign_flip_p(np.nan_to_num(np.stack(differences)))
    mean, test = of(MEAN_DIFFERENCE, reading.definition, systems=True), of(SIGN_FLIP, reading.definition)
    return [
        _contrast(reading, mean, test, pair, found[~np.isnan(found)], float(p), binary, level)
        for pair, found, p in zip(pairs, differences, p_values, strict=True)
    ]


def place(reading: Reading, first: str, second: str) -> dict[str, str]:
    """What a contrast is about: the two systems, the metric's name, and what the metric itself is about."""
    return {"metric": reading.name} | dict(reading.at) | {"first": first, "second": second}


def _contrast(
    reading: Reading,
    mean: Definition,
    test: Definition,
    pair: SystemPair,
    kept: Floats,
    p: float,
    binary: bool,
    level: float,
) -> Contrast:
    at, names = place(reading, pair.first, pair.second), (pair.first, pair.second)
    n, higher, lower = len(kept), int(np.sum(kept > 0)), int(np.sum(kept < 0))
    if n == 0:
        missing, no_p = (Measurement.missing(number, pair.note, at=at) for number in (mean, test))
        return Contrast.draft(reading, names, missing, no_p, why=pair.why)
    found, changed = mean_change(kept.tolist(), flags=binary, level=level), higher + lower
    note = "; ".join(filter(None, (pair.note, found.lacking)))
    difference = Measurement.of(mean, found, at=at, note=note)
    chance = Measurement(definition=test, value=p, count=changed, note="" if changed else "no prompt differs", at=at)
    return Contrast.draft(reading, names, difference, chance, higher=higher, equal=n - changed, lower=lower)


class PromptPairs:
    """The board's prompts and clips, read once; then contrasts reading by reading."""

    def __init__(self, data: BoardData) -> None:
        self._data = data
        self._media = _Media(data)
        listed = [prompt.id for prompt in data.prompts]
        valued = [prompt for values in data.values.values() for prompt in values]
        self._prompts = tuple(dict.fromkeys([*listed, *valued]))

    def contrasts(self, reading: Reading, level: float) -> list[Contrast]:
        """Every pair of systems, in the board's order."""
        names = self._data.names
        rows, has, binary = self._table(reading)
        pairs = [
            self._pair(reading.definition, (names[i], names[j]), (rows[i], rows[j]), (has[i], has[j]))
            for i, j in combinations(range(len(names)), 2)
        ]
        return paired_contrasts(reading, pairs, binary=binary, level=level)

    def _table(self, reading: Reading) -> tuple[Floats, NDArray[np.bool_], bool]:
        """Values by system and prompt, NaN where there is none; which prompts a system answered; true/false or not."""
        data, place = self._data, {prompt: at for at, prompt in enumerate(self._prompts)}
        table = np.full((len(data.names), len(place)), np.nan)
        answered = np.zeros(table.shape, dtype=bool)
        flags = []
        for row, name in enumerate(data.names):
            for prompt, m in data.values.get((name, reading.key), {}).items():
                require_same_signature((reading.definition, m.definition))
                answered[row, place[prompt]] = True
                if (value := m.stored_value) is not None:
                    table[row, place[prompt]] = float(value)
                    flags.append(isinstance(value, bool))
        return table, answered, bool(flags) and all(flags)

    def _pair(
        self,
        metric: Definition,
        names: tuple[str, str],
        values: tuple[Floats, Floats],
        answered: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    ) -> SystemPair:
        differences = values[1] - values[0]
        whole, asked = ~np.isnan(differences), answered[0] | answered[1]
        why = self._media.differing(metric, names, self._prompts)
        apart = whole & (why != "")
        differences[apart] = np.nan
        note = _left_out(
            total=int(np.sum(asked)),
            lacking=int(np.sum(asked & ~whole)),
            why=[str(text) for text in why[apart]],
            kept=int(np.sum(whole & ~apart)),
        )
        reason = WhyNot.MEDIA_DIFFER if apart.any() else WhyNot.NOTHING_SHARED
        return SystemPair(first=names[0], second=names[1], differences=differences, note=note, why=reason)


def _left_out(*, total: int, lacking: int, why: Sequence[str], kept: int) -> str:
    """Which prompts a contrast does not rest on; "" where it rests on all."""
    prompts = "1 prompt" if total == 1 else f"{total} prompts"
    if not total:
        return "neither system has a value"
    if not kept and not why:
        return f"no prompt of {total} has a value in both systems"
    parts = [
        f"{lacking} of {prompts} without a value in one of the systems" if lacking else "",
        f"{len(why)} of {prompts} not comparable: {commonest(why)}" if why else "",
    ]
    return "; ".join(part for part in parts if part)


class _Media:
    """Facts of the clips; clips with the same facts are looked at once."""

    def __init__(self, data: BoardData) -> None:
        self._subjects = {
            place: Subject(id=clip.subject, kind="clip", path=clip.path, sha256=None, facts=clip.facts)
            for place, clip in data.clips.items()
        }
        self._codes: dict[tuple[tuple[str, ...], str], NDArray[np.int64]] = {}
        self._kinds: dict[tuple[tuple[str, ...], object], int] = {}
        self._examples: list[Subject] = []
        self._found: dict[tuple[tuple[str, ...], str, str], Why] = {}

    def differing(self, metric: Definition, names: tuple[str, str], prompts: Sequence[str]) -> Why:
        """By prompt, which facts that the metric depends on differ between the two systems' clips."""
        key = (metric.depends_on, *names)
        if key not in self._found:
            self._found[key] = self._compare(metric, names, prompts)
        return self._found[key]

    def _compare(self, metric: Definition, names: tuple[str, str], prompts: Sequence[str]) -> Why:
        why = np.full(len(prompts), "", dtype=object)
        one, other = (self._coded(metric, name, prompts) for name in names)
        unlike = np.flatnonzero(one != other)
        known: dict[tuple[int, int], str] = {}
        for at in unlike.tolist():
            pair = int(one[at]), int(other[at])
            if pair not in known:
                a, b = (self._examples[code] for code in pair)
                known[pair] = differing_facts(metric, a, b, names=names)
            why[at] = known[pair]
        return why

    def _coded(self, metric: Definition, name: str, prompts: Sequence[str]) -> NDArray[np.int64]:
        """A number by prompt that is the same for clips whose facts are."""
        key = (metric.depends_on, name)
        if key not in self._codes:
            subjects = (self._subjects.get((name, prompt), _UNKNOWN) for prompt in prompts)
            self._codes[key] = np.array([self._code(metric, subject) for subject in subjects], dtype=np.int64)
        return self._codes[key]

    def _code(self, metric: Definition, subject: Subject) -> int:
        kind = (metric.depends_on, tuple(_kind(metric, subject)))
        if kind not in self._kinds:
            self._kinds[kind] = len(self._examples)
            self._examples.append(subject)
        return self._kinds[kind]


_UNKNOWN = Subject(id="?", kind="clip", path="", sha256=None)


def _kind(metric: Definition, subject: Subject) -> Iterator[object]:
    for name in metric.depends_on:
        yield medium_fact(subject, name)
    reference = subject.facts.get("reference")
    yield (str(reference.get("sha256")), str(reference.get("path"))) if isinstance(reference, Mapping) else None
