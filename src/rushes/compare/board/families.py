"""Which columns of a board are tested together, which are not tested, and how the allowed error is shared.

people          ratings, votes and studies: they decide
credentialed    metrics with a credential that counts here: they may say better, about its question
others          every other metric: they show differences
not tested      facts of the file (length, rate, frames), and a column that says the same as another one: flagged and
                reject rate beside pass rate, a metric by a second face model. They are shown and cost the others
                nothing

Where all are tested, people have 0.8 of the allowed error and both kinds of metrics 0.1 each; where one is missing, or
all of its differences are significant, its share goes to the others: metrics first pass theirs to each other. Many
metrics so never hide what people said, and a board without people or without credentials loses nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rushes.compare.agreement.earned_say import EarnedSay, earned_say
from rushes.compare.board.model import PEOPLE, BoardData, Contrast, Family, Reading, ReadingKey
from rushes.compare.comparison import is_test, with_adjusted
from rushes.compare.definitions.comparisons import HOLM_P, of
from rushes.compare.readings.file_facts import FILE_FACTS
from rushes.core import Measurement
from rushes.core.canonical import canonical_json
from rushes.instruments.clip.readings import BADGE_SHARE
from rushes.stats.families import holm_families

PEOPLE_SHARE = 0.8
"""Of the allowed error, what people's questions have where metrics are tested too: they decide, metrics explain."""
_TESTS = {True: "sign-flip", False: "interval"}
_FACT = "a fact of the file: shown, not tested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Where each column belongs, before anything is tested."""

    families: Mapping[Family, Sequence[Reading]]
    """Those that have columns, people first."""
    untested: Mapping[ReadingKey, str]
    """Why a column is not tested, in words."""
    says: Mapping[ReadingKey, EarnedSay]
    """Of every metric that is tested: its credentials, or why it has none."""

    def earned(self, reading: Reading) -> EarnedSay:
        return self.says.get(reading.key, EarnedSay())


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedFamily:
    """A family after its tests."""

    family: Family
    readings: Sequence[Reading]
    tests: int
    share: float
    """Of the allowed error, while every family has tests left."""
    adjusted: Mapping[ReadingKey, Sequence[Measurement]]


def grouping(data: BoardData, readings: Sequence[Reading]) -> Grouping:
    """Which family each column is in, by what it is and by the board's credentials, never by its values."""
    untested = {one.key: why for one in readings if (why := _why_untested(one, readings))}
    tested = [one for one in readings if one.key not in untested]
    says = {
        one.key: earned_say(one, data.credentials, kind=data.kind or None)
        for one in tested
        if one.instrument != PEOPLE and one.per_prompt
    }
    members: dict[Family, list[Reading]] = {family: [] for family in Family}
    for one in tested:
        metric = Family.CREDENTIALED if one.key in says and says[one.key].credentials else Family.OTHERS
        members[Family.PEOPLE if one.instrument == PEOPLE else metric].append(one)
    return Grouping(
        families={family: found for family, found in members.items() if found}, untested=untested, says=says
    )


def _why_untested(reading: Reading, others: Sequence[Reading]) -> str:
    if reading.definition.name in FILE_FACTS:
        return _FACT
    if reading.definition.name == BADGE_SHARE.name and dict(reading.at).get("badge") != "pass":
        passing = [one for one in others if one.definition == reading.definition and ("badge", "pass") in one.at]
        return f"not tested separately: it follows {passing[0].label}" if passing else ""
    first = next(one for one in others if _but_for_the_model(one) == _but_for_the_model(reading))
    return "" if first.key == reading.key else f"not tested separately: {first.label} by another model"


def _but_for_the_model(reading: Reading) -> tuple[object, ...]:
    """What it is, whatever model of the face or the voice it was measured with."""
    definition = reading.definition
    params = tuple(one for one in definition.params if one[0] != "model")
    return definition.name, definition.version, params, reading.at, reading.instrument


def shares(left: Collection[Family]) -> dict[Family, float]:
    """The part of the allowed error of each family that has tests left; none gets less when another is done.

    >>> shares(list(Family))
    {<Family.PEOPLE: 'people'>: 0.8, <Family.CREDENTIALED: 'credentialed'>: 0.1, <Family.OTHERS: 'others'>: 0.1}
    """
    metrics = [family for family in left if family is not Family.PEOPLE]
    people = PEOPLE_SHARE if metrics else 1.0
    each = round((1 - people * (Family.PEOPLE in left)) / max(len(metrics), 1), 12)
    return {family: people if family is Family.PEOPLE else each for family in left}


def tested_families(
    data: BoardData, groups: Grouping, raw: Mapping[ReadingKey, Sequence[Contrast]]
) -> list[TestedFamily]:
    """Every family's adjusted p: Holm inside it, an exhausted one passing its share on (`stats.holm_families`)."""
    names = list(groups.families)
    listed = {name: [c.p for one in groups.families[name] for c in raw[one.key]] for name in names}
    chances = [[float(p.value or 0) for p in listed[name] if is_test(p)] for name in names]
    having = [name for name, found in zip(names, chances, strict=True) if found]
    first = shares(having)
    adjusted = holm_families(
        chances, lambda left: dict(zip(left, shares([names[k] for k in left]).values(), strict=True))
    )
    digest = _digest(data, groups)
    return [
        _tested(name, groups.families[name], raw, found, share=first.get(name, 1.0), board=digest)
        for name, found in zip(names, adjusted, strict=True)
    ]


def _tested(
    family: Family,
    readings: Sequence[Reading],
    raw: Mapping[ReadingKey, Sequence[Contrast]],
    adjusted: Sequence[float],
    *,
    share: float,
    board: str,
) -> TestedFamily:
    split = {} if share == 1 else {"share": share}
    tests = len(adjusted)
    definitions = {
        one.key: of(
            HOLM_P, one.definition, family=f"{family.value}-{board}", test=_TESTS[one.per_prompt], tests=tests
        ).add_params(**split)
        for one in readings
    }
    found = iter(with_adjusted([(c.p, definitions[one.key]) for one in readings for c in raw[one.key]], adjusted))
    by_key = {one.key: [next(found) for _ in raw[one.key]] for one in readings}
    return TestedFamily(family=family, readings=readings, tests=tests, share=share, adjusted=by_key)


def _digest(data: BoardData, groups: Grouping) -> str:
    """What was tested together, in twelve letters: an adjusted p of another board is another number."""
    members = {name.value: sorted(one.key for one in found) for name, found in groups.families.items()}
    text = canonical_json([sorted(data.names), members])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
