"""Which systems a board tells apart, reading by reading, with one allowance for error over everything it tests.

A pair is called better or worse only on a reading of which nothing else moves the value, to either side. On a board
nobody knows which of two systems is the other's degraded copy, so a reading that judges on one side alone (VMAF, which
sharpening raises) tells systems apart and ranks none: a copy never ranks above its source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rushes.compare.board.model import PEOPLE, BoardData, Contrast, Reading, ReadingKey, ReadingVerdict
from rushes.compare.board.pairs import PromptPairs
from rushes.compare.board.set_contrasts import number_contrasts
from rushes.compare.comparison import Outcome, WhyNot, change_outcome, is_test, raised
from rushes.compare.definitions.comparisons import HOLM_P, SIGN_FLIP, of
from rushes.core import Definition, Measurement
from rushes.core.canonical import canonical_json
from rushes.core.definition import Setting
from rushes.core.errors import InputError
from rushes.core.words.suggest import did_you_mean
from rushes.stats.families import letter_display, possible_ranks
from rushes.stats.intervals import LEVEL
from rushes.stats.sign_flip import fewest_prompts

PEOPLE_SHARE = 0.8
"""Of the allowed error, what people's questions have where metrics are tested too: they decide, metrics explain."""
_TESTS = {True: "sign-flip", False: "interval"}
_ONE_SYSTEM = "fewer than two systems: there is nothing to compare"


def judge_board(
    data: BoardData, *, level: float = LEVEL, readings: Sequence[ReadingKey] | None = None
) -> dict[ReadingKey, ReadingVerdict]:
    """What each reading says about each pair of systems, in the board's order; `readings` picks some, by key.

    Formula     paired by prompt: mean difference with Student's t interval (exact for true/false), sign-flip test;
                one number per system: the interval of a difference, else two intervals with errors summed; Holm over
                every test of a family; two systems differ where the adjusted p ≤ 1 − `level` and the interval of the
                difference, where there is one, leaves 0 out
    Families    what people said is one, every metric the other, so that many metrics cannot hide people's answer.
                Where both are tested, people's family has `PEOPLE_SHARE` of the error and metrics the rest
    Raters      the test is over prompts and takes the raters as they are: it says what these people prefer. How far
                other people would differ is in the interval of a cell
    Errors      of all boards whose systems are alike, at most 1 − `level` tell any two apart on any reading
    Edge cases  one system, nothing shared, no two numbers that compare: the reading's `why_not` says so. A prompt
                whose two clips differ in facts that the metric depends on is left out for that pair, and counted.
                A pair that does not compare leaves letters shared and ranks open.
    Raises      `InputError` for a level outside 0 to 1, an unknown reading, two systems of one name;
                `DefinitionMismatch` for values under another signature than their reading's
    """
    chosen = _checked(data, level, readings)
    prompts = PromptPairs(data)
    raw = {
        reading.key: prompts.contrasts(reading, level) if reading.per_prompt else number_contrasts(data, reading)
        for reading in chosen
    }
    judged: dict[ReadingKey, tuple[Contrast, ...]] = {}
    for family, share in _families(chosen, raw):
        judged |= _judged_family(data, family, raw, share=share, alpha=round(1 - level, 12))
    return {reading.key: _reading_verdict(data, reading, judged[reading.key]) for reading in chosen}


def _families(
    readings: Sequence[Reading], raw: Mapping[ReadingKey, Sequence[Contrast]]
) -> list[tuple[list[Reading], float]]:
    """Readings that are corrected together, each family with its share of the error."""
    people = [reading for reading in readings if reading.instrument == PEOPLE]
    metrics = [reading for reading in readings if reading.instrument != PEOPLE]
    both = all(any(is_test(c.p) for one in family for c in raw[one.key]) for family in (people, metrics))
    return [(people, PEOPLE_SHARE if both else 1.0), (metrics, round(1 - PEOPLE_SHARE, 12) if both else 1.0)]


def _judged_family(
    data: BoardData,
    readings: Sequence[Reading],
    raw: Mapping[ReadingKey, Sequence[Contrast]],
    *,
    share: float,
    alpha: float,
) -> dict[ReadingKey, tuple[Contrast, ...]]:
    """Every contrast of a family after Holm's rule over its tests, its p divided by the family's share."""
    tests, family = sum(is_test(c.p) for one in readings for c in raw[one.key]), _family(data, readings)
    split: dict[str, Setting] = {} if share == 1 else {"share": share}
    definitions = {
        one.key: of(HOLM_P, one.definition, family=family, test=_TESTS[one.per_prompt], tests=tests).add_params(**split)
        for one in readings
    }
    adjusted = iter(raised([(c.p, definitions[one.key]) for one in readings for c in raw[one.key]], share=share))
    return {one.key: tuple(_judged(c, next(adjusted), tests, alpha, share) for c in raw[one.key]) for one in readings}


