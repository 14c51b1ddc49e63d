"""Makes goldens/pose_astronaut.npz: MediaPipe 0.10.21's own joints on variants of the astronaut.

    python tests/vision/landmarks/body_oracle.py ASTRONAUT.png tests/landmarks/goldens/pose_astronaut.npz

Run it with an interpreter that has mediapipe 0.10.21, which ours has not. Legacy Pose, static images, model complexity
1, no smoothing: one frame at a time, as the extractor works.
"""

from __future__ import annotations

import sys

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def variants(astronaut: Pixels) -> dict[str, Pixels]:
    """The 512² portrait as named frames, made with numpy alone: odd sizes, mirrored, turned, dark, padded, nobody."""
    return {
        "whole": astronaut,
        "odd_449x351": np.ascontiguousarray(astronaut[3:452, 40:391]),
        "mirrored": np.ascontiguousarray(astronaut[:, ::-1]),
        "upside_down": np.ascontiguousarray(astronaut[::-1, ::-1]),
        "dark": astronaut // 3,
        "padded": np.pad(astronaut, ((40, 90), (130, 13), (0, 0))),
        "nobody": np.full((240, 320, 3), 90, np.uint8),
    }


def main() -> None:
    import mediapipe  # type: ignore[import-not-found]

    assert mediapipe.__version__ == "0.10.21", mediapipe.__version__
    astronaut = np.ascontiguousarray(cv2.imread(sys.argv[1])[..., ::-1])
    settings = {"static_image_mode": True, "model_complexity": 1, "smooth_landmarks": False}
    found = {}
    with mediapipe.solutions.pose.Pose(**settings) as pose:
        for name, frame in variants(astronaut).items():
            height, width = frame.shape[:2]
            body = pose.process(frame).pose_landmarks
            rows = (
                [] if body is None else [(p.x * width, p.y * height, p.z * width, p.visibility) for p in body.landmark]
            )
            found[name] = np.array(rows, np.float32).reshape(-1, 4)
    np.savez_compressed(sys.argv[2], **found)


if __name__ == "__main__":
    main()
