"""One pair of clips to its numbers: one decode of each, every observer fed on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from rushes.core import Measurement
from rushes.instruments.fidelity.metric import Observer, PairContext, PairMetric, Seen, Series
from rushes.instruments.fidelity.pairs.picture import FramePair

Result = TypeVar("Result")

_LONGEST = 300
"""Letters of a note about a failure."""


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
    for pair in pairs:
        for observer in observers.values():
            observer.add(pair)
    seen = {start: observer.finish() for start, observer in observers.items()}
    values = {name: metric.measurement(seen[metric.observe]) for name, metric in metrics.items()}
    series = {
        metric.series: seen[metric.observe].series[metric.series]
        for metric in metrics.values()
        if metric.series in seen[metric.observe].series
    }
    return Scored(measurements=values, series=series)


class _Guarded:
    """An observer whose failure costs its own values alone, where it is another package's."""

    def __init__(self, start: Callable[[PairContext], Observer], context: PairContext) -> None:
        self._ours = (start.__module__ or "").startswith("rushes.")
        self._failure = ""
        self._observer = self._tried(lambda: start(context))

    def add(self, pair: FramePair) -> None:
        if self._observer is not None and not self._failure:
            self._tried(partial(self._observer.add, pair))

    def finish(self) -> Seen:
        found = None if self._observer is None or self._failure else self._tried(self._observer.finish)
        return found or Seen(missing=self._failure)

    def _tried(self, step: Callable[[], Result]) -> Result | None:
        try:
            return step()
        except Exception as error:
            if self._ours:
                raise
            self._failure = f"the metric failed ({type(error).__name__}: {error})"[:_LONGEST]
            return None