def _checked(data: BoardData, level: float, keys: Sequence[ReadingKey] | None) -> list[Reading]:
    if not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, such as 0.95; got {level}")
    if twice := [name for at, name in enumerate(data.names) if name in data.names[:at]]:
        raise InputError(f"two systems are called {twice[0]!r}; give each a name of its own")
    known = {reading.key: reading for reading in data.readings}
    if keys is None:
        return list(known.values())
    for key in keys:
        if key not in known:
            hint = did_you_mean(key, known, otherwise=f"; it has {len(known)}")
            raise InputError(f"the board has no reading {key!r}{hint}")
    return [reading for key, reading in known.items() if key in set(keys)]


def _family(data: BoardData, readings: Sequence[Reading]) -> str:
    """What was tested together, in twelve letters: an adjusted p of another family is another number."""
    text = canonical_json([sorted(data.names), sorted(reading.key for reading in readings)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _judged(c: Contrast, adjusted: Measurement, tests: int, alpha: float, share: float) -> Contrast:
    """The contrast with what it says among everything that the board tests."""
    if c.p.value is None:
        return replace(c, adjusted_p=adjusted)
    metric, p = c.reading.definition, float(adjusted.value or 0) if is_test(c.p) else None
    if p is not None:
        adjusted = replace(adjusted, note=_too_few(c, p, tests, alpha, share))
    outcome, why = change_outcome(metric, c.difference, p, alpha=alpha, judges=metric.ranks_systems)
    if outcome is Outcome.CANNOT_TELL and adjusted.note:
        why = WhyNot.TOO_FEW
    if c.ties and not c.wins and not c.losses:
        outcome, why = Outcome.SAME, None
    return replace(c, adjusted_p=adjusted, outcome=outcome, why=why)


def _too_few(c: Contrast, adjusted: float, tests: int, alpha: float, share: float) -> str:
    """What a reader must know who wonders why nine wins of nine are not enough; "" where they could be."""
    needed = fewest_prompts(tests, alpha * share)
    if adjusted <= alpha or c.p.name != SIGN_FLIP.name or c.p.count >= needed:
        return ""
    return f"{c.p.count} prompts differ; to stand out among the board's tests ({tests}) takes {needed} or more"


def _reading_verdict(data: BoardData, reading: Reading, contrasts: tuple[Contrast, ...]) -> ReadingVerdict:
    judged = [c for c in contrasts if c.outcome is not Outcome.NOT_COMPARABLE]
    present = {name for c in judged for name in (c.first, c.second)}
    order = [name for name in _ordered(data, reading) if name in present]
    apart = [(c.first, c.second) for c in judged if c.outcome.is_change]
    letters = letter_display(order, apart)
    better = [pair for c in judged if (pair := c.ranked)]
    why, words = _why_not(reading.definition, contrasts, bool(judged))
    ranked = possible_ranks([name for name in data.names if name in present], better)
    return ReadingVerdict(
        key=reading.key,
        contrasts=contrasts,
        letters={name: letters.get(name, "") for name in data.names},
        ranks={} if why else ranked,
        why=why,
        why_not=words,
    )


def _ordered(data: BoardData, reading: Reading) -> list[str]:
    """Systems from the best value to the worst, so that "a" is at the top; from the highest where none is better."""
    values = {name: _value(data, name, reading) for name in data.names}
    sign = 1 if reading.definition.better == "lower" else -1
    return sorted(
        (name for name in data.names if values[name] is not None), key=lambda name: sign * (values[name] or 0)
    )


def _value(data: BoardData, name: str, reading: Reading) -> float | None:
    whole = data.whole.get((name, reading.key))
    if whole is not None and whole.value is not None:
        return float(whole.value)
    values: Mapping[str, Measurement] = data.values.get((name, reading.key), {})
    found = [float(m.value) for m in values.values() if m.value is not None]
    return sum(found) / len(found) if found else None


def _why_not(metric: Definition, contrasts: Sequence[Contrast], any_judged: bool) -> tuple[WhyNot | None, str]:
    if not contrasts:
        return WhyNot.NOTHING_SHARED, _ONE_SYSTEM
    if not any_judged:
        return contrasts[0].why, f"no two systems compare: {contrasts[0].p.note}"
    if metric.better == "neither":
        return WhyNot.NO_DIRECTION, "not ranked: neither direction is better"
    if not metric.ranks_systems:
        causes = [f"raised by {metric.raised_by[0]}"] if metric.raised_by else []
        causes += [f"lowered by {metric.lowered_by[0]}"] if metric.lowered_by else []
        words = f"not ranked: it moves though nothing got better or worse ({'; '.join(causes)})"
        return WhyNot.OTHER_CAUSES, words
    return None, ""
