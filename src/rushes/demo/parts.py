"""The demo's parts, in the order they are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rushes.demo import clip, distribution, face, pose, preference, robustness
from rushes.demo.part import DemoPart

PARTS: tuple[Callable[[Path], DemoPart], ...] = (
    clip.run,
    face.run,
    distribution.run,
    pose.run,
    preference.run,
    robustness.run,
)
