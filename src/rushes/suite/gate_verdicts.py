"""From rules to answers: the test of each reading, Holm over those gated on, and what would tell where nothing does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rushes.core import Definition, Measurement
from rushes.core.canonical import stored_float
from rushes.paired.definitions import MEAN_DIFFERENCE, of
from rushes.paired.equivalence import (
    PREDICTION,
    MarginTest,
    flag_test,
    interval_test,
    paired_test,
    prediction_test,
)
from rushes.paired.holm import holm
from rushes.paired.margin_definitions import BEYOND_P, CLIPS_TO_TELL, POWER, SAME_P, bound
from rushes.paired.power import MOST_CLIPS, beyond_power, clips_to_tell, same_power
from rushes.suite.gate_readings import ClipPair, GateReading
from rushes.suite.gate_report import GateVerdict, MetricGate
from rushes.suite.gate_rules import Rule, Side
from rushes.suite.gate_words import reason

PLANNED_POWER = 0.9
_WORST = 3


def gate_verdicts(rules: Sequence[Rule], alpha: float) -> Iterable[MetricGate]:
    """One answer per rule, in order."""
    tests = [_test(rule, alpha) for rule in rules]
    family = {i: test for i, test in enumerate(tests) if rules[i].gated and isinstance(test, MarginTest)}
    p_values = holm([_beyond(test, rules[i].side) for i, test in family.items()])
    adjusted = dict(zip(family, p_values, strict=True))
    for i, (rule, test) in enumerate(zip(rules, tests, strict=True)):
        if isinstance(test, str):
            yield _untested(rule, test)
        elif i in adjusted:
            yield _gate(rule, test, adjusted[i], f"holm-{len(family)}", alpha)
        else:
            yield _gate(rule, test, _beyond(test, "either"), "none", alpha)


def _test(rule: Rule, alpha: float) -> MarginTest | str:
    """The test of one reading, or why there is none."""
    reading, margin = rule.reading, rule.margin.value
    if reading.why_not or not reading.pairs:
        return reading.why_not or reading.unchecked or "no clip has a value in both runs"
    if margin is None:
        return f"no margin: {rule.margin.note}"
    changes = [pair.change for pair in reading.pairs]
    if reading.is_flag:
        return flag_test(sum(c > 0 for c in changes), sum(c < 0 for c in changes), len(changes), margin=float(margin))
    if len(changes) > 1:
        return paired_test(changes, margin=float(margin), alpha=alpha)
    return _one_number(reading, float(margin), alpha)


def _one_number(reading: GateReading, margin: float, alpha: float) -> MarginTest | str:
    """A set's number, or a single clip's: by the spread of the repeats, else by the numbers' own intervals."""
    (pair,) = reading.pairs
    if not pair.change:
        return paired_test([0.0], margin=margin, alpha=alpha)
    if len(reading.repeats) == 1:
        value = float(pair.candidate.stored_value or 0)
        return prediction_test(value, reading.repeats[0], margin=margin, alpha=alpha)
    one, other = pair.baseline.interval, pair.candidate.interval
    if one is None or other is None:
        return "one number in each run and no interval: how sure the difference is takes repeats (--repeat RUN)"
    return interval_test(one, other, pair.change, margin=margin)


def _beyond(test: MarginTest, side: Side) -> float:
    """p of a change beyond the margin to this side."""
    return {"above": test.above, "below": test.below, "either": min(1.0, 2 * min(test.above, test.below))}[side]


def _verdict(rule: Rule, test: MarginTest, p: float, alpha: float) -> GateVerdict:
    if p <= alpha:
        return "worse" if rule.gated and rule.side != "either" else "moved"
    if rule.gated and rule.reading.unchecked:
        return "cannot tell"
    if test.unchanged or test.same <= alpha:
        return "same"
    kept = {"above": test.not_above, "below": test.not_below, "either": 1.0}[rule.side]
    if not rule.gated or kept > alpha:
        return "cannot tell"
    gain = test.above if rule.side == "below" else test.below
    is_better = rule.reading.definition.verdict(rose=rule.side == "below") == "better"
    return "better" if is_better and gain <= alpha else "not worse"


