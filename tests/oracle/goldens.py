"""Packs what MediaPipe found into the small files that the tests compare with.

    python goldens.py OUT_FOLDER GOLDENS_FOLDER

`face_astronaut.npz` holds the points of every variant in full; `face_clips.npz` holds, for each face clip, in which
frames there is a face, and the points of every 20th frame in hundredths of a pixel.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

EVERY = 20


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    astronaut, clips = {}, {}
    for path in sorted(source.glob("*.4?8.npz")):
        found = np.load(path)
        name, points = path.stem, found["points"][..., :2]
        if name.startswith("astronaut_"):
            astronaut[name.removeprefix("astronaut_")] = points[0] if found["present"][0] else np.zeros((0, 2), "f4")
        elif name.startswith("face_"):
            clips[f"{name}.present"] = np.packbits(found["present"])
            clips[f"{name}.points"] = np.rint(points[::EVERY] * 100).astype(np.int32).astype(np.uint16)
    np.savez_compressed(target / "face_astronaut.npz", **astronaut)
    if clips:
        np.savez_compressed(target / "face_clips.npz", **clips)


if __name__ == "__main__":
    main()
