"""Two million joints of several people an image, from two COCO files to a finished run, on one core.

Run: python benchmarks/bench_pose_people.py
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from recording import record
from rushes.instruments.pose import score_pose

PEOPLE = 117_648
"""Times 17 joints: two million of them in each file."""
PER_IMAGE = 4
REPEATS = 3


def write_files(folder: Path) -> None:
    """Truth and predictions as COCO writes them: four people an image, predictions shuffled, some joints hidden."""
    rng = np.random.Generator(np.random.PCG64(19))
    gt = rng.uniform(0, 200, (PEOPLE, 17, 2)) + rng.uniform(0, 1500, (PEOPLE, 1, 2))
    seen = np.where(rng.random((PEOPLE, 17)) < 0.1, 0, 2)
    pred = gt + rng.normal(0, 8, gt.shape)
    image = np.arange(PEOPLE) // PER_IMAGE
    truths = np.round(np.concatenate([gt, seen[..., np.newaxis]], axis=2), 2).reshape(PEOPLE, -1).tolist()
    found = np.round(np.concatenate([pred, np.ones((PEOPLE, 17, 1))], axis=2), 2).reshape(PEOPLE, -1).tolist()
    annotations = [
        {"id": n + 1, "image_id": int(image[n]), "category_id": 1, "iscrowd": 0,
         "num_keypoints": int((seen[n] > 0).sum()), "area": 40000.0, "bbox": [0, 0, 200, 200], "keypoints": truths[n]}
        for n in range(PEOPLE)
    ]  # fmt: skip
    results = [
        {"image_id": int(image[n]), "category_id": 1, "score": int(rng.integers(1, 1000)) / 1000,
         "keypoints": found[n]}
        for n in rng.permutation(PEOPLE)
    ]  # fmt: skip
    images = [{"id": n} for n in range(int(image[-1]) + 1)]
    (folder / "gt.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    (folder / "pred.json").write_text(json.dumps(results))


def child(folder: str) -> None:
    """One fresh process: CPU seconds from the files to the run, imports aside."""
    start = time.process_time()
    done = score_pose(
        Path(folder, "pred.json"),
        Path(folder, "gt.json"),
        norms=["torso-diameter", "bbox-diagonal"],
        duplicates="match",
        run=Path(folder, "run"),
        overwrite=True,
    )
    seconds = time.process_time() - start
    assert done.pairing.frames == PEOPLE
    print(json.dumps([seconds, done.one("keypoint_ap", oks="0.50-0.95", area="all").value]))


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        command = [sys.executable, __file__, folder]
        done = [
            json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(REPEATS)
        ]
    seconds = statistics.median(row[0] for row in done)
    record(
        "pose-people",
        "Pose: several people an image",
        [("score_pose --duplicates match: every number, AP and AR, the run directory", "≤ 5 s", f"{seconds:.2f} s")],
        how=f"{PEOPLE:,} people × 17 joints in each of two COCO files, {PER_IMAGE} people an image, read, assigned by "
        "OKS (Hungarian), scored and written: CPU time on one core in a fresh process after the imports, median of "
        f"{REPEATS}.",
    )


if __name__ == "__main__":
    child(sys.argv[1]) if len(sys.argv) > 1 else main()
