"""From rules to answers: the test of each reading, Holm over those gated on, and each answer in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rushes.compare.comparison import Outcome, WhyNot, number_or_why
from rushes.compare.definitions.comparisons import BEYOND_P, CLIPS_TO_TELL, MEAN_DIFFERENCE, POWER, SAME_P, of
from rushes.compare.gate.answer import MetricGate
from rushes.compare.gate.rules import GateReading, Rule, Side, loss_side
from rushes.compare.runs.changes import Change
from rushes.core import Definition, Measurement
from rushes.core.canonical import stored_float
from rushes.core.words.options import option
from rushes.stats.equivalence import PREDICTION, MarginTest, flag_test, interval_test, paired_test, prediction_test
from rushes.stats.families import holm
from rushes.stats.power import MOST_CLIPS, beyond_power, clips_to_tell, same_power

PLANNED_POWER = 0.9
_WORST = 3


def gate_verdicts(rules: Sequence[Rule], alpha: float) -> Iterable[MetricGate]:
    """One answer per rule, in order."""
    tests = [_test(rule, alpha) for rule in rules]
    family = {i: test for i, test in enumerate(tests) if rules[i].gated and isinstance(test, MarginTest)}
    p_values = holm([_beyond(test, rules[i].side) for i, test in family.items()])
    adjusted = dict(zip(family, p_values, strict=True))
    for i, (rule, test) in enumerate(zip(rules, tests, strict=True)):
        if not isinstance(test, MarginTest):
            yield _untested(rule, *test)
        elif i in adjusted:
            yield _gate(rule, test, adjusted[i], f"holm-{len(family)}", alpha)
        else:
            yield _gate(rule, test, _beyond(test, "either"), "none", alpha)


def _test(rule: Rule, alpha: float) -> MarginTest | tuple[WhyNot, str]:
    """The test of one reading, or why there is none."""
    reading, margin = rule.reading, rule.margin.value
    if reading.why_not or not reading.pairs:
        return WhyNot.UNCHECKED, reading.why_not or reading.unchecked or "no clip has a value in both runs"
    if margin is None:
        return WhyNot.NO_MARGIN, f"no margin: {rule.margin.note}"
    changes = reading.pairs.moved
    if reading.is_flag:
        rose, fell = (int(np.count_nonzero(side)) for side in (changes > 0, changes < 0))
        return flag_test(rose, fell, len(changes), margin=float(margin))
    if len(changes) > 1:
        return paired_test(changes, margin=float(margin), alpha=alpha)
    return _one_number(reading, reading.pairs[0], float(margin), alpha)


def _one_number(reading: GateReading, pair: Change, margin: float, alpha: float) -> MarginTest | tuple[WhyNot, str]:
    """A set's number, or a single clip's: by the spread of the repeats, else by the numbers' own intervals."""
    if not pair.moved:
        return paired_test([0.0], margin=margin, alpha=alpha)
    if len(reading.repeats) == 1:
        value = float(pair.second.stored_value or 0)
        return prediction_test(value, reading.repeats[0], margin=margin, alpha=alpha)
    one, other = pair.first.interval, pair.second.interval
    if one is None or other is None:
        why = (
            "one number in each run and no interval: the uncertainty of the difference needs repeats "
            f"({option('--repeat RUN', 'repeats=[…]')})"
        )
        return WhyNot.NO_INTERVAL, why
    return interval_test(one, other, pair.moved, margin=margin)


def _beyond(test: MarginTest, side: Side) -> float:
    """p of a change beyond the margin to this side."""
    return {"above": test.above, "below": test.below, "either": min(1.0, 2 * min(test.above, test.below))}[side]


def _outcome(rule: Rule, test: MarginTest, p: float, alpha: float) -> tuple[Outcome, WhyNot | None, bool]:
    """What the test says, why that is no verdict, and whether the gate holds."""
    metric = rule.reading.definition
    if p <= alpha:
        if rule.gated and (rule.side != "either" or _is_loss(rule, test)):
            return Outcome.WORSE, None, False
        return Outcome.MOVED, WhyNot.NO_DIRECTION if metric.better == "neither" else WhyNot.OTHER_CAUSES, False
    if rule.gated and rule.reading.unchecked:
        return Outcome.CANNOT_TELL, WhyNot.UNCHECKED, False
    if test.unchanged or test.same <= alpha:
        return Outcome.SAME, None, True
    kept = {"above": test.not_above, "below": test.not_below, "either": 1.0}[rule.side]
    holds = rule.gated and kept <= alpha
    gain = test.above if rule.side == "below" else test.below
    if holds and gain <= alpha and metric.verdict(rose=rule.side == "below") == "better":
        return Outcome.BETTER, None, True
    return Outcome.CANNOT_TELL, WhyNot.NOT_SIGNIFICANT, holds


