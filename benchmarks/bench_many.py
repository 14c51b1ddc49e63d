"""Ten thousand small clips in one run, in one piece: memory, time per line of the journal, and how soon a run goes on.

    python benchmarks/bench_many.py [--clips 10000] [--jobs 2] [--folder FOLDER]

The clips are one clip of 64×64 and 8 frames with a number of its own in each, so that every file has its own digest.
Going on is timed from the call to the moment the first new clip can be handed to a worker: finding the clips, their
ids, opening the run, and the digest of every clip that is finished already, which is also given by itself. Starting the
worker processes is not counted; it is the same for one clip.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np

from recording import record
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.measure import digest
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, read_run
from rushes.workers.limits import resident_mb


def write_clips(folder: Path, count: int, *, first: int = 0) -> None:
    """The same picture in every file, and in each a box that players skip, with its number."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(8)]
    model = write_clip(folder.parent / "model.mp4", frames).read_bytes()
    for number in range(first, first + count):
        (folder / f"take{number:05d}.mp4").write_bytes(model + struct.pack(">I4sQ", 16, b"free", number))


@dataclass
class Watch:
    """Looks at memory after some clips, and at the clock when the first one can start."""

    at: tuple[int, ...] = ()
    parent: dict[int, float] = field(default_factory=dict)
    workers: dict[int, float] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    ready_s: float = 0.0

    def __call__(self, total: int, done: int) -> Callable[[int], None]:
        self.ready_s = time.perf_counter() - self.began

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if done in self.at:
                self.parent[done] = resident_mb(os.getpid()) or 0.0
                self.workers[done] = max((resident_mb(pid) or 0.0 for pid in _children()), default=0.0)

        return advance


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


class _Stop(Exception):
    """Leave a run in the middle."""


def go_on(takes: Path, run: Path) -> tuple[float, float]:
    """Seconds until the first new clip can start, and of the merge (`RunWriter.finish`)."""
    watch, merge, finish = Watch(), [0.0], RunWriter.finish

    def timed(writer: RunWriter, order: Sequence[str]) -> None:
        began = time.perf_counter()
        finish(writer, order)
        merge[0] = time.perf_counter() - began

    with patch.object(RunWriter, "finish", timed):
        evaluate_clips([takes], run=run, jobs=1, progress=watch)
    return watch.ready_s, merge[0]


def interrupt(takes: Path, run: Path) -> None:
    """Turn a complete run back into one that stopped before its last merge."""

    def stop(total: int, done: int) -> Callable[[int], None]:
        raise _Stop

    try:
        evaluate_clips([takes], run=run, jobs=1, progress=stop)
    except _Stop:
        assert (run / "journal.jsonl").exists()


def add_times(run: Path, fresh: Path) -> float:
    """Milliseconds per line when a run's subjects are written again one after the other, series included."""
    whole = read_run(run)
    entries = [
        Entry(subject=e.subject, measurements=e.measurements, series=whole.series(e.subject.id))
        for e in whole.entries[:2000]
    ]
    began = time.perf_counter()
    with RunWriter(fresh, instrument="clip", settings={}) as writer:
        for entry in entries:
            writer.add(entry)
        spent = time.perf_counter() - began
        writer.finish([entry.subject.id for entry in entries])
    return spent / len(entries) * 1e3


def main() -> None:
    """Measure, then write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None, help="where the clips are kept between two measurements")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="many-"))
    takes, run, many = folder / "takes", folder / "run", asked.clips
    if not takes.exists():
        write_clips(takes, many)
    rows: list[tuple[str, str, str]] = []
    if not run.exists():
        watch = Watch(at=(many // 10, many))
        evaluate_clips([takes], run=run, jobs=asked.jobs, shards=0, progress=watch)
        spent = time.perf_counter() - watch.began
        for who, seen in (("parent", watch.parent), ("largest worker", watch.workers)):
            few, all_of_them = seen[many // 10], seen[many]
            rows.append(
                (f"{who}: memory after {many // 10:,} / {many:,} clips", "flat", f"{few:.0f} / {all_of_them:.0f} MB")
            )
        rows.append(("whole run", "–", f"{spent:.0f} s, {many / spent:.0f} clips/s with {asked.jobs} workers"))
    rows.append(("journal: one clip's line and series", "–", f"{add_times(run, folder / 'again'):.2f} ms"))
    shutil.rmtree(folder / "again")
    extra = sum(1 for _ in takes.iterdir()) - many
    write_clips(takes, 1, first=many + extra)
    ready, merge = go_on(takes, run)
    rows.append((f"going on with a complete run of {many:,}, until the first new clip", "≤ 2 s", f"{ready:.2f} s"))
    rows.append(("merging it again", "≤ 2 s", f"{merge:.2f} s"))
    interrupt(takes, run)
    write_clips(takes, 1, first=many + extra + 1)
    ready, merge = go_on(takes, run)
    rows.append((f"going on with an interrupted run of {many:,}, until the first new clip", "≤ 2 s", f"{ready:.2f} s"))
    rows.append(("merging it", "≤ 2 s", f"{merge:.2f} s"))
    began = time.perf_counter()
    for clip in takes.iterdir():
        digest(str(clip))
    rows.append(("of these, the clips' digests", "–", f"{time.perf_counter() - began:.2f} s"))
    began = time.perf_counter()
    read_run(run)
    rows.append(("reading the whole run back", "–", f"{time.perf_counter() - began:.2f} s"))
    if asked.folder is None:
        shutil.rmtree(folder)
    how = "64×64 clips of 8 frames, tier 0. Going on counts everything before the first worker is started."
    record("many", "Ten thousand small clips in one run", rows, how=f"{how} `python benchmarks/bench_many.py`.")


if __name__ == "__main__":
    main()
