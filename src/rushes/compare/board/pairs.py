"""Every two systems on a reading that has one value per prompt: which prompts compare, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.compare.board.model import BoardData, Contrast, Reading
from rushes.compare.comparison import WhyNot
from rushes.compare.definitions.comparisons import MEAN_DIFFERENCE, SIGN_FLIP, of
from rushes.compare.readings.media_facts import differing_facts, medium_fact
from rushes.compare.runs.results import commonest
from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.core.selection import full_name
from rushes.stats.intervals import LEVEL, Floats
from rushes.stats.means import mean_change
from rushes.stats.sign_flip import sign_flip_p
from rushes.storage.runs import Subject

Why: TypeAlias = NDArray[np.object_]
"""By prompt: why the two clips do not compare, "" where they do."""


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
    found, changed = mean_change(kept.tolist(), flags=binary, level=level), higher + lower
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
        listed = [prompt.id for prompt in data.prompts]
        valued = [prompt for values in data.values.values() for prompt in values]
        self._prompts = tuple(dict.fromkeys([*listed, *valued]))

    def contrasts(self, reading: Reading, level: float) -> list[Contrast]:
        """Every pair of systems, in the board's order."""
        rows, has, binary = self._table(reading)
        systems = combinations(enumerate(self._data.names), 2)
        pairs = [((one, other), rows[j] - rows[i], has[i] | has[j]) for (i, one), (j, other) in systems]
        left_out = [self._left_out(reading.definition, *pair) for pair in pairs]
        every: Any = {"definitions": contrast_definitions(reading), "binary": binary, "level": level}
        chances = sign_flip_p(np.nan_to_num(np.round([found for _, found, _ in pairs], 8))) if pairs else ()
        return [
            paired_contrast(reading, names, found, p=float(p), note=note, why=why, **every)
            for (names, found, _), (note, why), p in zip(pairs, left_out, chances, strict=True)
        ]

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

    def _left_out(
        self, metric: Definition, names: tuple[str, str], differences: Floats, asked: NDArray[np.bool_]
    ) -> tuple[str, WhyNot]:
        """Leave out, in place, prompts whose clips do not compare; which are left out, and why where all are."""
        whole = ~np.isnan(differences)
        why = self._media.differing(metric, names, self._prompts)
        apart = whole & (why != "")
        differences[apart] = np.nan
        note = _left_out(
            total=int(np.sum(asked)),
            lacking=int(np.sum(asked & ~whole)),
            why=[str(text) for text in why[apart]],
            kept=int(np.sum(whole & ~apart)),
        )
        return note, WhyNot.MEDIA_DIFFER if apart.any() else WhyNot.NOTHING_SHARED


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
        self._subjects = {
            place: Subject(id=clip.subject, kind="clip", path=clip.path, sha256=None, facts=clip.facts)
            for place, clip in data.clips.items()
        }
        self._kinds: dict[tuple[tuple[str, ...], str], list[tuple[object, Subject]]] = {}
        self._found: dict[tuple[tuple[str, ...], str, str], Why] = {}

    def differing(self, metric: Definition, names: tuple[str, str], prompts: Sequence[str]) -> Why:
        """By prompt, which facts that the metric depends on differ between the two systems' clips."""
        key = (metric.depends_on, *names)
        if key not in self._found:
            sides = (self._clips(metric, name, prompts) for name in names)
            known: dict[tuple[object, object], str] = {}
            why = np.full(len(prompts), "", dtype=object)
            for at, ((kind, clip), (other_kind, other)) in enumerate(zip(*sides, strict=True)):
                if kind != other_kind:
                    pair = kind, other_kind
                    known[pair] = known.get(pair) or differing_facts(metric, clip, other, names=names)
                    why[at] = known[pair]
            self._found[key] = why
        return self._found[key]

    def _clips(self, metric: Definition, name: str, prompts: Sequence[str]) -> list[tuple[object, Subject]]:
        """By prompt: the clip, and all that the metric depends on of it."""
        key = (metric.depends_on, name)
        if key not in self._kinds:
            clips = (self._subjects.get((name, prompt), _UNKNOWN) for prompt in prompts)
            self._kinds[key] = [(tuple(_kind(metric, clip)), clip) for clip in clips]
        return self._kinds[key]


_UNKNOWN = Subject(id="?", kind="clip", path="", sha256=None)


def _kind(metric: Definition, subject: Subject) -> Iterator[object]:
    for name in metric.depends_on:
        yield medium_fact(subject, name)
    reference = subject.facts.get("reference")
    yield (str(reference.get("sha256")), str(reference.get("path"))) if isinstance(reference, Mapping) else None
