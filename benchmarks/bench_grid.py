"""Pages of the prompt × system grid of 6 systems × 500 prompts, and the map of two sets.

`python benchmarks/bench_grid.py` records into RESULTS.md. The runs are made up and their clips are not there: a page's
own time is measured, not that of its pictures, which are taken when a browser asks for them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench_report import make_run
from recording import record
from rushes.instruments.distribution.features.map import set_map
from rushes.web.boards.data import GridQuery, OpenBoard, grid_data, runs_board
from rushes.web.runs.cache import RunCache
from rushes.web.runs.summary import run_stamp

SYSTEMS = ("amber", "birch", "cedar", "dogwood", "elm", "fir")
PROMPTS, CLIPS, FEATURES = 500, 2000, 400


def timed(work: Callable[[], object], repeats: int = 5) -> str:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return f"{statistics.median(seconds) * 1000:.0f} ms"


def boards(folder: Path) -> tuple[OpenBoard, str]:
    for system in SYSTEMS:
        make_run(folder / system, PROMPTS)
    runs = {system: folder / system for system in SYSTEMS}
    start = time.perf_counter()
    board = runs_board(runs, [run_stamp(place) for place in runs.values()])
    return board, f"{time.perf_counter() - start:.1f} s"


def main() -> None:
    rng = np.random.default_rng(1)
    generated, real = rng.normal(size=(CLIPS // 2, FEATURES)), rng.normal(size=(CLIPS // 2, FEATURES))
    with tempfile.TemporaryDirectory() as name:
        board, first = boards(Path(name))
        cache = RunCache()
        page = timed(lambda: grid_data(board, GridQuery(), run_cache=cache, look=lambda row: "/compare"))
    rows = [
        ("6 runs of 500 clips read, paired and judged, once for each state of the runs", "", first),
        ("one page of their grid, sorted by difference", "≤ 200 ms", page),
        (f"map of {CLIPS} clips, {FEATURES} features each", "", timed(lambda: set_map(generated, real, features="x"))),
    ]
    record("grid", "Grid and map", rows, how="`python benchmarks/bench_grid.py`: made-up runs, median of five.")


if __name__ == "__main__":
    sys.exit(main())
