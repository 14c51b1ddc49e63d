"""Faces: landmarks against MediaPipe's own on every frame, and the time a frame takes beside it.

MediaPipe runs in environments of its own, made on first use under `RUSHES_ORACLES` (default: a folder in the
temporary directory). Both sides are pinned to one core and take turns; the ratio is of processor time per frame.
The 478-point model and the face clips come from the reference folder (`RUSHES_SHARED`, or ../shared).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from recording import record

ROOT = Path(__file__).parents[1]
ORACLE = ROOT / "tests" / "oracle"
SHARED = Path(os.environ.get("RUSHES_SHARED", ROOT.parent / "shared"))
TASK = SHARED / "models" / "face_landmarker.task"
ROUNDS = 5
CORE = max(os.sched_getaffinity(0))


def oracle_python(version: str) -> str:
    """The interpreter of an environment that holds this release of MediaPipe and nothing else of ours."""
    folder = Path(os.environ.get("RUSHES_ORACLES", Path(tempfile.gettempdir()) / "rushes-oracles"))
    python = folder / f"mediapipe-{version}" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", f"mediapipe=={version}"], check=True)
    return str(python)


def pinned(command: Sequence[str]) -> list[float]:
    """Run on one core; the numbers of the last line printed."""
    done = subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=_pin
    )
    return [float(part) for part in done.stdout.strip().splitlines()[-1].split()]


def _pin() -> None:
    os.sched_setaffinity(0, {CORE})


def ours(model: str, names: Sequence[str]) -> list[float]:
    return pinned([sys.executable, __file__, "--child", model, *names])


def child(model: str, names: Sequence[str]) -> None:
    """Observe every frame; print seconds by the clock, by the processor, and the number of frames."""
    from rushes.vision.landmarks import FacePipeline

    pipeline = FacePipeline(model if model != "default" else None, max_faces=1)
    wall = cpu = 0.0
    count = 0
    for name in names:
        frames = np.load(name)
        pipeline.observe(frames[0])
        for frame in frames:
            started, before = time.perf_counter(), time.process_time()
            pipeline.observe(frame)
            wall, cpu, count = wall + time.perf_counter() - started, cpu + time.process_time() - before, count + 1
    print(wall, cpu, count)


def networks(names: Sequence[str]) -> None:
    """The two networks taking turns with nothing around them: what no code of ours can save."""
    from rushes.vision.landmarks import FacePipeline

    pipeline = FacePipeline(max_faces=1)
    pipeline.observe(np.load(names[0])[0])
    detector, landmarks = pipeline._detector._detector._network._interpreter, pipeline._landmarks._network._interpreter
    before = time.process_time()
    for _ in range(400):
        detector.invoke()
        landmarks.invoke()
    print(0.0, time.process_time() - before, 400)


def compare(model: str | None, names: Sequence[str], found: Path, points: int) -> str:
    """Distances to MediaPipe's landmarks over all frames."""
    from rushes.vision.landmarks import FacePipeline

    pipeline = FacePipeline(model, max_faces=1)
    apart, frames, differ = [], 0, 0
    for name in names:
        golden = np.load(found / f"{Path(name).stem}.{points}.npz")
        for frame, wanted, present in zip(np.load(name), golden["points"], golden["present"], strict=True):
            faces = pipeline.observe(frame)
            frames += 1
            differ += bool(faces) != bool(present)
            if faces and present:
                apart.append(np.linalg.norm(faces[0].landmarks[:, :2] - wanted[:, :2], axis=1))
    distances = np.concatenate(apart)
    return f"mean {distances.mean():.4f}, max {distances.max():.3f} px; {frames} frames, presence differs in {differ}"


def bundle_times(clip: Path) -> tuple[float, float]:
    """Processor seconds of tier 0 and of tiers 0 and 1 on one clip."""
    code = (
        "import sys, time; from rushes.instruments.clip.evaluate import evaluate_clip as e; t = int(sys.argv[2]); "
        "e(sys.argv[1], tier=t); s = time.process_time(); e(sys.argv[1], tier=t); print(time.process_time() - s)"
    )
    times = [
        median(pinned([sys.executable, "-c", code, str(clip), str(tier)])[0] for _ in range(ROUNDS)) for tier in (0, 1)
    ]
    return times[0], times[1]


