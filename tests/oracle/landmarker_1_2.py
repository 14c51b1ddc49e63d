"""MediaPipe 1.2's FaceLandmarker (IMAGE mode) on stored frames; run in an environment with that release only.

    python landmarker_1_2.py face_landmarker.task OUT_FOLDER FRAMES.npy…

Each FRAMES.npy holds N × H × W × 3 uint8 RGB; OUT_FOLDER gets NAME.478.npz with `present` (N) and `points`
(N × 478 × 3, pixels, float32, NaN where there is no face). The last line printed is the seconds spent in MediaPipe, by
the clock and by the processor, and the number of frames.
"""

import sys
import time
from pathlib import Path

import mediapipe
import numpy as np
from mediapipe.tasks.python.core.base_options import BaseOptions
from mediapipe.tasks.python.vision import FaceLandmarker, FaceLandmarkerOptions, RunningMode

assert mediapipe.__version__.startswith("1.2"), mediapipe.__version__


def main() -> None:
    wall = cpu = 0.0
    count = 0
    folder = Path(sys.argv[2])
    options = FaceLandmarkerOptions(
        base_options=BaseOptions(model_asset_path=sys.argv[1]), running_mode=RunningMode.IMAGE, num_faces=1
    )
    with FaceLandmarker.create_from_options(options) as landmarker:
        for name in sys.argv[3:]:
            frames = np.load(name)
            height, width = frames.shape[1:3]
            points = np.full((len(frames), 478, 3), np.nan, np.float32)
            for number, frame in enumerate(frames):
                started, before = time.perf_counter(), time.process_time()
                image = mediapipe.Image(image_format=mediapipe.ImageFormat.SRGB, data=np.ascontiguousarray(frame))
                faces = landmarker.detect(image).face_landmarks
                wall, cpu, count = wall + time.perf_counter() - started, cpu + time.process_time() - before, count + 1
                if faces:
                    points[number] = [(p.x * width, p.y * height, p.z * width) for p in faces[0]]
            present = ~np.isnan(points[:, 0, 0])
            np.savez(folder / f"{Path(name).stem}.478.npz", present=present, points=points)
    print(wall, cpu, count)


main()
