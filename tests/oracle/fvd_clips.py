"""The small clips that the peers' code and Rushes both see: made of whole numbers, so the same on every machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]

# name of a set of clips: (seed, frames, height, width) of each clip, generated and real
SETS: dict[str, dict[str, list[tuple[int, int, int, int]]]] = {
    "mixed": {
        "gen": [(1, 16, 64, 96), (2, 20, 96, 64), (3, 17, 72, 72)],
        "gt": [(11, 24, 64, 80), (12, 16, 90, 64), (13, 19, 64, 64)],
    },
    "square": {
        "gen": [(21, 20, 64, 64), (22, 20, 64, 64), (23, 20, 64, 64)],
        "gt": [(31, 20, 64, 64), (32, 20, 64, 64), (33, 20, 64, 64)],
    },
    "long": {
        "gen": [(41, 130, 32, 32), (42, 129, 32, 32), (43, 140, 32, 32)],
        "gt": [(51, 150, 32, 32), (52, 128, 32, 32), (53, 131, 32, 32)],
    },
}


def frames(seed: int, count: int, height: int, width: int) -> Frames:
    """Stripes that drift over noise; the seed decides their width, their colours and how fast they go."""
    draw = np.random.RandomState(seed)
    t, y, x = np.ogrid[0:count, 0:height, 0:width]
    planes = []
    for _ in range(3):
        across, down, speed, tone = (int(draw.randint(low, high)) for low, high in ((2, 9), (1, 7), (3, 20), (0, 160)))
        planes.append((across * x + down * y + speed * t) % 160 // 2 + tone // 2)
    noise = draw.randint(0, 40, (count, height, width, 3))
    return np.asarray(np.stack(np.broadcast_arrays(*planes), axis=-1) + noise, np.uint8)


def write_lossless(path: Path, pictures: Frames) -> Path:
    """An mp4 whose decoded frames are these very pictures."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264rgb", rate=25, options={"qp": "0", "preset": "ultrafast"})
        stream.height, stream.width, stream.pix_fmt = pictures.shape[1], pictures.shape[2], "rgb24"
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def write_pictures(folder: Path, pictures: Frames, *, prefix: str = "") -> Path:
    """Numbered PNG files."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(pictures, 1):
        Image.fromarray(picture).save(folder / f"{prefix}{number:04}.png", compress_level=1)
    return folder


def sample(prepared: NDArray[np.float32]) -> NDArray[np.float32]:
    """What is kept of a network's input (T, S, S, 3): its mean, its spread, and 60 values from all over it."""
    spread = np.linspace(0, prepared.size - 1, 60).astype(int)
    values = np.ascontiguousarray(prepared).ravel()[spread]
    return np.array([prepared.mean(dtype=np.float64), prepared.std(dtype=np.float64), *values], np.float32)
