"""Which systems differ, column by column, with one allowance for error over everything that the board tests.

A pair is called better or worse only on a metric of which nothing else moves the value, to either side, or which has
earned it: a credential says that it agrees with people on a question and on this kind of video. On a board nobody knows
which of two systems is the other's degraded copy, so a metric without a credential that judges on one side alone (VMAF,
which sharpening raises) shows differences and ranks none: a copy never ranks above its source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rushes.compare.agreement.earned_say import EarnedSay
from rushes.compare.board.families import TestedFamily, grouping, tested_families
from rushes.compare.board.model import BoardData, Contrast, Reading, ReadingKey, ReadingVerdict
from rushes.compare.board.pairs import PromptPairs
from rushes.compare.board.set_contrasts import number_contrasts
from rushes.compare.comparison import Outcome, WhyNot, change_outcome, is_test
from rushes.compare.definitions.comparisons import SIGN_FLIP
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.words.suggest import did_you_mean
from rushes.present.verdict.verdict import counted
from rushes.stats.families import letter_display, possible_ranks
from rushes.stats.intervals import LEVEL
from rushes.stats.sign_flip import fewest_prompts

_ONE_SYSTEM = "fewer than two systems: there is nothing to compare"


def judge_board(
    data: BoardData, *, level: float = LEVEL, readings: Sequence[ReadingKey] | None = None
) -> dict[ReadingKey, ReadingVerdict]:
    """What each metric says about each pair of systems, in the board's order; `readings` picks some, by key.

    Formula     paired by prompt: mean difference with Student's t interval (exact for true/false), sign-flip test;
                one number per system: the interval of a difference, else two intervals with errors summed; Holm over
                every test of a family; two systems differ where the adjusted p ≤ 1 − `level` and the interval of the
                difference, where there is one, leaves 0 out
    Families    people, metrics with a credential, other metrics, each with its share of the error; facts of the file
                and doubles of another column are not tested: `compare.board.families`
    Credentials a metric that has one for this kind of video says better and worse, about the credential's question
    Raters      the test is over prompts and takes the raters as they are: it says what these people prefer. How far
                other people would differ is in the interval of a cell
    Errors      of all boards whose systems are alike, at most 1 − `level` show a difference on any column
    Edge cases  one system, nothing shared, no two numbers that compare: the column's `why_not` says so. A prompt
                whose two clips differ in facts that the metric depends on is left out for that pair, and counted.
                A pair that does not compare leaves letters shared and ranks open. Fewer prompts than any test could be
                significant with: `too_few` has the number that it takes
    Raises      `InputError` for a level outside 0 to 1, an unknown metric, two systems of one name;
                `DefinitionMismatch` for values under another signature than their column's
    """
    chosen = _checked(data, level, readings)
    groups, prompts = grouping(data, chosen), PromptPairs(data)
    raw = {
        reading.key: prompts.contrasts(reading, level) if reading.per_prompt else number_contrasts(data, reading)
        for reading in chosen
        if reading.key not in groups.untested
    }
    found: dict[ReadingKey, ReadingVerdict] = {key: _untested(key, why) for key, why in groups.untested.items()}
    for tested in tested_families(data, groups, raw):
        for reading in tested.readings:
            say = groups.earned(reading)
            judged = _judged_column(
                raw[reading.key], tested, reading, earned=bool(say.credentials), alpha=round(1 - level, 12)
            )
            few = _too_few_prompts(judged, fewest_prompts(tested.tests, (1 - level) * tested.share))
            verdict = _reading_verdict(data, reading, judged, say)
            found[reading.key] = replace(verdict, family=tested.family, too_few=few)
    return {reading.key: found[reading.key] for reading in chosen}


def _untested(key: ReadingKey, why: str) -> ReadingVerdict:
    return ReadingVerdict(key=key, contrasts=(), letters={}, ranks={}, why=WhyNot.NOT_TESTED, why_not=why)


def _judged_column(
    raw: Sequence[Contrast], tested: TestedFamily, reading: Reading, *, earned: bool, alpha: float
) -> tuple[Contrast, ...]:
    return tuple(
        _judged(c, adjusted, tested, earned=earned, alpha=alpha)
        for c, adjusted in zip(raw, tested.adjusted[reading.key], strict=True)
    )


def _too_few_prompts(contrasts: Sequence[Contrast], needed: int) -> int:
    """The prompts it takes, where no pair has as many; 0 where some pair could differ."""
    shared = [c.wins + c.ties + c.losses for c in contrasts if c.p.name == SIGN_FLIP.name and c.p.value is not None]
    few = bool(shared) and max(shared) < needed and not any(c.outcome.is_change for c in contrasts)
    return needed if few else 0


def _checked(data: BoardData, level: float, keys: Sequence[ReadingKey] | None) -> list[Reading]:
    if not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, such as 0.95; got {level}")
    if twice := [name for at, name in enumerate(data.names) if name in data.names[:at]]:
        raise InputError(f"two systems are called {twice[0]!r}; give each its own name")
    known = {reading.key: reading for reading in data.readings}
    if keys is None:
        return list(known.values())
    for key in keys:
        if key not in known:
            hint = did_you_mean(key, known, otherwise=f"; it has {len(known)}")
            raise InputError(f"the board has no metric {key!r}{hint}")
    return [reading for key, reading in known.items() if key in set(keys)]


def _judged(c: Contrast, adjusted: Measurement, tested: TestedFamily, *, earned: bool, alpha: float) -> Contrast:
    """The contrast with what it says among everything that the board tests."""
    if c.p.value is None:
        return replace(c, adjusted_p=adjusted)
    metric, p = c.reading.definition, float(adjusted.value or 0) if is_test(c.p) else None
    if p is not None:
        adjusted = replace(adjusted, note=_too_few(c, p, tested, alpha))
    outcome, why = change_outcome(metric, c.difference, p, alpha=alpha, judges=metric.ranks_systems, earned=earned)
    if outcome is Outcome.CANNOT_TELL and adjusted.note:
        why = WhyNot.TOO_FEW
    if c.ties and not c.wins and not c.losses:
        outcome, why = Outcome.SAME, None
    return replace(c, adjusted_p=adjusted, outcome=outcome, why=why)


def _too_few(c: Contrast, adjusted: float, tested: TestedFamily, alpha: float) -> str:
    """What a reader must know who wonders why nine wins of nine are not enough; "" where they could be."""
    needed = fewest_prompts(tested.tests, alpha * tested.share)
    if adjusted <= alpha or c.p.name != SIGN_FLIP.name or c.p.count >= needed:
        return ""
    differ, among = counted(c.p.count, "prompt"), counted(tested.tests, "test")
    return f"{differ} with a difference; to be significant among {among} it takes at least {needed}"


def _reading_verdict(
    data: BoardData, reading: Reading, contrasts: tuple[Contrast, ...], earned: EarnedSay
) -> ReadingVerdict:
    judged = [c for c in contrasts if c.outcome is not Outcome.NOT_COMPARABLE]
    present = {name for c in judged for name in (c.first, c.second)}
    order = [name for name in _ordered(data, reading) if name in present]
    apart = [(c.first, c.second) for c in judged if c.outcome.is_change]
    letters = letter_display(order, apart)
    better = [pair for c in judged if (pair := c.ranked)]
    why, words = _why_not(reading.definition, contrasts, bool(judged), earned=bool(earned.credentials))
    ranked = possible_ranks([name for name in data.names if name in present], better)
    return ReadingVerdict(
        key=reading.key,
        earned=earned,
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


def _why_not(
    metric: Definition, contrasts: Sequence[Contrast], any_judged: bool, *, earned: bool
) -> tuple[WhyNot | None, str]:
    if not contrasts:
        return WhyNot.NOTHING_SHARED, _ONE_SYSTEM
    if not any_judged:
        return contrasts[0].why, f"no two systems compare: {contrasts[0].p.note}"
    if metric.better == "neither":
        return WhyNot.NO_DIRECTION, "not ranked: neither direction is better"
    if not metric.ranks_systems and not earned:
        causes = [f"raised by {metric.raised_by[0]}"] if metric.raised_by else []
        causes += [f"lowered by {metric.lowered_by[0]}"] if metric.lowered_by else []
        if metric.raised_by[:1] == metric.lowered_by[:1]:
            causes = [f"such as {metric.raised_by[0]}"]
        words = f"not ranked: other things than quality change it ({'; '.join(causes)})"
        return WhyNot.OTHER_CAUSES, words
    return None, ""
