"""Videos, poses and a stand-in for the network, small enough for milliseconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rushes.media import write_clip

FPS = 25


def videos(
    seed: int, *, frames: tuple[int, ...] = (10, 12, 11), size: tuple[int, int] = (36, 48)
) -> dict[str, np.ndarray]:
    """Drifting stripes with noise, (T, H, W, 3) uint8, by name."""
    draw = np.random.RandomState(seed)
    found = {}
    for number, count in enumerate(frames, 1):
        x = np.arange(size[1])[None, None, :, None]
        t = np.arange(count)[:, None, None, None]
        wave = 120 + 50 * np.sin((x + (2 + number) * t) / 4) + draw.randint(0, 30 + seed, (count, *size, 3))
        found[f"take{number * 4}"] = np.clip(wave, 0, 255).astype(np.uint8)
    return found


def write_lossless(folder: Path, given: dict[str, np.ndarray], fps: float = FPS) -> Path:
    """The same as files that lose nothing: FFV1 of RGB."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, video in given.items():
        write_clip(folder / f"{name}.mkv", list(video), fps=fps, codec="ffv1", pix_fmt="bgr0")
    return folder


def poses(seed: int, frames: tuple[int, ...] = (5, 7, 6)) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Predicted and true joints of COCO's seventeen, T × 17 × 2, by name."""
    draw = np.random.RandomState(seed)
    return {
        f"take{number * 4}": ((true := draw.uniform(0, 200, (count, 17, 2))) + draw.normal(0, 8, true.shape), true)
        for number, count in enumerate(frames, 1)
    }
