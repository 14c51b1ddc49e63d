"""The demo's sweep: a take that is sharp until it is blurred, and the badge that tips over with it."""

from __future__ import annotations

from pathlib import Path

from rushes.report.demo_part import DemoPart
from rushes.robustness import MetricsResult
from rushes.robustness.evaluate import SweepReport, measure_robustness
from rushes.robustness.sweep.evaluate import sweep_clips

_AXES = {"brightness": [1.0, 0.7], "gaussian_blur": [0.0, 1.0, 2.0, 3.0]}
_SHARP, _SOFT = "0p0", "3p0"


def run(folder: Path) -> DemoPart:
    """Sweep a sample take over brightness and blur, and measure how steady its badge is."""
    home = folder / "robustness"
    clip = _sample(home / "take.mp4")
    sweep_clips([clip], axes=_AXES, output=home / "sweep")
    (report,) = measure_robustness(home / "sweep", output=home / "run")
    scores = _scores(report, "gaussian_blur")
    return DemoPart(
        title="Robustness: a sweep of one take",
        run=home / "run",
        found=f"The badge holds for {scores[_SHARP]:.0%} of the unblurred runs and for {scores[_SOFT]:.0%} of those "
        "blurred by 3 pixels: the review signal tips over where the picture does.",
        header=("axis", "value", "ESI", "drift"),
        rows=[
            (metric.axis, value, f"{score:.4f}", f"{drift.value_scores[value]:.4f}")
            for metric, drift in zip(_metrics(report).esi, _metrics(report).drift, strict=True)
            for value, score in metric.value_scores.items()
        ],
        as_expected=scores[_SHARP] == 1.0 and scores[_SOFT] == 0.0,
    )


def _metrics(report: SweepReport) -> MetricsResult:
    assert report.metrics is not None  # our own sweeps have traces
    return report.metrics


def _scores(report: SweepReport, axis: str) -> dict[str, float]:
    return next(metric.value_scores for metric in _metrics(report).esi if metric.axis == axis)


def _sample(path: Path) -> Path:
    """A second of moving stripes with fine texture: far above the blur threshold, and alive."""
    import numpy as np

    from rushes.media import write_clip

    path.parent.mkdir(parents=True, exist_ok=True)
    rows, columns = np.mgrid[0:96, 0:256]
    texture = 120 + 40 * np.sin(columns / 3) + 30 * np.cos(rows / 2 + columns / 7)
    picture = np.repeat(texture[..., None], 3, axis=2).astype(np.uint8)
    frames = (np.ascontiguousarray(picture[:, 4 * i : 4 * i + 128]) for i in range(25))
    return write_clip(path, frames, fps=25)
