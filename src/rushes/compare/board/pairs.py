"""Every two systems on a reading that has one value per prompt: which prompts compare, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.compare.board.model import BoardData, Contrast, Reading, clip_facts
from rushes.compare.comparison import WhyNot
from rushes.compare.definitions.comparisons import MEAN_DIFFERENCE, SIGN_FLIP, of
from rushes.compare.readings.media_facts import FactKinds, differing_facts, medium_fact
from rushes.compare.readings.value_rows import Row, ValueRow, answered_keys, are_flags, is_valued, row_floats
from rushes.compare.runs.results import commonest
from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.core.selection import full_name
from rushes.stats.intervals import LEVEL, Floats, Whole
from rushes.stats.means import mean_change
from rushes.stats.rounding import stored_floats
from rushes.stats.sign_flip import sign_flip_p
from rushes.storage.runs import Subject

Why: TypeAlias = tuple[Whole, Sequence[str]]
"""By prompt, which of these texts says why the two clips do not compare; the first is "", where they do."""


def place(reading: Reading, first: str, second: str) -> dict[str, str]:
    """What a contrast is about: the two systems, the metric's name, and what the metric itself is about."""
    return {"metric": full_name(reading.definition)} | dict(reading.at) | {"first": first, "second": second}


def contrast_definitions(reading: Reading) -> tuple[Definition, Definition]:
    """Of a mean difference of two systems on this reading, and of its p."""
    return of(MEAN_DIFFERENCE, reading.definition, systems=True), of(SIGN_FLIP, reading.definition)


def paired_contrast(
    reading: Reading,
    names: tuple[str, str],
    differences: Floats,
    *,
    definitions: tuple[Definition, Definition] | None = None,
    p: float | None = None,
    note: str = "",
    why: WhyNot | None = None,
    binary: bool = False,
    level: float = LEVEL,
) -> Contrast:
    """The mean difference of two systems with its interval, its p and its counts.

    Formula     see the definitions: `rushes metrics paired_mean_difference`, `rushes metrics sign_flip_p`
    Inputs      `differences`: second − first as stored, by prompt; NaN where a prompt is left out. `definitions`
                and `p`: where they were made for many pairs at once. `note`: which prompts were left out, and why;
                required where all were, and then `why` says the same in a type. `binary`: whether the reading is true
                or false
    Edge cases  no prompt left: no value, the note says why. A difference of 0 in 8 decimals is a tie
    """
    at = place(reading, *names)
    mean, test = definitions or contrast_definitions(reading)
    kept = np.round(differences[~np.isnan(differences)], 8)
    if not len(kept):
        missing, no_p = (Measurement.missing(number, note, at=at) for number in (mean, test))
        return Contrast.draft(reading, names, missing, no_p, why=why)
    higher, lower = int(np.sum(kept > 0)), int(np.sum(kept < 0))
    found, changed = mean_change(kept, flags=binary, level=level), higher + lower
    difference = Measurement.of(mean, found, at=at, note="; ".join(filter(None, (note, found.lacking))))
    value = float(sign_flip_p(kept[None, :])[0]) if p is None else p
    chance = Measurement(
        definition=test, value=value, count=changed, note="" if changed else "no prompt differs", at=at
    )
    return Contrast.draft(reading, names, difference, chance, higher=higher, equal=len(kept) - changed, lower=lower)


