"""What a metric on unrated prompts adds to people's ratings, in a line per question."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.compare.board.page.columns import cell_digits, fixed
from rushes.compare.board.page.say_words import Line
from rushes.compare.board.powered import PoweredNumber, PoweredQuestion
from rushes.present.verdict.verdict import counted

_NAMED = 4
"""Systems that a line gives the mean of."""


def powered_lines(found: Sequence[PoweredQuestion]) -> list[Line]:
    """A line per question: means with their intervals, and how much narrower these are than of people alone."""
    return [_line(one) for one in found]


def _line(one: PoweredQuestion) -> Line:
    label, metric = one.question.label, one.metric.definition.name
    head = f"{label}, with {metric} on {counted(one.others, 'unrated prompt')}"
    widths = [float(number.width.value) for number in one.means.values() if number.width.value is not None]
    if not any(number.found.weight for number in one.means.values()):
        return Line(text=f"{head}: no narrower than raters alone.")
    means = [number.value for number in one.means.values()]
    digits = cell_digits(means)
    order = sorted(one.means, key=lambda name: -float(one.means[name].value.value or 0))[:_NAMED]
    shown = ", ".join(f"{name} {_mean(one.means[name], digits)}" for name in order)
    low, high = (round(100 * (1 - width)) for width in (max(widths), min(widths)))
    gain = f"{high} %" if low == high else f"{low} to {high} %"
    numbers = tuple(m for number in one.means.values() for m in number.measurements)
    return Line(text=f"{head}: {shown}. Intervals {gain} narrower than from raters alone.", numbers=numbers)


def _mean(number: PoweredNumber, digits: int) -> str:
    ends = number.value.interval
    beside = f" ({fixed(ends.low, digits)} to {fixed(ends.high, digits)})" if ends else ""
    return f"{fixed(float(number.value.value or 0), digits)}{beside}"
