"""Which systems a board tells apart, reading by reading, with one allowance for everything it tests.

A pair is called better or worse only on a reading of which nothing else moves the value, to either side. On a board
nobody knows which of two systems is the other's degraded copy, so a reading that judges on one side alone (VMAF, which
sharpening raises) tells systems apart and ranks none: a copy never ranks above its source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from rushes.core import Definition, Measurement
from rushes.core.canonical import canonical_json
from rushes.errors import InputError
from rushes.paired.definitions import HOLM_P, SIGN_FLIP, of, ranks_systems
from rushes.paired.holm import holm
from rushes.paired.letters import letter_display
from rushes.paired.ranks import possible_ranks
from rushes.paired.sign_flip import fewest_prompts
from rushes.paired.statistics import LEVEL
from rushes.suite.board_data import BoardData, Reading, ReadingKey
from rushes.suite.board_numbers import number_contrasts
from rushes.suite.board_pairs import PromptPairs, RawContrast
from rushes.suite.board_verdicts import Contrast, ReadingVerdict, Verdict

_ONE_SYSTEM = "fewer than two systems: there is nothing to compare"


def judge_board(
    data: BoardData, *, level: float = LEVEL, readings: Sequence[ReadingKey] | None = None
) -> dict[ReadingKey, ReadingVerdict]:
    """What each reading says about each pair of systems, in the board's order; `readings` picks some, by key.

    Formula     paired by prompt: mean difference with Student's t interval (exact for true/false), sign-flip test;
                one number per system: the interval of a difference, else two intervals with errors summed; Holm over
                every test of every reading that is judged here; told apart where the adjusted p ≤ 1 − `level` and
                the interval of the difference, where there is one, leaves 0 out
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
    tests = [c for contrasts in raw.values() for c in contrasts if c.tested]
    adjusted = dict(zip(map(id, tests), holm([float(c.p.value or 0) for c in tests]), strict=True))
    family = _family(data, chosen)
    alpha = round(1 - level, 12)
    found = {}
    for reading in chosen:
        definition = of(HOLM_P, reading.definition).with_params(
            family=family, test="sign-flip" if reading.per_prompt else "interval", tests=len(tests)
        )
        contrasts = tuple(_judged(reading, c, adjusted.get(id(c)), definition, alpha) for c in raw[reading.key])
        found[reading.key] = _reading_verdict(data, reading, contrasts)
    return found


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
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {len(known)}"
            raise InputError(f"the board has no reading {key!r}; {hint}")
    return [reading for key, reading in known.items() if key in set(keys)]


def _family(data: BoardData, readings: Sequence[Reading]) -> str:
    """What was tested together, in twelve letters: an adjusted p of another family is another number."""
    text = canonical_json([sorted(data.names), sorted(reading.key for reading in readings)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _judged(reading: Reading, c: RawContrast, adjusted: float | None, definition: Definition, alpha: float) -> Contrast:
    at = c.p.at
    if not c.comparable:
        allowed = Measurement.missing(definition, c.p.note, at=at)
    elif adjusted is None:
        allowed = Measurement(definition=definition, value=1.0, count=0, note=c.p.note, at=at)
    else:
        note = _too_few(c, adjusted, definition, alpha)
        allowed = Measurement(definition=definition, value=adjusted, count=c.p.count, note=note, at=at)
    lower_wins = reading.definition.better == "lower"
    return Contrast(
        first=c.first,
        second=c.second,
        difference=c.difference,
        p=c.p,
        adjusted_p=allowed,
        verdict=_verdict(reading.definition, c, adjusted, alpha),
        wins=c.lower if lower_wins else c.higher,
        ties=c.equal,
        losses=c.higher if lower_wins else c.lower,
    )


def _too_few(c: RawContrast, adjusted: float, definition: Definition, alpha: float) -> str:
    """What a reader must know who wonders why nine wins of nine are not enough; "" where they could be."""
    tests = int(definition.param("tests") or 0)
    needed = fewest_prompts(tests, alpha)
    if adjusted <= alpha or c.p.name != SIGN_FLIP.name or c.p.count >= needed:
        return ""
    return f"{c.p.count} prompts differ; to stand out among the board's tests ({tests}) takes {needed} or more"


def _verdict(metric: Definition, c: RawContrast, adjusted: float | None, alpha: float) -> Verdict:
    if not c.comparable:
        return "not comparable"
    if adjusted is None or adjusted > alpha or _holds_zero(c.difference):
        return "not told apart"
    if not ranks_systems(metric):
        return "told apart"
    return "better" if (float(c.difference.value or 0) > 0) == (metric.better == "higher") else "worse"


def _holds_zero(difference: Measurement) -> bool:
    """Whether the interval shown beside a verdict would speak against it.

    One huge difference among small ones of its sign can do that: the signs are sure, and the mean is not.
    """
    interval = difference.interval
    return interval is not None and interval.low <= 0 <= interval.high


def _reading_verdict(data: BoardData, reading: Reading, contrasts: tuple[Contrast, ...]) -> ReadingVerdict:
    judged = [c for c in contrasts if c.verdict != "not comparable"]
    present = {name for c in judged for name in (c.first, c.second)}
    order = [name for name in _ordered(data, reading) if name in present]
    apart = [(c.first, c.second) for c in judged if c.verdict != "not told apart"]
    letters = letter_display(order, apart)
    better = [(c.first, c.second) for c in judged if c.verdict == "better"]
    better += [(c.second, c.first) for c in judged if c.verdict == "worse"]
    why = _why_not(reading.definition, contrasts, bool(judged))
    ranked = possible_ranks([name for name in data.names if name in present], better)
    return ReadingVerdict(
        key=reading.key,
        contrasts=contrasts,
        letters={name: letters.get(name, "") for name in data.names},
        ranks={} if why else ranked,
        why_not=why,
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


def _why_not(metric: Definition, contrasts: Sequence[Contrast], any_judged: bool) -> str:
    if not contrasts:
        return _ONE_SYSTEM
    if not any_judged:
        return f"no two systems compare: {contrasts[0].p.note}"
    if metric.better == "neither":
        return "not ranked: neither direction is better"
    if not ranks_systems(metric):
        causes = [f"raised by {metric.raised_by[0]}"] if metric.raised_by else []
        causes += [f"lowered by {metric.lowered_by[0]}"] if metric.lowered_by else []
        return f"not ranked: it moves though nothing got better or worse ({'; '.join(causes)})"
    return ""
