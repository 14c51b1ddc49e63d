"""What must work with the core alone: the public names, a clip measured by a worker, a pose scored, a run read back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import rushes
from rushes.media import write_clip

for name in ("evaluate_clips", "score_pose", "compare_runs", "Run", "Measurement", "pose", "robustness"):
    getattr(rushes, name)

folder = Path("takes")
folder.mkdir()
pictures = [np.full((64, 96, 3), 5 * step, np.uint8) for step in range(24)]
for number in (1, 2):
    write_clip(folder / f"take{number}.mp4", pictures, fps=25)
run = rushes.evaluate_clips([folder], run="run", jobs=2)
assert [subject.badge for subject in run.subjects] != ["reject", "reject"], run.subjects
assert run.one("freeze_frame_ratio", subject="take1").value == 0.0

points = np.random.default_rng(0).uniform(0, 100, (3, 17, 2))
np.savez("poses.npz", keypoints=points, visibility=np.ones((3, 17)))
done = rushes.score_pose("poses.npz", "poses.npz", norms=["bbox-diagonal"], run="poses")
assert rushes.read_run(done.run).one("pck", k=20).value == 1.0
print(f"Python {sys.version.split()[0]}: rushes {rushes.__version__} measured {run}")
