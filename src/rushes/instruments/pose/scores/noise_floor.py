"""What the estimator alone costs: a re-encoded copy of the truth, scored against the truth.

PCK between two clips compares two guesses of one estimator, and the guesses move with the picture's coding though no
body moved. So beside a number from clips stands what the same estimator gives for the truth's own frames after H.264 at
crf 35, a coding that people still accept: a prediction cannot be told from a perfect one by a difference smaller than
that. The signature is the number's own; `copy` says what the number is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.machine.progress import Progress, no_progress
from rushes.instruments.pose.files.batch import PoseSet

CRF = 35
COPY = f"truth-h264-crf{CRF}"
_ABOUT = ("pck", "pckh", "pck_auc", "pckh_auc", "mpjpe", "mpjpe_found", "oks", "velocity_error", "acceleration_error")


def reencoded(clip: Path | str, truth: PoseSet, *, progress: Progress = no_progress) -> PoseSet:
    """The poses that the estimator finds in a re-encoded copy of a clip."""
    from rushes.instruments.pose.files.extract import extract_poses
    from rushes.media.encode import write_clip

    rate = Fraction(round((truth.fps or 25.0) * 1000), 1000)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.mp4"
        write_clip(copy, _frames(clip), fps=rate, crf=CRF)
        found = extract_poses(copy, progress=progress).pose_set()
    return replace(found, path=f"{clip}, re-encoded")


def _frames(clip: Path | str) -> Iterator[NDArray[Any]]:
    from rushes.media import ClipReader

    with ClipReader(clip) as reader:
        for frame in reader:
            rgb = frame.rgb()
            yield rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]  # yuv420p has even sides; places stay


def floor_rows(measurements: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
    """The copy's numbers as what they are about; single joints are left out."""
    return tuple(replace(m, at=(("copy", COPY),)) for m in measurements if m.name in _ABOUT and not m.at)


def floors(measurements: tuple[Measurement, ...] | list[Measurement]) -> list[Measurement]:
    """Those numbers of a pair that are about the re-encoded truth."""
    return [m for m in measurements if m.place.get("copy") == COPY]