class PromptPairs:
    """The board's prompts and clips, read once; then contrasts reading by reading."""

    def __init__(self, data: BoardData) -> None:
        self._data = data
        self._media = _Media(data)
        found = dict.fromkeys(prompt.id for prompt in data.prompts)
        for row in data.values.values():
            if not isinstance(row, ValueRow):  # which has the board's own prompts
                found.update(dict.fromkeys(row))
        self._prompts = list(found)

    def contrasts(self, reading: Reading, level: float) -> list[Contrast]:
        """Every pair of systems, in the board's order."""
        if len(self._data.names) < 2:
            return []
        rows, has, binary = self._table(reading)
        systems = combinations(enumerate(self._data.names), 2)
        pairs = [((one, other), rows[j] - rows[i], has[i] | has[j]) for (i, one), (j, other) in systems]
        left_out = [self._left_out(reading.definition, *pair) for pair in pairs]
        every: Any = {"definitions": contrast_definitions(reading), "binary": binary, "level": level}
        chances = sign_flip_p(np.nan_to_num(np.round([found for _, found, _ in pairs], 8)))
        return [
            paired_contrast(reading, names, found, p=float(p), note=note, why=why, **every)
            for (names, found, _), (note, why), p in zip(pairs, left_out, chances, strict=True)
        ]

    def _table(self, reading: Reading) -> tuple[Floats, NDArray[np.bool_], bool]:
        """Values by system and prompt, NaN where there is none; which prompts a system answered; true/false or not."""
        rows = [self._data.values.get((name, reading.key), {}) for name in self._data.names]
        for row in rows:
            for definition in {id(m.definition): m.definition for m in _samples(row)}.values():
                require_same_signature((reading.definition, definition))
        table = np.stack([stored_floats(row_floats(row, self._prompts)) for row in rows])
        answered = np.stack([answered_keys(row, self._prompts) for row in rows])
        valued = [row for row in rows if is_valued(row)]
        return table, answered, bool(valued) and all(map(are_flags, valued))

    def _left_out(
        self, metric: Definition, names: tuple[str, str], differences: Floats, asked: NDArray[np.bool_]
    ) -> tuple[str, WhyNot]:
        """Leave out, in place, prompts whose clips do not compare; which are left out, and why where all are."""
        whole = ~np.isnan(differences)
        which, texts = self._media.differing(metric, names, self._prompts)
        apart = whole & (which > 0)
        differences[apart] = np.nan
        note = _left_out(
            total=int(np.sum(asked)),
            lacking=int(np.sum(asked & ~whole)),
            why=[texts[place] for place in which[apart].tolist()],
            kept=int(np.sum(whole & ~apart)),
        )
        return note, WhyNot.MEDIA_DIFFER if apart.any() else WhyNot.NOTHING_SHARED


def _samples(row: Row) -> Iterable[Measurement]:
    """Numbers that have every definition of the row."""
    return [row.sample()] if isinstance(row, ValueRow) else row.values()


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
    """Facts of the clips; two clips with the same facts as two others are compared once."""

    def __init__(self, data: BoardData) -> None:
        self._clips = data.clips
        self._facts: dict[str, FactKinds] = {}
        self._kinds: dict[tuple[str, ...], dict[object, int]] = {}
        self._found: dict[tuple[tuple[str, ...], str], tuple[Whole, dict[int, Subject]]] = {}

    def differing(self, metric: Definition, names: tuple[str, str], prompts: Sequence[str]) -> Why:
        """By prompt, which facts that the metric depends on differ between the two systems' clips."""
        (ours, clips), (theirs, others) = (self._side(metric, name, prompts) for name in names)
        which, texts = np.zeros(len(prompts), dtype=np.int64), [""]
        apart = np.flatnonzero(ours != theirs)
        pairs, places = np.unique(np.stack([ours[apart], theirs[apart]]), axis=1, return_inverse=True)
        for one, other in pairs.T.tolist():
            texts.append(differing_facts(metric, clips[one], others[other], names=names))
        which[apart] = np.array([number if text else 0 for number, text in enumerate(texts)])[places.ravel() + 1]
        return which, texts

    def _side(self, metric: Definition, name: str, prompts: Sequence[str]) -> tuple[Whole, dict[int, Subject]]:
        """By prompt: a number for all that the metric depends on of the system's clip; a clip for each number."""
        key = (metric.depends_on, name)
        if key not in self._found:
            if name not in self._facts:
                self._facts[name] = FactKinds(clip_facts(self._clips, name, prompts))
            facts, kinds = self._facts[name], self._kinds.setdefault(metric.depends_on, {})
            clips = [clip or _UNKNOWN for clip in facts.clips]
            codes = [kinds.setdefault(tuple(_kind(metric, clip)), len(kinds)) for clip in clips]
            numbers = np.array(codes, dtype=np.int64)[facts.codes] if codes else facts.codes
            self._found[key] = numbers, dict(zip(reversed(codes), reversed(clips), strict=True))
        return self._found[key]


_UNKNOWN = Subject(id="?", kind="clip", path="", sha256=None)


def _kind(metric: Definition, subject: Subject) -> Iterator[object]:
    for name in metric.depends_on:
        yield medium_fact(subject, name)
    reference = subject.facts.get("reference")
    yield (str(reference.get("sha256")), str(reference.get("path"))) if isinstance(reference, Mapping) else None
