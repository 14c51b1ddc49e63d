"""Metrics of other packages: what one raises, or returns wrongly, costs its own value alone."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from rushes.core import Measurement
from rushes.core.errors import DefinitionError
from rushes.core.machine.packages import FAULTS, failure, under_way
from rushes.core.metric import ClipMetric, Collector
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.input_param import names_input
from rushes.instruments.clip.metrics import METRICS
from rushes.media import Frame, MediaFacts
from rushes.media.alike.frames import AlikeFrame

Series = dict[str, np.ndarray]


class GuardedCollector:
    """A collector that sees no further frame once it has failed."""

    def __init__(self, metric: ClipMetric, facts: MediaFacts) -> None:
        assert metric.start is not None
        self._metric, self._name = metric, metric.definition.name
        self._collector: Collector | None = None
        self._failure = ""
        try:
            with under_way(self._name):
                self._collector = metric.start(facts)
        except FAULTS as error:
            self._failure = _note(metric, error)

    def add(self, frame: Frame | AlikeFrame) -> None:
        if self._collector is not None and not self._failure:
            try:
                with under_way(self._name):
                    self._collector.add(frame)
            except FAULTS as error:
                self._failure = _note(self._metric, error)

    def finish(self, taken: Container[str]) -> tuple[Measurement, Series]:
        """The value and its series, whose names must not be `taken`."""
        if self._collector is None or self._failure:
            return self._metric.failed(self._failure), {}
        try:
            with under_way(self._name):
                value, series = _checked(self._metric, self._collector.finish()), self._collector.series()
            return value, _checked_series(series, taken)
        except FAULTS as error:
            return self._metric.failed(_note(self._metric, error)), {}


def measured(name: str, metric: ClipMetric, seen: Observation) -> Measurement:
    """What a metric makes of what was seen."""
    assert metric.measure is not None
    if METRICS.is_built_in(name):
        return metric.measure(seen)
    try:
        with under_way(name):
            return _checked(metric, metric.measure(seen))
    except FAULTS as error:
        return metric.failed(_note(metric, error))


def _checked(metric: ClipMetric, value: object) -> Measurement:
    name = metric.definition.name
    if not isinstance(value, Measurement) or value.name != name:
        came = f"one of {value.name}" if isinstance(value, Measurement) else type(value).__name__
        raise DefinitionError(f"expected a Measurement of {name}; got {came}")
    if names_input(value.definition):
        raise DefinitionError("`input` is set by Rushes for every clip metric; rename it")
    return value


def _checked_series(series: object, taken: Container[str]) -> Series:
    if not isinstance(series, Mapping):
        raise DefinitionError(f"expected series as a mapping of names to arrays; got {type(series).__name__}")
    arrays = {str(name): np.asarray(values) for name, values in series.items()}
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf":
            raise DefinitionError(f"the series {name!r} holds no numbers")
        if name in taken or not name.isidentifier():
            raise DefinitionError(f"the series {name!r} needs its own name")
    return {name: values.astype(np.float64) for name, values in arrays.items()}


def _note(metric: ClipMetric, error: BaseException) -> str:
    return failure(metric.definition.name, error)
