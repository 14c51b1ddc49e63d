"""Does `rushes gate` let a ruined candidate through? Real clips, ruined in nine ways, and two candidates that are fine.

    python benchmarks/gate_ruined.py CLIPS… [--work FOLDER]

Every candidate is compared with the same baseline in five ways: runs of `rushes clip` with two repeats, with a proxy
that is named (sharpness, 5 %), with named metrics that agreed with people, with decoding alone, and runs of
`rushes fidelity` with margins of 1 dB and 0.01.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import cv2

import rushes
from planting.clips import read_clips
from planting.kinds import structure
from planting.source import Source, read_source, write_source
from rushes.core.errors import RushesError
from rushes.media import write_clip

MOST, SECONDS = 12, 2.0
Change = Callable[[Source], Source]


def _kept(source: Source, keep: Callable[[int], bool]) -> Source:
    return replace(source, frames=[frame for n, frame in enumerate(source.frames) if keep(n)], sound=None)


def _half(source: Source) -> Source:
    height, width = (side // 4 * 2 for side in source.frames[0].shape[:2])
    return replace(source, frames=[cv2.resize(f, (width, height), interpolation=cv2.INTER_AREA) for f in source.frames])


def _blur(source: Source) -> Source:
    return replace(source, frames=[cv2.GaussianBlur(frame, (0, 0), 1.5) for frame in source.frames])


ARMS: Mapping[str, tuple[Change, int, str]] = {
    "full": (lambda s: s, 18, "fast"),
    "seed 2": (lambda s: s, 18, "medium"),
    "seed 3": (lambda s: s, 18, "slow"),
    "equal": (lambda s: s, 18, "faster"),
    "crf 19": (lambda s: s, 19, "fast"),
    "crf 38": (lambda s: s, 38, "fast"),
    "half size": (_half, 18, "fast"),
    "blur": (_blur, 18, "fast"),
    "noise": (lambda s: structure.grain(s, 18), 18, "fast"),
    "every third frame dropped": (lambda s: _kept(s, lambda n: n % 3 != 2), 18, "fast"),
    "1.5 times as fast": (lambda s: _kept(s, lambda n: n % 3 != 1), 18, "fast"),
    "white noise": (lambda s: structure.white_noise(s, "whole clip"), 18, "fast"),
    "upside-down": (lambda s: structure.upside_down(s, "whole clip"), 18, "fast"),
    "scrambled tiles": (lambda s: structure.scrambled(s, "whole clip"), 18, "fast"),
}
BASE, REPEATS = "full", ("seed 2", "seed 3")
EARNED = ("luma_alternation", "temporal_inconsistency")


def measured(clips: list[Path], work: Path) -> tuple[dict[str, rushes.Run], dict[str, rushes.Run | None]]:
    """A run of `rushes clip` and one of `rushes fidelity` per arm."""
    sources = [replace(read_source(path, longest_s=SECONDS), sound=None) for path in clips]
    (work / "real").mkdir(parents=True)
    for n, source in enumerate(sources):
        write_clip(work / "real" / f"p{n:02}.mkv", source.frames, fps=source.fps, codec="ffv1", pix_fmt="bgr0")
    by_clip, by_pair = {}, {}
    for arm, (change, crf, preset) in ARMS.items():
        (work / arm).mkdir()
        for n, source in enumerate(sources):
            write_source(
                change(source), work / arm / f"p{n:02}.mp4", crf=crf, codec="libx264", options={"preset": preset}
            )
        by_clip[arm] = rushes.evaluate_clips(work / arm, run=work / "runs" / f"clip {arm}", motion=True, jobs=1)
        by_pair[arm] = _fidelity(work, arm)
    return by_clip, by_pair


def _fidelity(work: Path, arm: str) -> rushes.Run | None:
    try:
        found = rushes.evaluate_fidelity(
            work / arm, work / "real", metrics=("psnr", "ssim"), run=work / "runs" / f"fidelity {arm}", jobs=1
        )
    except RushesError:
        return None
    return found.run


def answers(by_clip: Mapping[str, rushes.Run], by_pair: Mapping[str, rushes.Run | None], arm: str) -> list[str]:
    clip, again = (by_clip[BASE], by_clip[arm]), [by_clip[name] for name in REPEATS]
    made = [
        _answer(*clip, repeats=again),
        _answer(*clip, metrics={"sharpness": "5%"}),
        _answer(*clip, repeats=again, metrics=EARNED),
        _answer(*clip, metrics={"decode_ok": 0, "corrupt_frames": 0}),
    ]
    first, second = by_pair[BASE], by_pair[arm]
    margins = {"psnr": 1.0, "ssim": 0.01}
    return [*made, "refused" if first is None or second is None else _answer(first, second, metrics=margins)]


def _answer(first: rushes.Run, second: rushes.Run, **asked: object) -> str:
    try:
        found = rushes.check_regression(first, second, **asked)  # type: ignore[arg-type]
    except RushesError:
        return "refused"
    return "**holds**" if found.answer == "same" else str(found.answer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", type=Path, help="folders or lists of clips")
    parser.add_argument("--work", type=Path)
    asked = parser.parse_args()
    chosen: list[Path] = []
    for clip in read_clips(asked.clips):
        if len(chosen) < MOST and not clip.faulty and clip.kind != "screen":
            try:
                long_enough = read_source(clip.path, longest_s=SECONDS).seconds >= 0.8 * SECONDS
            except RushesError:
                continue
            chosen += [clip.path] if long_enough else []
    with tempfile.TemporaryDirectory() as folder:
        by_clip, by_pair = measured(chosen, asked.work or Path(folder) / "work")
    print(f"{len(chosen)} clips")
    heads = ("candidate", "clip runs", "`sharpness:5%`", "temporal metrics, named", "decoding alone", "fidelity")
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|")
    for arm in ARMS:
        if arm not in (BASE, *REPEATS):
            print(f"| {arm} | {' | '.join(answers(by_clip, by_pair, arm))} |")


if __name__ == "__main__":
    main()