def _is_loss(rule: Rule, test: MarginTest) -> bool:
    """Whether it went to the side that its definition calls worse: a metric that was named counts."""
    return loss_side(rule.reading.definition) == ("above" if test.difference > 0 else "below")


def _untested(rule: Rule, why: WhyNot, said: str) -> MetricGate:
    metric, at = rule.reading.definition, rule.reading.at
    beyond = of(BEYOND_P, metric, margin="none", test="none", side=rule.side, adjust="none")
    same = of(SAME_P, metric, margin="none", test="none")
    difference, p, same_p = (
        Measurement.missing(number, said, at=at) for number in (of(MEAN_DIFFERENCE, metric), beyond, same)
    )
    numbers = {"difference": difference, "p": p, "adjusted_p": p, "same_p": same_p}
    return _answer(rule, Outcome.CANNOT_TELL, why, holds=False, sentence=said, **numbers)


def _gate(rule: Rule, test: MarginTest, p: float, adjust: str, alpha: float) -> MetricGate:
    metric, margin = rule.reading.definition, _margin(rule)
    outcome, why, holds = _outcome(rule, test, p, alpha)
    side: Side = rule.side if rule.gated else "either"
    beyond = of(BEYOND_P, metric, margin=margin, test=test.method, side=side, adjust="none")
    is_open = rule.gated and outcome is Outcome.CANNOT_TELL and not holds
    power, clips = _plan(rule, test, alpha) if is_open else (None, ())
    made = _answer(
        rule,
        outcome,
        why,
        holds=holds,
        sentence="",
        difference=_difference(rule, test),
        p=_p(beyond, _beyond(test, side), test, rule),
        adjusted_p=_p(beyond.with_params(adjust=adjust), p, test, rule),
        same_p=_p(of(SAME_P, metric, margin=margin, test=test.method), test.same, test, rule),
        power=power,
        clips=clips,
        worst=_worst(rule) if rule.gated and not holds else (),
    )
    return replace(made, sentence=_sentence(made, rule, test))


def _answer(rule: Rule, outcome: Outcome, why: WhyNot | None, **numbers: Any) -> MetricGate:
    return MetricGate(
        reading=rule.reading.sample,
        first="baseline",
        second="candidate",
        label=rule.reading.label,
        gated=rule.gated,
        judges=rule.judges,
        side=rule.side,
        noise=rule.noise,
        margin=rule.margin,
        outcome=outcome,
        why=why,
        **numbers,
    )


def _margin(rule: Rule) -> float:
    return stored_float(float(rule.margin.value or 0))


def _difference(rule: Rule, test: MarginTest) -> Measurement:
    definition = of(MEAN_DIFFERENCE, rule.reading.definition)
    if test.method == PREDICTION:
        definition = definition.add_params(first=f"mean-of-{rule.reading.runs}-runs")
    note = "no clip changed" if test.unchanged else "" if test.interval else f"no interval: {test.method} is exact"
    return Measurement(
        definition=definition,
        value=test.difference,
        count=test.count,
        note=note,
        at=rule.reading.at,
        interval=test.interval,
    )


def _p(definition: Definition, p: float, test: MarginTest, rule: Rule) -> Measurement:
    value = None if test.unchanged else p
    return number_or_why(definition, value, count=test.count, why="no clip changed", at=rule.reading.at)


