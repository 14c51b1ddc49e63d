"""MediaPipe 0.10.21's FaceMesh (static, refine off) on stored frames; run in an environment with that release only.

    python facemesh_0_10_21.py OUT_FOLDER FRAMES.npy…

Each FRAMES.npy holds N × H × W × 3 uint8 RGB; OUT_FOLDER gets NAME.468.npz with `present` (N) and `points`
(N × 468 × 3, pixels, float32, NaN where there is no face). The last line printed is the seconds spent in MediaPipe, by
the clock and by the processor, and the number of frames.
"""

import sys
import time
from pathlib import Path

import mediapipe
import numpy as np

assert mediapipe.__version__ == "0.10.21", mediapipe.__version__


def main() -> None:
    wall = cpu = 0.0
    count = 0
    folder = Path(sys.argv[1])
    with mediapipe.solutions.face_mesh.FaceMesh(static_image_mode=True, max_num_faces=1) as mesh:
        for name in sys.argv[2:]:
            frames = np.load(name)
            height, width = frames.shape[1:3]
            points = np.full((len(frames), 468, 3), np.nan, np.float32)
            for number, frame in enumerate(frames):
                started, before = time.perf_counter(), time.process_time()
                faces = mesh.process(frame).multi_face_landmarks
                wall, cpu, count = wall + time.perf_counter() - started, cpu + time.process_time() - before, count + 1
                if faces:
                    points[number] = [(p.x * width, p.y * height, p.z * width) for p in faces[0].landmark]
            present = ~np.isnan(points[:, 0, 0])
            np.savez(folder / f"{Path(name).stem}.468.npz", present=present, points=points)
    print(wall, cpu, count)


main()