def _untested(rule: Rule, why: str) -> MetricGate:
    metric, at = rule.reading.definition, _at(rule)
    beyond = bound(BEYOND_P, metric, margin="none", test="none", side=rule.side, adjust="none")
    return MetricGate(
        label=rule.reading.label,
        reading=rule.reading.sample,
        gated=rule.gated,
        side=rule.side,
        verdict="cannot tell",
        why=why,
        difference=Measurement.missing(of(MEAN_DIFFERENCE, metric), why, at=at),
        noise=rule.noise,
        margin=rule.margin,
        same_p=Measurement.missing(bound(SAME_P, metric, margin="none", test="none"), why, at=at),
        beyond_p=Measurement.missing(beyond, why, at=at),
    )


def _gate(rule: Rule, test: MarginTest, p: float, adjust: str, alpha: float) -> MetricGate:
    metric, verdict, margin = rule.reading.definition, _verdict(rule, test, p, alpha), _margin(rule)
    side: Side = rule.side if rule.gated else "either"
    beyond = bound(BEYOND_P, metric, margin=margin, test=test.method, side=side, adjust=adjust)
    power, clips = _plan(rule, test, alpha) if verdict == "cannot tell" and rule.gated else (None, ())
    made = MetricGate(
        label=rule.reading.label,
        reading=rule.reading.sample,
        gated=rule.gated,
        side=rule.side,
        verdict=verdict,
        why="",
        difference=_difference(rule, test),
        noise=rule.noise,
        margin=rule.margin,
        same_p=_p(bound(SAME_P, metric, margin=margin, test=test.method), test.same, test, rule),
        beyond_p=_p(beyond, p, test, rule),
        power=power,
        clips=clips,
        worst=_worst(rule) if rule.gated and verdict in ("worse", "moved", "cannot tell") else (),
    )
    return replace(made, why=reason(made, rule, test))


def _at(rule: Rule) -> dict[str, str]:
    return {"metric": rule.reading.sample.name} | rule.reading.sample.place


def _margin(rule: Rule) -> float:
    return stored_float(float(rule.margin.value or 0))


def _difference(rule: Rule, test: MarginTest) -> Measurement:
    definition = of(MEAN_DIFFERENCE, rule.reading.definition)
    if test.method == PREDICTION:
        definition = definition.add_params(first=f"mean-of-{rule.reading.runs}-runs")
    note = "no clip changed" if test.unchanged else "" if test.interval else f"no interval: {test.method} is exact"
    return Measurement(
        definition=definition, value=test.difference, count=test.count, note=note, at=_at(rule), interval=test.interval
    )


def _p(definition: Definition, p: float, test: MarginTest, rule: Rule) -> Measurement:
    if test.unchanged:
        return Measurement.missing(definition, "no clip changed", at=_at(rule))
    return Measurement(definition=definition, value=p, count=test.count, at=_at(rule))


def _plan(rule: Rule, test: MarginTest, alpha: float) -> tuple[Measurement | None, tuple[Measurement, ...]]:
    """Power of the clips there are, and how many would tell; nothing where there is no spread to plan with."""
    if test.sd is None:
        return None, ()
    metric, margin, either = rule.reading.definition, _margin(rule), rule.side == "either"
    claim, at = "same" if either else "not-worse", _at(rule)
    if either:
        value = same_power(0.0, sd=test.sd, clips=test.count, margin=margin, alpha=alpha)
    else:
        value = beyond_power(margin, sd=test.sd, clips=test.count, margin=0.0, alpha=alpha)
    power = bound(POWER, metric, alpha=alpha, claim=claim, margin=margin)
    needed = bound(CLIPS_TO_TELL, metric, alpha=alpha, claim=claim, margin=margin, power=PLANNED_POWER)
    seen = -test.difference if rule.side == "below" else test.difference
    clips = []
    for assumed, loss in (("no change", 0.0), ("the mean as seen", seen)):
        n = clips_to_tell(loss, sd=test.sd, margin=margin, alpha=alpha, power=PLANNED_POWER, either=either)
        place = at | {"assumed": assumed}
        why = f"more than {MOST_CLIPS} clips: the loss is as large as the margin"
        clips.append(
            Measurement.missing(needed, why, at=place)
            if n is None
            else Measurement(definition=needed, value=n, count=test.count, at=place)
        )
    return Measurement(definition=power, value=value, count=test.count, at=at), tuple(clips)


def _worst(rule: Rule) -> tuple[ClipPair, ...]:
    """The clips with the largest losses; where either side counts, with the largest changes."""
    losses = {"below": lambda c: -c, "above": lambda c: c, "either": abs}[rule.side]
    lost = [pair for pair in rule.reading.pairs if losses(pair.change) > 0]
    return tuple(sorted(lost, key=lambda pair: -losses(pair.change))[:_WORST])
