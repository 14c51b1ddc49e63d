"""Numbers that a board adds to those of the runs: means over shared prompts, and shares of badges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rushes.core import Definition, Interval, Measurement
from rushes.core.measurement import At
from rushes.paired.definitions import BADGE_SHARE
from rushes.paired.statistics import LEVEL, mean_interval
from rushes.preference.statistics.intervals import wilson

OVER = "shared-prompts"
"""`over` in a mean's signature: the prompts for which every system that has the reading has a value."""
WILSON = "wilson"

DEFINITIONS = (BADGE_SHARE,)


def over_prompts(definition: Definition, *, binary: bool = False) -> Definition:
    """What the mean of a reading over shared prompts is called.

    >>> over_prompts(BADGE_SHARE.with_params(profile="p", tier=0, input="raw")).signature
    'badge_share|aggregate:mean|input:raw|over:shared-prompts|profile:p|tier:0|v:1'
    """
    named = replace(
        definition.add_params(aggregate="mean", over=OVER),
        places=(),
        summary=f"Mean over the prompts that all systems share: {definition.summary}",
        formula=f"mean over prompts with a value for every system that has the reading, of: {definition.formula}",
        edge_cases="No prompt is shared: None. The interval is Student's t over prompts, of a true/false reading "
        "Wilson's; none where there is one prompt, or all values are equal.",
    )
    return replace(named, unit="ratio", lowest=0, highest=1) if binary else named


def mean_over_prompts(values: Sequence[Measurement], *, left_out: int, at: At = ()) -> Measurement:
    """The mean of one system over the shared prompts, with its 95 % interval.

    Formula     Σ value / n; interval mean ± t(n − 1, .975) · s / √n, of a true/false reading Wilson's
    Unit        the reading's own; a share for a true/false reading
    Inputs      the values of the shared prompts in order, one signature; `left_out` prompts are not shared
    Edge cases  one prompt, or equal values: no interval, and the note says why
    """
    numbers = [float(m.value) for m in values if m.value is not None]
    is_binary = all(isinstance(m.value, bool) for m in values)
    definition = over_prompts(values[0].definition, binary=is_binary)
    left = f"{left_out} of {left_out + len(values)} prompts left out: not every system has a value" if left_out else ""
    if is_binary:
        interval, why = _wilson(sum(numbers), len(numbers)), ""
    else:
        interval, why = mean_interval(numbers, noun="values")
    return Measurement(
        definition=definition,
        value=math.fsum(numbers) / len(numbers),
        count=len(numbers),
        note="; ".join(filter(None, (left, why and f"no interval: {why}"))),
        at=at,
        interval=interval,
    )


def _wilson(successes: float, trials: int) -> Interval | None:
    bounds = wilson(successes, trials, confidence=LEVEL)
    return bounds.as_interval(LEVEL, WILSON)
