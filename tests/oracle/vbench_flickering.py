"""VBench's temporal flickering by OpenCV's own decoder, for the numbers in tests/instruments/clip/test_vbench.py.

    OPENCV_4/bin/python tests/oracle/vbench_flickering.py CLIP…    # opencv-python-headless==4.10.0.84

The formula is VBench's, restated: frames as float32, the mean absolute difference of neighbours over every sample, the
mean of those over steps, taken from 255 and divided by it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np


def flickering(path: Path | str) -> float:
    """The value of one clip as `cv2.VideoCapture` decodes it."""
    capture = cv2.VideoCapture(str(path))
    frames = []
    while (answer := capture.read())[0]:
        frames.append(answer[1].astype(np.float32))
    steps = [np.mean(np.abs(now - before)) for before, now in zip(frames, frames[1:], strict=False)]
    return float((255.0 - np.mean(np.array(steps)).item()) / 255.0)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(cv2.__version__, name, flickering(name))
