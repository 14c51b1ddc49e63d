"""Small clips made on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from rushes.media import AudioTrack, write_clip

# A slow machine is no failed test.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

WIDTH, HEIGHT, FRAMES, FPS, RATE = 64, 48, 10, 25, 16000


def pictures(width: int = WIDTH, height: int = HEIGHT, frames: int = FRAMES):
    """A coloured ramp that moves three pixels a frame."""
    columns = np.arange(width + 3 * frames) * 4 % 256
    ramp = np.stack([columns, columns[::-1], (columns + 85) % 256], axis=1).astype(np.uint8)
    for frame in range(frames):
        yield np.ascontiguousarray(np.broadcast_to(ramp[3 * frame : 3 * frame + width], (height, width, 3)))


def tone() -> AudioTrack:
    time = np.arange(RATE * FRAMES // FPS) / RATE
    return AudioTrack.of((0.4 * np.sin(2 * np.pi * 440 * time)).astype(np.float32), RATE)


@pytest.fixture(scope="session")
def clip(tmp_path_factory) -> Path:
    """64×48, ten frames at 25 fps, with a tone."""
    return write_clip(tmp_path_factory.mktemp("clip") / "take.mp4", pictures(), fps=FPS, audio=tone())


@pytest.fixture(scope="session")
def silent_clip(tmp_path_factory) -> Path:
    """The same without sound, at an odd size."""
    path = tmp_path_factory.mktemp("clip") / "silent.mp4"
    return write_clip(path, pictures(63, 47), fps=FPS, pix_fmt="yuv444p")