def _plan(rule: Rule, test: MarginTest, alpha: float) -> tuple[Measurement | None, tuple[Measurement, ...]]:
    """Power of the clips there are, and how many would tell; nothing where there is no spread to plan with."""
    if test.sd is None:
        return None, ()
    metric, margin, either = rule.reading.definition, _margin(rule), rule.side == "either"
    claim, at = "same" if either else "not-worse", rule.reading.at
    if either:
        value = same_power(0.0, sd=test.sd, clips=test.count, margin=margin, alpha=alpha)
    else:
        value = beyond_power(margin, sd=test.sd, clips=test.count, margin=0.0, alpha=alpha)
    power = of(POWER, metric, alpha=alpha, claim=claim, margin=margin)
    needed = of(CLIPS_TO_TELL, metric, alpha=alpha, claim=claim, margin=margin, power=PLANNED_POWER)
    seen = -test.difference if rule.side == "below" else test.difference
    clips = []
    for assumed, loss in (("no change", 0.0), ("the mean as seen", seen)):
        n = clips_to_tell(loss, sd=test.sd, margin=margin, alpha=alpha, power=PLANNED_POWER, either=either)
        why = f"more than {MOST_CLIPS} clips: the loss is as large as the margin"
        clips.append(number_or_why(needed, n, count=test.count, why=why, at=at | {"assumed": assumed}))
    return Measurement(definition=power, value=value, count=test.count, at=at), tuple(clips)


def _worst(rule: Rule) -> tuple[Change, ...]:
    """The clips with the largest losses; where either side counts, with the largest changes."""
    pairs = rule.reading.pairs
    if pairs is None:
        return ()
    moved = pairs.moved
    losses = {"below": -moved, "above": moved, "either": np.abs(moved)}[rule.side]
    order = np.argsort(-losses, kind="stable")
    return tuple(pairs[int(place)] for place in order[losses[order] > 0][:_WORST])


def _sentence(gate: MetricGate, rule: Rule, test: MarginTest) -> str:
    """The sentence after the verdict: what moved, against which margin, and what would tell where nothing does."""
    unit = "" if rule.reading.definition.unit == "1" else f" {rule.reading.definition.unit}"
    if gate.verdict == "cannot tell" and rule.gated and rule.reading.unchecked:
        return rule.reading.unchecked
    if test.unchanged:
        return "no clip changed" if test.count > 1 else "it did not change"
    margin = float(rule.margin.value or 0)
    moved = f"{test.difference:+.4g}{unit}{_interval_text(gate.difference)}"
    if margin == 0 and rule.margin.definition.param("rule") != "given":
        return f"{moved}; {_no_noise(gate)}"
    words = {
        "same": f"{moved} lies inside ±{margin:.4g}",
        "better": f"{moved} is a gain beyond {margin:.4g}",
        "not worse": f"{moved}: no loss beyond {margin:.4g}",
        "worse": f"{moved} is a loss beyond {margin:.4g}{_p_text(gate.beyond_p)}",
        "moved": f"{moved} is beyond ±{margin:.4g}{_p_text(gate.beyond_p)}",
        "cannot tell": f"{moved} is neither clearly inside {margin:.4g} nor clearly beyond it{_plan_text(gate)}",
    }
    return words[gate.verdict]


def _interval_text(difference: Measurement) -> str:
    found = difference.interval
    if found is None:
        return ""
    return f" ({100 * found.level:.4g} % interval {found.low:+.4g} to {found.high:+.4g})"


def _p_text(p: Measurement) -> str:
    if p.value is None:
        return ""
    shown = f"p {p.value:.2g}" if p.value >= 0.0001 else "p < 0.0001"
    family = str(p.definition.param("adjust")).removeprefix("holm-")
    return f", {shown}" + (f" after Holm over {family}" if family.isdecimal() and family != "1" else "")


def _no_noise(gate: MetricGate) -> str:
    real = "the baseline's runs do not differ, so every difference is real"
    if gate.verdict == "cannot tell":
        return (
            f"{real}, but its mean is not significantly different from 0; say how large a change you would accept "
            f"({option('--metric NAME:MARGIN', 'metrics={name: margin}')})"
        )
    if gate.verdict == "worse":
        return (
            f"{real}{_p_text(gate.beyond_p)}; {option('--metric NAME:MARGIN', 'metrics={name: margin}')} would let "
            "some of it through"
        )
    return real


def _plan_text(gate: MetricGate) -> str:
    """ "; if nothing changed, 8 clips show it with a power of 0.42, 24 with 0.9; if the mean is as seen, 160 would"."""
    if gate.power is None or not gate.clips:
        return ""
    clips = gate.power.count
    still, seen = gate.clips
    parts = [f"if nothing changed, {clips} clips show it with a power of {gate.power.value:.2f}"]
    if still.value is not None:
        parts[0] += f", {still.value} with 0.9"
    parts.append(
        "if the mean is as seen, " + (f"{seen.value} would tell" if seen.value else "no number of clips would show it")
    )
    return "; " + "; ".join(parts)
