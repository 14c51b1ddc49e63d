"""What must work with the core alone: the public names, a clip measured by a worker, a pose scored, a run read back.

    python smoke.py [TAKES]

TAKES is a folder of clips, made if it is not there, so that several installations measure the same ones. The last line
is the digest of the numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import av
import numpy as np

import rushes
from rushes.media import AudioTrack, write_clip

for name in ("evaluate_clips", "score_pose", "compare_runs", "Run", "Measurement", "pose", "robustness"):
    getattr(rushes, name)

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "takes")
made = not folder.exists()
folder.mkdir(exist_ok=True)
still = np.random.default_rng(0).integers(0, 256, (64, 96, 3), dtype=np.uint8)
pictures = [np.roll(still, 3 * step, axis=1) for step in range(24)]
tone = np.sin(2 * np.pi * 440 * np.arange(46080) / 48000).astype(np.float32) / 2
sound = AudioTrack(samples=tone, rate=48000, duration_ms=960)
for number in (1, 2) if made else ():
    write_clip(folder / f"take{number}.mp4", pictures, fps=25, audio=sound)
run = rushes.evaluate_clips([folder], run="run", jobs=2)
assert "reject" not in [subject.badge for subject in run.subjects], run.subjects
assert run.one("decode_ok", subject="take1").value is True
assert str(rushes.probe(folder / "take1.mp4").video.fps) == "25"
assert run.one("freeze_frame_ratio", subject="take1").value == 0.0

points = np.random.default_rng(0).uniform(0, 100, (3, 17, 2))
np.savez("poses.npz", keypoints=points, visibility=np.ones((3, 17)))
done = rushes.score_pose("poses.npz", "poses.npz", norms=["bbox-diagonal"], run="poses")
assert rushes.read_run(done.run).one("pck", k=20).value == 1.0
print(f"Python {sys.version.split()[0]}, PyAV {av.__version__}: rushes {rushes.__version__} measured {run}")
print(f"digest of the numbers: {run.digest}")
