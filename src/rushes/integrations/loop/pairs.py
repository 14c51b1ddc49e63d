"""`rushes fidelity` on videos in memory: PSNR, SSIM, LPIPS and the others against a reference."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.devices import Precision
from rushes.instruments.fidelity.pairs.frames import Pairing, with_pairing
from rushes.instruments.fidelity.settings import FidelitySettings
from rushes.integrations.loop.rows import Row, RowMetric, as_stored
from rushes.media.video_arrays import ValueRange, VideoArray, video_arrays
from rushes.stats.means import clip_means


class Fidelity(RowMetric):
    """Full-reference metrics between generated videos and their references, both in memory.

    `protocol`, `metrics`, `models`, `device` and `precision` are those of `rushes.evaluate_fidelity`. Frames are held
    against each other by index. `compute` gives the mean over the clips with Student's t interval, as the set of
    `rushes fidelity` has it; `compute().clips` has each clip's own numbers. What needs coded planes or sound has no
    value and says so.

        fidelity = rushes.Fidelity(protocol="wang2004")
        fidelity.update(generated, reference, layout="BTCHW", value_range="0-1")
        fidelity.compute()["psnr"].value
    """

    kind = "Fidelity"

    def __init__(
        self,
        protocol: str | Sequence[str] = (),
        *,
        metrics: str | Iterable[str] = (),
        models: Mapping[str, str | Path] | None = None,
        device: str = "cpu",
        precision: Precision | None = None,
    ) -> None:
        super().__init__()
        self._asked = FidelitySettings.load(
            protocol=protocol, metrics=metrics, pairing=Pairing(), models=models, device=device, precision=precision
        )

    def update(
        self,
        gen: Any,
        gt: Any,
        *,
        layout: str,
        value_range: ValueRange | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """Compare these videos with their references, one by one, and keep the numbers.

        `gen` and `gt` are as `videos` in `rushes.FVD.update`, in the same layout and range. Raises `InputError` where
        the two sides differ in number, length or size, or are not as declared; then none is counted.
        """
        ours = video_arrays(gen, layout=layout, value_range=value_range, names=names)
        theirs = video_arrays(gt, layout=layout, value_range=value_range, names=names)
        if len(ours) != len(theirs):
            raise InputError(f"expected a reference for each video; got {len(ours)} videos and {len(theirs)}")
        self._take(
            [self._row(one, other, number) for number, (one, other) in enumerate(zip(ours, theirs, strict=True))]
        )

    def _row(self, gen: VideoArray, gt: VideoArray, number: int) -> Row:
        if gen.values.shape != gt.values.shape:
            name = gen.name or f"video {number}"
            sizes = " against a reference of ".join(_shape(video) for video in (gen, gt))
            raise InputError(f"{name}: {sizes}; both need the same length and size")
        found = compare_arrays(
            gen.values,
            gt.values,
            metrics=self._asked.metrics,
            models=dict(self._asked.models),
            device=self._asked.device,
            precision=self._asked.precision,
        )
        digest = hashlib.sha256((gen.digest() + gt.digest()).encode()).hexdigest()
        return Row(name=gen.name, digest=digest, measurements=tuple(map(as_stored, found.values())))

    def _settings(self) -> Mapping[str, object]:
        return self._asked.as_dict()

    def _numbers(self, rows: Sequence[Row]) -> tuple[Measurement, ...]:
        numbers = [m for row in rows for m in row.measurements]
        if not rows:
            how = self._asked.pairing.params
            numbers = [with_pairing(m.missing("no pair of clips was given"), how) for m in self._asked.chosen.values()]
        return tuple(map(as_stored, clip_means(numbers)))


def _shape(video: VideoArray) -> str:
    frames, height, width = video.values.shape[:3]
    return f"{frames} frames of {width}×{height}"
