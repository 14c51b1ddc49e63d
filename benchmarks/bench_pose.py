"""A million frames of 17 joints from files, as users score them: `accuracy_report` and `score_pose`, on one core.

Run: python benchmarks/bench_pose.py
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from recording import record
from rushes.instruments.pose import NORMALIZATIONS, PoseAccuracy, PoseBatch, TorsoDiameter, accuracy_report, score_pose
from rushes.instruments.pose.files.poses import read_poses

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


def write_files(folder: Path, frames: int) -> int:
    """The poses as a user has them: two .npy files, the truth with its visibility as third column. Returns bytes."""
    pred, gt, vis = poses(frames)
    np.save(folder / "pred.npy", pred)
    np.save(folder / "gt.npy", np.concatenate([gt, vis[..., np.newaxis]], axis=2))
    return sum(file.stat().st_size for file in folder.glob("*.npy"))


def accuracy_from_files(folder: Path, norm: str) -> PoseAccuracy:
    pred, gt = (read_poses(folder / f"{name}.npy", columns="xyv") for name in ("pred", "gt"))
    return accuracy_report(PoseBatch(pred.points, gt.points, gt.visibility), KS, NORMALIZATIONS[norm]())


def score_from_files(folder: Path, norm: str) -> None:
    run = folder / "run"
    score_pose(folder / "pred.npy", folder / "gt.npy", norms=norm, ks=KS, columns="xyv", run=run)
    shutil.rmtree(run)


WORK = {"accuracy_report": accuracy_from_files, "score_pose": score_from_files}


def child(what: str, folder: str, norm: str) -> None:
    """One fresh process: CPU seconds from the files to the result, first-call costs included, and its peak memory."""
    start = time.process_time()
    WORK[what](Path(folder), norm)
    seconds = time.process_time() - start
    # VmHWM belongs to this process image; ru_maxrss would start at the parent's size.
    peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    print(json.dumps([seconds, int(peak) * 1024]))


def fresh(what: str, folder: Path, norm: str) -> tuple[float, float]:
    """Median CPU seconds and peak bytes of several fresh processes."""
    command = [sys.executable, __file__, what, str(folder), norm]
    done = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(REPEATS)]
    seconds, peaks = zip(*map(json.loads, done), strict=True)
    return statistics.median(seconds), statistics.median(peaks)


def seconds_of(work: Callable[[], object]) -> float:
    """CPU seconds, median of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def loop_seconds() -> tuple[float, float]:
    """The two loops over lists, scaled up to all frames; their results must equal ours."""
    pred, gt, vis = poses(LOOP_FRAMES)
    frames = list(zip(pred.tolist(), gt.tolist(), vis.tolist(), strict=True))
    ours = accuracy_report(PoseBatch(pred, gt, vis), KS, TorsoDiameter())
    for ratios, error in (plain_loop(frames), fused_loop(frames)):
        assert dict(ours.pck_at) == ratios and math.isclose(ours.mpjpe, error, rel_tol=1e-12)
    scale = FRAMES / LOOP_FRAMES
    return seconds_of(lambda: plain_loop(frames)) * scale, seconds_of(lambda: fused_loop(frames)) * scale


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_files(folder, FRAMES)
        torso, peak = fresh("accuracy_report", folder, "torso-diameter")
        box, _ = fresh("accuracy_report", folder, "bbox-diagonal")
        whole, whole_peak = fresh("score_pose", folder, "torso-diameter")
        three, _ = fresh("score_pose", folder, "all")
    plain, fused = loop_seconds()
    batch = PoseBatch(*poses(FRAMES))
    memory = seconds_of(lambda: accuracy_report(batch, KS, TorsoDiameter()))
    record(
        "pose",
        "Pose: PCK and MPJPE",
        [
            ("accuracy_report: torso-diameter, k = 5 20 50, MPJPE", "≤ 1 s", f"{torso:.2f} s"),
            ("the same, bbox-diagonal", "", f"{box:.2f} s"),
            ("the same, torso-diameter, arrays already in memory", "", f"{memory:.2f} s"),
            (
                "that against the plain Python loop (pck_at per frame and k, then mpjpe)",
                "≥ 100×",
                f"{plain / memory:.0f}×",
            ),
            ("that against a hand-fused Python loop (each distance once)", "", f"{fused / memory:.0f}×"),
            ("accuracy_report: peak memory over the size of the files", "≤ 3×", f"{peak / size:.2f}×"),
            ("score_pose: torso-diameter, every number, warnings, the run directory", "", f"{whole:.2f} s"),
            ("the same, all three normalisations", "", f"{three:.2f} s"),
            ("score_pose: peak memory over the size of the files", "≤ 3×", f"{whole_peak / size:.2f}×"),
        ],
        how=f"{FRAMES:,} frames × {JOINTS} joints, fp64, one joint in ten hidden, from two .npy files to the result: "
        f"CPU time on one core in a fresh process after the imports, reading included, median of {REPEATS}. The loops "
        f"run over Python lists in memory, {LOOP_FRAMES:,} frames, scaled up; their results equal ours.",
    )


if __name__ == "__main__":
    child(*sys.argv[1:]) if len(sys.argv) > 1 else main()
