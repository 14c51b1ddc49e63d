"""MediaPipe 0.10.21's Hands (static, complexity 1) on frames of clips; run in an environment with that release only.

    python hands_0_10_21.py FOLDER OUT.json

FOLDER holds one N × H × W × 3 uint8 RGB `.npy` per clip, named by `tests/vision/landmarks/test_hand_pipeline.py`'s
`FRAMES`, which writes them when it is run as a script. OUT.json gets, per clip and frame, the x, y, z in pixels of each
hand's 21 points.
"""

import json
import sys
from pathlib import Path

import mediapipe
import numpy as np

assert mediapipe.__version__ == "0.10.21", mediapipe.__version__


def main() -> None:
    found: dict[str, list[list[list[list[float]]]]] = {}
    with mediapipe.solutions.hands.Hands(static_image_mode=True, max_num_hands=6, model_complexity=1) as hands:
        for path in sorted(Path(sys.argv[1]).glob("*.npy")):
            frames = np.load(path)
            height, width = frames.shape[1:3]
            found[path.stem] = [
                [
                    [[round(p.x * width, 3), round(p.y * height, 3), round(p.z * width, 3)] for p in hand.landmark]
                    for hand in hands.process(frame).multi_hand_landmarks or []
                ]
                for frame in frames
            ]
    Path(sys.argv[2]).write_text(json.dumps(found) + "\n", encoding="utf-8")


main()
