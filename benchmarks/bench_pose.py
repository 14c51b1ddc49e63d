"""A million frames of 17 joints: one normalisation, three ks and MPJPE, on one core; against a plain Python loop.

Run: python benchmarks/bench_pose.py
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from recording import record
from rushes.pose import BoundingBoxDiagonal, PoseBatch, TorsoDiameter, accuracy_report

FRAMES = 1_000_000
JOINTS = 17
KS = (5, 20, 50)
LOOP_FRAMES = 16_384
REPEATS = 5
HIDDEN = 0.1


def poses(frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(173)
    gt = rng.uniform(0, 500, (frames, JOINTS, 2))
    pred = gt + rng.normal(0, 20, gt.shape)
    vis = np.where(rng.random((frames, JOINTS)) < HIDDEN, 0.0, 2.0)
    return pred, gt, vis


def loop_pck_at(pred: list, gt: list, vis: list, k: int) -> tuple[int, int]:  # type: ignore[type-arg]
    """The seed's pck_at for one frame, torso-diameter, in plain Python."""
    if not (vis[11] >= 0.5 and vis[12] >= 0.5):
        return 0, 0
    torso = math.sqrt((gt[11][0] - gt[12][0]) ** 2 + (gt[11][1] - gt[12][1]) ** 2)
    if not torso > 1e-6:
        return 0, 0
    correct = total = 0
    for j in range(len(gt)):
        if vis[j] >= 0.5:
            total += 1
            distance = math.sqrt((pred[j][0] - gt[j][0]) ** 2 + (pred[j][1] - gt[j][1]) ** 2)
            if distance <= k * torso / 100:
                correct += 1
    return correct, total


def loop_errors(pred: list, gt: list, vis: list) -> tuple[float, int]:  # type: ignore[type-arg]
    """The seed's mpjpe for one frame, as a sum and a count."""
    total, count = 0.0, 0
    for j in range(len(gt)):
        if vis[j] >= 0.5:
            square = 0.0
            for c in range(len(gt[j])):
                square += (pred[j][c] - gt[j][c]) ** 2
            total += math.sqrt(square)
            count += 1
    return total, count


def plain_loop(frames: list) -> tuple[dict[int, float], float]:  # type: ignore[type-arg]
    """The seed's accuracy_report in plain Python: for each frame, pck_at for each k, then the errors."""
    counts, error, seen = {k: [0, 0] for k in KS}, 0.0, 0
    for pred, gt, vis in frames:
        for k in KS:
            correct, total = loop_pck_at(pred, gt, vis, k)
            counts[k][0] += correct
            counts[k][1] += total
        sums = loop_errors(pred, gt, vis)
        error, seen = error + sums[0], seen + sums[1]
    return {k: correct / total for k, (correct, total) in counts.items()}, error / seen


def fused_loop(frames: list) -> tuple[dict[int, float], float]:  # type: ignore[type-arg]
    """The quickest plain Python we could write: each distance once, all ks in the same pass."""
    correct, total, error, seen = dict.fromkeys(KS, 0), 0, 0.0, 0
    for pred, gt, vis in frames:
        torso = 0.0
        if vis[11] >= 0.5 and vis[12] >= 0.5:
            torso = math.sqrt((gt[11][0] - gt[12][0]) ** 2 + (gt[11][1] - gt[12][1]) ** 2)
        for p, g, v in zip(pred, gt, vis, strict=True):
            if v >= 0.5:
                distance = math.sqrt((p[0] - g[0]) ** 2 + (p[1] - g[1]) ** 2)
                error += distance
                seen += 1
                if torso > 1e-6:
                    total += 1
                    for k in KS:
                        if distance <= k * torso / 100:
                            correct[k] += 1
    return {k: correct[k] / total for k in KS}, error / seen


def median(work: Callable[[], object]) -> float:
    """CPU seconds, median of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def peak_over_input() -> float:
    """Peak memory of a process that maps the files and scores them, over the size of the files."""
    with tempfile.TemporaryDirectory() as folder:
        pred, gt, vis = poses(FRAMES)
        for name, array in (("pred", pred), ("gt", gt), ("vis", vis)):
            np.save(Path(folder) / f"{name}.npy", array)
        size = pred.nbytes + gt.nbytes + vis.nbytes
        del pred, gt, vis
        done = subprocess.run([sys.executable, __file__, folder], capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024 / size


def child(folder: str) -> None:
    parts = [np.load(Path(folder) / f"{name}.npy") for name in ("pred", "gt", "vis")]
    accuracy_report(PoseBatch(*parts), KS, TorsoDiameter())
    # VmHWM belongs to this process image; ru_maxrss would start at the parent's size.
    print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    batch = PoseBatch(*poses(FRAMES))
    warm = PoseBatch(*poses(LOOP_FRAMES))
    accuracy_report(warm, KS, TorsoDiameter())  # compiles, where it was not compiled before
    torso = median(lambda: accuracy_report(batch, KS, TorsoDiameter()))
    box = median(lambda: accuracy_report(batch, KS, BoundingBoxDiagonal()))
    frames = list(zip(warm.pred.tolist(), warm.gt.tolist(), warm.visibility.tolist(), strict=True))
    plain = median(lambda: plain_loop(frames)) / LOOP_FRAMES * FRAMES
    fused = median(lambda: fused_loop(frames)) / LOOP_FRAMES * FRAMES
    ours = accuracy_report(warm, KS, TorsoDiameter())
    for ratios, error in (plain_loop(frames), fused_loop(frames)):
        assert dict(ours.pck_at) == ratios and math.isclose(ours.mpjpe, error, rel_tol=1e-12)
    what = "1,000,000 frames × 17 joints, torso-diameter, k = 5 20 50, MPJPE"
    record(
        "pose",
        "Pose: PCK and MPJPE",
        [
            (what, "≤ 1 s", f"{torso:.2f} s"),
            ("the same, bbox-diagonal", "", f"{box:.2f} s"),
            ("against the plain Python loop (pck_at per frame and k, then mpjpe)", "≥ 100×", f"{plain / torso:.0f}×"),
            ("against a hand-fused Python loop (each distance once)", "", f"{fused / torso:.0f}×"),
            ("peak memory over the size of the input", "≤ 3×", f"{peak_over_input():.2f}×"),
        ],
        how=f"CPU time on one core, fp64, arrays in memory, one joint in ten hidden, median of {REPEATS}, after "
        f"compiling. The loops run over Python lists, {LOOP_FRAMES:,} frames, scaled up; their results equal ours.",
    )


if __name__ == "__main__":
    child(sys.argv[1]) if len(sys.argv) > 1 else main()