def batch_seconds(clips: Sequence[Path], jobs: int) -> float:
    """Seconds by the clock for a tier-1 batch, twelve copies of the clips, workers already counted."""
    from rushes.instruments.clip.evaluate import evaluate_clips

    with tempfile.TemporaryDirectory() as folder:
        copies = []
        for number in range(3):
            for clip in clips:
                copies.append(Path(folder) / f"{number}_{clip.name}")
                copies[-1].write_bytes(clip.read_bytes())
        started = time.perf_counter()
        evaluate_clips(copies, run=Path(folder) / "run", tier=1, jobs=jobs)
        return time.perf_counter() - started


def main() -> None:
    from rushes.vision.models.pulling import pull

    pull("face")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        shared = [str(SHARED)] if SHARED.is_dir() else []
        subprocess.run([sys.executable, str(ORACLE / "frames.py"), folder, *shared], check=True)
        names = sorted(str(path) for path in Path(folder).glob("*.npy"))
        timed = [name for name in names if Path(name).name.startswith("face_")] or names
        old = [oracle_python("0.10.21"), str(ORACLE / "facemesh_0_10_21.py"), folder]
        pinned([*old, *names])
        bar = "mean ≤ 0.05, max ≤ 1 px, presence equal"
        rows.append(("468 points against MediaPipe 0.10.21 FaceMesh", bar, compare(None, names, Path(folder), 468)))
        if TASK.is_file():
            new = [oracle_python("1.2.0"), str(ORACLE / "landmarker_1_2.py"), str(TASK), folder]
            pinned([*new, *names])
            against = compare(str(TASK), names, Path(folder), 478)
            rows.append(("478 points against MediaPipe 1.2.0 FaceLandmarker, IMAGE mode", bar, against))
            rows += _speed(old, new, timed)
    clips = sorted((SHARED / "clips").glob("face_*"))
    if clips:
        tier0, both = bundle_times(clips[-1])
        rows.append(
            (
                f"bundle of {clips[-1].stem}, processor time, tier 0 → tiers 0+1",
                "one decode",
                f"{tier0:.2f} → {both:.2f} s",
            )
        )
        one, two = batch_seconds(clips, 1), batch_seconds(clips, 2)
        rows.append(
            ("tier-1 batch of 12 clips, 1 → 2 workers", "as tier 0", f"{one:.1f} → {two:.1f} s, {one / two:.2f}×")
        )
    how = (
        f"Frames of the astronaut and of the face clips; medians of {ROUNDS} turns, both sides pinned to one core, "
        "processor time per frame with one face (detector, landmarks, points)."
    )
    record("face", "Faces against MediaPipe", rows, how=how)


def _speed(old: list[str], new: list[str], names: list[str]) -> list[tuple[str, str, str]]:
    sides = {
        "468": lambda: ours("default", names),
        "478": lambda: ours(str(TASK), names),
        "networks": lambda: ours("networks", names),
        "MediaPipe 0.10.21": lambda: pinned([*old, *names]),
        "MediaPipe 1.2.0": lambda: pinned([*new, *names]),
    }
    turns = [{side: run() for side, run in sides.items()} for _ in range(ROUNDS)]
    cpu = {side: median(turn[side][1] / turn[side][2] * 1000 for turn in turns) for side in sides}
    ratio = {side: median(turn["MediaPipe 1.2.0"][1] / turn[side][1] for turn in turns) for side in sides}
    return [
        (
            "MediaPipe 1.2.0 over ours with 468 points",
            "≥ 2.5×; aim ≥ 4×",
            f"{ratio['468']:.2f}× ({cpu['468']:.2f} against {cpu['MediaPipe 1.2.0']:.2f} ms)",
        ),
        (
            "MediaPipe 1.2.0 over ours with 478 points, the model it runs itself",
            "–",
            f"{ratio['478']:.2f}× ({cpu['478']:.2f} ms)",
        ),
        ("of our 468-point time, the two networks alone", "–", f"{cpu['networks']:.2f} ms"),
        ("MediaPipe 0.10.21 FaceMesh, for scale", "–", f"{cpu['MediaPipe 0.10.21']:.2f} ms"),
    ]


if __name__ == "__main__":
    if sys.argv[1:3] == ["--child", "networks"]:
        networks(sys.argv[3:])
    elif sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
    else:
        main()
