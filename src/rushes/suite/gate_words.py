"""Why a gate answers as it does, in one sentence."""

from __future__ import annotations

from rushes.core import Measurement
from rushes.paired.equivalence import MarginTest
from rushes.suite.gate_report import MetricGate
from rushes.suite.gate_rules import Rule


def reason(gate: MetricGate, rule: Rule, test: MarginTest) -> str:
    """The sentence after the verdict: what moved, against which margin, and what would tell where nothing does."""
    unit = "" if rule.reading.definition.unit == "1" else f" {rule.reading.definition.unit}"
    if gate.verdict == "cannot tell" and rule.gated and rule.reading.unchecked:
        return rule.reading.unchecked
    if test.unchanged:
        return "no clip changed" if test.count > 1 else "it did not change"
    margin = float(rule.margin.value or 0)
    moved = f"{test.difference:+.4g}{unit}{_interval(gate.difference)}"
    if margin == 0 and rule.margin.definition.param("rule") != "given":
        return f"{moved}; {_no_noise(gate)}"
    words = {
        "same": f"{moved} lies inside ±{margin:.4g}",
        "better": f"{moved} is a gain beyond {margin:.4g}",
        "not worse": f"{moved}: no loss beyond {margin:.4g}",
        "worse": f"{moved} is a loss beyond {margin:.4g}{_p(gate.beyond_p)}",
        "moved": f"{moved} is beyond ±{margin:.4g}{_p(gate.beyond_p)}",
        "cannot tell": f"{moved} is neither surely inside {margin:.4g} nor surely beyond it{_plan(gate)}",
    }
    return words[gate.verdict]


def _interval(difference: Measurement) -> str:
    found = difference.interval
    if found is None:
        return ""
    return f" ({100 * found.level:.4g} % interval {found.low:+.4g} to {found.high:+.4g})"


def _p(p: Measurement) -> str:
    if p.value is None:
        return ""
    shown = f"p {p.value:.2g}" if p.value >= 0.0001 else "p < 0.0001"
    family = str(p.definition.param("adjust")).removeprefix("holm-")
    return f", {shown}" + (f" after Holm over {family}" if family.isdecimal() and family != "1" else "")


def _no_noise(gate: MetricGate) -> str:
    real = "the baseline's runs do not differ, so every difference is real"
    if gate.verdict == "cannot tell":
        return f"{real}, but its mean is not told from 0; say how much you would let through (--metric NAME:MARGIN)"
    if gate.verdict == "worse":
        return f"{real}{_p(gate.beyond_p)}; --metric NAME:MARGIN would let some of it through"
    return real


def _plan(gate: MetricGate) -> str:
    """ "; if nothing changed, 8 clips show it with a power of 0.42, 24 with 0.9; if the mean is as seen, 160 would"."""
    if gate.power is None or not gate.clips:
        return ""
    clips = gate.power.count
    still, seen = gate.clips
    parts = [f"if nothing changed, {clips} clips show it with a power of {gate.power.value:.2f}"]
    if still.value is not None:
        parts[0] += f", {still.value} with 0.9"
    parts.append(
        "if the mean is as seen, " + (f"{seen.value} would tell" if seen.value else "no number of clips tells")
    )
    return "; " + "; ".join(parts)
