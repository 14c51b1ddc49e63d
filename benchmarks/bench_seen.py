"""What each network that looks at a clip costs: seconds of one core for a second of video.

    python benchmarks/bench_seen.py [SIDE] [FPS]

A texture that moves, SIDE × SIDE pixels (256), two seconds at FPS (10) frames a second. The definitions'
notes on cost are these numbers.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import process_time

import cv2
import numpy as np

import rushes
from rushes.media import write_clip

FAMILIES = {
    "text": ("text_stability",),
    "subject and background": ("feature_drift", "subject_drift", "subject_sharpness", "subject_flicker"),
    "midframe_likeness": ("midframe_likeness",),
    "dynamic_degree": ("dynamic_degree",),
    "niqe": ("niqe",),
    "brisque": ("brisque",),
}


def main(side: int = 256, fps: int = 10) -> None:
    coarse = np.random.default_rng(1).integers(0, 255, (24, 24, 3), dtype=np.uint8)
    texture = cv2.resize(coarse, (2 * side, 2 * side), interpolation=cv2.INTER_CUBIC)
    cv2.putText(texture, "OPEN", (side // 2, side // 2), cv2.FONT_HERSHEY_DUPLEX, side / 160, (255, 255, 255), 3)
    frames = [np.ascontiguousarray(texture[n : n + side, n : n + side]) for n in range(2 * fps)]
    with tempfile.TemporaryDirectory() as folder:
        clip = Path(folder) / "clip.mp4"
        write_clip(clip, frames, fps=fps)
        for family, names in {"": ("text_stability",), **FAMILIES}.items():  # the first pass only warms up
            rushes.clip.evaluate_clip(clip, metrics=names)
            plain, start = process_time(), 0.0
            rushes.clip.evaluate_clip(clip)
            start = process_time()
            rushes.clip.evaluate_clip(clip, metrics=names)
            if family:
                print(f"{family:24} {(process_time() - start - (start - plain)) / 2:6.2f} s for a second of video")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
