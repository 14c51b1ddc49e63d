"""Two systems on one metric, over the prompts that both answered: the difference, how sure it is, and who won where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.paired.definitions import SIGN_FLIP, SYSTEM_DIFFERENCE, of
from rushes.paired.sign_flip import sign_flip_p
from rushes.paired.statistics import LEVEL, exact_interval, mean_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPair:
    """What a contrast is made from."""

    first: str
    second: str
    differences: Floats
    """First − second as stored, by prompt; NaN where a prompt is left out."""
    note: str = ""
    """Which prompts were left out, and why; required where all were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedContrast:
    """Two systems on one metric."""

    difference: Measurement
    p: Measurement
    higher: int
    """Prompts on which the first system's value is the higher one."""
    equal: int
    lower: int


def paired_contrasts(
    metric: Definition, pairs: Sequence[SystemPair], *, at: At = (), binary: bool = False, level: float = LEVEL
) -> list[PairedContrast]:
    """Every pair's mean difference with its interval, its p and its counts.

    Formula     see the definitions: `rushes metrics system_mean_difference`, `rushes metrics sign_flip_p`
    Inputs      `at`: what the metric itself is about; `binary`: whether it is true or false
    Edge cases  no prompt left: no value, the note says why. A difference of 0 in 8 decimals is a tie
    """
    if not pairs:
        return []
    differences = [np.round(pair.differences, 8) for pair in pairs]
    p_values = sign_flip_p(np.nan_to_num(np.stack(differences)))
    mean, test = of(SYSTEM_DIFFERENCE, metric), of(SIGN_FLIP, metric)
    return [
        _contrast(mean, test, pair, found, float(p), place(metric, pair.first, pair.second, at), binary, level)
        for pair, found, p in zip(pairs, differences, p_values, strict=True)
    ]


def place(metric: Definition, first: str, second: str, at: At) -> At:
    """What a contrast is about: the two systems, the metric's name, and what the metric itself is about."""
    return tuple(({"metric": metric.name} | dict(at) | {"first": first, "second": second}).items())


def _contrast(
    mean: Definition, test: Definition, pair: SystemPair, found: Floats, p: float, at: At, binary: bool, level: float
) -> PairedContrast:
    kept = found[~np.isnan(found)]
    n, higher, lower = len(kept), int(np.sum(kept > 0)), int(np.sum(kept < 0))
    if n == 0:
        return PairedContrast(
            difference=Measurement.missing(mean, pair.note, at=at),
            p=Measurement.missing(test, pair.note, at=at),
            higher=0,
            equal=0,
            lower=0,
        )
    values = kept.tolist()
    if binary:
        interval, why = exact_interval(higher, lower, n, level=level)
    else:
        interval, why = mean_interval(values, level=level)
    note = "; ".join(part for part in (pair.note, why and f"no interval: {why}") if part)
    changed = higher + lower
    return PairedContrast(
        difference=Measurement(
            definition=mean, value=math.fsum(values) / n, count=n, note=note, at=at, interval=interval
        ),
        p=Measurement(definition=test, value=p, count=changed, note="" if changed else "no prompt differs", at=at),
        higher=higher,
        equal=n - changed,
        lower=lower,
    )
