"""The demo's sweep: a clip that is sharp until it is blurred, and the review signal that changes with it."""

from __future__ import annotations

import shutil
from pathlib import Path

from rushes.core.instrument import DemoPart
from rushes.instruments.robustness.evaluate import measure_robustness
from rushes.instruments.robustness.measure import SweepReport
from rushes.instruments.robustness.sweep.evaluate import sweep_clips

_AXES = {"brightness": [1.0, 0.7], "gaussian_blur": [0.0, 1.0, 2.0, 3.0]}


def run(folder: Path) -> DemoPart:
    """Sweep a sample clip over brightness and blur, and measure how stable its review signal is."""
    home = folder / "robustness"
    clip = _sample(home / "walker.mp4")
    shutil.rmtree(home / "sweep", ignore_errors=True)  # the demo's own, perhaps of another version
    sweep_clips(clip, axes=_AXES, out=home / "sweep")
    (report,) = measure_robustness(home / "sweep", run=home / "run", overwrite=True)
    sharp, soft = (_esi(report, blur) for blur in (0.0, 3.0))
    table = report.table()
    return DemoPart(
        title="Robustness: a sweep of one clip",
        run=home / "run",
        found=f"The review signal holds for {sharp:.0%} of the unblurred runs and for {soft:.0%} of those "
        "blurred by 3 pixels: it changes where the picture does.",
        header=table.header,
        rows=table.texts(),
        as_expected=(sharp, soft) == (1.0, 0.0),
    )


def _esi(report: SweepReport, blur: float) -> float:
    return float(report.one("esi", axis="gaussian_blur", value=blur).value or 0)


def _sample(path: Path) -> Path:
    """A second of somebody who walks: sharp, and always moving."""
    from rushes.media import write_clip
    from rushes.media.scenes import SCENES

    path.parent.mkdir(parents=True, exist_ok=True)
    return write_clip(path, SCENES["walker"].frames(25, width=256, height=160), fps=25)
