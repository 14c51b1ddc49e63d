"""How often `rushes gate` is right: simulated gates, and gates over real clips that were re-encoded.

    python benchmarks/gate_rates.py ../shared/clips/*.* [--gates 300] [--work FOLDER]

Real clips   pieces of each clip, its pictures the reference. A "run" of a system takes for every piece one of several
             encodes of one quality (crf 17, 18, 19; presets fast, medium, slow), so that its clips move as seeds make
             them move. Baseline, two repeats and a candidate are drawn anew for each gate, over 8 pieces drawn anew.
             Equal systems: every "worse" is a false alarm. crf 22 to 24, crf 38 and a blur: every "worse" is a hit.
Simulated    normal noise with the spreads that the real clips showed: a loss of 0, of 3 dB, and of exactly the margin,
             where the gate may say "worse" in 5 % of cases; and baselines whose runs move as a whole.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

import rushes
from rushes.core import Definition, Measurement
from rushes.core.errors import RushesError
from rushes.media import ClipReader, write_clip
from rushes.storage.runs import Run, Subject

Picture = NDArray[np.uint8]
FRAMES, WIDTH, PIECES, CLIPS = 20, 256, 2, 8
METRICS = ("psnr", "ssim", "vmaf", "l1")
"""VMAF needs `rushes models pull vmaf`."""
PRESETS = ("fast", "medium", "slow")
ARMS = {
    **{f"crf{crf}-{preset}": (crf, preset, 0.0) for crf in (17, 18, 19) for preset in PRESETS},
    **{f"crf{crf}-medium": (crf, "medium", 0.0) for crf in (22, 23, 24, 38)},
    "blur": (18, "medium", 0.8),
}
EQUAL = tuple(name for name in ARMS if name.startswith(("crf17", "crf18", "crf19")))
CANDIDATES = {
    "equal": EQUAL,
    "another preset": ("crf18-fast",),
    "crf 22 to 24": ("crf22-medium", "crf23-medium", "crf24-medium"),
    "crf 38": ("crf38-medium",),
    "blur": ("blur",),
}


def pieces(path: Path) -> Iterator[list[Picture]]:
    """The first pieces of a clip, small; a clip that is too short or damaged gives fewer."""
    pictures: list[Picture] = []
    try:
        with ClipReader(path) as reader:
            for frame in reader:
                picture = frame.rgb()
                scale = min(1.0, WIDTH / max(picture.shape[:2]))
                size = (int(picture.shape[1] * scale) // 4 * 4, int(picture.shape[0] * scale) // 4 * 4)
                pictures.append(np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8))
                if len(pictures) == FRAMES * PIECES:
                    break
    except RushesError as error:
        print(f"{path.name}: {error}")
    yield from (pictures[i : i + FRAMES] for i in range(0, len(pictures) - FRAMES + 1, FRAMES))


def measured(sources: Sequence[Path], work: Path) -> dict[str, Run]:
    """One fidelity run per arm over all pieces."""
    found = [(f"{path.stem}-{i}", piece) for path in sources for i, piece in enumerate(pieces(path))]
    for name, piece in found:
        (work / "real").mkdir(parents=True, exist_ok=True)
        write_clip(work / "real" / f"{name}.mkv", piece, 25, codec="ffv1")
    runs = {}
    for arm, (crf, preset, blur) in ARMS.items():
        (work / arm).mkdir(exist_ok=True)
        for name, piece in found:
            shown = [np.asarray(cv2.GaussianBlur(p, (0, 0), blur), np.uint8) for p in piece] if blur else piece
            write_clip(work / arm / f"{name}.mkv", shown, 25, crf=crf, options={"preset": preset})
        done = rushes.evaluate_fidelity(work / arm, work / "real", metrics=METRICS, run=work / "runs" / arm, jobs=1)
        runs[arm] = done.run
    return runs


def mixed(
    name: str, runs: Mapping[str, Run], arms: Sequence[str], clips: Sequence[str], rng: np.random.Generator
) -> Run:
    """A run that has for every clip what one of the arms measured."""
    picks = {clip: runs[arms[int(rng.integers(len(arms)))]] for clip in clips}
    subjects = tuple(next(s for s in run.subjects if s.id == clip) for clip, run in picks.items())
    rows = {clip: run.measurements[clip] for clip, run in picks.items()}
    return Run(Path(name), {"instrument": "fidelity", "status": "complete"}, subjects, rows)


def real_gates(runs: Mapping[str, Run], gates: int) -> None:
    clips = [s.id for s in next(iter(runs.values())).subjects if s.kind == "pair" and "error" not in s.facts]
    rng = np.random.default_rng(17)
    print(f"\nReal clips: {len(clips)} pieces, gates over {CLIPS} of them, two repeats; {', '.join(METRICS)}")
    for label, arms in CANDIDATES.items():
        answers: Counter[str] = Counter()
        verdicts: Counter[tuple[str, str]] = Counter()
        moved, noise, spread = [], [], []
        for _ in range(gates):
            chosen = [clips[i] for i in rng.choice(len(clips), CLIPS, replace=False)]
            base, second, third = (mixed(name, runs, EQUAL, chosen, rng) for name in ("base", "seed2", "seed3"))
            report = rushes.check_regression(base, mixed("new", runs, arms, chosen, rng), repeats=[second, third])
            answers[report.answer] += 1
            verdicts.update((m.label, m.verdict) for m in report.gated)
            psnr = report.find("psnr")[0]
            moved.append(float(psnr.difference.value or 0))
            noise.append(float(psnr.noise.value or 0))
            interval = psnr.difference.interval
            assert interval is not None
            # half = t(7, .95) · s / √8
            spread.append((interval.high - interval.low) / 2 / 1.894579 * np.sqrt(CLIPS))
        by_metric = {m: {v: n for (name, v), n in sorted(verdicts.items()) if name == m} for m in METRICS}
        print(f"{label:15} {dict(sorted(answers.items()))}  PSNR {np.mean(moved):+.2f} dB, "
              f"noise {np.mean(noise):.2f}, spread of differences {np.mean(spread):.2f}")  # fmt: skip
        for metric, counted in by_metric.items():
            print(f"    {metric:8} {counted}")


PSNR = Definition(name="psnr", unit="dB", lowest=None, highest=None, better="higher", summary="s.", formula="f")


def simulated_run(name: str, values: NDArray[np.float64]) -> Run:
    rows = {f"c{i}": (Measurement(definition=PSNR, value=float(v), count=1),) for i, v in enumerate(values)}
    subjects = tuple(Subject(id=clip, kind="clip", path=f"{name}/{clip}", sha256=None) for clip in rows)
    return Run(Path(name), {"instrument": "fidelity", "status": "complete"}, subjects, rows)


def simulated(
    gates: int, *, loss: float, spread: float, noise: float, shift: float, repeats: int, margin: float | None, seed: int
) -> Counter[str]:
    rng = np.random.default_rng(seed)
    answers: Counter[str] = Counter()
    for _ in range(gates):
        truth = rng.normal(38, 4, CLIPS)

        def run(name: str, lost: float, draw: Callable[..., NDArray[np.float64]] = rng.normal) -> Run:
            each = draw(lost, spread, CLIPS) if lost else np.zeros(CLIPS)
            return simulated_run(name, truth - each + draw(0, noise, CLIPS) + draw(0, shift))  # noqa: B023

        asked = {"psnr": margin} if margin is not None else {}
        report = rushes.check_regression(
            run("base", 0), run("new", loss), repeats=[run(f"s{i}", 0) for i in range(repeats)], metrics=asked
        )
        answers[report.answer] += 1
    return answers


def simulated_gates(gates: int, noise: float, spread: float) -> None:
    print(
        f"\nSimulated: {gates} gates of {CLIPS} clips each, noise {noise} dB, spread of the loss over clips {spread} dB"
    )
    cases: dict[str, dict[str, float | int | None]] = {
        "equal": {},
        "3 dB lost": {"loss": 3.0},
        "2 dB lost": {"loss": 2.0},
        '1 dB lost, margin 1 dB (5 % of "worse" is right)': {"loss": 1.0, "margin": 1.0},
        "equal, one repeat": {"repeats": 1},
        "equal, runs move as a whole by 0.5 dB": {"shift": 0.5},
        "equal, runs move as a whole by 0.5 dB, one repeat": {"shift": 0.5, "repeats": 1},
        "equal, runs move as a whole by 0.5 dB, four repeats": {"shift": 0.5, "repeats": 4},
    }
    for seed, (label, case) in enumerate(cases.items()):
        plan = {"loss": 0.0, "shift": 0.0, "repeats": 2, "margin": None} | case
        found = simulated(gates, spread=spread, noise=noise, seed=seed, **plan)  # type: ignore[arg-type]
        print(f"{label:52} {dict(sorted(found.items()))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=Path)
    parser.add_argument("--gates", type=int, default=300)
    parser.add_argument("--noise", type=float, default=0.47)
    parser.add_argument("--spread", type=float, default=0.9)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    videos = [path for path in given.clips if path.suffix in (".mp4", ".mov", ".mkv", ".webm", ".mpg")]
    if videos:
        with tempfile.TemporaryDirectory() as folder:
            real_gates(measured(videos, given.work or Path(folder)), given.gates)
    simulated_gates(given.gates, given.noise, given.spread)


if __name__ == "__main__":
    main()
