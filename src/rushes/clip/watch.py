"""What looks at the frames of one clip in the one pass, and every value that comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rushes.clip.collect import GuardedCollector, guarded_measure
from rushes.clip.faces import FaceWatch
from rushes.clip.flow import MotionWatch
from rushes.clip.inputs import with_input
from rushes.clip.metrics import METRICS
from rushes.clip.observe import Observation
from rushes.clip.settings import ClipSettings
from rushes.core import Measurement
from rushes.core.metric import ClipMetric
from rushes.media import Frame, MediaFacts

if TYPE_CHECKING:
    import numpy as np


class ClipWatch:
    """What looks at the frames of one clip beside the shared sums: faces, and collectors of other packages."""

    def __init__(self, settings: ClipSettings) -> None:
        self._settings = settings
        self._faces: FaceWatch | None = None
        self._motion: MotionWatch | None = None
        self._collectors: dict[str, GuardedCollector] = {}

    def start(self, facts: MediaFacts) -> Callable[[Frame], None] | None:
        metrics = self._settings.metrics
        self._collectors = {name: GuardedCollector(m, facts) for name, m in metrics.items() if m.start is not None}
        self._faces = None if self._settings.faces is None else FaceWatch(self._settings.faces)
        self._motion = MotionWatch(facts) if self._settings.motion else None
        watches = self._collectors or self._faces is not None or self._motion is not None
        return self._add if watches else None

    def _add(self, frame: Frame) -> None:
        if self._faces is not None:
            self._faces.add(frame)
        if self._motion is not None:
            self._motion.add(frame)
        for collector in self._collectors.values():
            collector.add(frame)

    def finish(self, file: str, seen: Observation) -> Observation:
        """What was seen, with motion and faces."""
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
        return {name: with_input(value, self._settings.input) for name, value in values.items()}, series


def _lacking(metric: ClipMetric, seen: Observation) -> str:
    """Why a metric cannot even begin; "" where it can."""
    if metric.start is not None and not seen.frames:
        return seen.error or "no frame could be decoded"
    if "face" in metric.needs and seen.faces is None:
        return seen.faces_missing
    return seen.faces.syncnet_missing if "syncnet" in metric.needs and seen.faces is not None else ""
