"""What looks at the frames of one clip in the one pass, and every value that comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rushes.core import Measurement
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.faces.models import FaceWatch
from rushes.instruments.clip.flow.observer import MotionWatch
from rushes.instruments.clip.frames.alike_watch import AlikeWatch
from rushes.instruments.clip.frames.guarded import GuardedCollector, measured
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.frames.picture_samples import SampleWatch
from rushes.instruments.clip.frames.small_pictures import SmallWatch
from rushes.instruments.clip.input_param import with_input
from rushes.instruments.clip.settings import ClipSettings
from rushes.media import Frame, MediaFacts

if TYPE_CHECKING:
    from rushes.instruments.clip.networks.prompts import ClipPrompt
    from rushes.instruments.clip.networks.watch import NetworkWatch
    from rushes.instruments.clip.seen.text_watch import TextWatch


class ClipWatch:
    """What looks at the frames of one clip beside the shared sums: faces, and collectors of other packages."""

    def __init__(self, settings: ClipSettings, prompt: ClipPrompt | None = None) -> None:
        self._settings, self._prompt = settings, prompt
        self._faces: FaceWatch | None = None
        self._motion: MotionWatch | None = None
        self._samples: SampleWatch | None = None
        self._small: SmallWatch | None = None
        self._text: TextWatch | None = None
        self._collectors: dict[str, GuardedCollector] = {}
        own = settings.network_metrics  # what a network sees is its own picture of the clip as it is
        shared = {name: metric for name, metric in settings.metrics.items() if name not in own}
        self._alike = None if settings.alike is None else AlikeWatch(settings.alike, shared)
        self._networks: dict[str, NetworkWatch] = {}

    def start(self, facts: MediaFacts) -> Callable[[Frame], None] | None:
        metrics = self._settings.metrics
        self._collectors = {name: GuardedCollector(m, facts) for name, m in metrics.items() if m.start is not None}
        self._faces = None if self._settings.faces is None else FaceWatch(self._settings.faces)
        self._motion = MotionWatch(facts) if self._settings.motion else None
        self._samples = SampleWatch() if any("samples" in metric.needs for metric in metrics.values()) else None
        self._small = SmallWatch() if any("small" in metric.needs for metric in metrics.values()) else None
        self._text = self._text_watch()
        if self._alike is not None:
            self._alike.start(facts)
        self._networks = self._network_watches()
        watching = (self._faces, self._motion, self._samples, self._small, self._text, self._alike)
        some = self._collectors or self._networks or any(one is not None for one in watching)
        return self._add if some else None

    def _text_watch(self) -> TextWatch | None:
        if not any("text" in metric.needs for metric in self._settings.metrics.values()):
            return None
        from rushes.instruments.clip.seen.text_watch import TextWatch

        return TextWatch()

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
        if self._samples is not None:
            self._samples.add(frame)
        if self._small is not None:
            self._small.add(frame)
        if self._text is not None:
            self._text.add(frame)
        if self._networks:
            self._show_networks(frame)
        for collector in self._collectors.values():
            collector.add(frame)
        if self._alike is not None:
            self._alike.add(frame)

    def _show_networks(self, frame: Frame) -> None:
        from rushes.instruments.clip.networks.watch import SharedFrame

        shared = SharedFrame(frame)
        for network in self._networks.values():
            network.add(shared)

    def finish(self, file: str, seen: Observation) -> Observation:
        """What was seen, with motion, faces and what networks saw."""
        if self._prompt is not None and self._prompt.script:
            seen = replace(seen, script=self._prompt.script)
        if self._networks and seen.frames:
            seen = replace(seen, networks={name: network.finish() for name, network in self._networks.items()})
        if self._prompt is not None:
            seen = replace(seen, prompt=self._prompt.text, prompt_missing=self._prompt.missing)
        if self._text is not None:
            seen = replace(seen, text=self._text.finish())
        if self._samples is not None:
            seen = replace(seen, samples=self._samples.finish())
        if self._small is not None:
            seen = replace(seen, small=self._small.finish())
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
            else:
                values[name] = measured(name, metric, seen)
        for one in self._settings.network_metrics.values():
            series |= one.series(seen)
        return {name: with_input(value, self._settings.input) for name, value in values.items()}, series

    def alike_measurements(self, seen: Observation) -> tuple[Measurement, ...]:
        """The values of the clip's common form, where one was asked for."""
        return () if self._alike is None else self._alike.measurements(seen)


def _lacking(metric: ClipMetric, seen: Observation) -> str:
    """Why a metric cannot even begin; "" where it can."""
    if metric.start is not None and not seen.frames:
        return seen.error or "no frame could be decoded"
    if "face" in metric.needs and seen.faces is None:
        return seen.faces_missing
    return seen.faces.syncnet_missing if "syncnet" in metric.needs and seen.faces is not None else ""
