"""Does a degraded copy ever rank above its source on a board, and which readings does it move to their better side?

    python benchmarks/degraded_rates.py ../shared/clips ../shared/suites/fetv/ground-truth [--most 24] [--width 320]

Every folder is one suite: its clips (the first frames of each) are the source, and each fault of
`tests/compare/planted.py` is a system of its own. A board is judged for each reading alone, which is the least careful
correction there is, and in both orders of the systems. Beside that: how a copy's `temporal_disorder` compares with its
source's, clip by clip.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.compare.planted import PLANTED, clean, pictures_of, write_set

from recording import record
from rushes import evaluate_clips
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData
from rushes.compare.readings.collect import collect_board
from rushes.core.errors import RushesError
from rushes.media.find.endings import is_clip

SOURCE = "source"


def made(folder: Path, work: Path, *, most: int, width: int) -> BoardData:
    """The board of one folder's clips and their degraded copies."""
    clips = []
    for path in sorted(p for p in folder.iterdir() if is_clip(p)):
        try:
            pictures, fps = pictures_of(path, most=most, width=width)
        except RushesError:
            continue
        if len(pictures) >= most // 2:
            clips.append((path.stem, pictures, fps, None))
    runs = []
    for name, how in {SOURCE: clean, **PLANTED}.items():
        write_set(work / name, clips, how)
        run = work / f"run-{name}"
        evaluate_clips(work / name, run=run, motion=True, metrics=["temporal_disorder"])
        runs.append(f"{name}={run}")
    return collect_board(runs)


def wrong(board: BoardData) -> tuple[int, int, int]:
    """Pairs of source and copy, how many were told apart at all, and how many called the copy better."""
    pairs = apart = above = 0
    for data in (board, replace(board, systems=board.systems[::-1])):
        for reading in data.readings:
            for c in judge_board(data, readings=[reading.key])[reading.key].contrasts:
                if SOURCE in (c.first, c.second):
                    pairs += 1
                    apart += c.outcome.is_change
                    above += c.ranked is not None and c.ranked[1] == SOURCE
    return pairs, apart, above


def ratios(board: BoardData, fault: str) -> list[float]:
    """A copy's temporal_disorder over its source's, clip by clip."""
    (key,) = [reading.key for reading in board.readings if reading.definition.name == "temporal_disorder"]
    rows = board.values[SOURCE, key], board.values[fault, key]
    both = [(a.value, rows[1][prompt].value) for prompt, a in rows[0].items() if prompt in rows[1]]
    return [float(b) / float(a) for a, b in both if a and b is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=24)
    parser.add_argument("--width", type=int, default=320)
    given = parser.parse_args()
    boards = []
    with tempfile.TemporaryDirectory() as work:
        for number, folder in enumerate(given.folders):
            (place := Path(work, str(number))).mkdir()
            boards.append(made(folder, place, most=given.most, width=given.width))
    plain = [replace(board, credentials=()) for board in boards]
    counts = [sum(column) for column in zip(*map(wrong, plain), strict=True)]
    earned = sum(wrong(board)[2] for board in boards) - counts[2]
    clips = sum(len(board.prompts) for board in boards)
    rows = [
        ("boards, clips, systems each", "", f"{len(boards)}, {clips}, {len(PLANTED) + 1}"),
        ("source against copy, over all readings, both orders", "", f"{counts[0]}"),
        ("of them told apart", "", f"{counts[1]}"),
        ("a copy ranked above its source, by metrics without a credential", "0", f"{counts[2]}"),
        ("a copy ranked above its source, by metrics with one, which the board cautions of", "", f"{earned}"),
    ]
    for fault in PLANTED:
        found = [ratio for board in boards for ratio in ratios(board, fault)]
        lower = sum(ratio < 0.95 for ratio in found)
        middle = f"median × {statistics.median(found):.2f}; " if found else ""
        rows.append((f"`temporal_disorder` of {fault}", "", f"{middle}lower by 5 % in {lower} of {len(found)}"))
    record("degraded", "Degraded copies on boards", rows, how=HOW.format(most=given.most, width=given.width))


HOW = (
    "`python benchmarks/degraded_rates.py FOLDER…`: real clips (first {most} frames, at most {width} pixels wide) as "
    "the source, and a system for each planted fault; every reading judged alone."
)

if __name__ == "__main__":
    main()
