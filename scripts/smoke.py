"""What must work with the core alone: the public names, clips with sound measured by workers and beside references,
runs compared, votes ranked, a pose scored, a run read back.

    python smoke.py [TAKES]

TAKES is a folder of clips, made if it is not there, so that several installations measure the same ones. The last
lines are digests of the numbers.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import av
import numpy as np

import rushes
from rushes.media import AudioTrack, write_clip

for name in ("evaluate_clips", "score_pose", "compare_runs", "Run", "Measurement", "pose", "robustness"):
    getattr(rushes, name)


def answer(*words: str) -> str:
    """The digest of what the command prints as JSON."""
    done = subprocess.run(
        [Path(sys.executable).with_name("rushes"), *words, "--json"], stdout=subprocess.PIPE, check=True
    )
    return hashlib.sha256(done.stdout).hexdigest()


folder = Path(sys.argv[1] if len(sys.argv) > 1 else "takes")
random = np.random.default_rng(0)
tone = np.sin(2 * np.pi * 440 * np.arange(46080) / 48000).astype(np.float32) / 2
for number in () if folder.exists() else range(1, 7):
    still = random.integers(0, 256, (64, 96, 3), dtype=np.uint8)
    pictures = [np.roll(still, 3 * step, axis=1) for step in range(24)]
    for system, noise in (("sharp", 0), ("grainy", 10 + 3 * number)):
        noisy = [
            np.clip(picture + random.normal(0, noise, picture.shape), 0, 255).astype(np.uint8) for picture in pictures
        ]
        sound = AudioTrack(samples=tone / (1 + noise), rate=48000, duration_ms=960)
        (folder / system).mkdir(parents=True, exist_ok=True)
        write_clip(folder / system / f"take{number}.mp4", noisy, fps=25, audio=sound)
run = rushes.evaluate_clips([folder / "sharp"], run="run", jobs=2)
assert "reject" not in [subject.badge for subject in run.subjects], run.subjects
assert run.one("decode_ok", subject="take1").value is True
assert str(rushes.probe(folder / "sharp" / "take1.mp4").video.fps) == "25"
assert run.one("freeze_frame_ratio", subject="take1").value == 0.0
grainy = rushes.evaluate_clips([folder / "grainy"], run="grainy", jobs=2)
compared = answer("compare", "run", "grainy")
beside = answer("fidelity", str(folder / "grainy"), str(folder / "sharp"), "--metric", "psnr", "ssim", "-o", "fidelity")

Path("votes.csv").write_text(
    "system_a,system_b,votes_a,votes_b,ties\nfirst,second,31,9,4\nsecond,third,22,17,3\nthird,first,8,33,2\n"
)
ranked = answer("rank", "votes.csv")

points = np.random.default_rng(0).uniform(0, 100, (3, 17, 2))
np.savez("poses.npz", keypoints=points, visibility=np.ones((3, 17)))
done = rushes.score_pose("poses.npz", "poses.npz", norms=["bbox-diagonal"], run="poses")
assert rushes.read_run(done.run).one("pck", k=20).value == 1.0
print(f"Python {sys.version.split()[0]}, PyAV {av.__version__}: rushes {rushes.__version__} measured {run}")
print(f"digest of the numbers: {run.digest}")
print(f"digests of the answers: compare {compared}, fidelity {beside}, rank {ranked}")
