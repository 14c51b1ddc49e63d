"""The common form of a clip, measured in the same pass as the clip itself.

Measured are the metrics whose values depend on frame size, rate or length and that look at the picture alone. Faces and
sound are measured on the clip as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rushes.core import Measurement
from rushes.core.alike_form import FIXED_FACTS, AlikeForm
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.flow.observer import MotionWatch
from rushes.instruments.clip.frames.guarded import GuardedCollector, measured
from rushes.instruments.clip.frames.observe import LumaWalk, Observation
from rushes.instruments.clip.frames.picture_samples import SampleWatch
from rushes.instruments.clip.frames.small_pictures import SmallWatch
from rushes.instruments.clip.input_param import in_form
from rushes.media import Frame, MediaFacts
from rushes.media.alike.frames import AlikeFrame, AlikeFrames
from rushes.media.frames import ReadAccount

_NOT_PICTURE = frozenset({"sound", "levels", "face", "syncnet", "text"})


def alike_metrics(metrics: Mapping[str, ClipMetric]) -> dict[str, ClipMetric]:
    """Those of these metrics that are measured in a common form too."""
    return {
        name: metric
        for name, metric in metrics.items()
        if not metric.needs & _NOT_PICTURE and not set(FIXED_FACTS).isdisjoint(metric.definition.depends_on)
    }


class AlikeWatch:
    """Follows one clip and measures its common form."""

    def __init__(self, form: AlikeForm, metrics: Mapping[str, ClipMetric]) -> None:
        self._form = form
        self._metrics = alike_metrics(metrics)
        self._frames: AlikeFrames | None = None
        self._facts: MediaFacts | None = None
        self._why = ""
        self._walk = LumaWalk()
        self._motion: MotionWatch | None = None
        self._samples: SampleWatch | None = None
        self._small: SmallWatch | None = None
        self._collectors: dict[str, GuardedCollector] = {}

    def start(self, facts: MediaFacts) -> None:
        self._why = self._form.why_not(facts)
        if self._why:
            return
        self._facts = self._form.facts(facts)
        self._frames = AlikeFrames(self._form, facts)
        moves = any("motion" in metric.needs for metric in self._metrics.values())
        self._motion = MotionWatch(self._facts) if moves else None
        self._samples = SampleWatch() if any("samples" in metric.needs for metric in self._metrics.values()) else None
        self._small = SmallWatch() if any("small" in metric.needs for metric in self._metrics.values()) else None
        self._collectors = {
            name: GuardedCollector(metric, self._facts)
            for name, metric in self._metrics.items()
            if metric.start is not None
        }

    def add(self, frame: Frame) -> None:
        if self._frames is not None and not self._frames.is_whole:
            self._take(self._frames.add(frame))

    def _take(self, frames: Iterable[AlikeFrame]) -> None:
        for frame in frames:
            self._walk.add(frame)
            if self._motion is not None:
                self._motion.add(frame)
            if self._samples is not None:
                self._samples.add(frame)
            if self._small is not None:
                self._small.add(frame)
            for collector in self._collectors.values():
                collector.add(frame)

    def measurements(self, seen: Observation) -> tuple[Measurement, ...]:
        """A value per metric; where the clip has no such form, none of them has one, and the note says why."""
        form = self._form
        why = seen.error or self._why or form.too_slow(seen.fps) or form.too_short(seen.measured_duration_ms)
        if why or self._frames is None:
            found = [metric.missing(why) for metric in self._metrics.values()]
        else:
            self._take(self._frames.finish())
            observed = self._observation()
            found = [self._measured(name, metric, observed) for name, metric in self._metrics.items()]
        return tuple(in_form(m, form.label) for m in found)

    def _observation(self) -> Observation:
        """What was seen of the form: a clip without sound and without damage, as if it were a file of its own."""
        assert self._facts is not None and self._facts.video is not None
        read = ReadAccount(facts=self._facts, measured_duration_ms=self._facts.video.duration_ms)
        motion = None if self._motion is None else self._motion.finish()
        seen = replace(
            self._walk.observation(read, ""),
            samples="" if self._samples is None else self._samples.finish(),
            small="" if self._small is None else self._small.finish(),
        )
        return replace(seen, motion_missing=motion) if isinstance(motion, str) else replace(seen, motion=motion)

    def _measured(self, name: str, metric: ClipMetric, observed: Observation) -> Measurement:
        if name in self._collectors:
            return self._collectors[name].finish(taken=())[0]
        return measured(name, metric, observed)
