"""MediaPipe 0.10.21's blendshapes on variants of the astronaut; run in an environment with that release only.

python expression_0_10_21.py ASTRONAUT.png face_landmarker.task OUT.json
"""

import json
import sys
from pathlib import Path

import cv2
import mediapipe
import numpy as np
from mediapipe.tasks import python as tasks
from mediapipe.tasks.python import vision

assert mediapipe.__version__ == "0.10.21", mediapipe.__version__


def main() -> None:
    astronaut = np.ascontiguousarray(cv2.imread(sys.argv[1])[..., ::-1])
    frames = {"whole": astronaut, "mirrored": astronaut[:, ::-1], "dark": astronaut // 3, "half": astronaut[::2, ::2]}
    options = vision.FaceLandmarkerOptions(
        base_options=tasks.BaseOptions(model_asset_path=sys.argv[2]), output_face_blendshapes=True
    )
    found = {}
    with vision.FaceLandmarker.create_from_options(options) as landmarker:
        for name, frame in frames.items():
            image = mediapipe.Image(image_format=mediapipe.ImageFormat.SRGB, data=np.ascontiguousarray(frame))
            found[name] = [round(shape.score, 6) for shape in landmarker.detect(image).face_blendshapes[0]]
    Path(sys.argv[3]).write_text(json.dumps(found) + "\n", encoding="utf-8")


main()
