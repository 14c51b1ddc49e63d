"""`rushes clip` on videos in memory: every metric of single clips that needs no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.clip.input_param import with_input
from rushes.instruments.clip.measure import measure_array
from rushes.instruments.clip.settings import ClipSettings
from rushes.instruments.clip.signals.profile import Profile
from rushes.integrations.loop.rows import Row, RowMetric, as_stored
from rushes.media.array_reader import frame_rate
from rushes.media.video_arrays import ValueRange, video_arrays
from rushes.stats.means import clip_means

if TYPE_CHECKING:
    from rushes.instruments.clip.faces.models import Tier


class Clip(RowMetric):
    """Sharpness, flicker, freezes and the other metrics of `rushes clip`, on videos in memory.

    `profile`, `tier`, `metrics`, `motion` and `face_model` are those of `rushes.evaluate_clip`; tier 2 is not offered
    (SyncNet holds the picture against a sound, and arrays have none). A video is measured as a lossless RGB file of it
    would be, and gives the same bits; what needs sound has no value and says so.

    `compute` gives the mean of every metric over the clips, with Student's t interval (`aggregate:mean`);
    `compute().clips` has each clip's own numbers, and `.signals` its review signal.

        clips = rushes.Clip(metrics=["temporal_flickering"])
        clips.update(batch, layout="BTCHW", value_range="-1-1", fps=8)
        clips.compute()["flicker_score"].value
    """

    kind = "Clip"

    def __init__(
        self,
        *,
        profile: str | Path | Profile = "general",
        tier: Tier | None = None,
        metrics: Iterable[str] = (),
        motion: bool = False,
        face_model: Path | str | None = None,
    ) -> None:
        super().__init__()
        if tier == 2:
            raise InputError("tier 2 needs sound, which videos in memory do not have; use files")
        self._asked = ClipSettings.load(
            tier=tier, profile=profile, metrics=metrics, motion=motion, face_model=face_model
        )

    def update(
        self,
        videos: Any,
        *,
        layout: str,
        fps: Fraction | float,
        value_range: ValueRange | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """Measure these videos and keep their numbers.

        `videos`, `layout`, `value_range` and `names` are as in `rushes.FVD.update`: nothing is guessed. `fps` is their
        rate. Raises `InputError` for videos that are not as declared; then none is counted.
        """
        rate = frame_rate(fps)
        given = video_arrays(videos, layout=layout, value_range=value_range, names=names)
        rows = []
        for video in given:
            digest = video.digest()
            found = measure_array(video, self._asked, fps=rate, sha256=digest)
            rows.append(
                Row(
                    name=video.name,
                    digest=digest,
                    measurements=tuple(map(as_stored, found.measurements)),
                    signal=found.badge,
                )
            )
        self._take(rows)

    def _settings(self) -> Mapping[str, object]:
        signatures = {name: metric.definition.signature for name, metric in self._asked.metrics.items()}
        return self._asked.as_dict() | {"definitions": signatures}

    def _numbers(self, rows: Sequence[Row]) -> tuple[Measurement, ...]:
        columns: Iterable[Sequence[Measurement]] = zip(*(row.measurements for row in rows), strict=True)
        if not rows:
            columns = [
                [with_input(metric.missing("no clip was given"), "raw")] for metric in self._asked.metrics.values()
            ]
        return tuple(as_stored(number) for column in columns for number in clip_means(column))

    def _readings(self, numbers: Sequence[Measurement]) -> Mapping[str, Measurement]:
        return dict(zip(self._asked.metrics, numbers, strict=True))
