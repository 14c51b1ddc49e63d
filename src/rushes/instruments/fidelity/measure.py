"""One pair of clips to its numbers: one decode of each, every observer fed on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from rushes.core import Measurement
from rushes.core.estimate import Why
from rushes.core.machine.packages import FAULTS, failure, is_ours
from rushes.instruments.fidelity.metric import Observer, PairContext, PairMetric, Seen, Series
from rushes.instruments.fidelity.pairs.picture import FramePair

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The numbers of one pair, by the metrics' names, and their series."""

    measurements: Mapping[str, Measurement]
    series: Mapping[str, Series] = field(default_factory=dict)


def score_frames(pairs: Iterable[FramePair], context: PairContext, metrics: Mapping[str, PairMetric]) -> Scored:
    """Show every pair of frames to the metrics' observers, each started once, and pool what they saw."""
    context = replace(context, asked=frozenset(metrics))
    starts = dict.fromkeys(metric.observe for metric in metrics.values())
    observers = {start: _Guarded(start, context) for start in starts}
    count = 0
    for pair in pairs:
        count += 1
        for observer in observers.values():
            observer.add(pair)
    seen = {start: observer.finish(count) for start, observer in observers.items()}
    values = {name: _measurement(metric, seen[metric.observe]) for name, metric in metrics.items()}
    series = {
        metric.series: seen[metric.observe].series[metric.series]
        for metric in metrics.values()
        if metric.series in seen[metric.observe].series
    }
    return Scored(measurements=values, series=series)


def _measurement(metric: PairMetric, seen: Seen) -> Measurement:
    """The value of the clip; a metric of another package that cannot pool what was seen has none."""
    if is_ours(metric.observe) and is_ours(metric.pool):
        return metric.measurement(seen)
    name = metric.definition.name
    try:
        found = metric.measurement(seen)
        if not isinstance(found, Measurement) or found.name != name:
            raise TypeError(f"expected a Measurement of {name}; got {type(found).__name__}")
    except FAULTS as error:
        return replace(metric.missing(failure(name, error)), why=Why.PACKAGE_FAILED)
    return replace(found, why=Why.PACKAGE_FAILED) if seen.failed else found


class _Guarded:
    """An observer whose failure costs its own values alone, where it is another package's."""

    def __init__(self, start: Callable[[PairContext], Observer], context: PairContext) -> None:
        self._ours = is_ours(start)
        self._name = getattr(start, "__qualname__", type(start).__name__)
        self._failure = ""
        self._observer = self._tried(lambda: start(context))

    def add(self, pair: FramePair) -> None:
        if self._observer is not None and not self._failure:
            self._tried(partial(self._observer.add, pair))

    def finish(self, count: int) -> Seen:
        """What was seen, of this many pairs of frames."""
        found = None if self._observer is None or self._failure else self._tried(partial(self._finished, count))
        return found or Seen(missing=self._failure, failed=True)

    def _finished(self, count: int) -> Seen:
        assert self._observer is not None
        seen = self._observer.finish()
        return seen if self._ours else _checked(seen, count)

    def _tried(self, step: Callable[[], Result]) -> Result | None:
        try:
            return step()
        except FAULTS as error:
            if self._ours:
                raise
            self._failure = failure(self._name, error)
            return None


def _checked(seen: object, count: int) -> Seen:
    """What an observer of another package gave, with arrays of numbers, one for each pair of frames."""
    if not isinstance(seen, Seen):
        raise TypeError(f"finish() gives a Seen; got {type(seen).__name__}")
    series = {name: np.asarray(values, dtype=np.float64) for name, values in seen.series.items()}
    for name, values in series.items():
        if values.shape != (count,):
            raise ValueError(f"the series {name!r} needs {count} values, one per pair of frames; got {values.shape}")
    return replace(seen, series=series)
