"""What looks at the frames of one clip in the one pass, and every value that comes of it.

What a metric of another package raises, or returns wrongly, costs its own value alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rushes.core import Measurement
from rushes.core.errors import DefinitionError
from rushes.core.metric import ClipMetric, Collector
from rushes.instruments.clip.faces.models import FaceWatch
from rushes.instruments.clip.flow.observer import MotionWatch
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.input_param import names_input, with_input
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.settings import ClipSettings
from rushes.media import Frame, MediaFacts

if TYPE_CHECKING:
    from rushes.instruments.clip.networks.prompts import ClipPrompt
    from rushes.instruments.clip.networks.watch import NetworkWatch


class ClipWatch:
    """What looks at the frames of one clip beside the shared sums: faces, and collectors of other packages."""

    def __init__(self, settings: ClipSettings, prompt: ClipPrompt | None = None) -> None:
        self._settings, self._prompt = settings, prompt
        self._faces: FaceWatch | None = None
        self._motion: MotionWatch | None = None
        self._collectors: dict[str, GuardedCollector] = {}
        self._networks: dict[str, NetworkWatch] = {}

    def start(self, facts: MediaFacts) -> Callable[[Frame], None] | None:
        metrics = self._settings.metrics
        self._collectors = {name: GuardedCollector(m, facts) for name, m in metrics.items() if m.start is not None}
        self._faces = None if self._settings.faces is None else FaceWatch(self._settings.faces)
        self._motion = MotionWatch(facts) if self._settings.motion else None
        self._networks = self._network_watches()
        watches = self._collectors or self._networks or self._faces is not None or self._motion is not None
        return self._add if watches else None

    def _network_watches(self) -> dict[str, NetworkWatch]:
        if not self._settings.networks:
            return {}
        from rushes.instruments.clip.networks.prompts import ClipPrompt
        from rushes.instruments.clip.networks.watch import NetworkWatch

        return {one.name: NetworkWatch(one, self._prompt or ClipPrompt()) for one in self._settings.networks}

    def _add(self, frame: Frame) -> None:
        if self._faces is not None:
            self._faces.add(frame)
        if self._motion is not None:
            self._motion.add(frame)
        if self._networks:
            self._show_networks(frame)
        for collector in self._collectors.values():
            collector.add(frame)

    def _show_networks(self, frame: Frame) -> None:
        from rushes.instruments.clip.networks.watch import SharedFrame

        shared = SharedFrame(frame)
        for network in self._networks.values():
            network.add(shared)

    def finish(self, file: str, seen: Observation) -> Observation:
        """What was seen, with motion, faces and what networks saw."""
        if self._networks and seen.frames:
            seen = replace(seen, networks={name: network.finish() for name, network in self._networks.items()})
        if self._settings.motion:
            motion = self._motion.finish() if self._motion is not None else seen.error
            seen = replace(seen, motion_missing=motion) if isinstance(motion, str) else replace(seen, motion=motion)
        settings = self._settings.faces
        if settings is None:
            return seen
        if self._faces is None:  # the clip did not open
            return replace(seen, faces_missing=seen.error)
        face = self._faces.finish(file, seen)
        return replace(seen, faces_missing=face) if isinstance(face, str) else replace(seen, faces=face)

    def measurements(self, seen: Observation) -> tuple[dict[str, Measurement], dict[str, np.ndarray]]:
        """A value per metric, by its name in the registry, and the series of all."""
        series: dict[str, np.ndarray] = dict(seen.series())
        values: dict[str, Measurement] = {}
        for name, metric in self._settings.metrics.items():
            if why := _lacking(metric, seen):
                values[name] = metric.missing(why)
            elif name in self._collectors:
                values[name], own = self._collectors[name].finish(taken=series)
                series |= own
            elif metric.measure is not None and METRICS.is_built_in(name):
                values[name] = metric.measure(seen)
            else:
                values[name] = guarded_measure(metric, seen)
        for one in self._settings.network_metrics.values():
            series |= one.series(seen)
        return {name: with_input(value, self._settings.input) for name, value in values.items()}, series


def _lacking(metric: ClipMetric, seen: Observation) -> str:
    """Why a metric cannot even begin; "" where it can."""
    if metric.start is not None and not seen.frames:
        return seen.error or "no frame could be decoded"
    if "face" in metric.needs and seen.faces is None:
        return seen.faces_missing
    return seen.faces.syncnet_missing if "syncnet" in metric.needs and seen.faces is not None else ""


_FAULTS = (Exception, SystemExit)
_LONGEST = 300
"""Letters of a note about a failure."""

Series = dict[str, np.ndarray]


class GuardedCollector:
    """A collector that sees no further frame once it has failed."""

    def __init__(self, metric: ClipMetric, facts: MediaFacts) -> None:
        assert metric.start is not None
        self._metric = metric
        self._collector: Collector | None = None
        self._failure = ""
        try:
            self._collector = metric.start(facts)
        except _FAULTS as error:
            self._failure = _note(metric, error)

    def add(self, frame: Frame) -> None:
        if self._collector is not None and not self._failure:
            try:
                self._collector.add(frame)
            except _FAULTS as error:
                self._failure = _note(self._metric, error)

    def finish(self, taken: Container[str]) -> tuple[Measurement, Series]:
        """The value and its series, whose names must not be `taken`."""
        if self._collector is None or self._failure:
            return self._metric.missing(self._failure), {}
        try:
            value = _checked(self._metric, self._collector.finish())
            return value, _checked_series(self._collector.series(), taken)
        except _FAULTS as error:
            return self._metric.missing(_note(self._metric, error)), {}


def guarded_measure(metric: ClipMetric, seen: Observation) -> Measurement:
    """What another package's metric makes of what was seen."""
    assert metric.measure is not None
    try:
        return _checked(metric, metric.measure(seen))
    except _FAULTS as error:
        return metric.missing(_note(metric, error))


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
            raise DefinitionError(f"the series {name!r} needs a name of its own")
    return {name: values.astype(np.float64) for name, values in arrays.items()}


def _note(metric: ClipMetric, error: BaseException) -> str:
    text = " ".join(f"{metric.definition.name} failed: {type(error).__name__}: {error}".split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
