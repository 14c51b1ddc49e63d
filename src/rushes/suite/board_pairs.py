"""Every two systems on a reading that has one value per prompt: which prompts compare, and what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.paired.contrasts import SystemPair, paired_contrasts
from rushes.runs import Subject
from rushes.suite.board_data import BoardData, Reading
from rushes.suite.medium import differing_facts, medium_fact

Why: TypeAlias = NDArray[np.object_]
"""By prompt: why the two clips do not compare, "" where they do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawContrast:
    """Two systems on one reading, before anything else on the board is allowed for."""

    first: str
    second: str
    difference: Measurement
    p: Measurement
    """Without a value where the two do not compare; its note says why."""
    higher: int = 0
    equal: int = 0
    lower: int = 0

    @property
    def comparable(self) -> bool:
        return self.p.value is not None

    @property
    def tested(self) -> bool:
        """Whether it could give a false alarm: with no prompt that differs, p is 1 whatever happens."""
        return self.comparable and self.p.count > 0


class PromptPairs:
    """The board's prompts and clips, read once; then contrasts reading by reading."""

    def __init__(self, data: BoardData) -> None:
        self._data = data
        self._media = _Media(data)
        listed = [prompt.id for prompt in data.prompts]
        valued = [prompt for values in data.values.values() for prompt in values]
        self._prompts = tuple(dict.fromkeys([*listed, *valued]))

    def contrasts(self, reading: Reading, level: float) -> list[RawContrast]:
        """Every pair of systems, in the board's order."""
        names = self._data.names
        rows, has, binary = self._table(reading)
        pairs = [
            self._pair(reading.definition, (names[i], names[j]), (rows[i], rows[j]), (has[i], has[j]))
            for i, j in combinations(range(len(names)), 2)
        ]
        found = paired_contrasts(reading.definition, pairs, at=reading.at, binary=binary, level=level)
        return [
            RawContrast(
                first=pair.first,
                second=pair.second,
                difference=c.difference,
                p=c.p,
                higher=c.higher,
                equal=c.equal,
                lower=c.lower,
            )
            for pair, c in zip(pairs, found, strict=True)
        ]

    def _table(self, reading: Reading) -> tuple[NDArray[np.float64], NDArray[np.bool_], bool]:
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
        values: tuple[NDArray[np.float64], NDArray[np.float64]],
        answered: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    ) -> SystemPair:
        differences = values[0] - values[1]
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
        return SystemPair(first=names[0], second=names[1], differences=differences, note=note)


def _left_out(*, total: int, lacking: int, why: Sequence[str], kept: int) -> str:
    """Which prompts a contrast does not rest on; "" where it rests on all."""
    prompts = "1 prompt" if total == 1 else f"{total} prompts"
    if not total:
        return "neither system has a value"
    if not kept and not why:
        return f"no prompt of {total} has a value in both systems"
    parts = [
        f"{lacking} of {prompts} without a value in one of the systems" if lacking else "",
        f"{len(why)} of {prompts} not comparable: {_commonest(why)}" if why else "",
    ]
    return "; ".join(part for part in parts if part)


def _commonest(why: Sequence[str]) -> str:
    kinds = Counter(why).most_common()
    text, count = kinds[0]
    return text if len(kinds) == 1 else f"{text} on {count} of them, other differences on the rest"


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
