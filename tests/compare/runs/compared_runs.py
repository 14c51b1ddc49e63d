"""Runs over small clips for the tests of comparison pages and tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
from tests.compare.planted import Picture, moving_texture

from rushes import evaluate_clips
from rushes.core import Measurement
from rushes.instruments.clip.metrics.image import BLUR_SCORE
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.instruments.clip.metrics.timing import DECODE_FAILURES
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject

SETTINGS = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32}
HOSTILE = "</script><b>&x_y|z"


def planted_run(
    folder: Path,
    shifts: Mapping[str, tuple[float, float, int]],
    *,
    instrument: str = "clip",
    size: tuple[int, int] = (640, 360),
    done: bool = True,
) -> Path:
    """A run of three metrics per clip: freeze_frame_ratio, blur_score and decode_failures, as given."""
    with RunWriter(folder, instrument=instrument, settings=SETTINGS) as run:
        for name, (freeze, blur, failures) in shifts.items():
            rows = (
                Measurement(definition=FREEZE_FRAME_RATIO, value=freeze, count=9),
                Measurement(definition=BLUR_SCORE, value=blur, count=10),
                Measurement(definition=DECODE_FAILURES, value=failures, count=10),
            )
            facts = {"media": {"video": {"width": size[0], "height": size[1]}}}
            path = f"{folder.name}/{name}.mp4"
            subject = Subject(id=name, kind="clip", path=path, sha256=None, badge="pass", facts=facts)
            run.add(Entry(subject=subject, measurements=rows))
        if done:
            run.finish(list(shifts))
    return folder


def planted_three(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A; B with more decode failures on every clip and less sharpness; C like A but for a little noise."""
    rng = np.random.Generator(np.random.PCG64(5))
    names = [f"p{n}" for n in range(8)]
    base = {name: (0.1 + 0.01 * n, 100.0 + 3 * n, 0) for n, name in enumerate(names)}
    worse = {name: (freeze, blur - 40 - n % 3, 5 + n % 4) for n, (name, (freeze, blur, _)) in enumerate(base.items())}
    noisy = {name: (freeze, blur + float(rng.normal(0, 1)), 0) for name, (freeze, blur, _) in base.items()}
    folders = [tmp_path / "clean", tmp_path / "bad", tmp_path / "alike"]
    made = [planted_run(folder, clips) for folder, clips in zip(folders, (base, worse, noisy), strict=True)]
    return made[0], made[1], made[2]


def clip_runs(folder: Path) -> tuple[Path, Path]:
    """Two runs over real clips of 12 frames: as they are, and blurred with two frames less."""
    for seed in (1, 2):
        pictures = moving_texture(seed, frames=12, size=(96, 64))
        (folder / "sharp").mkdir(exist_ok=True)
        (folder / "soft").mkdir(exist_ok=True)
        write_clip(folder / "sharp" / f"take{seed}.mp4", pictures, 12.0)
        write_clip(folder / "soft" / f"take{seed}.mp4", [_blurred(p) for p in pictures[:-2]], 12.0)
    for name in ("sharp", "soft"):
        evaluate_clips(folder / name, run=folder / f"run-{name}", jobs=1)
    return folder / "run-sharp", folder / "run-soft"


def _blurred(picture: Picture) -> Picture:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 2.0), np.uint8)
